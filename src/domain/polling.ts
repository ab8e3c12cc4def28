import { DAY_MS, HOUR_MS, type Instant, instantOf, type LocalDate, MINUTE_MS } from './time.ts';
import type { Turnaround } from './turnaround.ts';

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
const AFTER_VISIT_MS = 12 * HOUR_MS;
/** Before the morning of the completion date asking brings little: so much rarer it is. */
const EARLY_FACTOR = 24;
/** However far away that morning is: at least once a day, also with the spread. */
const EARLY_MS_MAX = 22 * HOUR_MS;
/** Between the usual and the late end of its payer's calls, about so often. */
const ASKS_AROUND_END = 8;
/** How much less often the service is asked while webhook events come. */
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
   * Webhook events come, and lately they have agreed with what the service said when it was
   * asked.
   */
  is_told: boolean;
  sent_at: Instant;
  /** How long the service takes with the inquiry's payer; null: not known. */
  turnaround: Pick<Turnaround, 'median_ms' | 'p90_ms'> | null;
  /** In [0, 1): spreads inquiries that would ask in the same second. */
  random: number;
};

/**
 * When to ask about an open inquiry next. Until the morning of its completion date at 24 times the
 * interval and at least once a day, more often while its payer's calls usually end; from then on by
 * the interval, which shrinks to the urgent one during the last day before the visit; twice a day
 * after the visit. While webhook events come, not before that morning is over, and then
 * more rarely, but for the hours before the visit.
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
  const near_ms = Math.max(
    Math.min(facts.urgent_interval_ms, interval_ms),
    interval_ms * Math.min(1, left_ms / DAY_MS),
  );
  const wait_ms =
    is_told && left_ms > CHAIR_MS ? Math.min(near_ms * TOLD_FACTOR, left_ms / 2) : near_ms;
  if (now >= first) return now + spread(wait_ms);
  const at_first = first + Math.round(random * interval_ms);
  if (left_ms < DAY_MS) return Math.min(at_first, now + spread(wait_ms));
  return is_told ? at_first : Math.min(at_first, now + spread(earlyWait(facts)));
}

/** How long to wait while the morning of the completion date is still to come. */
function earlyWait({ now, sent_at, interval_ms, turnaround }: PollingFacts): number {
  const early_ms = Math.min(interval_ms * EARLY_FACTOR, EARLY_MS_MAX);
  if (turnaround === null) return early_ms;
  const { median_ms, p90_ms } = turnaround;
  const age_ms = now - sent_at;
  if (age_ms > p90_ms) return early_ms;
  const around_ms = Math.max(interval_ms, (p90_ms - median_ms) / ASKS_AROUND_END);
  return Math.min(early_ms, age_ms < median_ms ? median_ms - age_ms : around_ms);
}

/** After a webhook event announced an end that asking does not confirm yet. */
const ANNOUNCED_WAITS_MS = [1, 5, 15, 60].map((minutes) => minutes * MINUTE_MS);

/**
 * When to ask again about an inquiry of which a webhook event said that it has ended, after `asks`
 * unsuccessful requests; null: the event is not believed any more.
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
