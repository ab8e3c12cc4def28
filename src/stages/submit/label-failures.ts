/** Calls that wait because a query by label, which must come before them, fails (G1, G2, G7). */
import { z } from 'zod';
import { parsed } from '../../domain/damaged.ts';
import { SPECIALTIES, type Specialty } from '../../domain/specialty.ts';
import type { ServiceFailure } from '../../service/api.ts';
import { readLearned, writeLearned } from '../../store/bookkeeping/learned-settings.ts';
import { type DueQuery, dueForSubmission } from '../../store/calls/due-inquiries.ts';
import { type InquiryRow, inquiriesById } from '../../store/calls/inquiries.ts';
import type { Tx } from '../../store/engine/database.ts';
import type { LabelFailures, SubmitDeps, SubmitMemory } from './deps.ts';
import { STOPPED_RETRY_MS } from './outcome.ts';
import {
  failedAgain,
  isLoginRejected,
  reportUnread,
  resolveUnread,
  UNREAD_RETRY_MS,
} from './unread-lists.ts';

/** The calls that wait, for the next process: `once` runs from cron. By inquiry. */
const KEPT = z.array(
  z.tuple([z.number(), z.object({ since: z.number(), retry_at: z.number(), cause: z.string() })]),
);

const nameOf = (specialty: Specialty) => `labels_waiting:${specialty}`;

/** Returns what is known of the specialty's labels. */
export function labelFailures({ failures }: SubmitMemory, specialty: Specialty): LabelFailures {
  const known = failures.labels.get(specialty) ?? {
    waiting: new Map(),
    last_failed: null,
    none_before: 0,
    kept: null,
  };
  failures.labels.set(specialty, known);
  return known;
}

/** Takes over the calls that wait from an earlier process, unless this one has done so. */
export async function recallLabelWaits({ store, memory }: SubmitDeps): Promise<void> {
  for (const specialty of SPECIALTIES) {
    const known = labelFailures(memory, specialty);
    if (known.kept !== null) continue;
    known.kept = (await readLearned(store.db, nameOf(specialty)))?.value ?? '';
    known.waiting = new Map(KEPT.safeParse(parsed(known.kept)).data);
  }
}

/** Statements are cached by their limit, so there must be few of them. */
const LIMITS_APART = 64;

/**
 * Returns due inquiries, nearest visit first. Those whose label failed come after all others, the
 * one that failed longest ago first: each run may query only two of them (G7).
 */
export async function dueInTurn(
  tx: Tx,
  memory: SubmitMemory,
  { limit, ...query }: DueQuery,
): Promise<InquiryRow[]> {
  const { waiting } = labelFailures(memory, query.specialty);
  const more = Math.ceil(waiting.size / LIMITS_APART) * LIMITS_APART;
  const due = await dueForSubmission(tx, { ...query, limit: limit + more });
  const turnOf = ({ id }: InquiryRow) => waiting.get(id)?.retry_at ?? 0;
  return due.toSorted((a, b) => turnOf(a) - turnOf(b)).slice(0, limit);
}

/** Returns until when no label is to be queried; null: one may be. */
export function labelsWaitUntil({ none_before }: LabelFailures, now: number): number | null {
  // Later than any wait: the clock was set back.
  return none_before > now && none_before <= now + STOPPED_RETRY_MS ? none_before : null;
}

/**
 * Records that a label of the call could not be queried. No label is queried for a minute after two
 * calls failed in a row, and for longer after a rejected login, which may lock the account. Returns
 * when to query those of this call again.
 */
export async function noteUnqueried(
  deps: SubmitDeps,
  { id, specialty }: InquiryRow,
  failure: ServiceFailure,
): Promise<number> {
  const known = labelFailures(deps.memory, specialty);
  const now = deps.env.clock.now();
  const { failed, is_told } = failedAgain(failure, known.waiting.get(id), now);
  if (![...known.waiting.values()].some(({ cause }) => cause === failed.cause))
    logUnqueried(deps, specialty, failure);
  known.waiting.set(id, failed);
  const is_second = known.last_failed !== null && known.last_failed !== id;
  known.last_failed = is_second ? null : id;
  if (isLoginRejected(failure)) known.none_before = now + STOPPED_RETRY_MS;
  else if (is_second) known.none_before = now + UNREAD_RETRY_MS;
  await deps.store.write(async (tx) => {
    await keepWaiting(tx, specialty, known, now);
    if (is_told) await reportUnread(tx, { specialty, are_labels: true }, failure, now);
  });
  return failed.retry_at;
}

export function logUnqueried(
  { env }: Pick<SubmitDeps, 'env'>,
  specialty: Specialty,
  failure: ServiceFailure,
): void {
  const http_status = failure.status;
  env.log('label_check_failed', { specialty, failure: failure.class, http_status });
}

/** Records that all labels of the call were queried. */
export function noteQueried(memory: SubmitMemory, { id, specialty }: InquiryRow): void {
  const known = labelFailures(memory, specialty);
  known.waiting.delete(id);
  known.last_failed = null;
}

/**
 * Forgets calls that were sent, are on hold, or are no longer needed. When none is left that waits
 * for a label, the entry on the attention list ends, also that of an earlier process.
 */
export async function endLabelWaits({ store, env, memory }: SubmitDeps): Promise<void> {
  for (const specialty of SPECIALTIES) {
    const known = labelFailures(memory, specialty);
    const rows = await inquiriesById(store.db, [...known.waiting.keys()]);
    const due = rows.filter((row) => row.state === 'planned' && row.hold_reason === null);
    const due_ids = new Set(due.map(({ id }) => id));
    for (const id of known.waiting.keys()) if (!due_ids.has(id)) known.waiting.delete(id);
    if (textOf(known) !== known.kept)
      await store.write((tx) => keepWaiting(tx, specialty, known, env.clock.now()));
  }
}

/** Keeps the calls that wait for the next process. Without any, the entry about them ends. */
async function keepWaiting(
  tx: Tx,
  specialty: Specialty,
  known: LabelFailures,
  now: number,
): Promise<void> {
  const kept = textOf(known);
  await writeLearned(tx, nameOf(specialty), kept, now);
  if (known.waiting.size === 0) await resolveUnread(tx, { specialty, are_labels: true }, now);
  tx.after(() => {
    known.kept = kept;
  });
}

const textOf = ({ waiting }: LabelFailures) => JSON.stringify([...waiting]);
