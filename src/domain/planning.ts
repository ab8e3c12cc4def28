import type { AppointmentInput, CoverageInput } from './appointment.ts';
import type { Attention } from './attention.ts';
import { desiredCompletionDate } from './business-days.ts';
import { CALL_YOURSELF_HOURS, callYourself } from './call-yourself.ts';
import { fittingCodes } from './codes.ts';
import { draftInquiry } from './draft.ts';
import { CLOCK_RETRY_MS } from './due-times.ts';
import { NO_HISTORY } from './history.ts';
import type { InquiryDraft } from './inquiry.ts';
import { type Learned, NOTHING_LEARNED } from './learned.ts';
import { needBase } from './needs.ts';
import { beforePayerHours, callBy, hoursOf, usualHours } from './payer-hours.ts';
import { isUnmapped, payerAttention, type UnmappedPayer } from './payers.ts';
import type { ClinicProfile, PayerEntry, PayerMap, Policy } from './policy.ts';
import { effectiveProvider, type Provider } from './provider.ts';
import { questionRule } from './questions.ts';
import { missingFields } from './required-fields.ts';
import { saysWho } from './says-who.ts';
import {
  addDays,
  HOUR_MS,
  type Instant,
  instantOf,
  type LocalDate,
  localDate,
  yearOf,
} from './time.ts';
import { type Turnaround, telling } from './turnaround.ts';

/** The facts that planning needs in addition to the appointment. */
export type PlanningFacts = {
  now: Instant;
  /** A visit counts as past only while the clock is known to be right (docs/design.md "Time"). */
  is_clock_trusted: boolean;
  clinic: ClinicProfile;
  policy: Policy;
  payers: PayerMap;
};

/** What planning decides about an appointment (docs/design.md "Planning rules"). */
export type PlanningDecision =
  | { kind: 'close'; reason: 'cancelled' | 'past' | 'no_coverage' | 'skipped' }
  /** Nothing to do before `until`; then planning checks the appointment again. */
  | {
      kind: 'wait';
      until: Instant;
      reason: 'outside_window' | 'clock_unproven' | 'insurance_awaited';
      attention: Attention[];
    }
  /**
   * `coverages` need an answer; `attention` lists what the office should fix. Both may be filled
   * (G7).
   */
  | {
      kind: 'ask';
      coverages: PlannedCoverage[];
      attention: Attention[];
      unmapped: UnmappedPayer[];
    };

export type PlannedCoverage = {
  /** 1 is the primary. */
  rank: number;
  need_base: string;
  benefit_year: number;
  reverify_after_days: number;
  /** The last instant at which eligd pays for a call; after that, the office calls. */
  call_by: Instant;
  /** The attention item for a call that is too late, and for a next attempt. */
  late: Attention;
  late_again: Attention;
  /** When `late` changes its text, because the payer's hours have run out. */
  late_changes_at: Instant;
  draft: InquiryDraft;
  /** Codes of the visit that the service can be asked about. */
  codes: readonly string[];
  /** Codes whose terms are known from earlier calls; the answer's record will include them. */
  known_codes: ReadonlySet<string>;
  /**
   * Codes asked about before this instant concern an earlier plan; null: no earlier plan is known.
   */
  plan_since: Instant | null;
};

/**
 * Returns the decision about an appointment. Pure: the same appointment, facts, and learned values
 * give the same decision. `learned`: values from earlier calls (store/calls/learned.ts).
 */
export function planAppointment(
  patient_key: string,
  appointment: AppointmentInput,
  facts: PlanningFacts,
  learned: Learned = NOTHING_LEARNED,
): PlanningDecision {
  const { now, clinic, policy } = facts;
  if (appointment.status === 'cancelled') return { kind: 'close', reason: 'cancelled' };
  if (appointment.status === 'completed') return { kind: 'close', reason: 'past' };
  const starts_at = Date.parse(appointment.starts_at);
  if (starts_at < now) {
    if (facts.is_clock_trusted) return { kind: 'close', reason: 'past' };
    return { kind: 'wait', until: now + CLOCK_RETRY_MS, reason: 'clock_unproven', attention: [] };
  }
  if (appointment.patient.is_deceased === true) return raiseNearVisit(DECEASED, starts_at, facts);
  if (appointment.insurance === 'awaited') return awaitInsurance(starts_at, facts);
  const coverages = appointment.coverages.filter(isInsured);
  if (coverages.length === 0) return { kind: 'close', reason: 'no_coverage' };
  const opens_at = windowOpensAt(starts_at, policy, clinic);
  if (opens_at > now)
    return { kind: 'wait', until: opens_at, reason: 'outside_window', attention: [] };
  if (appointment.is_unwritable === true) return raiseNearVisit(UNWRITABLE, starts_at, facts);

  const attention: Attention[] = [];
  const planned: PlannedCoverage[] = [];
  const unmapped: UnmappedPayer[] = [];
  let skipped = 0;
  for (const [index, coverage] of appointment.coverages.entries()) {
    if (!isInsured(coverage)) continue;
    const outcome = planCoverage(
      { patient_key, appointment, coverage, rank: index + 1, starts_at },
      facts,
      learned,
    );
    attention.push(...outcome.attention);
    // The PMS may name the same coverage twice; one answer is enough.
    if (
      outcome.planned !== null &&
      !planned.some(({ need_base }) => need_base === outcome.planned?.need_base)
    )
      planned.push(outcome.planned);
    if (outcome.is_unmapped)
      unmapped.push({
        carrier: coverage.carrier,
        payor_id: coverage.payor_id,
        ...(saysWho(coverage.carrier, appointment) ? { says_who: true } : {}),
      });
    if (outcome.is_skipped) skipped += 1;
  }
  if (planned.length === 0 && attention.length === 0 && skipped > 0)
    return { kind: 'close', reason: 'skipped' };
  // By a clock that is days ahead, every visit of the week is too soon for a call.
  if (!facts.is_clock_trusted && planned.some(({ call_by }) => call_by < now))
    return { kind: 'wait', until: now + CLOCK_RETRY_MS, reason: 'clock_unproven', attention: [] };
  return { kind: 'ask', coverages: planned, attention, unmapped };
}

const DECEASED: Attention = {
  reason: 'patient_deceased',
  what: 'eligd made no call: the practice management system says that the patient has died.',
  next:
    'Cancel the visit in the practice management system. If the patient is alive, correct the ' +
    'patient record there; eligd calls after that.',
};

const UNWRITABLE: Attention = {
  reason: 'answer_unwritable',
  what: 'eligd made no call: it could not write the answer to the practice management system.',
  next:
    'Ask IT to run "eligd check": it shows what the server does not let eligd write. eligd ' +
    'calls once the server allows it.',
};

/**
 * Returns a decision without a call: the visit goes on the attention list once it is in the
 * look-ahead window.
 */
function raiseNearVisit(
  attention: Attention,
  starts_at: Instant,
  { now, policy, clinic }: PlanningFacts,
): PlanningDecision {
  const opens_at = windowOpensAt(starts_at, policy, clinic);
  if (opens_at > now)
    return { kind: 'wait', until: opens_at, reason: 'outside_window', attention: [] };
  return { kind: 'ask', coverages: [], attention: [attention], unmapped: [] };
}

/**
 * Returns a decision to wait: the patient's insurance has not arrived, so it is unknown, not
 * self-pay (G8). Planning continues when it arrives. Once the visit is in the look-ahead window, it
 * is on the attention list.
 */
function awaitInsurance(
  starts_at: Instant,
  { now, policy, clinic }: PlanningFacts,
): PlanningDecision {
  const opens_at = windowOpensAt(starts_at, policy, clinic);
  if (opens_at > now)
    return { kind: 'wait', until: opens_at, reason: 'insurance_awaited', attention: [] };
  const attention: Attention = {
    reason: 'insurance_awaited',
    what:
      'eligd made no call: the practice management system has not sent the patient’s insurance ' +
      'yet.',
    next:
      'Enter the insurance there and save the patient; eligd then calls automatically. No ' +
      'action is needed for self-pay patients.',
  };
  return {
    kind: 'wait',
    until: starts_at + 1,
    reason: 'insurance_awaited',
    attention: [attention],
  };
}

/**
 * Returns when the visit enters the look-ahead window: the start of the clinic's day that many days
 * before. A partial day counts as a full day, because the setting counts days.
 */
export function windowOpensAt(
  starts_at: Instant,
  policy: Pick<Policy, 'look_ahead_days'>,
  clinic: Pick<ClinicProfile, 'time_zone'>,
): Instant {
  return instantOf(
    addDays(localDate(starts_at, clinic.time_zone), -Math.ceil(policy.look_ahead_days)),
    0,
    clinic.time_zone,
  );
}

/** Returns false for self-pay: no payer, no member ID, and no group. */
export function isInsured(coverage: CoverageInput): boolean {
  return [coverage.carrier, coverage.payor_id, coverage.member_id, coverage.group_id].some(
    (value) => value.trim() !== '',
  );
}

type CoverageQuestion = {
  patient_key: string;
  appointment: AppointmentInput;
  coverage: CoverageInput;
  rank: number;
  starts_at: Instant;
};

type CoverageOutcome = {
  planned: PlannedCoverage | null;
  attention: Attention[];
  is_skipped: boolean;
  is_unmapped: boolean;
};

function planCoverage(
  question: CoverageQuestion,
  facts: PlanningFacts,
  learned: Learned,
): CoverageOutcome {
  const { appointment, coverage, starts_at, rank } = question;
  const { clinic, policy, payers, now } = facts;
  const payer = payers.find(coverage.payor_id, coverage.carrier);
  if (payer?.action === 'skip')
    return { planned: null, attention: [], is_skipped: true, is_unmapped: false };
  const provider = effectiveProvider(treatedUnder(appointment, rank), clinic);
  const { specialty } = provider;
  const called = { specialty, payer, coverage };
  const is_unmapped = isUnmapped(called);
  const visit = localDate(starts_at, clinic.time_zone);
  const attention = [
    ...payerAttention(called),
    ...missingFields({ appointment, coverage, provider, rank }, policy.required_fields[specialty]),
  ];
  if (attention.length > 0) return { planned: null, attention, is_skipped: false, is_unmapped };

  const drafted = draftCoverage({ ...question, payer, provider, visit }, facts, learned);
  const { draft } = drafted;
  const hours = hoursOf(policy.payer_hours, payer);
  const usual_hours = usualHours(policy.turnaround_days, hours);
  const turnaround = telling(learned.turnaround(draft), usual_hours);
  const call_by = callByUnder(payer, starts_at, policy, turnaround);
  const visit_to_call = {
    payer_name: coverage.carrier,
    phone_number: payer?.phone_number ?? '',
    hours,
    starts_at,
    call_by,
    turnaround,
    draft,
  };
  return {
    planned: {
      ...drafted,
      rank,
      benefit_year: yearOf(visit),
      reverify_after_days: payer?.reverify_after_days ?? policy.reverify_after_days,
      call_by,
      late: callYourself(visit_to_call, now, clinic.time_zone),
      late_again: callYourself({ ...visit_to_call, has_failed: true }, now, clinic.time_zone),
      late_changes_at: beforePayerHours(starts_at, CALL_YOURSELF_HOURS, hours),
    },
    attention: [],
    is_skipped: false,
    is_unmapped,
  };
}

/** Returns the questions about a coverage as a draft, and the need that their answer serves. */
export function draftCoverage(
  question: CoverageQuestion & { payer: PayerEntry | null; provider: Provider; visit: LocalDate },
  { clinic, policy, now }: PlanningFacts,
  learned: Learned,
): Pick<PlannedCoverage, 'need_base' | 'draft' | 'codes' | 'known_codes' | 'plan_since'> {
  const { appointment, coverage, payer, provider, visit } = question;
  const { specialty } = provider;
  const { procedure_codes } = appointment;
  const about = { codes: procedure_codes, is_dental: specialty === 'dental', coverage, payer, now };
  const rules = policy.questions[specialty];
  const first_visit_rule = questionRule(rules, { ...about, history: NO_HISTORY });
  const need_base = needBase({
    patient_key: question.patient_key,
    coverage,
    tax_id: provider.tax_id,
    question_set: `${specialty}:${first_visit_rule.name}`,
  });
  const history = learned.history(need_base);
  const questions = questionRule(rules, { ...about, history });
  const { known_codes, plan_since } = history;
  const under = { coverage, payer, provider };
  const draft = draftInquiry({ appointment, under, questions, known_codes, visit }, clinic);
  return {
    need_base,
    codes: questions.with_codes ? fittingCodes(specialty, procedure_codes).fitting : [],
    known_codes,
    plan_since,
    draft: {
      ...draft,
      desired_completion_date: desiredCompletionDate(
        visit,
        localDate(now, clinic.time_zone),
        new Set([...clinic.closed, ...policy.payer_hours.holidays]),
      ),
    },
  };
}

/**
 * Returns the last instant at which eligd pays for a call under this coverage for a visit.
 * `turnaround`: the payer's learned turnaround, or null.
 */
export function callBefore(
  coverage: CoverageInput,
  visit: { starts_at: Instant; turnaround: Turnaround | null },
  { payers, policy }: Pick<PlanningFacts, 'payers' | 'policy'>,
): Instant {
  const payer = payers.find(coverage.payor_id, coverage.carrier);
  return callByUnder(payer, visit.starts_at, policy, visit.turnaround);
}

function callByUnder(
  payer: PayerEntry | null,
  starts_at: Instant,
  policy: Policy,
  turnaround: Turnaround | null,
): Instant {
  const hours = hoursOf(policy.payer_hours, payer);
  const known = telling(turnaround, usualHours(policy.turnaround_days, hours));
  const turnaround_hours = known === null ? null : known.p90_ms / HOUR_MS;
  return callBy(starts_at, { hours, turnaround_hours }, policy);
}

/**
 * Returns the appointment as it concerns the coverage with this rank: the network status that the
 * PMS sends with a visit applies only to the first coverage, because each payer has its own
 * networks.
 */
export function treatedUnder(appointment: AppointmentInput, rank: number): AppointmentInput {
  if (rank === 1) return appointment;
  return { ...appointment, provider: { ...appointment.provider, in_network: null } };
}
