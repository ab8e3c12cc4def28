/** The handful of flat values that a front desk needs from a record; the CSV connector's columns. */
import type { Age, Allowance, BenefitRule, EligibilityRecord, Money, Percent, Unparsed } from './eligibility.ts';

/**
 * Text only, so that it goes into a line of a file as it is (guarantee G8):
 *
 * - a value, or the payer's own words in its place;
 * - `unknown`: asked, but not answered or not understood;
 * - the empty text: not asked.
 *
 * Amounts are decimal text in US dollars (`1500.00`), dates `YYYY-MM-DD`, timestamps UTC.
 */
export type EligibilitySummary = {
  status: string;
  completeness: EligibilityRecord['completeness'];
  /** `yes`, `no`, `unknown` or empty, as every yes or no here. */
  active: YesNoText;
  in_network: YesNoText;
  plan_name: string;
  plan_type: string;
  effective_date: string;
  termination_date: string;
  individual_deductible: string;
  individual_deductible_remaining: string;
  family_deductible: string;
  family_deductible_remaining: string;
  /** Dental: the maximum the plan pays (`coverage_limit`). */
  annual_maximum: string;
  annual_maximum_remaining: string;
  /** Medical, mental health. */
  individual_out_of_pocket_remaining: string;
  family_out_of_pocket_remaining: string;
  /** In the order of the record; a code that was asked and not answered has the line `unknown`. */
  procedure_codes: { code: string; line: string }[];
  procedure_classes: { name: string; line: string }[];
  /** Of all calls, joined by `, `. Empty when the answer names no call. */
  reference_number: string;
  representative: string;
  /** The end of the last call. */
  call_ended_at: string;
  /** The service's summary; empty when it gave none. */
  call_summary: string;
  /** Plain sentences, the most important first: what else a person should read before the visit. */
  notes: string[];
};

export type YesNoText = 'yes' | 'no' | 'unknown' | '';

/** How many remarks about single values are written out before the rest is only counted. */
const UNPARSED_NOTES_MAX = 20;
const UNPARSED_VALUE_LENGTH_MAX = 200;

/** Pure; every record gives a summary. */
export function summarizeEligibility(record: EligibilityRecord): EligibilitySummary {
  const { plan, maximums, calls } = record;
  return {
    status: record.status,
    completeness: record.completeness,
    active: yesNoText(plan?.is_active),
    in_network: yesNoText(plan?.is_provider_in_network),
    plan_name: knownText(plan?.plan_name),
    plan_type: knownText(plan?.plan_type),
    effective_date: knownText(plan?.effective_date),
    termination_date: knownText(plan?.termination_date),
    individual_deductible: allowanceText(maximums?.individual_deductible, 'amount'),
    individual_deductible_remaining: allowanceText(maximums?.individual_deductible, 'remaining'),
    family_deductible: allowanceText(maximums?.family_deductible, 'amount'),
    family_deductible_remaining: allowanceText(maximums?.family_deductible, 'remaining'),
    annual_maximum: allowanceText(maximums?.coverage_limit, 'amount'),
    annual_maximum_remaining: allowanceText(maximums?.coverage_limit, 'remaining'),
    individual_out_of_pocket_remaining: allowanceText(maximums?.individual_out_of_pocket_maximum, 'remaining'),
    family_out_of_pocket_remaining: allowanceText(maximums?.family_out_of_pocket_maximum, 'remaining'),
    procedure_codes: (record.procedure_codes?.codes ?? []).map((entry) => ({
      code: entry.code,
      line: entry.answered ? benefitLine(entry.benefits) : 'unknown',
    })),
    procedure_classes: (record.procedure_classes?.classes ?? []).map((entry) => ({
      name: entry.name,
      line: entry.answered ? benefitLine(entry.benefits) : 'unknown',
    })),
    reference_number: joinCalls(calls.map((call) => call.reference_number)),
    representative: joinCalls(calls.map((call) => call.representative)),
    call_ended_at: lastEnd(calls.map((call) => call.ended_at)),
    call_summary: record.summary ?? '',
    notes: notesOf(record),
  };
}

function yesNoText(value: boolean | null | undefined): YesNoText {
  if (value === undefined) return '';
  if (value === null) return 'unknown';
  return value ? 'yes' : 'no';
}

const knownText = (value: string | null | undefined) => (value === undefined ? '' : (value ?? 'unknown'));

const moneyText = (money: Money) => ('text' in money ? money.text : money.amount);

function allowanceText(allowance: Allowance | undefined, member: keyof Allowance): string {
  if (allowance === undefined) return '';
  const money = allowance[member];
  return money === null ? 'unknown' : moneyText(money);
}

function joinCalls(values: readonly (string | null)[]): string {
  const known = new Set(values.filter((value) => value !== null));
  return known.size === 0 && values.length > 0 ? 'unknown' : [...known].join(', ');
}

function lastEnd(ends: readonly (string | null)[]): string {
  const known = ends.filter((end) => end !== null).sort();
  return known.at(-1) ?? (ends.length > 0 ? 'unknown' : '');
}

/** What a rule says in one line: `covered; plan pays 80%; 2 per year`. Words of the payer stand in quotation marks. */
function benefitLine(rule: BenefitRule): string {
  const isOpen = rule.is_covered !== false;
  const parts = [
    yesNoWords(rule.is_covered, 'covered', 'not covered', 'coverage unknown'),
    numberWords(rule.plan_pays_percent, (percent) => `plan pays ${percent}%`, 'plan pays', isOpen),
    numberWords(rule.patient_pays_percent, (percent) => `patient pays ${percent}%`, 'coinsurance', isOpen),
    copayWords(rule.copay, isOpen),
    yesNoWords(rule.is_deductible_waived, 'deductible waived', 'deductible applies', null),
    yesNoWords(
      rule.is_prior_auth_required,
      'prior authorization required',
      'no prior authorization',
      isOpen ? 'prior authorization unknown' : null,
    ),
    quoted('prior authorization', rule.prior_auth_info),
    rule.frequency_limitations === null && isOpen ? 'frequency unknown' : quoted('frequency', rule.frequency_limitations),
    numberWords(rule.age_limit, (years) => `age limit ${years}`, 'age limit', false),
    yesNoWords(rule.is_downgraded, 'downgraded', 'not downgraded', null),
    quoted('downgrade', rule.downgraded_info),
    quoted('limitations', rule.limitations),
    quoted('more', rule.more_info),
  ];
  return parts.filter((part) => part !== null).join('; ');
}

function yesNoWords(value: boolean | null | undefined, yes: string, no: string, unknown: string | null): string | null {
  if (value === undefined) return null;
  if (value === null) return unknown;
  return value ? yes : no;
}

type NumberOrWords = Percent | Age;

/** `saysUnknown`: whether an unanswered one is named. */
function numberWords(
  value: NumberOrWords | null | undefined,
  say: (value: number) => string,
  label: string,
  saysUnknown: boolean,
): string | null {
  if (value === undefined) return null;
  if (value === null) return saysUnknown ? `${label} unknown` : null;
  return typeof value === 'number' ? say(value) : `${label} "${value.text}"`;
}

function copayWords(copay: Money | null | undefined, saysUnknown: boolean): string | null {
  if (copay === undefined) return null;
  if (copay === null) return saysUnknown ? 'copay unknown' : null;
  return 'text' in copay ? `copay "${copay.text}"` : `copay ${copay.amount}`;
}

const quoted = (label: string, words: string | null | undefined) =>
  words === undefined || words === null ? null : `${label} "${words}"`;

function notesOf(record: EligibilityRecord): string[] {
  const { plan, clauses } = record;
  return [
    ...completenessNotes(record),
    ...(plan?.is_primary_insurance === false ? ['The payer says that this coverage does not pay first.'] : []),
    ...(plan?.has_other_insurance === true ? ['The payer knows of other insurance.'] : []),
    ...(plan?.referral_required === true ? ['A referral is required.'] : []),
    ...sentence('Referral', plan?.referral_info),
    ...sentence('Out of network', plan?.out_of_network_benefits),
    ...sentence('Waiting periods', clauses?.waiting_periods),
    ...sentence('Missing teeth', clauses?.missing_tooth_clause),
    ...(clauses?.has_pending_claims === true ? ['Claims are pending that may use up benefits.'] : []),
    ...customNotes(record),
    ...unparsedNotes(record.unparsed),
  ];
}

function completenessNotes({ status, completeness }: EligibilityRecord): string[] {
  if (status !== 'SUCCESS') return [`The inquiry ended as ${status}.`];
  if (completeness === 'none') return ['The answer holds nothing that could be read.'];
  return completeness === 'partial' ? ['Not everything that was asked was answered.'] : [];
}

const sentence = (label: string, words: string | null | undefined) =>
  words === undefined || words === null ? [] : [`${label}: ${words}`];

function customNotes({ plan, calls }: EligibilityRecord): string[] {
  const answers = [...(plan?.custom_answers ?? []), ...calls.flatMap((call) => call.custom_answers ?? [])];
  return answers.map(({ question, answer }) => `${question}: ${answer ?? 'unknown'}`);
}

function unparsedNotes(entries: readonly Unparsed[]): string[] {
  const notes = entries.slice(0, UNPARSED_NOTES_MAX).map(({ path, value, why }) => {
    const said = JSON.stringify(value) ?? '';
    const cut = said.length > UNPARSED_VALUE_LENGTH_MAX ? `${said.slice(0, UNPARSED_VALUE_LENGTH_MAX)} …` : said;
    return `Not in the fields above (${why}): ${path} = ${cut}`;
  });
  const more = entries.length - notes.length;
  return more > 0 ? [...notes, `And ${more} more under "unparsed" in the full record.`] : notes;
}
