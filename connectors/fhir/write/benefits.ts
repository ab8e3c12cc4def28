/**
 * Writes the benefits of a record as items of a CoverageEligibilityResponse. Only known data
 * becomes a value (G8): a question that the payer did not answer is text in `description`, a
 * question that was not asked is absent, and `excluded` is written only if the payer said "not
 * covered". FHIR has no element for remaining amounts, so `used` is written next to `allowed`.
 */
import type {
  CodeableConcept,
  CoverageEligibilityResponseInsuranceItem,
  CoverageEligibilityResponseInsuranceItemBenefit,
  Money as FhirMoney,
} from '@medplum/fhirtypes';
import type { Specialty } from '../../../src/domain/specialty.ts';
import type {
  Allowance,
  BenefitRule,
  EligibilityRecord,
  Money,
  Percent,
} from '../../../src/records/eligibility.ts';
import { summarizeEligibility } from '../../../src/records/summary.ts';
import {
  classStanding,
  type ReasonCode,
  type Standing,
  type Verdict,
} from '../../../src/records/verdict.ts';
import type { Delivery } from '../../contract.ts';
import {
  BENEFIT_NETWORKS,
  BENEFIT_TERMS,
  BENEFIT_TYPES,
  BENEFIT_UNITS,
  CDT,
  CPT,
  HCPCS,
  X12_SERVICE_TYPES,
} from '../systems.ts';

type Item = CoverageEligibilityResponseInsuranceItem;
type Benefit = CoverageEligibilityResponseInsuranceItemBenefit;

/** X12 service types of a plan's amounts. */
const PLAN_SERVICES: Readonly<Record<Specialty, { code: string; display: string }>> = {
  dental: { code: '35', display: 'Dental Care' },
  medical: { code: '30', display: 'Health Benefit Plan Coverage' },
  mental_health: { code: 'MH', display: 'Mental Health' },
};

/** X12 service types of the procedure classes that have one. */
const CLASS_SERVICES: Readonly<Record<string, string>> = {
  DIAGNOSTIC: '23',
  PERIODONTICS: '24',
  RESTORATIVE: '25',
  ENDODONTICS: '26',
  ADJUNCTIVE: '28',
  CHIROPRACTIC: '33',
  ORTHODONTICS: '38',
  PROSTHODONTICS: '39',
  ORAL_SURGERY: '40',
  PREVENTIVE: '41',
  PHYSICAL_THERAPY: 'PT',
};

export function benefitItems({ record, verdict }: Delivery): Item[] {
  const summary = summarizeEligibility(record, verdict);
  return [
    ...planItems(record),
    ...(record.procedure_classes?.classes ?? []).map(
      (entry, index): Item => ({
        category: classConcept(entry.name.trim()),
        ...ruleParts(entry.benefits, {
          description: summary.procedure_classes[index]?.line ?? '',
          ...heldClass(verdict, entry.benefits),
        }),
      }),
    ),
    ...(record.procedure_codes?.codes ?? []).map(
      (entry, index): Item => ({
        productOrService: procedureConcept(entry.code, entry.name),
        ...ruleParts(entry.benefits, {
          description: summary.procedure_codes[index]?.line ?? '',
          ...heldIn(verdict, entry.code),
        }),
      }),
    ),
  ];
}

/** `may_hold`: nothing known changes the share or the copay. */
type Held = { standing: Standing; may_hold: boolean };

const OTHER_SHARES: ReadonlySet<ReasonCode> = new Set([
  'conflicting',
  'out_of_network',
  'downgrade',
  'maximum_used_up',
  'no_answer',
]);

const mayHold = (standing: Standing, reasons: readonly ReasonCode[]) =>
  standing !== 'not_payable' && !reasons.some((code) => OTHER_SHARES.has(code));

function heldClass(verdict: Verdict, rule: BenefitRule): Held {
  const standing = classStanding(verdict, rule);
  return { standing, may_hold: mayHold(standing, verdict.plan.reasons) };
}

/** Returns the verdict's result for a code of the record. */
function heldIn({ procedures, others }: Verdict, code: string): Held {
  const found = [...procedures, ...others].find((each) => each.code === code);
  if (found === undefined) return { standing: 'unknown', may_hold: true };
  const { standing, plan_pays_percent, copay } = found;
  const reasons = found.reasons.map((reason) => reason.code);
  const holds = standing !== 'payable' || plan_pays_percent !== null || copay !== null;
  return { standing, may_hold: holds && mayHold(standing, reasons) };
}

function classConcept(name: string): CodeableConcept {
  const code = CLASS_SERVICES[name];
  return {
    ...(code === undefined ? {} : { coding: [{ system: X12_SERVICE_TYPES, code }] }),
    text: name || 'not named',
  };
}

/**
 * Returns a procedure code with its code system, by its form: D1110 is CDT, 99213 is CPT, other
 * letters are HCPCS.
 */
export function procedureConcept(code: string, name: string | null = null): CodeableConcept {
  // FHIR does not allow a text without a letter.
  const text = name?.trim() || code.trim() || 'not named';
  if (/^D\d{4}$/.test(code)) return { coding: [{ system: CDT, code }], text };
  if (/^\d{4}[0-9A-Z]$/.test(code)) return { coding: [{ system: CPT, code }], text };
  return /^[A-Z]\d{4}$/.test(code) ? { coding: [{ system: HCPCS, code }], text } : { text };
}

function planItems({ specialty, plan, maximums }: EligibilityRecord): Item[] {
  const service = PLAN_SERVICES[specialty];
  const category: CodeableConcept = { coding: [{ system: X12_SERVICE_TYPES, ...service }] };
  const network = networkOf(maximums?.name, plan?.is_provider_in_network);
  const common: Item = {
    category,
    ...(network === null ? {} : { network: concept(BENEFIT_NETWORKS, network) }),
    term: concept(BENEFIT_TERMS, 'annual'),
  };
  const individual = [
    ...allowance(concept(BENEFIT_TYPES, 'benefit'), maximums?.coverage_limit),
    ...allowance(concept(BENEFIT_TYPES, 'deductible'), maximums?.individual_deductible),
    ...allowance({ text: 'Out-of-pocket maximum' }, maximums?.individual_out_of_pocket_maximum),
  ];
  const family = [
    ...allowance(concept(BENEFIT_TYPES, 'deductible'), maximums?.family_deductible),
    ...allowance({ text: 'Out-of-pocket maximum' }, maximums?.family_out_of_pocket_maximum),
  ];
  const orthodontics = moneyOf(maximums?.orthodontics_coverage_limit);
  const words = amountWords(maximums);
  return [
    ...(individual.length === 0 && words === ''
      ? []
      : [
          item(
            {
              ...common,
              ...(words === '' ? {} : { description: words }),
              unit: concept(BENEFIT_UNITS, 'individual'),
            },
            individual,
          ),
        ]),
    ...(family.length === 0
      ? []
      : [item({ ...common, unit: concept(BENEFIT_UNITS, 'family') }, family)]),
    ...(orthodontics === null
      ? []
      : [
          item(
            {
              category: {
                coding: [{ system: X12_SERVICE_TYPES, code: '38', display: 'Orthodontics' }],
              },
              unit: concept(BENEFIT_UNITS, 'individual'),
              term: concept(BENEFIT_TERMS, 'lifetime'),
            },
            [{ type: concept(BENEFIT_TYPES, 'benefit'), allowedMoney: orthodontics }],
          ),
        ]),
  ];
}

/**
 * Returns the network of the amounts: as the payer named it, otherwise the provider's if in
 * network. Payers also give in-network amounts for an out-of-network provider, so then the
 * provider's status alone does not decide.
 */
function networkOf(
  name: string | null | undefined,
  is_provider_in_network: boolean | null | undefined,
): 'in' | 'out' | null {
  const words = (name ?? '').toLowerCase().replaceAll(/[-_]/g, ' ');
  if (/\b(?:out of|non) ?network\b|\boon\b/.test(words)) return 'out';
  if (/\bin ?network\b|\binn\b/.test(words)) return 'in';
  return is_provider_in_network === true ? 'in' : null;
}

const concept = (system: string, code: string): CodeableConcept => ({ coding: [{ system, code }] });

/** FHIR does not allow empty lists. */
const item = (parts: Item, benefit: Benefit[]): Item =>
  benefit.length === 0 ? parts : { ...parts, benefit };

/**
 * `used` is given, or the record computes it as limit − remaining. Without a limit, FHIR cannot
 * express it.
 */
function allowance(type: CodeableConcept, value: Allowance | undefined): Benefit[] {
  const allowed = moneyOf(value?.amount);
  const used = moneyOf(value?.used);
  if (allowed === null && used === null) return [];
  return [
    {
      type,
      ...(allowed === null ? {} : { allowedMoney: allowed }),
      ...(used === null ? {} : { usedMoney: used }),
    },
  ];
}

/** Returns amounts that FHIR cannot express: the payer's words, and unanswered questions. */
function amountWords(maximums: EligibilityRecord['maximums']): string {
  if (maximums === undefined) return '';
  const named: [string, Allowance | undefined][] = [
    ['Maximum', maximums.coverage_limit],
    ['Individual deductible', maximums.individual_deductible],
    ['Family deductible', maximums.family_deductible],
    ['Individual out-of-pocket maximum', maximums.individual_out_of_pocket_maximum],
    ['Family out-of-pocket maximum', maximums.family_out_of_pocket_maximum],
  ];
  const said = named.flatMap(([name, value]) => {
    if (value === undefined) return [];
    // With the limit, the remaining amount follows from the used one; without it, only text can say
    // it.
    const is_remaining_said = moneyOf(value.amount) !== null;
    return [
      ...amountWord(name, value.amount),
      ...amountWord(`${name} used`, value.used),
      ...amountWord(`${name} remaining`, value.remaining, !is_remaining_said),
    ];
  });
  const orthodontics = maximums.orthodontics_coverage_limit;
  return [
    ...said,
    ...(orthodontics === undefined ? [] : amountWord('Orthodontics maximum', orthodontics)),
  ].join('; ');
}

function amountWord(name: string, money: Money | null, says_number = false): string[] {
  if (money === null) return [`${name} unknown`];
  if ('text' in money) return [`${name} "${money.text}"`];
  return says_number || moneyOf(money) === null ? [`${name} ${money.amount}`] : [];
}

/**
 * Returns the rule that applies at the visit: a share or a copay only if it is what the patient
 * pays, and never "not excluded" for what the plan does not pay.
 */
function ruleParts(
  rule: BenefitRule,
  { description, standing, may_hold }: Held & { description: string },
): Item {
  const percent = may_hold ? patientPercent(rule) : null;
  const copay = may_hold ? moneyOf(rule.copay) : null;
  const benefit: Benefit[] = [
    ...(percent === null
      ? []
      : [{ type: concept(BENEFIT_TYPES, 'copay-percent'), allowedUnsignedInt: percent }]),
    ...(copay === null ? [] : [{ type: concept(BENEFIT_TYPES, 'copay'), allowedMoney: copay }]),
  ];
  return item(
    {
      ...(description === '' ? {} : { description }),
      ...(rule.is_covered === false || (rule.is_covered === true && standing !== 'not_payable')
        ? { excluded: !rule.is_covered }
        : {}),
      ...(typeof rule.is_prior_auth_required === 'boolean'
        ? { authorizationRequired: rule.is_prior_auth_required }
        : {}),
    },
    benefit,
  );
}

/**
 * `copay-percent` is the patient's share as a whole number; anything else stays in the description.
 */
function patientPercent({ patient_pays_percent, plan_pays_percent }: BenefitRule): number | null {
  const whole = (percent: Percent | null | undefined) =>
    typeof percent === 'number' && Number.isInteger(percent) ? percent : null;
  const own = whole(patient_pays_percent);
  const plan = whole(plan_pays_percent);
  return own ?? (plan === null ? null : 100 - plan);
}

/**
 * Returns the amount as a JSON number, the only decimal that FHIR has. An amount that a number
 * cannot hold exactly stays in the description.
 */
export function moneyOf(money: Money | null | undefined): FhirMoney | null {
  if (money === null || money === undefined || 'text' in money) return null;
  const value = Number(money.amount);
  return isExact(value, money.amount)
    ? { value, currency: money.currency as NonNullable<FhirMoney['currency']> }
    : null;
}

function isExact(value: number, decimals: string): boolean {
  const places = decimals.split('.')[1]?.length ?? 0;
  return places <= 20 && value.toFixed(places) === decimals;
}
