import PQueue from 'p-queue';
import type { DeliveryOutcome } from '../../contract.ts';
import type { FhirConfig } from '../config.ts';
import { isJson, type Json, listAt, type Resource, textAt } from '../element.ts';
import type { FhirEnv } from '../events.ts';
import { nameOfTarget } from '../read/references.ts';
import type { Capability } from '../server/capability.ts';
import type { FhirClient } from '../server/client.ts';
import { concernsAll, FhirError, isPassing } from '../server/failure.ts';
import { type Placed, place, type Slot } from './place.ts';
import type { About } from './resources.ts';

export type DeliverParts = { client: FhirClient; config: FhirConfig; env: FhirEnv };

/** The journal entry of an inquiry: the revision written, and the server's IDs by resource type. */
type Note = { revision: number; ids: { [type: string]: string } };

/** One answer while it is written into the chart. */
export type Writing = {
  about: About;
  note: Note;
  /** Whether an earlier write was started whose IDs may be partly unknown. */
  was_begun: boolean;
  /** Whether the chart has, or may have, an earlier revision: the journal can be lost. */
  is_newer: boolean;
};

type Answer = { key: string; revision: number; record: { inquiry_id: string } };
type Result = { key: string; error: FhirError | null };

/**
 * Writes the answers of a batch with `write`. Answers of one inquiry (it may serve several visits)
 * are written one after another, because they share resources. Throws a FhirError when the server
 * was unreachable for all of them.
 */
export async function writeAnswers<Each extends Answer>(
  parts: DeliverParts,
  answers: readonly Each[],
  write: (answer: Each) => Promise<void>,
  signal: AbortSignal,
): Promise<DeliveryOutcome[]> {
  const writeGroup = async (group: readonly Each[]): Promise<Result[]> => {
    const results: Result[] = [];
    for (const answer of group) {
      signal.throwIfAborted();
      results.push({ key: answer.key, error: await failureOf(() => write(answer), signal) });
    }
    return results;
  };
  const groups = [...Map.groupBy(answers, ({ record }) => record.inquiry_id).values()];
  const queue = new PQueue({ concurrency: parts.config.parallel_requests });
  const settled = await Promise.allSettled(
    groups.map((group) => queue.add(() => writeGroup(group))),
  );
  const results = settled.flatMap((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
  // The server was unreachable: the whole batch is postponed, and no delivery counts as tried.
  if (results[0]?.error && results.every(({ error }) => error !== null && concernsAll(error)))
    throw results[0].error;
  return results.map(({ key, error }) =>
    error === null ? { key, outcome: 'delivered' } : failed(key, error),
  );
}

async function failureOf(
  work: () => Promise<void>,
  signal: AbortSignal,
): Promise<FhirError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FhirError) return error;
    throw error;
  }
}

function failed(key: string, error: FhirError): DeliveryOutcome {
  const is_permanent =
    !isPassing(error) && error.kind !== 'conflict' && error.kind !== 'unauthorized';
  const next = is_permanent
    ? 'Have the FHIR server accept it, or choose another write_back: in the configuration of ' +
      'the connector. "eligd show" has the answer.'
    : 'It is tried again automatically.';
  const words = error.words === '' ? {} : { words: `It said: ${error.words}` };
  return { key, outcome: 'failed', is_permanent, what: error.message, next, ...words };
}

/** Puts an inquiry's resources on the server, and records their IDs. */
export class InquiryWriter {
  private readonly parts: DeliverParts;
  private readonly capability: Capability;
  private readonly signal: AbortSignal;

  constructor(parts: DeliverParts, capability: Capability, signal: AbortSignal) {
    this.parts = parts;
    this.capability = capability;
    this.signal = signal;
  }

  /** Does nothing if the chart has a later revision: a postponed one must not replace it. */
  async write(
    { revision }: Answer,
    about: About,
    work: (writing: Writing) => Promise<void>,
  ): Promise<void> {
    const { journal } = this.parts.env;
    const key = `inquiry:${about.identifier.value}`;
    const text = await journal.read(key);
    const note: Note = text === null ? { revision: 0, ids: {} } : (JSON.parse(text) as Note);
    if (note.revision > revision) return;
    // Records the intent: after a crash from here on, a lookup finds the resources.
    if (text === null) await journal.write(key, JSON.stringify(note));
    try {
      await work({
        about,
        note,
        was_begun: text !== null,
        is_newer: revision > Math.max(note.revision, 1),
      });
      note.revision = revision;
    } finally {
      await journal.write(key, JSON.stringify(note));
    }
  }

  /** Puts a resource with the identifier of the inquiry. Keeps visits that it already names. */
  async put(resource: { resourceType: string }, writing: Writing): Promise<Placed> {
    const { system, value } = writing.about.identifier;
    return await this.place(writing, resource, {
      isOurs: (found) =>
        listAt(found, 'identifier').some(
          (one) => textAt(one, 'system') === system && textAt(one, 'value') === value,
        ),
      look: { parameter: 'identifier', value: `${system}|${value}`, is_condition: true },
      merge: (found, wanted) => keepVisits(found, wanted, this.parts.client.base_url),
    });
  }

  async place(
    { note, was_begun, is_newer }: Writing,
    resource: { resourceType: string },
    slot: Pick<Slot, 'isOurs' | 'look' | 'merge' | 'is_fresh'>,
  ): Promise<Placed> {
    const { resourceType } = resource;
    if (this.capability.interaction(resourceType, 'create') === false) {
      const source = '(it says so in its CapabilityStatement)';
      const what = `The FHIR server takes no ${resourceType} ${source}.`;
      throw new FhirError('unsupported', { what });
    }
    const known_id = note.ids[resourceType] ?? null;
    const may_exist = was_begun && known_id === null;
    const wanted = { ...slot, resource: resource as Resource, known_id, may_exist, is_newer };
    const placed = await place({ ...this.parts, capability: this.capability }, wanted, this.signal);
    note.ids[resourceType] = placed.id;
    return placed;
  }

  /**
   * Writes the resource type that the server accepts instead of `from`; throws the first refusal if
   * there is none.
   */
  async fallBack(
    writing: Writing,
    from: string,
    candidates: readonly (() => { resourceType: string })[],
    refusal: FhirError,
  ): Promise<void> {
    const { env } = this.parts;
    for (const make of candidates) {
      const resource = make();
      if ((await refusalOf(() => this.put(resource, writing))) !== null) continue;
      env.log('fhir_fallback_used', {
        connector: env.connector_id,
        from,
        to: resource.resourceType,
      });
      return;
    }
    throw refusal;
  }
}

/**
 * The visits of an inquiry arrive one after another, so a resource keeps the visits that it already
 * names.
 */
function keepVisits(found: Resource, wanted: Resource, base_url: string): Resource {
  const join = (
    named: readonly Json[],
    more: readonly Json[],
    referenceIn: (one: Json) => unknown,
  ) => {
    const names = new Set(named.map((one) => nameOfTarget(referenceIn(one), base_url)));
    return [
      ...named,
      ...more.filter((one) => !names.has(nameOfTarget(referenceIn(one), base_url))),
    ];
  };
  switch (wanted.resourceType) {
    case 'CoverageEligibilityRequest': {
      const all = join(
        listAt(found, 'supportingInfo'),
        listAt(wanted, 'supportingInfo'),
        ({ information }) => information,
      );
      return {
        ...wanted,
        supportingInfo: all.map((one, index) => ({ ...one, sequence: index + 1 })),
      };
    }
    case 'DocumentReference': {
      const context = isJson(wanted.context) ? wanted.context : {};
      const related = join(
        listAt(found, 'context', 'related'),
        listAt(wanted, 'context', 'related'),
        (one) => one,
      );
      return { ...wanted, context: { ...context, related } };
    }
    case 'Communication':
      return {
        ...wanted,
        about: join(listAt(found, 'about'), listAt(wanted, 'about'), (one) => one),
      };
    default:
      return wanted;
  }
}

/**
 * Returns the server's refusal; null: it worked. Throws if the server is unavailable, which is not
 * a refusal.
 */
export async function refusalOf(work: () => Promise<unknown>): Promise<FhirError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (
      error instanceof FhirError &&
      !isPassing(error) &&
      error.kind !== 'unauthorized' &&
      error.kind !== 'conflict'
    )
      return error;
    throw error;
  }
}
