import type { Behaviors } from '../behaviors.ts';
import { addDays, type Day, dayOf, dayOfWire } from '../calendar.ts';
import type { Dice } from '../dice.ts';
import { Formats } from '../formats.ts';
import type { Inquiry, InquiryRequest, Specialty } from '../request.ts';
import { type Course, callDice, personDice, policyDice } from '../scenarios.ts';

/** Everything that an answer is generated from. */
export type AnswerContext = {
  specialty: Specialty;
  request: InquiryRequest;
  course: Course;
  formats: Formats;
  /** Whether this is the answer of the first call or of the call that corrected it. */
  edition: 'first' | 'revised';
  /** Counts the inquiries about the same member ID, birth date, and tax ID, from 1. */
  attempt: number;
  policy: Dice;
  person: Dice;
  call: Dice;
  /**
   * The latest day that the answer may mention. The call itself is later: it ends no earlier than
   * one day before the desired day.
   */
  as_of: Day;
};

/** What all answers of one sandbox are generated from. */
export type AnswerSource = { seed: number; behaviors: Behaviors };

export function contextOf(
  { seed, behaviors }: AnswerSource,
  inquiry: Inquiry,
  course: Course,
  edition: AnswerContext['edition'],
): AnswerContext {
  const call = callDice(seed, inquiry);
  return {
    specialty: inquiry.specialty,
    request: inquiry.request,
    course,
    formats: new Formats(behaviors, inquiry.specialty, call),
    edition,
    attempt: inquiry.attempt,
    policy: policyDice(seed, inquiry),
    person: personDice(seed, inquiry),
    call,
    as_of: addDays(
      dayOfWire(inquiry.request.desired_completion_date) ?? dayOf(inquiry.created_ms),
      -2,
    ),
  };
}

/** Returns whether the request asks one of these questions. */
export function asks(context: AnswerContext, ...questions: readonly string[]): boolean {
  return context.request.benefits_query?.some((question) => questions.includes(question)) ?? false;
}

/** Returns the patient's birth date. */
export function bornOn(context: AnswerContext): Day {
  return dayOfWire(context.request.dob) ?? context.as_of;
}

/** Returns the network status from the request, or a drawn one if the request leaves it blank. */
export function isInNetwork(context: AnswerContext): boolean {
  if (context.course.in_network !== undefined) return context.course.in_network;
  const said = context.request.insurance_in_network;
  return typeof said === 'boolean'
    ? said
    : context.policy.chance(`in network ${context.request.tax_id}`, 0.75);
}
