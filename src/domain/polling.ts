import { DAY_MS, HOUR_MS, type Instant, instantOf, type LocalDate, MINUTE_MS } from './time.ts';

/**
 * Local hour by which calls are typically done on the completion date (docs/service.md "What the
 * service does").
 */
const MORNING_HOUR = 7;
/**
 * Local hour at which the calls of that morning are over: what is asked then is what the service
 * has not told of.
 */
const MORNING_OVER_HOUR = 13;
/** Local hour of the completion date from which the answer is late. */
const LATE_HOUR = 17;
/**
 * However it is with the completion date: so long before the visit an answer that is not there is
 * late.
 */
const LATE_BEFORE_VISIT_MS = 2 * HOUR_MS;
/**
 * Before the completion date asking brings little; nearer than this to its morning, the morning is
 * waited for.
 */
const SPARSE_MS_MIN = 12 * HOUR_MS;
const AFTER_VISIT_MS = 12 * HOUR_MS;
/** However far away the morning of the completion date is: nobody waits longer than this. */
const UNTOLD_MS_MAX = DAY_MS;
/** How much rarer the service is asked while it tells by itself. */
const TOLD_FACTOR = 6;
/** So long before the visit nobody relies on being told. */
const CHAIR_MS = 4 * HOUR_MS;

export type PollingFacts = {
  now: Instant;
  desired_completion_date: LocalDate;
  visit_at: Instant;
  interval_ms: number;
  urgent_interval_ms: number;
  time_zone: string;
  /**
   * The service reports by itself, and lately its reports have agreed with what it said when it was
   * asked.
   */
  is_told: boolean;
  /** In [0, 1): spreads inquiries that would ask in the same second. */
  random: number;
};

/**
 * When to ask about an open inquiry next. Until the morning of its completion date after half of
 * the time that is left, and at least once a day; from then on by the interval, which shrinks to
 * the urgent one during the last day before the visit; twice a day after the visit. While the
 * service tells by itself, not before that morning is over, and then more rarely, but for the
 * hours before the visit.
 */
export function nextPollAt(facts: PollingFacts): Instant {
  const { now, visit_at, interval_ms, is_told, random } = facts;
  const spread = (wait_ms: number) => Math.round(wait_ms * (0.95 + random / 10));
  const first = instantOf(
    facts.desired_completion_date,
    is_told ? MORNING_OVER_HOUR : MORNING_HOUR,
    facts.time_zone,
  );
  const left_ms = visit_at - now;
  if (left_ms < 0) return now + spread(AFTER_VISIT_MS);
  const near_ms = Math.max(facts.urgent_interval_ms, interval_ms * Math.min(1, left_ms / DAY_MS));
  const wait_ms =
    is_told && left_ms > CHAIR_MS ? Math.min(near_ms * TOLD_FACTOR, left_ms / 2) : near_ms;
  if (now >= first) return now + spread(wait_ms);
  const at_first = first + Math.round(random * interval_ms);
  if (left_ms < DAY_MS) return Math.min(at_first, now + spread(wait_ms));
  const half_ms = (first - now) / 2;
  return is_told || half_ms < SPARSE_MS_MIN
    ? at_first
    : now + spread(Math.min(half_ms, UNTOLD_MS_MAX));
}

/** After a webhook event announced an end that asking does not confirm yet. */
const ANNOUNCED_WAITS_MS = [1, 5, 15, 60].map((minutes) => minutes * MINUTE_MS);

/**
 * When to ask again about an inquiry of which a webhook event said that it has ended, after `asks`
 * questions in vain; null: the event is not believed any more.
 */
export function nextAskForAnnounced(asks: number, now: Instant): Instant | null {
  const wait_ms = ANNOUNCED_WAITS_MS[asks];
  return wait_ms === undefined ? null : now + wait_ms;
}

/**
 * Whether calls of the completion date may be done: before its morning there is nothing to hear of.
 */
export function isAnswerDue(
  now: Instant,
  desired_completion_date: LocalDate,
  time_zone: string,
): boolean {
  return now >= instantOf(desired_completion_date, MORNING_HOUR, time_zone);
}

/**
 * When an answer counts as overdue: in the afternoon of its completion date, and shortly before the
 * visit in any case.
 */
export function overdueAt(
  desired_completion_date: LocalDate,
  visit_at: Instant,
  time_zone: string,
): Instant {
  return Math.min(
    instantOf(desired_completion_date, LATE_HOUR, time_zone),
    visit_at - LATE_BEFORE_VISIT_MS,
  );
}

/**
 * How much an overdue answer matters, by the time left until the patient sits down. After the
 * visit: not any more.
 */
export function urgencyOf(visit_at: Instant, now: Instant): 'flag' | 'tell' | 'call' | 'over' {
  const left_ms = visit_at - now;
  if (left_ms < 0) return 'over';
  if (left_ms < CHAIR_MS) return 'call';
  return left_ms < DAY_MS ? 'tell' : 'flag';
}
