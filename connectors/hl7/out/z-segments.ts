/**
 * The Z-segments ZBN, ZCL, ZTH, and ZCM: the payer's answer as rows, one segment each. docs/hl7.md
 * describes every field. Each row names its delivery, so that a receiver can load rows one at a
 * time.
 *
 * Each field contains (G8): a value; the payer's own words; `U` if the payer did not answer;
 * nothing if it was not asked, or for a limit that the payer did not name in an answered row. Yes
 * and no are `Y` and `N`.
 */
import type { ClaimCode } from '../../../src/records/claim-status.ts';
import type {
  Age,
  Allowance,
  BenefitRule,
  EligibilityRecord,
  Money,
  Percent,
} from '../../../src/records/eligibility.ts';
import { summarizeEligibility } from '../../../src/records/summary.ts';
import { classStanding, type Verdict } from '../../../src/records/verdict.ts';
import type { ClaimDelivery, Delivery } from '../../contract.ts';
import { type Field, segment } from './outbound.ts';

const WHOSE = ['set_id', 'appointment_id', 'coverage', 'delivery_key'] as const;
const RULE = [
  'is_covered',
  'plan_pays_percent',
  'patient_pays_percent',
  'copay',
  'is_deductible_waived',
  'is_prior_auth_required',
  'frequency',
  'age_limit',
  'is_downgraded',
  'limitations',
  'remarks',
] as const;

/** The fields of each Z-segment in order. New ones are only added at the end. */
export const ROW_FIELDS = {
  ZBN: [
    ...WHOSE,
    'kind',
    'name',
    'answered',
    'amount',
    'used',
    'remaining',
    'currency',
    ...RULE,
    'next_eligible',
    'line',
    'standing',
  ],
  ZCL: [...WHOSE, 'class', 'answered', ...RULE, 'line', 'standing'],
  ZTH: [...WHOSE, 'date', 'code', 'teeth', 'surfaces', 'quadrants'],
} as const;

/** The fields of ZCM in order, described in docs/hl7.md. New ones are only added at the end. */
export const CLAIM_ROW_FIELDS = [
  'set_id',
  'claim_id',
  'delivery_key',
  'code',
  'answered',
  'paid',
  'patient_responsibility',
  'applied_to_deductible',
  'denial_reason',
  'appeal_info',
  'adjustment',
] as const;

type RowName = keyof typeof ROW_FIELDS;
type Values<Name extends RowName> = { [Field_ in (typeof ROW_FIELDS)[Name][number]]?: Field };

/**
 * Returns all rows of a delivery: amounts and procedure codes (ZBN), classes (ZCL), treatments
 * (ZTH).
 */
export function rowsOf(delivery: Delivery): string[] {
  const { record } = delivery;
  return [
    ...rows('ZBN', delivery, [...amountRows(record), ...codeRows(delivery)]),
    ...rows('ZCL', delivery, classRows(delivery)),
    ...rows('ZTH', delivery, treatmentRows(record)),
  ];
}

function rows<Name extends RowName>(
  name: Name,
  { key, appointment }: Delivery,
  found: readonly Values<Name>[],
): string[] {
  return found.map((values, index) => {
    const whose = {
      set_id: String(index + 1),
      appointment_id: appointment.source_id,
      coverage: String(appointment.coverage_rank),
      delivery_key: key,
    };
    const row: Record<string, Field | undefined> = { ...values, ...whose };
    return segment(name, ...ROW_FIELDS[name].map((field) => row[field] ?? null));
  });
}

/** Returns the rows of a claim, one for each procedure code (ZCM). */
export function claimRowsOf({ key, claim, record }: ClaimDelivery): string[] {
  return record.claim.codes.map((code, index) => {
    const row: Record<(typeof CLAIM_ROW_FIELDS)[number], Field> = {
      set_id: String(index + 1),
      claim_id: claim.source_id,
      delivery_key: key,
      ...claimFields(code),
    };
    return segment('ZCM', ...CLAIM_ROW_FIELDS.map((name) => row[name]));
  });
}

function claimFields(entry: ClaimCode) {
  return {
    code: entry.code,
    answered: entry.answered ? 'Y' : 'N',
    paid: moneyField(entry.paid),
    patient_responsibility: moneyField(entry.patient_responsibility),
    applied_to_deductible: moneyField(entry.applied_to_deductible),
    denial_reason: entry.denial_reason,
    appeal_info: entry.appeal_info,
    adjustment: entry.adjustment,
  };
}

const AMOUNTS = [
  'individual_deductible',
  'family_deductible',
  'coverage_limit',
  'individual_out_of_pocket_maximum',
  'family_out_of_pocket_maximum',
] as const;

function amountRows({ maximums }: EligibilityRecord): Values<'ZBN'>[] {
  if (maximums === undefined) return [];
  const found: Values<'ZBN'>[] = AMOUNTS.flatMap((name) => {
    const allowance = maximums[name];
    return allowance === undefined ? [] : [{ kind: 'A', name, ...allowanceFields(allowance) }];
  });
  const orthodontics = maximums.orthodontics_coverage_limit;
  if (orthodontics !== undefined) {
    const only = { amount: orthodontics, used: null, remaining: null };
    found.push({
      kind: 'A',
      name: 'orthodontics_coverage_limit',
      ...allowanceFields(only),
      used: null,
      remaining: null,
    });
  }
  return found;
}

function allowanceFields({ amount, used, remaining }: Allowance): Values<'ZBN'> {
  const currency = [amount, used, remaining].flatMap((money) =>
    money !== null && 'currency' in money ? [money.currency] : [],
  )[0];
  return {
    answered: yesNo([amount, used, remaining].some((money) => money !== null)),
    amount: moneyField(amount),
    used: moneyField(used),
    remaining: moneyField(remaining),
    currency: currency ?? null,
  };
}

function codeRows({ record, verdict }: Delivery): Values<'ZBN'>[] {
  const lines = summarizeEligibility(record, verdict).procedure_codes;
  return (record.procedure_codes?.codes ?? []).map(({ code, answered, benefits }, index) => {
    const judged = judgedOf(verdict, code);
    return {
      kind: 'C',
      name: code,
      answered: yesNo(answered),
      ...ruleFields(benefits, answered),
      // For this visit: no date after the end of the plan, and none for procedures that it never
      // pays.
      next_eligible: judged?.next_eligible ?? null,
      line: lines[index]?.line ?? null,
      standing: judged?.standing ?? 'unknown',
    };
  });
}

const judgedOf = ({ procedures, others }: Verdict, code: string) =>
  [...procedures, ...others].find((each) => each.code === code);

function classRows({ record, verdict }: Delivery): Values<'ZCL'>[] {
  const lines = summarizeEligibility(record, verdict).procedure_classes;
  return (record.procedure_classes?.classes ?? []).map(({ name, answered, benefits }, index) => ({
    class: name,
    answered: yesNo(answered),
    ...ruleFields(benefits, answered),
    line: lines[index]?.line ?? null,
    standing: classStanding(verdict, benefits),
  }));
}

function ruleFields(
  rule: BenefitRule,
  answered: boolean,
): { [Name in (typeof RULE)[number]]: Field } {
  const limit = <Limit>(said: Limit | null | undefined) => (answered ? (said ?? undefined) : said);
  const remarks = [rule.prior_auth_info, rule.downgraded_info, rule.more_info].filter(
    (words) => typeof words === 'string',
  );
  return {
    is_covered: yesNo(rule.is_covered),
    plan_pays_percent: numberField(rule.plan_pays_percent),
    patient_pays_percent: numberField(rule.patient_pays_percent),
    copay: moneyField(rule.copay),
    is_deductible_waived: yesNo(rule.is_deductible_waived),
    is_prior_auth_required: yesNo(rule.is_prior_auth_required),
    frequency: textField(limit(rule.frequency_limitations)),
    age_limit: numberField(limit(rule.age_limit)),
    is_downgraded: yesNo(limit(rule.is_downgraded)),
    limitations: textField(rule.limitations),
    remarks: remarks.join(' '),
  };
}

function treatmentRows({ treatment_history }: EligibilityRecord): Values<'ZTH'>[] {
  if (treatment_history === undefined) return [];
  if (!treatment_history.answered) return [{ date: 'U' }];
  if (treatment_history.treatments.length === 0) return [{ date: 'NONE' }];
  return treatment_history.treatments.map(({ date, code, teeth, surfaces, quadrants }) => ({
    date: date.replaceAll('-', ''),
    code: textField(code),
    teeth: listField(teeth),
    surfaces: listField(surfaces),
    quadrants: listField(quadrants),
  }));
}

const listField = (values: readonly string[] | null): Field =>
  values === null ? 'U' : { repeated: values };

const textField = (words: string | null | undefined): Field =>
  words === null ? 'U' : (words ?? null);

function yesNo(value: boolean | null | undefined): Field {
  if (value === undefined) return null;
  return value === null ? 'U' : value ? 'Y' : 'N';
}

function moneyField(money: Money | null | undefined): Field {
  if (money === undefined) return null;
  return money === null ? 'U' : 'text' in money ? money.text : money.amount;
}

function numberField(value: Percent | Age | null | undefined): Field {
  if (value === undefined) return null;
  return value === null ? 'U' : typeof value === 'number' ? String(value) : value.text;
}
