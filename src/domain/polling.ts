import { DAY_MS, HOUR_MS, type Instant, instantOf, type LocalDate } from './time.ts';

/** Local hour by which calls are typically done on the completion date (specification, "What the service does"). */
const MORNING_HOUR = 7;
const SPARSE_MS = DAY_MS;
const AFTER_VISIT_MS = 12 * HOUR_MS;

export type PollingFacts = {
  now: Instant;
  desired_completion_date: LocalDate;
  visit_at: Instant;
  interval_ms: number;
  urgent_interval_ms: number;
  time_zone: string;
  /** In [0, 1): spreads inquiries that would ask in the same second. */
  random: number;
};

/**
 * When to ask about an open inquiry next: once a day until the morning of its completion date, then by the interval, by the
 * shorter one on the last day before the visit, and twice a day after it.
 */
export function nextPollAt(facts: PollingFacts): Instant {
  const { now, visit_at } = facts;
  const morning = instantOf(facts.desired_completion_date, MORNING_HOUR, facts.time_zone);
  const spread = (wait_ms: number) => Math.round(wait_ms * (0.95 + facts.random / 10));
  if (now < morning) return Math.min(morning + Math.round(facts.random * facts.interval_ms), now + spread(SPARSE_MS));
  if (now > visit_at) return now + spread(AFTER_VISIT_MS);
  return now + spread(visit_at - now < DAY_MS ? facts.urgent_interval_ms : facts.interval_ms);
}

/** When an answer counts as overdue: a day after the morning of its completion date. */
export function overdueAt(desired_completion_date: LocalDate, time_zone: string): Instant {
  return instantOf(desired_completion_date, MORNING_HOUR, time_zone) + DAY_MS;
}
