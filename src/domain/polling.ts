import { DAY_MS, HOUR_MS, type Instant, instantOf, type LocalDate, MINUTE_MS } from './time.ts';
import type { Turnaround } from './turnaround.ts';

/**
 * Local hour by which calls are typically done on the completion date (docs/service.md "What the
 * service does").
 */
const MORNING_HOUR = 7;
/**
 * Local hour when that morning's calls are over. For an answer still missing then, no webhook event
 * has arrived.
 */
const MORNING_OVER_HOUR = 13;
/** Local hour of the completion date after which an answer is late. */
const LATE_HOUR = 17;
/** An answer still missing this long before the visit is late, whatever the completion date. */
const LATE_BEFORE_VISIT_MS = 2 * HOUR_MS;
const AFTER_VISIT_MS = 12 * HOUR_MS;
/**
 * Before the morning of the completion date few answers arrive, so eligd polls this much less
 * often.
 */
const EARLY_FACTOR = 24;
/** The longest wait before that morning: eligd polls at least once a day, including the jitter. */
const EARLY_MS_MAX = 22 * HOUR_MS;
/** How often eligd polls between the median and the 90th percentile of the payer's turnaround. */
const POLLS_AROUND_END = 8;
/** How much less often eligd polls while webhook events arrive. */
const WEBHOOK_FACTOR = 6;
/** Within this time of the visit, eligd polls even if webhook events arrive. */
const NEAR_VISIT_MS = 4 * HOUR_MS;

export type PollingFacts = {
  now: Instant;
  desired_completion_date: LocalDate;
  visit_at: Instant;
  interval_ms: number;
  urgent_interval_ms: number;
  time_zone: string;
  /** Webhook events arrive, and recent ones agreed with what polling found. */
  has_webhook: boolean;
  sent_at: Instant;
  /** The learned turnaround of the inquiry's payer; null: unknown. */
  turnaround: Pick<Turnaround, 'median_ms' | 'p90_ms'> | null;
  /** In [0, 1): spreads polls that would fall in the same second. */
  random: number;
};

/**
 * Returns when to poll an open inquiry next:
 *
 * - until the morning of its completion date, at 24 times the interval and at least once a day, and
 *   more often while its payer's calls usually end;
 * - then at the interval, which shrinks to the urgent one during the last day before the visit;
 * - after the visit, twice a day.
 *
 * While webhook events arrive, eligd does not poll until that morning is over, and then less often
 * except in the last hours before the visit.
 */
export function nextPollAt(facts: PollingFacts): Instant {
  const { now, visit_at, interval_ms, has_webhook, random } = facts;
  const spread = (wait_ms: number) => Math.round(wait_ms * (0.95 + random / 10));
  const first = instantOf(
    facts.desired_completion_date,
    has_webhook ? MORNING_OVER_HOUR : MORNING_HOUR,
    facts.time_zone,
  );
  const left_ms = visit_at - now;
  if (left_ms < 0) return now + spread(AFTER_VISIT_MS);
  const near_ms = Math.max(
    Math.min(facts.urgent_interval_ms, interval_ms),
    interval_ms * Math.min(1, left_ms / DAY_MS),
  );
  const wait_ms =
    has_webhook && left_ms > NEAR_VISIT_MS
      ? Math.min(near_ms * WEBHOOK_FACTOR, left_ms / 2)
      : near_ms;
  if (now >= first) return now + spread(wait_ms);
  const at_first = first + Math.round(random * interval_ms);
  if (left_ms < DAY_MS) return Math.min(at_first, now + spread(wait_ms));
  return has_webhook ? at_first : Math.min(at_first, now + spread(earlyWait(facts)));
}

/** Returns how long to wait before the morning of the completion date. */
function earlyWait({ now, sent_at, interval_ms, turnaround }: PollingFacts): number {
  const early_ms = Math.min(interval_ms * EARLY_FACTOR, EARLY_MS_MAX);
  if (turnaround === null) return early_ms;
  const { median_ms, p90_ms } = turnaround;
  const age_ms = now - sent_at;
  if (age_ms > p90_ms) return early_ms;
  const around_ms = Math.max(interval_ms, (p90_ms - median_ms) / POLLS_AROUND_END);
  return Math.min(early_ms, age_ms < median_ms ? median_ms - age_ms : around_ms);
}

/** Waits after a webhook event announced an end that polling does not confirm yet. */
const ANNOUNCED_WAITS_MS = [1, 5, 15, 60].map((minutes) => minutes * MINUTE_MS);

/**
 * Returns when to poll again an inquiry that has ended according to a webhook event, after `asks`
 * polls that did not confirm it; null: eligd no longer believes the event.
 */
export function nextAskForAnnounced(asks: number, now: Instant): Instant | null {
  const wait_ms = ANNOUNCED_WAITS_MS[asks];
  return wait_ms === undefined ? null : now + wait_ms;
}

/**
 * Returns whether calls of the completion date may be done: before its morning, polling finds
 * nothing.
 */
export function isAnswerDue(
  now: Instant,
  desired_completion_date: LocalDate,
  time_zone: string,
): boolean {
  return now >= instantOf(desired_completion_date, MORNING_HOUR, time_zone);
}

/**
 * Returns when an answer counts as overdue: in the afternoon of its completion date, and always
 * shortly before the visit.
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

/** Returns how urgent an overdue answer is, by the time left until the visit; `over` after it. */
export function urgencyOf(visit_at: Instant, now: Instant): 'flag' | 'tell' | 'call' | 'over' {
  const left_ms = visit_at - now;
  if (left_ms < 0) return 'over';
  if (left_ms < NEAR_VISIT_MS) return 'call';
  return left_ms < DAY_MS ? 'tell' : 'flag';
}
