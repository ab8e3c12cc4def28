import type { Reference } from '@medplum/fhirtypes';
import PQueue from 'p-queue';
import type { ConnectorEnv, Delivery, DeliveryBatch, DeliveryOutcome } from '../../contract.ts';
import type { Capability } from '../capability.ts';
import type { FhirClient } from '../client.ts';
import type { FhirConfig } from '../config.ts';
import { listAt, type Resource, textAt } from '../element.ts';
import { FhirError, isPassing } from '../failure.ts';
import { Insurances } from './insurances.ts';
import { type Placed, place, type Slot } from './place.ts';
import {
  type About,
  answerCommunication,
  documentReference,
  eligibilityRequest,
  eligibilityResponse,
  provenance,
} from './resources.ts';

export type DeliverParts = { client: FhirClient; config: FhirConfig; env: ConnectorEnv };

/** What the journal holds for an inquiry: the revision that is written, and the ids that the server gave, by resource type. */
type Note = { revision: number; ids: { [type: string]: string } };

type Result = { delivery: Delivery; error: FhirError | null };

/**
 * Writes the answers of a batch. Those of one inquiry (several visits may stand on it) go one after another, since they share
 * their resources. Throws a FhirError when the server could not be reached for any of them.
 */
export async function deliver(parts: DeliverParts, batch: DeliveryBatch, signal: AbortSignal): Promise<DeliveryOutcome[]> {
  if (parts.config.write_back === 'none') return batch.deliveries.map(({ key }) => ({ key, outcome: 'delivered' }));
  signal.throwIfAborted();
  const writer = new AnswerWriter(parts, await parts.client.capability(signal), batch.created_at, signal);
  const groups = [...Map.groupBy(batch.deliveries, ({ record }) => record.inquiry_id).values()];
  const queue = new PQueue({ concurrency: parts.config.parallel_requests });
  const settled = await Promise.allSettled(groups.map((group) => queue.add(() => writer.writeAll(group))));
  const results = settled.flatMap((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
  // Nobody was reached: the batch is put off as a whole, and none of it counts as tried.
  const isAway = ({ error }: Result) => error?.kind === 'unreachable' || error?.kind === 'unauthorized';
  if (results[0]?.error && results.every(isAway)) throw results[0].error;
  return results.map(({ delivery, error }) =>
    error === null ? { key: delivery.key, outcome: 'delivered' } : failed(delivery, error),
  );
}

function failed({ key }: Delivery, error: FhirError): DeliveryOutcome {
  const is_permanent = !isPassing(error) && error.kind !== 'conflict' && error.kind !== 'unauthorized';
  const words = error.words === '' ? '' : ` It said: ${error.words}`;
  const next = is_permanent
    ? 'Have the FHIR server accept it, or choose another write_back: in the configuration of the connector. "eligd show" has the answer.'
    : 'It is tried again by itself.';
  return { key, outcome: 'failed', is_permanent, what: `${error.message}${words}`, next };
}

/** One answer on its way into the chart. */
type Writing = {
  delivery: Delivery;
  about: About;
  note: Note;
  /** Whether a write was begun earlier, of which not every id may have been learned. */
  was_begun: boolean;
  /** Whether the chart holds an earlier revision. */
  is_newer: boolean;
};

class AnswerWriter {
  private readonly parts: DeliverParts;
  private readonly capability: Capability;
  private readonly insurances: Insurances;
  private readonly batch_created_at: string;
  private readonly signal: AbortSignal;

  constructor(parts: DeliverParts, capability: Capability, batch_created_at: string, signal: AbortSignal) {
    this.parts = parts;
    this.capability = capability;
    this.insurances = new Insurances(parts.client, parts.config, signal);
    this.batch_created_at = batch_created_at;
    this.signal = signal;
  }

  async writeAll(deliveries: readonly Delivery[]): Promise<Result[]> {
    const results: Result[] = [];
    for (const delivery of deliveries) {
      this.signal.throwIfAborted();
      try {
        await this.write(delivery);
        results.push({ delivery, error: null });
      } catch (error) {
        this.signal.throwIfAborted();
        if (!(error instanceof FhirError)) throw error;
        results.push({ delivery, error });
      }
    }
    return results;
  }

  private async write(delivery: Delivery): Promise<void> {
    const { journal } = this.parts.env;
    const key = `inquiry:${delivery.record.inquiry_id}`;
    const text = await journal.read(key);
    const note: Note = text === null ? { revision: 0, ids: {} } : (JSON.parse(text) as Note);
    // A revision that was put off must not take the place of a later one.
    if (note.revision > delivery.revision) return;
    const is_newer = note.revision > 0 && note.revision < delivery.revision;
    const writing: Writing = { delivery, about: await this.about(delivery), note, was_begun: text !== null, is_newer };
    // The intent: after a crash from here on, what may be there is looked for.
    if (text === null) await journal.write(key, JSON.stringify(note));
    try {
      await this.writeAnswer(writing);
      note.revision = delivery.revision;
    } finally {
      await journal.write(key, JSON.stringify(note));
    }
  }

  private async about({ appointment, record }: Delivery): Promise<About> {
    const { patient, source_id, coverage } = appointment;
    const name = `${patient.first_name} ${patient.last_name}`.trim();
    return {
      identifier: { system: `${this.parts.config.identifier_base}:inquiry`, value: record.inquiry_id },
      patient: patient.id === null ? { display: name } : { reference: `Patient/${patient.id}` },
      appointment: { reference: `Appointment/${source_id}` },
      batch_created_at: this.batch_created_at,
      ...(await this.insurances.find(patient.id, coverage)),
    };
  }

  /** What the configuration asks for, or what the server takes instead; the first refusal is thrown when it takes nothing. */
  private async writeAnswer(writing: Writing): Promise<void> {
    const { write_back, document } = this.parts.config;
    if (write_back === 'eligibility') {
      const refusal = await refusalOf(() => this.putEligibility(writing));
      if (refusal !== null)
        await this.fallBack(writing, 'CoverageEligibilityResponse', [documentReference, answerCommunication], refusal);
      else if (document) await this.put(documentReference(writing), writing);
      return;
    }
    const refusal = await refusalOf(() => this.put(documentReference(writing), writing));
    if (refusal !== null) await this.fallBack(writing, 'DocumentReference', [answerCommunication], refusal);
  }

  private async putEligibility(writing: Writing): Promise<void> {
    // A server that takes the answer without the question still gets the answer.
    let request: Reference<never> | null = null;
    await refusalOf(async () => {
      const { id } = await this.put(eligibilityRequest(writing), writing, keepVisits);
      request = { reference: `CoverageEligibilityRequest/${id}` };
    });
    const response = await this.put(eligibilityResponse(writing, request), writing);
    // Where the answer comes from stands in its text as well, so a server without Provenance is no failure.
    await refusalOf(() => this.putProvenance(writing, response));
  }

  private async fallBack(
    writing: Writing,
    from: string,
    candidates: readonly ((parts: Writing) => { resourceType: string })[],
    refusal: FhirError,
  ): Promise<void> {
    const { env } = this.parts;
    for (const make of candidates) {
      const resource = make(writing);
      if ((await refusalOf(() => this.put(resource, writing))) !== null) continue;
      env.log('fhir_fallback_used', { connector: env.connector_id, from, to: resource.resourceType });
      return;
    }
    throw refusal;
  }

  private async put(resource: { resourceType: string }, writing: Writing, merge?: Slot['merge']): Promise<Placed> {
    const { system, value } = writing.about.identifier;
    return await this.placeOwn(writing, resource, {
      isOurs: (found) =>
        listAt(found, 'identifier').some((one) => textAt(one, 'system') === system && textAt(one, 'value') === value),
      look: { parameter: 'identifier', value: `${system}|${value}`, is_condition: true },
      ...(merge === undefined ? {} : { merge }),
    });
  }

  /** Provenance has no identifier in R4: it is ours when its source is our inquiry. */
  private async putProvenance(writing: Writing, response: Placed): Promise<Placed> {
    const { system, value } = writing.about.identifier;
    const target = `CoverageEligibilityResponse/${response.id}`;
    return await this.placeOwn(writing, provenance(writing, { reference: target }), {
      isOurs: (found) =>
        listAt(found, 'entity').some(
          ({ what }) => textAt(what, 'identifier', 'system') === system && textAt(what, 'identifier', 'value') === value,
        ),
      look: { parameter: 'target', value: target, is_condition: false },
      is_fresh: response.is_new,
    });
  }

  private async placeOwn(
    { note, was_begun, is_newer }: Writing,
    resource: { resourceType: string },
    slot: Pick<Slot, 'isOurs' | 'look' | 'merge' | 'is_fresh'>,
  ): Promise<Placed> {
    const { resourceType } = resource;
    if (this.capability.interaction(resourceType, 'create') === false) {
      const what = `The FHIR server takes no ${resourceType} (it says so in its CapabilityStatement).`;
      throw new FhirError('unsupported', { what });
    }
    const known_id = note.ids[resourceType] ?? null;
    const may_exist = was_begun && known_id === null;
    const wanted = { ...slot, resource: resource as Resource, known_id, may_exist, is_newer };
    const placed = await place({ ...this.parts, capability: this.capability }, wanted, this.signal);
    note.ids[resourceType] = placed.id;
    return placed;
  }
}

/** The server's refusal, or null when it worked. A server that is away refuses nothing: that is thrown. */
async function refusalOf(work: () => Promise<unknown>): Promise<FhirError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof FhirError && !isPassing(error) && error.kind !== 'unauthorized' && error.kind !== 'conflict')
      return error;
    throw error;
  }
}

/** The visits that an inquiry serves come one after another; the request keeps those that it names already. */
function keepVisits(found: Resource, wanted: Resource): Resource {
  const named = listAt(found, 'supportingInfo');
  const [visit] = listAt(wanted, 'supportingInfo');
  const reference = textAt(visit, 'information', 'reference');
  const is_named = named.some((one) => textAt(one, 'information', 'reference') === reference);
  const supportingInfo = is_named ? named : [...named, { ...visit, sequence: named.length + 1 }];
  return { ...wanted, supportingInfo };
}
