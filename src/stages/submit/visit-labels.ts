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
import { type SubmitDeps, serviceNow } from './deps.ts';
import { untoldLoss } from './earlier-comparison.ts';
import { logUnqueried, noteUnqueried } from './label-failures.ts';
import { queryLabel } from './label-query.ts';
import { isLoginRejected, UNREAD_RETRY_MS } from './unread-lists.ts';

/**
 * How long calls wait for the label of another visit that fails although others do not, and once
 * one was given up, so that they do not wait for one after another (G7).
 */
const LABEL_WAIT_MS = 10 * MINUTE_MS;
const NEXT_LABEL_WAIT_MS = MINUTE_MS;
/** Lookups get their turn between so many queries. */
const LABELS_PER_STEP = 50;

/** By label: whether eligd has queried it, or gave up, or since when the query fails. */
const ASKED = z.union([z.literal(['queried', 'given_up']), z.number()]);
type Asked = Map<string, z.infer<typeof ASKED>>;

/** `loss`: the time of the loss for which the labels were queried. */
const KEPT = z.object({ loss: z.number(), labels: z.array(z.tuple([z.string(), ASKED])) });

const nameOf = (specialty: Specialty) => `visits_asked:${specialty}`;

export type LabelOptions = { specialty: Specialty; external_id_template: string };
export type CheckOptions = LabelOptions & { signal: AbortSignal };

/**
 * Queries the labels of coming visits that were not queried since the last loss. Returns null when
 * calls may follow; otherwise when to go on, or `all` and `stopped` as `queryLabel` does. `row`:
 * the next call, which waits for them, as all others do.
 */
export async function queryVisits(
  deps: SubmitDeps,
  row: InquiryRow,
  options: CheckOptions,
): Promise<{ due_at: number } | 'all' | 'stopped' | null> {
  const { store } = deps;
  const { specialty, external_id_template } = options;
  const loss = await untoldLoss(deps, specialty);
  if (loss === null) return null;
  const asked = await askedSince(deps, specialty, loss.updated_at);
  const visits = await comingVisits(store.db, serviceNow(deps));
  const left = visits
    .map(({ connector, source_id }) => externalId(external_id_template, connector, source_id))
    .filter((label) => typeof asked.get(label) !== 'string')
    .toSorted((a, b) => Number(asked.get(a) ?? 0) - Number(asked.get(b) ?? 0));
  if (left.length === 0) return null;
  const queried = [...asked].filter(([, each]) => each === 'queried');
  const [witness] = queried[Math.floor(deps.env.random() * queried.length)] ?? [row.external_id];
  const pass = await queryInTurn(deps, left.slice(0, LABELS_PER_STEP), { ...options, witness });
  if (pass === 'stopped') return pass;
  for (const label of pass === 'all' ? left : pass.queried) asked.set(label, 'queried');
  if (pass !== 'all' && pass.is_answered) {
    const are_given_up = countFailures(asked, pass.failed, serviceNow(deps));
    if (are_given_up && pass.failure !== null) logUnqueried(deps, specialty, pass.failure);
  }
  const now = deps.env.clock.now();
  const value = JSON.stringify({ loss: loss.updated_at, labels: [...asked] });
  await store.write((tx) => writeLearned(tx, nameOf(specialty), value, now));
  if (pass === 'all') return 'all';
  if (left.every((label) => typeof asked.get(label) === 'string')) return null;
  if (pass.failure !== null && !pass.is_answered)
    return { due_at: await noteUnqueried(deps, row, pass.failure) };
  const are_all_tried = left.every((label) => asked.has(label));
  return { due_at: are_all_tried ? now + UNREAD_RETRY_MS : now };
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

/** `is_answered`: the service answers queries by label, so only those that failed do. */
type Pass = {
  queried: string[];
  failed: string[];
  failure: ServiceFailure | null;
  is_answered: boolean;
};

/**
 * Queries the labels, until the service answers none or rejects our login. After two failures,
 * `witness`, a label that could be queried before, shows whether it is the fault of their labels.
 */
async function queryInTurn(
  deps: SubmitDeps,
  labels: readonly string[],
  { specialty, signal, witness }: CheckOptions & { witness: string },
): Promise<Pass | 'all' | 'stopped'> {
  const pass: Pass = { queried: [], failed: [], failure: null, is_answered: false };
  const query = (label: string) => queryLabel(deps, specialty, label, signal);
  let unexplained = 0;
  for (const label of labels) {
    const result = await query(label);
    if (signal.aborted) return pass;
    if (result === 'all' || result === 'stopped') return result;
    if (result === null) {
      pass.queried.push(label);
      pass.is_answered = true;
      continue;
    }
    pass.failed.push(label);
    pass.failure = result;
    unexplained += 1;
    if (isLoginRejected(result)) return { ...pass, is_answered: false };
    if (unexplained < 2 && label !== labels.at(-1)) continue;
    unexplained = 0;
    const shown = await query(witness);
    if (shown === 'all' || shown === 'stopped') return shown;
    pass.is_answered = shown === null;
    if (!pass.is_answered) return pass;
  }
  return pass;
}

/** Gives up labels that have failed for too long. Returns whether there is one. */
function countFailures(asked: Asked, failed: readonly string[], now: number): boolean {
  const wait_ms = [...asked.values()].includes('given_up') ? NEXT_LABEL_WAIT_MS : LABEL_WAIT_MS;
  for (const label of failed) {
    // The clock may have been ahead.
    const since = Math.min(Number(asked.get(label) ?? now), now);
    asked.set(label, now - since >= wait_ms ? 'given_up' : since);
  }
  return failed.some((label) => asked.get(label) === 'given_up');
}
