/**
 * Writes the attention list as open Tasks (or Communications) on the server. An open entry is one
 * resource; when it leaves the list, it is closed, not deleted, so that the chart keeps the
 * history.
 */
import { createHash } from 'node:crypto';
import type { Communication, Reference, Task } from '@medplum/fhirtypes';
import type { AttentionEntry } from '../../contract.ts';
import type { FhirConfig } from '../config.ts';
import { isJson, listAt, type Resource, textAt } from '../element.ts';
import type { FhirEnv } from '../events.ts';
import { targetType } from '../read/references.ts';
import type { Capability } from '../server/capability.ts';
import type { FhirClient } from '../server/client.ts';
import { concernsAll, FhirError, unlessRefused } from '../server/failure.ts';
import { place, type Slot } from './place.ts';
import { refusalOf } from './writer.ts';

type Parts = { client: FhirClient; config: FhirConfig; env: FhirEnv };
type Kind = 'Task' | 'Communication';
/**
 * By the entry's key: the server's resource (`id` null: it may exist), and a fingerprint of its
 * text.
 */
type OpenList = { [key: string]: { type: Kind; id: string | null; mark: string } };

const JOURNAL_KEY = 'attention';
const CLOSED = 'completed';
/** Statuses with which people end a Task or Communication; eligd keeps those. */
const ENDED = new Set([
  CLOSED,
  'cancelled',
  'rejected',
  'failed',
  'stopped',
  'not-done',
  'entered-in-error',
]);

type Publishing = {
  open: OpenList;
  kinds: readonly Kind[];
  capability: Capability;
  signal: AbortSignal;
};

export async function publishAttention(
  parts: Parts,
  entries: readonly AttentionEntry[],
  signal: AbortSignal,
): Promise<void> {
  const { client, config, env } = parts;
  if (config.attention === 'none') return;
  signal.throwIfAborted();
  const capability = await client.capability(signal);
  const text = await env.journal.read(JOURNAL_KEY);
  const open: OpenList = text === null ? {} : (JSON.parse(text) as OpenList);
  const publishing: Publishing = {
    open,
    kinds: kindsFor(config.attention, capability),
    capability,
    signal,
  };
  const wanted = new Map(keyed(entries));
  const failures: FhirError[] = [];
  // A line that the server refuses does not stop the others (G7).
  const guarded = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof FhirError) || concernsAll(error)) throw error;
      failures.push(error);
    }
  };
  try {
    for (const [key, entry] of wanted) await guarded(() => write(parts, publishing, key, entry));
    for (const [key, line] of Object.entries(open)) {
      if (wanted.has(key)) continue;
      await guarded(async () => {
        if (line.id !== null) await close(parts, key, { type: line.type, id: line.id }, signal);
        delete open[key];
      });
    }
  } finally {
    await env.journal.write(JOURNAL_KEY, JSON.stringify(open));
  }
  if (failures[0] !== undefined) throw failures[0];
}

/**
 * Writes a line if its text is new. An existing line keeps its resource type; a new one may be of
 * any type that the server accepts.
 */
async function write(
  parts: Parts,
  { open, kinds, capability, signal }: Publishing,
  key: string,
  entry: AttentionEntry,
) {
  const { client, env } = parts;
  const held = open[key];
  const mark = hash(`${entry.what}\n${entry.next}`);
  if (held?.mark === mark) return;
  const subject = await subjectOf(client, entry, signal);
  const writeAs = async (type: Kind) => {
    const resource = type === 'Task' ? task(entry, subject) : communication(entry, subject);
    const known_id = held?.id ?? null;
    // Records the intent: after a lost reply, a lookup finds the resource.
    open[key] = { type, id: known_id, mark: '' };
    const line: Line = {
      key,
      resource: resource as unknown as Resource,
      known_id,
      may_exist: held?.id === null,
    };
    open[key] = { type, id: await put(parts, capability, line, signal), mark };
  };
  let refusal: FhirError | null = null;
  for (const type of held === undefined ? kinds : [held.type]) {
    const refused = await refusalOf(() => writeAs(type));
    if (refused === null) {
      if (refusal !== null)
        env.log('fhir_fallback_used', {
          connector: env.connector_id,
          from: kinds[0] ?? '',
          to: type,
        });
      return;
    }
    refusal ??= refused;
  }
  if (held === undefined) delete open[key];
  if (refusal !== null) throw refusal;
}

function kindsFor(attention: 'task' | 'communication', capability: Capability): Kind[] {
  const kinds: Kind[] =
    attention === 'task' ? ['Task', 'Communication'] : ['Communication', 'Task'];
  const taken = kinds.filter((type) => capability.interaction(type, 'create') !== false);
  if (taken.length > 0) return taken;
  throw new FhirError('unsupported', {
    what:
      'The FHIR server takes neither Task nor Communication, so the attention list is not ' +
      'written there.',
  });
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** Entries about the same subject for the same reason are numbered in their order. */
function keyed(entries: readonly AttentionEntry[]): [string, AttentionEntry][] {
  const counts = new Map<string, number>();
  return entries.map((entry) => {
    const id = entry.claim_id ?? entry.source_id;
    const about = JSON.stringify([
      entry.source_id,
      entry.claim_id,
      entry.reason,
      id === null ? entry.what : '',
    ]);
    const count = (counts.get(about) ?? 0) + 1;
    counts.set(about, count);
    return [hash(`${about}${count}`), entry];
  });
}

type Subject = { about: Reference<never>; patient: Reference<never> | null };

/** Returns the appointment or claim, and the patient whose chart gets the line. */
async function subjectOf(
  client: FhirClient,
  { source_id, claim_id }: AttentionEntry,
  signal: AbortSignal,
): Promise<Subject | null> {
  const id = claim_id ?? source_id;
  if (id === null) return null;
  const type = claim_id === undefined ? 'Appointment' : 'Claim';
  const about: Reference<never> = { reference: `${type}/${id}` };
  const found = await unlessRefused(() => client.read(type, id, signal));
  const people =
    found === null
      ? []
      : [found.patient, ...listAt(found, 'participant').map(({ actor }) => actor)];
  const patient = people.find((person) => targetType(person, client.base_url) === 'Patient');
  return { about, patient: isJson(patient) ? { reference: textAt(patient, 'reference') } : null };
}

function task(entry: AttentionEntry, subject: Subject | null): Task {
  return {
    resourceType: 'Task',
    status: 'requested',
    intent: 'order',
    code: { text: 'Insurance eligibility needs you' },
    description: `${entry.what} ${entry.next}`,
    ...(subject === null ? {} : { focus: subject.about }),
    ...(subject?.patient ? { for: subject.patient } : {}),
    authoredOn: entry.since,
    reasonCode: { text: entry.reason },
  };
}

function communication(entry: AttentionEntry, subject: Subject | null): Communication {
  return {
    resourceType: 'Communication',
    status: 'in-progress',
    category: [{ text: 'Insurance eligibility needs you' }],
    ...(subject?.patient
      ? { subject: subject.patient as NonNullable<Communication['subject']> }
      : {}),
    ...(subject === null ? {} : { about: [subject.about] }),
    sent: entry.since,
    reasonCode: [{ text: entry.reason }],
    payload: [{ contentString: `${entry.what} ${entry.next}` }],
  };
}

type Line = { key: string; resource: Resource; known_id: string | null; may_exist: boolean };

async function put(
  parts: Parts,
  capability: Capability,
  { key, resource, known_id, may_exist }: Line,
  signal: AbortSignal,
): Promise<string> {
  const system = `${parts.config.identifier_base}:attention`;
  const slot: Slot = {
    resource: { ...resource, identifier: [{ system, value: key }] },
    isOurs: isOurs(system, key),
    look: { parameter: 'identifier', value: `${system}|${key}`, is_condition: true },
    known_id,
    may_exist,
    is_newer: false,
    merge: (found, wanted) => keepWork(found, wanted, known_id !== null),
  };
  return (await place({ ...parts, capability }, slot, signal)).id;
}

/**
 * Keeps the users' changes to an open line: status, owner, and notes. A line that returns is opened
 * again.
 */
function keepWork(found: Resource, wanted: Resource, was_open: boolean): Resource {
  const { description, payload, status } = wanted;
  return {
    ...found,
    ...(description === undefined ? {} : { description }),
    ...(payload === undefined ? {} : { payload }),
    ...(was_open ? {} : { status }),
  };
}

const isOurs = (system: string, key: string) => (found: Resource) =>
  listAt(found, 'identifier').some(
    (one) => textAt(one, 'system') === system && textAt(one, 'value') === key,
  );

async function close(
  { client, config }: Parts,
  key: string,
  { type, id }: { type: Kind; id: string },
  signal: AbortSignal,
): Promise<void> {
  try {
    const found = await client.read(type, id, signal);
    if (!isOurs(`${config.identifier_base}:attention`, key)(found)) return;
    if (ENDED.has(textAt(found, 'status'))) return;
    await client.update(
      { ...found, id, status: CLOSED },
      textAt(found, 'meta', 'versionId') || null,
      signal,
    );
  } catch (error) {
    // Someone deleted it, which also closes it.
    if (!(error instanceof FhirError) || error.kind !== 'absent') throw error;
  }
}
