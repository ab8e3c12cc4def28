import type { Behaviors } from './behaviors.ts';
import {
  addDays,
  DAY_MS,
  type Day,
  dayOf,
  dayOfWire,
  HOUR_MS,
  MINUTE_MS,
  startOf,
} from './calendar.ts';
import { afterOpenTime } from './payer-hours.ts';
import { type Course, callDice, courseOf, type Subject } from './scenarios.ts';

export type Status =
  | 'SCHEDULED'
  | 'IN_PROGRESS'
  | 'SUCCESS'
  | 'UNSUCCESSFUL'
  | 'CANCELLED'
  | 'UNKNOWN';

/** The inquiry has this status from `at_ms` until the next step. */
export type Step = {
  at_ms: number;
  /**
   * `Status`, or, for a member ID that begins with WEIRD, a word that is not in the specification.
   */
  status: Status | 'ON_HOLD';
  /**
   * The available answer: none yet, that of the first call, or that of the call that corrected it.
   */
  answer: 'none' | 'first' | 'revised';
};

/** The events of an inquiry, and their times. */
export type Life = {
  course: Course;
  steps: readonly Step[];
  ended_ms: number;
  revised_ms: number | undefined;
};

/**
 * Computes the whole life of an inquiry on each read, as a function of seed, request, behaviors,
 * and creation time, so that no timer has to run (docs/service.md "States and transitions" and
 * docs/service.md "Limits": by the morning of the desired day).
 */
export function lifeOf(
  seed: number,
  inquiry: Subject & { created_ms: number },
  behaviors: Behaviors,
): Life {
  const course = courseOf(seed, inquiry, behaviors);
  const dice = callDice(seed, inquiry).of('life');
  const duration_ms = dice.integer('duration_minutes', 3, 60) * MINUTE_MS;
  const wanted_ms = endOf(seed, inquiry) + course.days_late * DAY_MS;
  const ended_ms = withinHours({ wanted_ms, duration_ms }, inquiry.created_ms, behaviors);
  const earliest_ms = inquiry.created_ms + Math.round((ended_ms - inquiry.created_ms) * 0.3);
  const started_ms = Math.max(ended_ms - duration_ms, earliest_ms);
  const steps: Step[] = [
    { at_ms: inquiry.created_ms, status: 'SCHEDULED', answer: 'none' },
    { at_ms: started_ms, status: 'IN_PROGRESS', answer: 'none' },
  ];
  if (course.is_weird)
    steps.push({
      at_ms: started_ms + Math.floor((ended_ms - started_ms) / 2),
      status: 'ON_HOLD',
      answer: 'none',
    });
  if (course.ending === 'NEVER')
    return { course, steps, ended_ms: Number.POSITIVE_INFINITY, revised_ms: undefined };
  if (course.ending === 'SUCCESS')
    return { course, ended_ms, ...addSuccess(steps, course, ended_ms) };
  steps.push({ at_ms: ended_ms, status: course.ending, answer: 'first' });
  return { course, steps, ended_ms, revised_ms: undefined };
}

/** Returns the step at an instant. */
export function stepAt(life: Life, now_ms: number): Step {
  const step = life.steps.findLast((candidate) => candidate.at_ms <= now_ms) ?? life.steps[0];
  if (step === undefined) throw new Error('A life has at least one step.');
  return step;
}

function addSuccess(
  before: readonly Step[],
  course: Course,
  ended_ms: number,
): Pick<Life, 'steps' | 'revised_ms'> {
  const steps = [...before];
  const answered_ms = ended_ms + course.null_first_seconds * 1000;
  if (answered_ms > ended_ms) steps.push({ at_ms: ended_ms, status: 'SUCCESS', answer: 'none' });
  steps.push({ at_ms: answered_ms, status: 'SUCCESS', answer: 'first' });
  let revised_ms: number | undefined;
  if (course.reopen_after_hours > 0) {
    const reopened_ms = answered_ms + course.reopen_after_hours * HOUR_MS;
    revised_ms = reopened_ms + HOUR_MS;
    steps.push({ at_ms: reopened_ms, status: 'IN_PROGRESS', answer: 'none' });
  } else if (course.revise_after_hours > 0) {
    revised_ms = answered_ms + course.revise_after_hours * HOUR_MS;
  }
  if (revised_ms !== undefined)
    steps.push({ at_ms: revised_ms, status: 'SUCCESS', answer: 'revised' });
  return { steps, revised_ms };
}

/**
 * How far the callers' wall clocks are behind UTC: in their evening, the UTC day has already
 * changed.
 */
const CALLERS_OFFSET_MS = 6 * HOUR_MS;

/**
 * Returns when the call ends: on the morning of the desired day in US Central time, or soon if that
 * day has come.
 */
function endOf(seed: number, inquiry: Subject & { created_ms: number }): number {
  const dice = callDice(seed, inquiry).of('end');
  const created_day = dayOf(inquiry.created_ms - CALLERS_OFFSET_MS);
  const desired_day = desiredDay(inquiry);
  const is_far = startOf(desired_day) - startOf(created_day) >= 3 * DAY_MS;
  const day = is_far && dice.chance('a day early', 0.25) ? addDays(desired_day, -1) : desired_day;
  const morning_ms =
    startOf(day) + 14 * HOUR_MS + dice.integer('morning_minutes', 0, 4 * 60) * MINUTE_MS;
  const soonest_ms = inquiry.created_ms + dice.integer('soon_seconds', 5 * 60, 60 * 60) * 1000;
  return desired_day <= created_day ? soonest_ms : Math.max(morning_ms, soonest_ms);
}

/** Moves the call into payer hours and, at the earliest, to the end of the turnaround. */
function withinHours(
  { wanted_ms, duration_ms }: { wanted_ms: number; duration_ms: number },
  created_ms: number,
  { payer_hours, payer_turnaround_hours }: Behaviors,
): number {
  if (payer_hours === 'any') return wanted_ms;
  const least_ms = afterOpenTime(created_ms, payer_turnaround_hours * HOUR_MS);
  return afterOpenTime(Math.max(wanted_ms, least_ms) - duration_ms, duration_ms);
}

/**
 * Returns the desired completion day. Validation ensures that there is one; the fallback is for
 * rows that other programs wrote.
 */
function desiredDay(inquiry: Subject & { created_ms: number }): Day {
  return dayOfWire(inquiry.request.desired_completion_date) ?? dayOf(inquiry.created_ms);
}
