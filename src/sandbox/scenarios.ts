import type { Behaviors } from './behaviors.ts';
import { Dice } from './dice.ts';
import type { InquiryRequest, Specialty } from './request.ts';

/**
 * Beginnings of member IDs that force results that are otherwise drawn. README.md has the same
 * table, and a test compares the two.
 */
export const SCENARIOS = {
  ACTIVE:
    'An active plan; a call that succeeds and passes every check of its transcript; every ' +
    'question answered and every code covered.',
  PRIMARY: 'As ACTIVE, and the payer says that it pays first.',
  SECONDARY: 'As ACTIVE, and the payer says that it does not pay first.',
  NOTMET:
    'As ACTIVE, but the transcript does not show that the caller asked for a reference number.',
  INACTIVE: 'SUCCESS, and the plan is not active: call details and a minimal plan, nothing else.',
  NOTCOVERED: 'SUCCESS, and the plan covers none of the codes asked about.',
  USEDUP: 'As ACTIVE, but the yearly maximum is used up (dental).',
  OUTOFNET:
    'As ACTIVE, but the provider is out of network, where the plan pays only for emergencies.',
  UNSUCC: 'UNSUCCESSFUL, each time.',
  UNSUCC1:
    'UNSUCCESSFUL for the first inquiry about a member ID, birth date, and tax ID; SUCCESS ' +
    'from the second on.',
  CANCEL: 'CANCELLED during the call.',
  SILENT: 'SUCCESS, but the payer did not answer some of the questions: those fields are absent.',
  SLOW: 'SUCCESS, two days late.',
  REVISE:
    'SUCCESS; 24 hours later, or after revise_after_hours, another answer with a second call.',
  REOPEN:
    'SUCCESS; six hours later, or after reopen_after_hours, IN_PROGRESS again, and then ' +
    'another answer.',
  NULLS:
    'SUCCESS with null results for two minutes, or for success_null_first_seconds, and then ' +
    'with results.',
  WEIRD:
    'SUCCESS with unusual values: "N/A", "unlimited", "$1,500.00", "", impossible dates, ' +
    'unknown values and fields; before it, a status that is not in the specification.',
  UNKNOWN: 'The status UNKNOWN instead of an end.',
  NEVER: 'IN_PROGRESS forever.',
  REJECT: 'Refused at creation: 422 at member_id.',
} as const;

export type Scenario = keyof typeof SCENARIOS;

/** Beginnings of claim numbers that force the status of a claim; also a table in README.md. */
export const CLAIM_SCENARIOS = {
  PAID: 'APPROVED, with the payment date and the amount paid for each code.',
  APPROVED: 'APPROVED, and not paid yet.',
  DENIED: 'DENIED, with reason and appeal for each code.',
  PENDING: 'PENDING, each time.',
  PENDING1:
    'PENDING for the first inquiry about a member ID, birth date, and tax ID; as PAID from ' +
    'the second on.',
  CLEARED: 'PENDING; as PAID in a revised answer (a member ID that begins with REVISE).',
  OVERTURNED: 'DENIED; PENDING in a revised answer; as PAID from the second inquiry on.',
  NOTONFILE:
    'NOT_ON_FILE: the payer does not have it, and says up to which date it has processed claims.',
  PROCESSED: 'PROCESSED, with a payment date and amounts.',
  FINALIZED: 'FINALIZED, and nothing else.',
  TIMELY: 'As DENIED, with the words "DENIED - TIMELY FILING".',
  DUPLICATE: 'As DENIED, with the words "Denied (duplicate)".',
  PARTLY: 'PARTIALLY PAID, with a payment date and amounts.',
  ODDSTATUS: 'As APPROVED, but the status is a word that is not in the specification.',
} as const;

type ClaimScenario = keyof typeof CLAIM_SCENARIOS;

/** Longest first, so that UNSUCC1 is not read as UNSUCC. */
const PREFIXES = (Object.keys(SCENARIOS) as Scenario[]).sort((a, b) => b.length - a.length);

const CLAIM_PREFIXES = (Object.keys(CLAIM_SCENARIOS) as ClaimScenario[]).sort(
  (a, b) => b.length - a.length,
);

export function claimScenarioOf(
  claim_number: string | null | undefined,
): ClaimScenario | undefined {
  const number = (claim_number ?? '').trimStart().toUpperCase();
  return CLAIM_PREFIXES.find((prefix) => number.startsWith(prefix));
}

export function scenarioOf(member_id: string): Scenario | undefined {
  const id = member_id.trimStart().toUpperCase();
  return PREFIXES.find((prefix) => id.startsWith(prefix));
}

/** What happens to an inquiry, and the properties of its answer. */
export type Course = {
  ending: 'SUCCESS' | 'UNSUCCESSFUL' | 'CANCELLED' | 'UNKNOWN' | 'NEVER';
  days_late: number;
  is_active: boolean;
  /** The share of the codes that the plan does not cover. */
  uncovered: number;
  /** The share of the questions that the payer does not answer. */
  silent: number;
  is_weird: boolean;
  /** The results of the transcript checks. */
  checks: 'drawn' | 'met' | 'one not met';
  /** Whether the payer says that it pays first; undefined: drawn. */
  pays_first: boolean | undefined;
  /** Whether the yearly maximum is used up; undefined: drawn. */
  is_used_up: boolean | undefined;
  /** Undefined: the value in the request, or else drawn. */
  in_network: boolean | undefined;
  null_first_seconds: number;
  revise_after_hours: number;
  reopen_after_hours: number;
};

/**
 * Returns the course of an inquiry: a function of seed, request, and, for UNSUCC1, the attempt. If
 * the member ID forces nothing, the probabilities are low: unsuccessful 3%, CANCELLED 1%, inactive
 * 4%, partly unanswered 5%.
 */
export function courseOf(seed: number, subject: Subject, behaviors: Behaviors): Course {
  const drawn = drawnCourse(seed, subject, behaviors);
  const scenario = scenarioOf(subject.request.member_id);
  if (scenario === undefined) return drawn;
  const plain: Course = { ...drawn, ending: 'SUCCESS', is_active: true, silent: 0 };
  const active: Course = { ...plain, uncovered: 0, checks: 'met' };
  switch (scenario) {
    case 'ACTIVE':
      return active;
    case 'PRIMARY':
      return { ...active, pays_first: true };
    case 'SECONDARY':
      return { ...active, pays_first: false };
    case 'NOTMET':
      return { ...active, checks: 'one not met' };
    case 'INACTIVE':
      return { ...plain, is_active: false };
    case 'NOTCOVERED':
      return { ...plain, uncovered: 1 };
    case 'USEDUP':
      return { ...active, is_used_up: true };
    case 'OUTOFNET':
      return { ...active, in_network: false };
    case 'UNSUCC':
      return { ...plain, ending: 'UNSUCCESSFUL' };
    case 'UNSUCC1':
      return { ...plain, ending: subject.attempt === 1 ? 'UNSUCCESSFUL' : 'SUCCESS' };
    case 'CANCEL':
      return { ...plain, ending: 'CANCELLED' };
    case 'SILENT':
      return { ...plain, silent: 0.5 };
    case 'SLOW':
      return { ...plain, days_late: 2 };
    case 'REVISE':
      return { ...plain, revise_after_hours: behaviors.revise_after_hours || 24 };
    case 'REOPEN':
      return { ...plain, reopen_after_hours: behaviors.reopen_after_hours || 6 };
    case 'NULLS':
      return { ...plain, null_first_seconds: behaviors.success_null_first_seconds || 120 };
    case 'WEIRD':
      return { ...plain, is_weird: true };
    case 'UNKNOWN':
      return { ...plain, ending: 'UNKNOWN' };
    case 'NEVER':
      return { ...plain, ending: 'NEVER' };
    case 'REJECT':
      return plain;
  }
}

export type Subject = { specialty: Specialty; request: InquiryRequest; attempt: number };

function drawnCourse(seed: number, subject: Subject, behaviors: Behaviors): Course {
  const call = callDice(seed, subject);
  const outcome = call.fraction('outcome');
  return {
    ending: outcome < 0.03 ? 'UNSUCCESSFUL' : outcome < 0.04 ? 'CANCELLED' : 'SUCCESS',
    days_late: 0,
    is_active: !policyDice(seed, subject).chance('inactive', 0.04),
    uncovered: 0.1,
    silent: call.chance('silent', 0.05) ? 0.25 : 0,
    is_weird: false,
    checks: 'drawn',
    pays_first: undefined,
    is_used_up: undefined,
    in_network: undefined,
    null_first_seconds: behaviors.success_null_first_seconds,
    revise_after_hours: behaviors.revise_after_hours,
    reopen_after_hours: behaviors.reopen_after_hours,
  };
}

/**
 * Draws about the policy: the same for everyone under one member ID, for every question and time.
 */
export function policyDice(seed: number, subject: Pick<Subject, 'specialty' | 'request'>): Dice {
  return new Dice(seed, subject.specialty, subject.request.member_id.trim().toUpperCase());
}

/** Draws about one person under the policy. */
export function personDice(seed: number, subject: Pick<Subject, 'specialty' | 'request'>): Dice {
  return policyDice(seed, subject).of('person', subject.request.dob);
}

/**
 * Draws about the call: the same for requests with the same content. `external_id` is a label, not
 * content. An absent field, null, empty text, and an empty list are equal.
 */
export function callDice(seed: number, subject: Pick<Subject, 'specialty' | 'request'>): Dice {
  const content = Object.entries(subject.request)
    .filter(([name, value]) => name !== 'external_id' && value !== null && String(value) !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return new Dice(seed, subject.specialty, 'call', JSON.stringify(content));
}
