import type { Reference } from '@medplum/fhirtypes';
import type { Delivery, DeliveryBatch, DeliveryOutcome } from '../../contract.ts';
import { listAt, textAt } from '../element.ts';
import { Insurances } from './insurances.ts';
import type { Placed } from './place.ts';
import {
  type About,
  answerCommunication,
  type Called,
  documentReference,
  eligibilityRequest,
  eligibilityResponse,
  provenance,
} from './resources.ts';
import {
  type DeliverParts,
  InquiryWriter,
  refusalOf,
  type Writing,
  writeAnswers,
} from './writer.ts';

/** Writes the payers' answers about coverages. */
export async function deliver(
  parts: DeliverParts,
  batch: DeliveryBatch,
  signal: AbortSignal,
): Promise<DeliveryOutcome[]> {
  const { client, config } = parts;
  if (config.write_back === 'none')
    return batch.deliveries.map(({ key }) => ({ key, outcome: 'delivered' }));
  signal.throwIfAborted();
  const capability = await client.capability(signal);
  const writer = new InquiryWriter(parts, capability, signal);
  const insurances = new Insurances(client, config, capability, signal);
  const writeOne = async (delivery: Delivery) => {
    const about = await aboutOf(delivery, insurances, {
      base: config.identifier_base,
      batch_created_at: batch.created_at,
      time_zone: parts.env.time_zone,
    });
    await writer.write(delivery, about, (writing) =>
      writeAnswer(writer, { ...writing, delivery }, parts),
    );
  };
  return await writeAnswers(parts, batch.deliveries, writeOne, signal);
}

type Answer = Writing & { delivery: Delivery };

async function aboutOf(
  { appointment, record }: Delivery,
  insurances: Insurances,
  { base, ...batch }: { base: string } & Pick<About, 'batch_created_at' | 'time_zone'>,
): Promise<About> {
  const { patient, source_id, coverage } = appointment;
  const name = `${patient.first_name} ${patient.last_name}`.trim();
  return {
    identifier: { system: `${base}:inquiry`, value: record.inquiry_id },
    patient: patient.id === null ? { display: name } : { reference: `Patient/${patient.id}` },
    subject: { reference: `Appointment/${source_id}` },
    ...batch,
    ...(await insurances.find(patient.id, coverage)),
  };
}

/** Writes what the configuration asks for, or a fallback that the server accepts. */
async function writeAnswer(
  writer: InquiryWriter,
  answer: Answer,
  { config }: DeliverParts,
): Promise<void> {
  const asDocument = () => documentReference(answer);
  const asCommunication = () => answerCommunication(answer);
  if (config.write_back === 'document') {
    const refusal = await refusalOf(() => writer.put(asDocument(), answer));
    if (refusal !== null)
      await writer.fallBack(answer, 'DocumentReference', [asCommunication], refusal);
    return;
  }
  const refusal = await refusalOf(() => putEligibility(writer, answer));
  if (refusal !== null)
    await writer.fallBack(
      answer,
      'CoverageEligibilityResponse',
      [asDocument, asCommunication],
      refusal,
    );
  else if (config.document) await writer.put(asDocument(), answer);
}

async function putEligibility(writer: InquiryWriter, answer: Answer): Promise<void> {
  // A server that accepts the answer but not the request still gets the answer.
  let request: Reference<never> | null = null;
  await refusalOf(async () => {
    const { id } = await writer.put(eligibilityRequest(answer), answer);
    request = { reference: `CoverageEligibilityRequest/${id}` };
  });
  const response = await writer.put(eligibilityResponse(answer, request), answer);
  // The text also names the source of the answer, so a server without Provenance is not a failure.
  await refusalOf(() => putProvenance(writer, answer, 'CoverageEligibilityResponse', response));
}

/** In R4, Provenance has no identifier: it is ours if its source is our inquiry. */
export async function putProvenance(
  writer: InquiryWriter,
  answer: Writing & { delivery: { record: Called } },
  type: string,
  response: Placed,
): Promise<Placed> {
  const { system, value } = answer.about.identifier;
  const target = `${type}/${response.id}`;
  return await writer.place(answer, provenance(answer, { reference: target }), {
    isOurs: (found) =>
      listAt(found, 'entity').some(
        ({ what }) =>
          textAt(what, 'identifier', 'system') === system &&
          textAt(what, 'identifier', 'value') === value,
      ),
    look: { parameter: 'target', value: target, is_condition: false },
    is_fresh: response.is_new,
  });
}
