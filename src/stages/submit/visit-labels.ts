/**
 * After the database was lost, or replaced by an older one, eligd queries the labels of all coming
 * visits while the list may be cut off: a forgotten call has the label of its visit, also if the
 * PMS has given that visit to another patient since (G1).
 */
import { z } from 'zod';
import { parsed } from '../../domain/damaged.ts';
import { externalId } from '../../domain/needs.ts';
import type { Specialty } from '../../domain/specialty.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { ServiceFailure } from '../../service/api.ts';
import { readLearned, writeLearned } from '../../store/bookkeeping/learned-settings.ts';
import type { InquiryRow } from '../../store/calls/inquiries.ts';
import { comingVisits } from '../../store/calls/listed-calls.ts';
import type { SubmitDeps } from './deps.ts';
import { untoldLoss } from './earlier-comparison.ts';
import { noteUnqueried } from './label-failures.ts';
import { queryLabel } from './label-query.ts';
import { isLoginRejected } from './unread-lists.ts';

/** How long calls wait for the label of another visit that fails although others do not (G7). */
const LABEL_WAIT_MS = 10 * MINUTE_MS;
/** Lookups get their turn between so many queries. */
const LABELS_PER_STEP = 50;

/** By label: null if eligd has queried it, or gave up; otherwise since when the query fails. */
type Asked = Map<string, number | null>;

/** `loss`: the time of the loss for which the labels were queried. */
const KEPT = z.object({
  loss: z.number(),
  labels: z.array(z.tuple([z.string(), z.number().nullable()])),
});

const nameOf = (specialty: Specialty) => `visits_asked:${specialty}`;

type Options = { specialty: Specialty; external_id_template: string; signal: AbortSignal };

/**
 * Queries the labels of coming visits that were not queried since the last loss. Returns null when
 * calls may follow; otherwise when to go on. `row`: the next call, which waits for them, as all
 * others do.
 */
export async function queryVisits(
  deps: SubmitDeps,
  row: InquiryRow,
  options: Options,
): Promise<{ due_at: number } | 'stopped' | null> {
  const { memory, store, env } = deps;
  const { specialty, external_id_template, signal } = options;
  if (memory.reconciled.get(specialty)?.hides_calls !== true) return null;
  const loss = await untoldLoss(deps, specialty);
  if (loss === null) return null;
  const asked = await askedSince(deps, specialty, loss.updated_at);
  const visits = await comingVisits(store.db, env.clock.now());
  const left = visits
    .map(({ connector, source_id }) => externalId(external_id_template, connector, source_id))
    .filter((label) => asked.get(label) !== null)
    .toSorted((a, b) => (asked.get(a) ?? 0) - (asked.get(b) ?? 0));
  if (left.length === 0) return null;
  const pass = await queryInTurn(deps, left.slice(0, LABELS_PER_STEP), options);
  if (pass === 'stopped') return 'stopped';
  for (const label of pass === 'all' ? left : pass.queried) asked.set(label, null);
  if (pass !== 'all' && (await isListAnswered(deps, row, pass, signal)))
    countFailures(asked, pass.failed, env.clock.now());
  const value = JSON.stringify({ loss: loss.updated_at, labels: [...asked] });
  await store.write((tx) => writeLearned(tx, nameOf(specialty), value, env.clock.now()));
  if (left.every((label) => asked.get(label) === null)) return null;
  const failure = pass === 'all' ? null : pass.failure;
  return { due_at: failure === null ? env.clock.now() : await noteUnqueried(deps, row, failure) };
}

/** Returns whether the service answers queries by label, so that only those that failed do. */
async function isListAnswered(
  deps: SubmitDeps,
  { specialty, external_id }: InquiryRow,
  { queried, failure }: Pass,
  signal: AbortSignal,
): Promise<boolean> {
  if (failure === null || queried.length > 0) return true;
  if (isLoginRejected(failure)) return false;
  return (await queryLabel(deps, specialty, external_id, signal)) === null;
}

async function askedSince(
  { store }: SubmitDeps,
  specialty: Specialty,
  loss: number,
): Promise<Asked> {
  const stored = await readLearned(store.db, nameOf(specialty));
  const { data } = KEPT.safeParse(parsed(stored?.value ?? ''));
  return new Map(data?.loss === loss ? data.labels : []);
}

type Pass = { queried: string[]; failed: string[]; failure: ServiceFailure | null };

/** Queries the labels until two fail in a row, or the service rejects our login. */
async function queryInTurn(
  deps: SubmitDeps,
  labels: readonly string[],
  { specialty, signal }: Options,
): Promise<Pass | 'all' | 'stopped'> {
  const pass: Pass = { queried: [], failed: [], failure: null };
  let in_a_row = 0;
  for (const label of labels) {
    const result = await queryLabel(deps, specialty, label, signal);
    if (signal.aborted || result === 'stopped') return 'stopped';
    if (result === 'all') return 'all';
    in_a_row = result === null ? 0 : in_a_row + 1;
    pass[result === null ? 'queried' : 'failed'].push(label);
    pass.failure = result ?? pass.failure;
    if (in_a_row === 2 || (result !== null && isLoginRejected(result))) break;
  }
  return pass;
}

/** Gives up labels that have failed for too long. */
function countFailures(asked: Asked, failed: readonly string[], now: number): void {
  for (const label of failed) {
    const since = Math.min(asked.get(label) ?? now, now);
    asked.set(label, now - since >= LABEL_WAIT_MS ? null : since);
  }
}
