/**
 * Polls the service about open inquiries, commits each answer exactly as received, and then makes a
 * record of it. The two steps are separate on purpose: eligd can normalize all raw answers again
 * (docs/design.md "Raw answers are kept").
 */

import { inquiryId } from '../../../domain/ids.ts';
import { finalOutcome } from '../../../domain/outcome.ts';
import type { Specialty } from '../../../domain/specialty.ts';
import { DAY_MS, earlier, MINUTE_MS } from '../../../domain/time.ts';
import type { CallOptions, Inquiry } from '../../../service/api.ts';
import { isWebhookDriven } from '../../../store/answers/webhook-watch.ts';
import { dueForPolling, nextPollDue, putOff } from '../../../store/calls/due-inquiries.ts';
import {
  type InquiryRow,
  openAfter,
  openServiceIds,
  updateInquiry,
} from '../../../store/calls/inquiries.ts';
import type { StepResult } from '../../loop.ts';
import { conclude } from '../conclude/index.ts';
import { RECHECK_BEFORE_VISIT_MS } from '../conclude/take-answer.ts';
import type { CollectDeps } from '../deps.ts';
import { verifyAll, verifyDue } from '../verify/index.ts';
import { ALL_DUE, verificationsDue } from '../verify/put-off.ts';
import { all, isGivenBack, oneByOne, withPatience } from './ask.ts';
import { probes, waitsForService } from './away.ts';
import { settle } from './reply.ts';
import { checkForLostEvents, sampleToAsk } from './webhook-watch.ts';

const INQUIRIES_PER_STEP = 50;
const OPEN_PER_STEP = 500;
/** From this many open inquiries of a specialty, reading its list is cheaper than single reads. */
const LIST_WORTHWHILE = 10;
/** After this long, polls that still wait for their turn make room for more urgent ones. */
const PATIENCE_MS = 15_000;
/**
 * How far the regular poll of an inquiry is postponed while another request about it is pending.
 */
const ASKED_ALREADY_MS = 2 * MINUTE_MS;

/**
 * Polls due inquiries, those with visits within a day first. Returns how many, and when the next
 * one is due.
 */
export async function collectStep(deps: CollectDeps): Promise<StepResult> {
  const check_again_at = await checkForLostEvents(deps);
  const probe_at = waitsForService(deps);
  if (probe_at !== null) return { did: 0, next_at: earlier(check_again_at, probe_at) };
  const waiting = await withoutRechecks(deps, await takeDue(deps));
  const sample = await sampleToAsk(deps);
  const due = probes(deps, sample === null ? waiting : [...waiting, sample]);
  await withPatience(deps.env, PATIENCE_MS, (signal) => ask(deps, due, { signal }));
  const { after } = verificationsDue(deps);
  const again_at = after === ALL_DUE ? null : (deps.memory.put_off?.until ?? null);
  const next_at = earlier(again_at, await nextPollDue(deps.store.db, after));
  return { did: due.length, next_at: earlier(check_again_at, next_at) };
}

/**
 * Returns due rows. Leaves out and postpones rows that a webhook event has caused eligd to poll.
 */
async function takeDue({ store, env, memory }: CollectDeps): Promise<InquiryRow[]> {
  const now = env.clock.now();
  const first = await dueForPolling(store.db, now, INQUIRIES_PER_STEP);
  const visits = { visits_from: now, visits_until: now + DAY_MS };
  const soon =
    first.length === 0 ? [] : await dueForPolling(store.db, now, INQUIRIES_PER_STEP, visits);
  const due = soon.length > 0 ? soon : first;
  const asked = due.filter(({ id }) => memory.asking.has(id));
  if (asked.length === 0) return due;
  await store.write(async (tx) => {
    for (const row of asked) await putOff(tx, row, now + ASKED_ALREADY_MS, now);
  });
  return due.filter((row) => !asked.includes(row));
}

/**
 * Returns the due rows. Drops rechecks before the visit when webhook events arrive: the service
 * then sends an event for a revision, too.
 */
async function withoutRechecks(
  { store, env }: CollectDeps,
  due: readonly InquiryRow[],
): Promise<InquiryRow[]> {
  const is_recheck = ({ state, poll_at, visit_at }: InquiryRow) =>
    state === 'answered' && poll_at === visit_at - RECHECK_BEFORE_VISIT_MS;
  const rechecks = due.filter(is_recheck);
  if (rechecks.length === 0 || !(await isWebhookDriven(store.db))) return [...due];
  const now = env.clock.now();
  await store.write(async (tx) => {
    for (const { id } of rechecks) await updateInquiry(tx, id, { poll_at: null }, now);
  });
  return due.filter((row) => !is_recheck(row));
}

/**
 * `priority`: by default, decided by how near the visit is. `signal`: aborts requests that still
 * wait for their turn.
 */
type Asking = Pick<CallOptions, 'priority' | 'signal'>;

/** Polls each of `rows` by its ID. */
export async function ask(
  deps: CollectDeps,
  rows: readonly InquiryRow[],
  how: Asking = {},
): Promise<void> {
  await all(rows.map((row) => poll(deps, row, how)));
  await finish(deps);
}

/**
 * Requests due verifications, then makes records. The two loops of this stage take turns, so that
 * neither sees the other's unfinished work.
 */
export async function finish(deps: CollectDeps): Promise<void> {
  await deps.memory.turns.add(async () => {
    await verifyDue(deps);
    await conclude(deps);
  });
}

/**
 * Polls every open inquiry regardless of its schedule, and answered ones that may have been
 * revised. If many are open, one request reads the service's list instead. Inquiries that the list
 * omits, or shows without results, are still read by ID.
 */
export async function askAboutAll(deps: CollectDeps, signal: AbortSignal): Promise<void> {
  // First, answers that a dead process committed without making a record, and call checks that have
  // arrived since.
  await finish(deps);
  await recheckDue(deps, signal);
  const lists = new Map<Specialty, ReadonlyMap<string, Inquiry>>();
  for (let after = 0; !signal.aborted; ) {
    const rows = await openAfter(deps.store.db, after, OPEN_PER_STEP);
    const last = rows.at(-1);
    if (last === undefined || waitsForService(deps) !== null) return;
    after = last.id;
    for (const specialty of new Set(rows.map((row) => row.specialty))) {
      const same = rows.filter((row) => row.specialty === specialty);
      const listed =
        lists.get(specialty) ??
        (same.length < LIST_WORTHWHILE ? new Map() : await openOfList(deps, specialty));
      lists.set(specialty, listed);
      await all(same.map((row) => pollOrTake(deps, row, listed)));
    }
    await finish(deps);
  }
}

/**
 * Requests all due call checks and makes records of them. Returns how many were due. `once` runs
 * this after it has written the answers, because the rate limit can make it slow.
 */
export async function askForAllChecks(deps: CollectDeps, signal: AbortSignal): Promise<number> {
  return await deps.memory.turns.add(async () => {
    const due = await verifyAll(deps, signal);
    await conclude(deps);
    return due;
  });
}

/**
 * Polls all due answered inquiries. The loop ends, because each poll postpones the next one or
 * clears it.
 */
async function recheckDue(deps: CollectDeps, signal: AbortSignal): Promise<void> {
  const { store, env } = deps;
  while (!signal.aborted) {
    const due = await dueForPolling(store.db, env.clock.now(), INQUIRIES_PER_STEP, {
      states: ['answered'],
    });
    if (due.length === 0) return;
    await ask(deps, await withoutRechecks(deps, due));
  }
}

/** Returns the complete read forms of open inquiries, as many as the list can carry. */
async function openOfList(
  { client, store }: CollectDeps,
  specialty: Specialty,
): Promise<ReadonlyMap<string, Inquiry>> {
  const open = await openServiceIds(store.db, specialty);
  const listed = await client.list(specialty, {}, { keep: (id) => open.has(id) });
  if (!listed.ok) return new Map();
  return new Map(
    listed.value.inquiries.flatMap(({ id, full }) => (full === null ? [] : [[id, full] as const])),
  );
}

/** Takes the inquiry from the list if its read form is complete there; otherwise polls it. */
async function pollOrTake(
  deps: CollectDeps,
  row: InquiryRow,
  listed: ReadonlyMap<string, Inquiry>,
): Promise<void> {
  const inquiry = listed.get(row.service_id ?? '');
  if (
    inquiry === undefined ||
    (finalOutcome(inquiry.status) === 'successful' && inquiry.results === null)
  )
    await poll(deps, row);
  else await settle(deps, row, { ok: true, value: inquiry });
}

/**
 * Polls one inquiry. A request that waits too long for its turn is aborted, and the inquiry stays
 * due.
 */
async function poll(deps: CollectDeps, row: InquiryRow, how: Asking = {}): Promise<void> {
  const { service_id } = row;
  if (service_id === null) return;
  await oneByOne(deps.memory, row.id, async () => {
    const priority = isUrgent(deps, row) ? 'urgent' : 'routine';
    const result = await deps.client.read(row.specialty, inquiryId(service_id), {
      priority,
      ...how,
    });
    if (!isGivenBack(result)) await settle(deps, row, result);
    deps.memory.reported.delete(row.id);
  });
}

function isUrgent({ env }: CollectDeps, row: InquiryRow): boolean {
  const left_ms = row.visit_at - env.clock.now();
  return left_ms >= 0 && left_ms < DAY_MS;
}
