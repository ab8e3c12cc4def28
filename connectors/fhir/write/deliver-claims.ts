import type { ClaimBatch, ClaimDelivery, DeliveryOutcome } from '../../contract.ts';
import { type Json, listAt } from '../element.ts';
import { isPatient } from '../read/references.ts';
import { unlessRefused } from '../server/failure.ts';
import { claimCommunication, claimDocument, claimResponse } from './claim-response.ts';
import { putProvenance } from './deliver.ts';
import { Insurances } from './insurances.ts';
import type { About } from './resources.ts';
import { type DeliverParts, InquiryWriter, refusalOf, writeAnswers } from './writer.ts';

/** Writes the payers' answers about claims. */
export async function deliverClaims(
  parts: DeliverParts,
  batch: ClaimBatch,
  signal: AbortSignal,
): Promise<DeliveryOutcome[]> {
  const { client, config } = parts;
  if (config.write_back === 'none')
    return batch.deliveries.map(({ key }) => ({ key, outcome: 'delivered' }));
  signal.throwIfAborted();
  const capability = await client.capability(signal);
  const writer = new InquiryWriter(parts, capability, signal);
  const insurances = new Insurances(client, config, capability, signal);
  const writeOne = async (delivery: ClaimDelivery) => {
    const { claim, record } = delivery;
    const { patient } = claim;
    const about: About = {
      identifier: { system: `${config.identifier_base}:inquiry`, value: record.inquiry_id },
      patient:
        patient.id === null
          ? { display: `${patient.first_name} ${patient.last_name}`.trim() }
          : { reference: `Patient/${patient.id}` },
      subject: { reference: `Claim/${claim.source_id}` },
      batch_created_at: batch.created_at,
      time_zone: parts.env.time_zone,
      ...(await insurances.find(patient.id, claim.coverage)),
    };
    await writer.write(delivery, about, async (writing) => {
      const answer = { ...writing, delivery };
      const asDocument = () => claimDocument(answer);
      const asCommunication = () => claimCommunication(answer);
      const refusal = await refusalOf(async () => {
        if (config.write_back === 'document') return await writer.put(asDocument(), answer);
        const response = await writer.put(
          claimResponse(answer, await claimOf(delivery, parts, signal)),
          answer,
        );
        return await refusalOf(() => putProvenance(writer, answer, 'ClaimResponse', response));
      });
      if (refusal === null) return;
      const others =
        config.write_back === 'document' ? [asCommunication] : [asDocument, asCommunication];
      await writer.fallBack(
        answer,
        config.write_back === 'document' ? 'DocumentReference' : 'ClaimResponse',
        others,
        refusal,
      );
    });
  };
  return await writeAnswers(parts, batch.deliveries, writeOne, signal);
}

/** Returns the current claim; null if it cannot be read or now belongs to another patient. */
async function claimOf(
  { claim }: ClaimDelivery,
  { client }: DeliverParts,
  signal: AbortSignal,
): Promise<Json | null> {
  const found = await unlessRefused(() => client.read('Claim', claim.source_id, signal));
  const is_same =
    found !== null &&
    listAt(found, 'item').length > 0 &&
    isPatient(found.patient, claim.patient.id ?? '', client.base_url);
  return is_same ? found : null;
}
