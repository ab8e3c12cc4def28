/**
 * Converts the service's answer to a benefits inquiry into an `EligibilityRecord`.
 *
 * Nothing in the answer is lost: what has no field in the record, is not understood, or should be
 * checked is kept verbatim under `unparsed`, with its path. Only the stored raw answer has three
 * things: the text of transcripts, the digits of a timestamp below a millisecond, and fields that
 * say nothing (null, blank).
 *
 * Entries of `unparsed` cause a log event. Only their `why` may be logged; `path` and `value` may
 * contain protected health information.
 */

import { isKnownStatus, outcomeOf } from '../domain/outcome.ts';
import type { Specialty } from '../domain/specialty.ts';
import { type Questions, questionsOf } from './asked.ts';
import { readClasses, readCodes, readTreatments } from './benefits.ts';
import { readCalls, readCustomAnswers } from './calls.ts';
import {
  type Allowance,
  ELIGIBILITY_SCHEMA,
  type EligibilityClauses,
  type EligibilityMaximums,
  type EligibilityPlan,
  type EligibilityRecord,
} from './eligibility.ts';
import {
  ACTIVE_WORDS,
  NETWORK_WORDS,
  PRIMARY_WORDS,
  REFERRAL_WORDS,
  readFlag,
} from './flag-words.ts';
import { withNextEligible } from './frequency.ts';
import { inapplicable, type Parts, withoutFields } from './inapplicable.ts';
import { isObject, keepKnown, ObjectReader, Remainder, settle } from './reader.ts';
import {
  neverLost,
  readAmount,
  readDate,
  readText,
  readTimestamp,
  readYesNo,
  subtractMoney,
} from './values.ts';
import { readVerification } from './verification.ts';

export type NormalizeInput = {
  /**
   * The service's read form of the inquiry (docs/service.md "Inquiry (read form)"). `results` and
   * `request`: any JSON.
   */
  inquiry: {
    id: string;
    status: string;
    creation_ts: string;
    summary?: string | null;
    results: unknown;
    request: Record<string, unknown> | null;
  };
  specialty: Specialty;
  /** What eligd asked; the echo in `request` is not trusted. */
  asked: { benefits_query: readonly string[]; benefits_codes: readonly string[] };
  /**
   * The transcript verifications of the inquiry, newest first, any JSON; null or left out when
   * there are none.
   */
  verifications?: unknown;
};

/**
 * Converts an answer. Pure and total: any JSON gives a valid record, and always the same one. An
 * answer without results (UNSUCCESSFUL, CANCELLED, SUCCESS with null) gives a record whose asked
 * parts are present and unanswered, with `completeness: "none"`.
 */
export function normalizeEligibility({
  inquiry,
  specialty,
  asked,
  verifications,
}: NormalizeInput): EligibilityRecord {
  const remainder = new Remainder();
  const request = isObject(inquiry.request) ? inquiry.request : {};
  const call_script_id =
    typeof request.call_script_id === 'string' && request.call_script_id !== ''
      ? request.call_script_id
      : null;
  const questions = questionsOf(specialty, asked, { type: request.type, call_script_id });
  const head = {
    schema: ELIGIBILITY_SCHEMA as typeof ELIGIBILITY_SCHEMA,
    ...readHead(inquiry, remainder),
    specialty,
    asked: {
      benefits_query: [...asked.benefits_query],
      benefits_codes: [...asked.benefits_codes],
      ...(call_script_id === null ? {} : { call_script_id }),
    },
  };
  const results = new ObjectReader(inquiry.results, 'results', remainder);
  const calls = readCalls(results.take('call_details'), remainder);
  const read = {
    plan: readPlan(results.take('plan_information'), questions, remainder),
    maximums: readMaximums(results.take('maximums'), questions, remainder),
    procedure_classes: readClasses(results.take('procedure_classes'), questions, remainder),
    procedure_codes: readCodes(
      results.take('procedure_codes'),
      asked.benefits_codes,
      questions,
      remainder,
    ),
    treatment_history: readTreatments(results.take('treatment_history'), questions, remainder),
    clauses: readClauses(results.take('extra_info'), questions, remainder),
  };
  const parts = withNextEligible(read, remainder.entries);
  results.finish();
  const does_not_apply = inapplicable(inquiry.results, parts);
  return {
    ...head,
    completeness: completenessOf(parts, questions),
    calls,
    ...readVerification(verifications, remainder),
    ...leaveOutAbsent(withoutFields(parts, does_not_apply)),
    ...(does_not_apply.length === 0 ? {} : { does_not_apply }),
    unparsed: remainder.entries,
  };
}

/** Reads the values that every inquiry has, whatever it asked. */
export function readHead(inquiry: NormalizeInput['inquiry'], remainder: Remainder) {
  if (!isKnownStatus(inquiry.status)) remainder.add('status', inquiry.status, 'unknown status');
  return {
    inquiry_id: inquiry.id,
    inquiry_created_at:
      settle(readTimestamp(inquiry.creation_ts), inquiry.creation_ts, 'creation_ts', remainder) ??
      null,
    outcome: outcomeOf(inquiry.status),
    status: inquiry.status,
    summary: settle(readText(inquiry.summary), inquiry.summary, 'summary', remainder) ?? null,
  };
}

function leaveOutAbsent(parts: Parts): Parts {
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined));
}

function completenessOf(parts: Parts, questions: Questions): EligibilityRecord['completeness'] {
  const names = [
    'plan',
    'maximums',
    'procedure_classes',
    'procedure_codes',
    'treatment_history',
    'clauses',
  ] as const;
  if (!names.some((name) => parts[name]?.answered === true)) return 'none';
  const isEachPartAnswered = names.every(
    (name) => !questions.asks(name) || parts[name]?.answered === true,
  );
  const isEachCodeAnswered = (parts.procedure_codes?.codes ?? []).every(
    (entry) => !entry.asked || entry.answered,
  );
  return isEachPartAnswered && isEachCodeAnswered && isEachDecided(parts, questions)
    ? 'complete'
    : 'partial';
}

/**
 * Returns whether the answers that decide a visit are present: that the plan is active, and a share
 * or a copay for each covered code. Values that the specification lets payers leave out (family
 * amounts of an individual plan, limits that do not apply) do not make an answer partial.
 */
function isEachDecided({ plan, maximums, procedure_codes }: Parts, questions: Questions): boolean {
  if (plan?.is_active == null) return false;
  if (questions.asks('maximums') && maximums !== undefined && isHalf(maximums)) return false;
  return (procedure_codes?.codes ?? []).every(({ asked, benefits }) => {
    if (!asked || benefits.is_covered === false) return true;
    if (benefits.is_covered == null) return !('is_covered' in benefits);
    const shares = [benefits.plan_pays_percent, benefits.patient_pays_percent, benefits.copay];
    return shares.every((share) => share === undefined) || shares.some((share) => share != null);
  });
}

/** Returns whether amounts lack a number, or a limit lacks the remaining amount. */
function isHalf(maximums: EligibilityMaximums): boolean {
  const { individual_deductible, coverage_limit, individual_out_of_pocket_maximum } = maximums;
  const own = [individual_deductible, coverage_limit, individual_out_of_pocket_maximum].filter(
    (allowance) => allowance !== undefined,
  );
  const is_said = own.some(({ amount, used, remaining }) => (amount ?? used ?? remaining) !== null);
  const is_open = own.some(
    ({ amount, used, remaining }) =>
      amount !== null &&
      'amount' in amount &&
      !/^0+\.0+$/.test(amount.amount) &&
      used === null &&
      remaining === null,
  );
  return (own.length > 0 && !is_said) || is_open;
}

function readPlan(
  raw: unknown,
  questions: Questions,
  remainder: Remainder,
): EligibilityPlan | undefined {
  const isAsked = questions.asks('plan');
  const fields = new ObjectReader(raw, 'results.plan_information', remainder);
  const custom_answers = readCustomAnswers(fields, remainder);
  const plan = keepKnown(
    {
      is_active: fields.read('is_active', readFlag(ACTIVE_WORDS)),
      plan_type: fields.read('plan_type', readText),
      plan_name: fields.read('plan_name', readText),
      effective_date: fields.read('effective_date', readDate),
      termination_date: fields.read('termination_date', readDate),
      is_calendar_year_plan: fields.read('is_calendar_year_plan', readYesNo),
      is_provider_in_network: fields.read('is_provider_in_network', readFlag(NETWORK_WORDS)),
      is_primary_insurance: fields.read('is_primary_insurance', readFlag(PRIMARY_WORDS)),
      is_provider_pcp: fields.read('is_provider_pcp', readYesNo),
      has_other_insurance: fields.read('has_other_insurance', readYesNo),
      is_self_funded: fields.read('is_self_funded', readYesNo),
      has_out_of_state_coverage: fields.read('has_out_of_state_coverage', readYesNo),
      referral_required: fields.read('referral_required', readFlag(REFERRAL_WORDS)),
      referral_info: fields.read('referral_info', readText),
      out_of_network_benefits: fields.read('out_of_network_benefits', readText),
    },
    () => isAsked,
  );
  fields.finish();
  if (!isAsked && !hasFields(plan) && custom_answers === undefined) return undefined;
  const answered = isAnyKnown(plan) || (custom_answers ?? []).some(({ answer }) => answer !== null);
  return { answered, ...plan, ...(custom_answers === undefined ? {} : { custom_answers }) };
}

const hasFields = (fields: object) => Object.keys(fields).length > 0;

const isAnyKnown = (fields: object) =>
  Object.values(fields).some((value) => value !== null && value !== undefined);

function readMaximums(
  raw: unknown,
  questions: Questions,
  remainder: Remainder,
): EligibilityMaximums | undefined {
  const isPartAsked = questions.asks('maximums');
  const fields = new ObjectReader(raw, 'results.maximums', remainder);
  const isAsked = (name: keyof EligibilityMaximums) => isPartAsked && questions.hasMaximum(name);
  const single = keepKnown(
    {
      name: fields.read('name', readText),
      individual_deductible_resets_each_calendar_year: fields.read(
        'individual_deductible_resets_each_calendar_year',
        readYesNo,
      ),
      orthodontics_coverage_limit: fields.read('orthodontics_coverage_limit', readAmount),
    },
    isAsked,
  );
  const allowances: Record<AllowanceName, Allowance | null> = {
    individual_deductible: readAllowance(fields, 'individual_deductible', 'used'),
    family_deductible: readAllowance(fields, 'family_deductible', 'used'),
    coverage_limit: readAllowance(fields, 'coverage_limit', 'remaining'),
    individual_out_of_pocket_maximum: readAllowance(
      fields,
      'individual_out_of_pocket_maximum',
      'used',
    ),
    family_out_of_pocket_maximum: readAllowance(fields, 'family_out_of_pocket_maximum', 'used'),
  };
  fields.finish();
  const kept = ALLOWANCES.flatMap((name) => {
    const allowance =
      allowances[name] ?? (isAsked(name) ? { amount: null, used: null, remaining: null } : null);
    return allowance === null ? [] : [[name, allowance] as const];
  });
  if (!isPartAsked && !hasFields(single) && kept.length === 0) return undefined;
  const answered = isAnyKnown(single) || kept.some(([, allowance]) => isAnyKnown(allowance));
  return { answered, ...single, ...Object.fromEntries(kept) };
}

const ALLOWANCES = [
  'individual_deductible',
  'family_deductible',
  'coverage_limit',
  'individual_out_of_pocket_maximum',
  'family_out_of_pocket_maximum',
] as const;

type AllowanceName = (typeof ALLOWANCES)[number];

/**
 * Reads an amount. The service gives either what is used or what remains (`<name>_used` or
 * `<name>_remaining`); the other is the difference.
 */
function readAllowance(
  fields: ObjectReader,
  name: AllowanceName,
  given: 'used' | 'remaining',
): Allowance | null {
  const amount = fields.read(name, readAmount);
  const part = fields.read(`${name}_${given}`, readAmount);
  if (amount === undefined && part === undefined) return null;
  const rest = subtractMoney(amount ?? null, part ?? null);
  if (rest === 'overdrawn') fields.flag(`${name}_${given}`, 'more than the whole');
  const difference = rest === 'overdrawn' ? null : rest;
  return given === 'used'
    ? { amount: amount ?? null, used: part ?? null, remaining: difference }
    : { amount: amount ?? null, used: difference, remaining: part ?? null };
}

function readClauses(
  raw: unknown,
  questions: Questions,
  remainder: Remainder,
): EligibilityClauses | undefined {
  const isAsked = questions.asks('clauses');
  const fields = new ObjectReader(raw, 'results.extra_info', remainder);
  const clauses = keepKnown(
    {
      waiting_periods: fields.read(
        'waiting_periods',
        neverLost(readText, (words) => words),
      ),
      missing_tooth_clause: fields.read('missing_tooth_clause', readText),
      deductible_applies_to_preventive: fields.read('deductible_applies_to_preventive', readYesNo),
      preventive_applies_to_maximum: fields.read('preventative_applies_to_maximum', readYesNo),
      has_pending_claims: fields.read('has_pending_claims', readYesNo),
    },
    () => isAsked,
  );
  fields.finish();
  if (!isAsked && !hasFields(clauses)) return undefined;
  return { answered: isAnyKnown(clauses), ...clauses };
}
