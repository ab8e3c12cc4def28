import type { Behaviors } from '../behaviors.ts';
import { addDays, type Day, dayOf, dayOfWire } from '../calendar.ts';
import type { Dice } from '../dice.ts';
import { Formats } from '../formats.ts';
import type { Inquiry, InquiryRequest, Specialty } from '../request.ts';
import { type Course, callDice, personDice, policyDice } from '../scenarios.ts';

/** All that an answer is made from. */
export type AnswerContext = {
  specialty: Specialty;
  request: InquiryRequest;
  course: Course;
  formats: Formats;
  /** Which answer this is: the call's, or that of the call that corrected it. */
  edition: 'first' | 'revised';
  /** The how-manieth inquiry it is about the same member id, birth date and tax id. */
  attempt: number;
  policy: Dice;
  person: Dice;
  call: Dice;
  /**
   * The latest day of which the answer may speak; the call is later, since it ends a day before the
   * desired one at the soonest.
   */
  as_of: Day;
};

/** What every answer of one sandbox is made from. */
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

/** Whether the request asks one of these questions. */
export function asks(context: AnswerContext, ...questions: readonly string[]): boolean {
  return context.request.benefits_query?.some((question) => questions.includes(question)) ?? false;
}

/** The patient's birth date. */
export function bornOn(context: AnswerContext): Day {
  return dayOfWire(context.request.dob) ?? context.as_of;
}

/** The network status: what the request says, and where it was left blank what the payer found. */
export function isInNetwork(context: AnswerContext): boolean {
  if (context.course.in_network !== undefined) return context.course.in_network;
  const said = context.request.insurance_in_network;
  return typeof said === 'boolean'
    ? said
    : context.policy.chance(`in network ${context.request.tax_id}`, 0.75);
}
