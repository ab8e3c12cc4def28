/**
 * Asks the service about open inquiries, commits each answer as it came, and then makes it a
 * record. The two are apart on purpose: normalizing can be run again over all raw answers
 * (docs/design.md "Raw answers are kept").
 */

import { backoffMs } from '../../../domain/backoff.ts';
import { inquiryId } from '../../../domain/ids.ts';
import { readDraft } from '../../../domain/inquiry.ts';
import { finalOutcome } from '../../../domain/outcome.ts';
import { nextAskForAnnounced, nextPollAt } from '../../../domain/polling.ts';
import type { Specialty } from '../../../domain/specialty.ts';
import { DAY_MS, earlier, HOUR_MS, MINUTE_MS } from '../../../domain/time.ts';
import type { CallOptions, Inquiry, Result, ServiceFailure } from '../../../service/api.ts';
import { answerHash } from '../../../store/answers/answers.ts';
import { isTold } from '../../../store/answers/webhook-watch.ts';
import {
  dueForPolling,
  type InquiryRow,
  inquiryById,
  moveInquiries,
  nextPollDue,
  openAfter,
  putOff,
  sameReply,
  updateInquiry,
} from '../../../store/calls/inquiries.ts';
import { disown } from '../../../store/calls/ledger.ts';
import type { Tx } from '../../../store/engine/database.ts';
import { logStageFailure, type StepResult } from '../../loop.ts';
import { conclude } from '../conclude/index.ts';
import { isOwn, RECHECK_BEFORE_VISIT_MS, takeAnswer } from '../conclude/take-answer.ts';
import type { CollectDeps } from '../deps.ts';
import { compareWithReport } from '../inbox/event-answer.ts';
import { verifyAll, verifyDue } from '../verify/index.ts';
import { all, countUnusable, isGivenBack, oneByOne, withPatience } from './ask.ts';
import { attend, attendOverdue, forNextVisit, overdueSince } from './overdue.ts';
import { judgeReports, noteHeard, pollingFacts, sampleToAsk } from './webhook-watch.ts';

const INQUIRIES_PER_STEP = 50;
const OPEN_PER_STEP = 500;
/** From so many open inquiries of a specialty on, its list is the cheaper question. */
const LIST_WORTHWHILE = 10;
const FAILURE_LIMITS = { first_ms: MINUTE_MS, max_ms: 30 * MINUTE_MS };
/**
 * An id that the service had given is unknown: looked at so often before a person is told
 * (docs/service.md "Unknown ID").
 */
const UNKNOWN_LOOKS = 3;
/** SUCCESS without results is seen right after completion; believed after this. */
const HOLLOW_BELIEVED_MS = 2 * HOUR_MS;
/**
 * After so long the questions that still wait for their turn make room for what has become more
 * urgent meanwhile.
 */
const PATIENCE_MS = 15_000;
/**
 * So long after an inquiry would be given up, the question about news of it is repeated when its
 * reply was lost.
 */
const NEWS_PATIENCE_MS = 2 * DAY_MS;
/** While an inquiry is asked about already, its schedule does without it. */
const ASKED_ALREADY_MS = 2 * MINUTE_MS;

/** Asks about what is due, and first about visits within a day. */
export async function collectStep(deps: CollectDeps): Promise<StepResult> {
  const judge_at = await judgeReports(deps);
  const due = await withoutRechecks(deps, await takeDue(deps));
  const sample = await sampleToAsk(deps);
  if (sample !== null) due.push(sample);
  await withPatience(deps.env, PATIENCE_MS, (signal) => ask(deps, due, { signal }));
  return { did: due.length, next_at: earlier(judge_at, await nextPollDue(deps.store.db)) };
}

/** What is being asked about already, because a report told of it, is left out and put off. */
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
    for (const { id, poll_at } of asked) await putOff(tx, id, poll_at, now + ASKED_ALREADY_MS, now);
  });
  return due.filter((row) => !asked.includes(row));
}

/** A service that tells by itself tells of a revision, too. */
async function withoutRechecks(
  { store, env }: CollectDeps,
  due: readonly InquiryRow[],
): Promise<InquiryRow[]> {
  const is_recheck = ({ state, poll_at, visit_at }: InquiryRow) =>
    state === 'answered' && poll_at === visit_at - RECHECK_BEFORE_VISIT_MS;
  const rechecks = due.filter(is_recheck);
  if (rechecks.length === 0 || !(await isTold(store.db))) return [...due];
  const now = env.clock.now();
  await store.write(async (tx) => {
    for (const { id } of rechecks) await updateInquiry(tx, id, { poll_at: null }, now);
  });
  return due.filter((row) => !is_recheck(row));
}

/**
 * `priority`: left out, it is decided by how near the visit is. `signal`: until when a question
 * waits for its turn.
 */
type Asking = Pick<CallOptions, 'priority' | 'signal'>;

/** Asks about each of `rows` by its id. */
export async function ask(
  deps: CollectDeps,
  rows: readonly InquiryRow[],
  how: Asking = {},
): Promise<void> {
  await all(rows.map((row) => poll(deps, row, how)));
  await finish(deps);
}

/**
 * Verifications that are due, then records; the two loops of this stage take turns, so that neither
 * sees half of it.
 */
export async function finish(deps: CollectDeps): Promise<void> {
  await deps.memory.turns.add(async () => {
    await verifyDue(deps);
    await conclude(deps);
  });
}

/**
 * Asks about every open inquiry, whatever its schedule, and again about answered ones that may have
 * been revised. Where many are open, the service's list is read instead of each by its id: one
 * request for all. What the list does not show, or shows without its results, is read all the same.
 */
export async function askAboutAll(deps: CollectDeps, signal: AbortSignal): Promise<void> {
  // What a process that died had committed and not made a record of, and checks of calls that have
  // come since.
  await finish(deps);
  await recheckDue(deps, signal);
  const lists = new Map<Specialty, ReadonlyMap<string, Inquiry>>();
  for (let after = 0; !signal.aborted; ) {
    const rows = await openAfter(deps.store.db, after, OPEN_PER_STEP);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
    for (const specialty of new Set(rows.map((row) => row.specialty))) {
      const same = rows.filter((row) => row.specialty === specialty);
      const listed =
        lists.get(specialty) ??
        (same.length < LIST_WORTHWHILE ? new Map() : await listById(deps, specialty));
      lists.set(specialty, listed);
      await all(same.map((row) => pollOrTake(deps, row, listed)));
    }
    await finish(deps);
  }
}

/**
 * Asks for the checks of all calls that are due, and makes records of them. Returns how many were
 * due. For `once`, when answers are written: they do not wait for it, since the rate limit can make
 * it long.
 */
export async function askForAllChecks(deps: CollectDeps, signal: AbortSignal): Promise<number> {
  return await deps.memory.turns.add(async () => {
    const due = await verifyAll(deps, signal);
    await conclude(deps);
    return due;
  });
}

/** Each one that is asked about falls due later, or never again. */
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

async function listById(
  { client }: CollectDeps,
  specialty: Specialty,
): Promise<ReadonlyMap<string, Inquiry>> {
  const listed = await client.list(specialty, {});
  return new Map(listed.ok ? listed.value.inquiries.map((inquiry) => [inquiry.id, inquiry]) : []);
}

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

/** What waits for its turn for too long is given back, and stays due. */
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

/**
 * Commits what was said about one inquiry. One that cannot be committed is put off and stops
 * neither stage nor others (G7).
 */
async function settle(
  deps: CollectDeps,
  row: InquiryRow,
  result: Result<Inquiry | null>,
): Promise<void> {
  try {
    await settleResult(deps, row, result);
  } catch (error) {
    const { max_ms } = FAILURE_LIMITS;
    logStageFailure(deps.env, 'collect', error, max_ms);
    const now = deps.env.clock.now();
    if (countUnusable(deps.memory, `inquiry ${row.id}`))
      await deps.store.write((tx) => setAside(tx, deps, row, now));
    else await deps.store.write((tx) => askAgain(tx, deps, row, now + max_ms, now));
  }
}

async function settleResult(
  deps: CollectDeps,
  row: InquiryRow,
  result: Result<Inquiry | null>,
): Promise<void> {
  const now = deps.env.clock.now();
  const is_set_aside =
    !result.ok && isUnusable(result.failure) && countUnusable(deps.memory, `inquiry ${row.id}`);
  await deps.store.write(async (tx) => {
    // Another step may have unbound the id meanwhile, because a neighbour of the same reply did not
    // match.
    const current = await inquiryById(tx, row.id);
    if (current === null || current.service_id !== row.service_id) return;
    if (!result.ok) {
      tx.after(() =>
        deps.env.log('poll_failed', {
          inquiry: row.id,
          failure: result.failure.class,
          http_status: 'status' in result.failure ? result.failure.status : null,
        }),
      );
      if (is_set_aside) {
        await setAside(tx, deps, current, now);
        return;
      }
      const wait_ms =
        ('retry_after_ms' in result.failure ? result.failure.retry_after_ms : null) ??
        backoffMs(1, FAILURE_LIMITS, deps.env.random());
      await askAgain(tx, deps, current, now + wait_ms, now);
    } else if (result.value === null) {
      await countUnknown(tx, deps, current, now);
    } else {
      await take(tx, deps, current, result.value, now);
    }
  });
}

function isUrgent({ env }: CollectDeps, row: InquiryRow): boolean {
  const left_ms = row.visit_at - env.clock.now();
  return left_ms >= 0 && left_ms < DAY_MS;
}

/** What was read, when it is the inquiry that the row holds the id of. */
async function take(
  tx: Tx,
  deps: CollectDeps,
  row: InquiryRow,
  inquiry: Inquiry,
  now: number,
): Promise<void> {
  if (!isOwn(row, inquiry)) {
    await doubtIds(tx, deps, row, now);
    return;
  }
  const final = finalOutcome(inquiry.status);
  if (final === null) {
    await stillOpen(tx, deps, row, inquiry, now);
    return;
  }
  if (
    final === 'successful' &&
    inquiry.results === null &&
    (row.hollow_since === null || now - row.hollow_since < HOLLOW_BELIEVED_MS)
  ) {
    await updateInquiry(
      tx,
      row.id,
      {
        is_verified: 1,
        service_status: inquiry.status,
        hollow_since: row.hollow_since ?? now,
        poll_at: now + deps.settings.urgent_poll_interval_ms,
      },
      now,
    );
    return;
  }
  // An event counts as proof that webhooks are reliable once asking confirms what it announced.
  if (row.announced_asks !== null) await noteHeard(tx, deps, true, now);
  await compareWithReport(tx, deps, row, answerHash(inquiry), now);
  await takeAnswer(tx, deps, row, inquiry, now);
}

async function stillOpen(
  tx: Tx,
  deps: CollectDeps,
  known: InquiryRow,
  inquiry: Inquiry,
  now: number,
): Promise<void> {
  const { settings, env } = deps;
  const row = await forNextVisit(tx, known, now);
  const is_given_up = isGivenUp(deps, row, now);
  const overdue_since = overdueSince(row, now, settings.time_zone);
  const facts = { now, random: env.random(), is_told: await isTold(tx), settings };
  const regular_at = nextPollAt(await pollingFacts(tx, { ...row, overdue_since }, facts));
  const announced_at =
    row.announced_asks === null ? null : nextAskForAnnounced(row.announced_asks, now);
  const changes = {
    is_verified: 1,
    service_status: inquiry.status,
    empty_polls: 0,
    hollow_since: null,
    is_unannounced: 1,
    announced_asks: announced_at === null ? null : (row.announced_asks ?? 0) + 1,
    visit_at: row.visit_at,
    overdue_since,
    poll_at: is_given_up ? null : Math.min(regular_at, announced_at ?? regular_at),
  };
  if (row.state === 'answered') {
    await moveInquiries(
      tx,
      [row.id],
      {
        from: 'answered',
        to: 'open',
        reason: 'The service took its answer back and is at work again.',
      },
      { ...changes, charge_cents: null },
      now,
    );
  } else {
    await updateInquiry(tx, row.id, changes, now);
  }
  await attendOverdue(tx, deps, { ...row, overdue_since }, now);
  if (is_given_up) await attendNoAnswer(tx, deps, row, now);
}

/** A reply that is the same when the service is asked again. */
function isUnusable(failure: ServiceFailure): boolean {
  return (
    failure.class === 'ambiguous' && (failure.cause === 'too_large' || failure.cause === 'too_deep')
  );
}

/** Not asked about on schedule any more; the office is told. */
async function setAside(tx: Tx, deps: CollectDeps, row: InquiryRow, now: number): Promise<void> {
  tx.after(() => deps.memory.unusable.delete(`inquiry ${row.id}`));
  await updateInquiry(tx, row.id, { poll_at: null }, now);
  await attend(tx, row, now, {
    reason: 'answer_unusable',
    what:
      'The calling service sent an answer that eligd cannot use: it is too large, nested too ' +
      'deeply, or fails in another way. eligd tried three times and set it aside.',
    next:
      'Ask the calling service to correct its answer, then run "eligd retry" with the ID of the ' +
      'appointment. If the visit is near, call the payer yourself.',
  });
}

/**
 * Nothing was learned: asked again at `poll_at`, unless the visit is so long ago that asking ends.
 */
async function askAgain(
  tx: Tx,
  deps: CollectDeps,
  known: InquiryRow,
  poll_at: number,
  now: number,
): Promise<void> {
  const row = await forNextVisit(tx, known, now);
  // What is answered is asked about late because a report has told of news; that question is not
  // lost with one reply.
  const is_given_up = isGivenUp(deps, row, row.state === 'answered' ? now - NEWS_PATIENCE_MS : now);
  const overdue_since =
    row.state === 'open' ? overdueSince(row, now, deps.settings.time_zone) : null;
  await updateInquiry(
    tx,
    row.id,
    { poll_at: is_given_up ? null : poll_at, visit_at: row.visit_at, overdue_since },
    now,
  );
  await attendOverdue(tx, deps, { ...row, overdue_since }, now);
  if (is_given_up && row.state === 'open') await attendNoAnswer(tx, deps, row, now);
}

function isGivenUp({ settings }: CollectDeps, row: InquiryRow, now: number): boolean {
  return now > row.visit_at + settings.give_up_after_days * DAY_MS;
}

async function attendNoAnswer(
  tx: Tx,
  { settings }: CollectDeps,
  row: InquiryRow,
  now: number,
): Promise<void> {
  const claim = readDraft(row.draft)?.claim;
  await attend(tx, row, now, {
    reason: 'no_answer',
    what:
      `${claim === undefined ? 'The visit was' : 'The claim should have been asked about'} ` +
      `more than ${settings.give_up_after_days} days ago and the service has not answered. It ` +
      'is not asked any more.',
    next: 'Ask the operator of the service about this inquiry if the answer still matters.',
  });
}

/**
 * The id stands for somebody else's inquiry. Nothing of it is stored, every id of that reply is
 * doubted, and their inquiries are looked up by what they asked: one patient's answer must never
 * reach another's chart.
 */
async function doubtIds(tx: Tx, deps: CollectDeps, row: InquiryRow, now: number): Promise<void> {
  tx.after(() => deps.env.log('reply_mismatch', { inquiry: row.id, service_id: row.service_id }));
  if (row.is_verified === 1 || row.state !== 'open') {
    // It was ours before: the service is confused, not we. Its answer is not taken.
    await askAgain(tx, deps, row, now + FAILURE_LIMITS.max_ms, now);
    return;
  }
  const doubted = row.reply_group === null ? [row] : await sameReply(tx, row.reply_group);
  for (const { service_id } of doubted) if (service_id !== null) await disown(tx, service_id);
  await moveInquiries(
    tx,
    doubted.map(({ id }) => id),
    {
      from: 'open',
      to: 'uncertain',
      reason: 'The ids of the reply stand for other inquiries; it is looked up by what it asked.',
    },
    {
      service_id: null,
      is_verified: 0,
      reply_group: null,
      was_accepted: 1,
      poll_at: null,
      look_at: now,
      empty_looks: 0,
    },
    now,
  );
  tx.after(() => deps.onPlanned());
}

async function countUnknown(
  tx: Tx,
  deps: CollectDeps,
  row: InquiryRow,
  now: number,
): Promise<void> {
  tx.after(() =>
    deps.env.log('inquiry_unknown_at_service', {
      inquiry: row.id,
      service_id: row.service_id,
      unknown_replies: row.empty_polls + 1,
    }),
  );
  const empty_polls = row.empty_polls + 1;
  if (empty_polls < UNKNOWN_LOOKS || row.state !== 'open') {
    await updateInquiry(
      tx,
      row.id,
      {
        empty_polls,
        poll_at: row.state === 'open' ? now + Math.max(deps.settings.settle_ms, MINUTE_MS) : null,
      },
      now,
    );
    return;
  }
  await moveInquiries(
    tx,
    [row.id],
    {
      from: 'open',
      to: 'undecidable',
      reason: 'The service does not know the inquiry any more that it had accepted.',
    },
    { empty_polls, poll_at: null },
    now,
  );
  await attend(tx, row, now, {
    reason: 'lost_at_service',
    what:
      `The service accepted the inquiry under the id ${row.service_id}, but does not know it ` +
      'any more. It is not sent again, because that could be a second paid call.',
    next: 'Ask the operator of the service about it, or call the payer yourself.',
  });
}
