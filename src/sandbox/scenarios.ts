import type { Behaviors } from './behaviors.ts';
import { Dice } from './dice.ts';
import type { InquiryRequest, Specialty } from './request.ts';

/**
 * Beginnings of member ids that force what is otherwise drawn. README.md holds the same table, and
 * a test compares the two.
 */
export const SCENARIOS = {
  ACTIVE:
    'A plan that is active, a call that succeeds and passes every check of its transcript, ' +
    'every question answered and every code covered.',
  PRIMARY: 'As ACTIVE, and the payer says that it pays first.',
  SECONDARY: 'As ACTIVE, and the payer says that it does not pay first.',
  NOTMET: 'As ACTIVE, but the transcript does not show that a reference number was asked for.',
  INACTIVE: 'SUCCESS, and the plan is not active: call details and a minimal plan, nothing else.',
  NOTCOVERED: 'SUCCESS, and the plan covers none of the codes asked about.',
  USEDUP: 'As ACTIVE, and nothing is left of the yearly maximum (dental).',
  OUTOFNET:
    'As ACTIVE, but the provider is out of network, where the plan pays for emergencies alone.',
  UNSUCC: 'UNSUCCESSFUL, each time.',
  UNSUCC1:
    'UNSUCCESSFUL for the first inquiry about a member id, birth date and tax id; SUCCESS ' +
    'from the second on.',
  CANCEL: 'CANCELLED while the call was under way.',
  SILENT: 'SUCCESS, and the payer did not answer a part of the questions: those fields are absent.',
  SLOW: 'SUCCESS, two days late.',
  REVISE:
    'SUCCESS, and 24 hours later another answer with a second call (or after revise_after_hours).',
  REOPEN:
    'SUCCESS, six hours later IN_PROGRESS again, then another answer (or after ' +
    'reopen_after_hours).',
  NULLS:
    'SUCCESS with null results for two minutes, then with results (or for ' +
    'success_null_first_seconds).',
  WEIRD:
    'SUCCESS with what nobody expects: "N/A", "unlimited", "$1,500.00", "", impossible ' +
    'dates, unknown values and fields; a status on the way that is not in the specification.',
  UNKNOWN: 'The status UNKNOWN instead of an end.',
  NEVER: 'IN_PROGRESS for ever.',
  REJECT: 'Refused at creation: 422 at member_id.',
} as const;

export type Scenario = keyof typeof SCENARIOS;

/** Beginnings of claim numbers that force the status of a claim; a table of README.md as well. */
export const CLAIM_SCENARIOS = {
  PAID: 'APPROVED, with the day of payment and what was paid for each code.',
  APPROVED: 'APPROVED, and not paid yet.',
  DENIED: 'DENIED, with reason and appeal for each code.',
  PENDING: 'PENDING, each time.',
  PENDING1:
    'PENDING for the first inquiry about a member id, birth date and tax id; as PAID from ' +
    'the second on.',
  CLEARED: 'PENDING, and in a revised answer (a member id that begins with REVISE) as PAID.',
  OVERTURNED: 'DENIED, in a revised answer PENDING, and as PAID from the second inquiry on.',
  NOTONFILE: 'NOT_ON_FILE: the payer has not got it, and says how far it is with what came in.',
  PROCESSED: 'PROCESSED, with a day of payment and amounts.',
  FINALIZED: 'FINALIZED, and nothing else.',
  TIMELY: 'As DENIED, in the words "DENIED - TIMELY FILING".',
  DUPLICATE: 'As DENIED, in the words "Denied (duplicate)".',
  PARTLY: 'PARTIALLY PAID, with a day of payment and amounts.',
  ODDSTATUS: 'As APPROVED, but the status is a word that is not in the specification.',
} as const;

export type ClaimScenario = keyof typeof CLAIM_SCENARIOS;

/** Longest first, so that UNSUCC1 is not taken for UNSUCC. */
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

/** What will become of an inquiry and what its answer is like. */
export type Course = {
  ending: 'SUCCESS' | 'UNSUCCESSFUL' | 'CANCELLED' | 'UNKNOWN' | 'NEVER';
  days_late: number;
  is_active: boolean;
  /** The share of the codes that the plan does not cover. */
  uncovered: number;
  /** The share of the questions that the payer did not answer. */
  silent: number;
  is_weird: boolean;
  /** How the checks of the transcript come out. */
  checks: 'drawn' | 'met' | 'one not met';
  /** Whether the payer says that it pays first; undefined: drawn. */
  pays_first: boolean | undefined;
  /** Whether nothing is left of the yearly maximum; undefined: drawn. */
  is_used_up: boolean | undefined;
  /** Undefined: as the request says, otherwise drawn. */
  in_network: boolean | undefined;
  null_first_seconds: number;
  revise_after_hours: number;
  reopen_after_hours: number;
};

/**
 * The course of an inquiry: a function of seed, request and, for UNSUCC1, how often the same was
 * asked. Where the member ID forces nothing, the odds are modest: unsuccessful 3 %, cancelled 1 %,
 * inactive 4 %, a part unanswered 5 %.
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

/** Draws about the policy: alike for everybody under one member id, whatever is asked and when. */
export function policyDice(seed: number, subject: Pick<Subject, 'specialty' | 'request'>): Dice {
  return new Dice(seed, subject.specialty, subject.request.member_id.trim().toUpperCase());
}

/** Draws about one person under the policy. */
export function personDice(seed: number, subject: Pick<Subject, 'specialty' | 'request'>): Dice {
  return policyDice(seed, subject).of('person', subject.request.dob);
}

/**
 * Draws about the call: alike for requests of the same content. `external_id` is a label and no
 * content; an absent field, null, an empty text and an empty list are alike.
 */
export function callDice(seed: number, subject: Pick<Subject, 'specialty' | 'request'>): Dice {
  const content = Object.entries(subject.request)
    .filter(([name, value]) => name !== 'external_id' && value !== null && String(value) !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return new Dice(seed, subject.specialty, 'call', JSON.stringify(content));
}
