/**
 * Lists the record's fields that hold a single value: the key by which outputs name the field, its
 * path in the record, and its name for people. `OTHER_PATHS` lists all other paths: the head of the
 * record, and its lists, for which `summary.ts` writes texts. A test compares both with every
 * format that eligd writes.
 */
import type { EligibilityRecord, Money } from './eligibility.ts';
import { centsOfMoney, isNothing, isUnlimited } from './verdict/money.ts';

/** In the order in which people read them. */
export const RECORD_FIELDS = [
  ['active', 'plan.is_active', 'Coverage active'],
  ['in_network', 'plan.is_provider_in_network', 'In network'],
  ['plan_name', 'plan.plan_name', 'Plan'],
  ['plan_type', 'plan.plan_type', 'Plan type'],
  ['effective_date', 'plan.effective_date', 'Effective'],
  ['termination_date', 'plan.termination_date', 'Ends'],
  ['calendar_year_plan', 'plan.is_calendar_year_plan', 'Benefit year is the calendar year'],
  ['pays_first', 'plan.is_primary_insurance', 'Pays first'],
  ['other_insurance', 'plan.has_other_insurance', 'Other insurance'],
  ['referral_required', 'plan.referral_required', 'Referral required'],
  ['referral_info', 'plan.referral_info', 'Referral'],
  ['provider_is_pcp', 'plan.is_provider_pcp', 'Primary care provider'],
  ['out_of_network_benefits', 'plan.out_of_network_benefits', 'Out of network'],
  ['self_funded', 'plan.is_self_funded', 'Self-funded'],
  ['out_of_state_coverage', 'plan.has_out_of_state_coverage', 'Out-of-state coverage'],
  ['amounts_name', 'maximums.name', 'Name of these amounts'],
  ['individual_deductible', 'maximums.individual_deductible.amount', 'Individual deductible'],
  [
    'individual_deductible_used',
    'maximums.individual_deductible.used',
    'Individual deductible used',
  ],
  [
    'individual_deductible_remaining',
    'maximums.individual_deductible.remaining',
    'Individual deductible left',
  ],
  [
    'deductible_resets_on_january_1',
    'maximums.individual_deductible_resets_each_calendar_year',
    'Deductible resets on January 1',
  ],
  ['family_deductible', 'maximums.family_deductible.amount', 'Family deductible'],
  ['family_deductible_used', 'maximums.family_deductible.used', 'Family deductible used'],
  ['family_deductible_remaining', 'maximums.family_deductible.remaining', 'Family deductible left'],
  ['annual_maximum', 'maximums.coverage_limit.amount', 'Maximum'],
  ['annual_maximum_used', 'maximums.coverage_limit.used', 'Maximum used'],
  ['annual_maximum_remaining', 'maximums.coverage_limit.remaining', 'Maximum left'],
  ['orthodontics_maximum', 'maximums.orthodontics_coverage_limit', 'Orthodontics maximum'],
  [
    'individual_out_of_pocket_maximum',
    'maximums.individual_out_of_pocket_maximum.amount',
    'Individual out-of-pocket maximum',
  ],
  [
    'individual_out_of_pocket_used',
    'maximums.individual_out_of_pocket_maximum.used',
    'Individual out-of-pocket used',
  ],
  [
    'individual_out_of_pocket_remaining',
    'maximums.individual_out_of_pocket_maximum.remaining',
    'Individual out-of-pocket left',
  ],
  [
    'family_out_of_pocket_maximum',
    'maximums.family_out_of_pocket_maximum.amount',
    'Family out-of-pocket maximum',
  ],
  [
    'family_out_of_pocket_used',
    'maximums.family_out_of_pocket_maximum.used',
    'Family out-of-pocket used',
  ],
  [
    'family_out_of_pocket_remaining',
    'maximums.family_out_of_pocket_maximum.remaining',
    'Family out-of-pocket left',
  ],
  ['waiting_periods', 'clauses.waiting_periods', 'Waiting periods'],
  ['missing_tooth_clause', 'clauses.missing_tooth_clause', 'Missing tooth clause'],
  [
    'deductible_applies_to_preventive',
    'clauses.deductible_applies_to_preventive',
    'Preventive care counts toward the deductible',
  ],
  [
    'preventive_applies_to_maximum',
    'clauses.preventive_applies_to_maximum',
    'Preventive care counts toward the maximum',
  ],
  ['pending_claims', 'clauses.has_pending_claims', 'Pending claims'],
] as const;

export type FieldKey = (typeof RECORD_FIELDS)[number][0];

/** All other paths of the record; `[]` stands for an entry of a list. */
export const OTHER_PATHS: readonly string[] = [
  ...['schema', 'inquiry_id', 'inquiry_created_at', 'specialty', 'outcome', 'status'],
  ...['completeness', 'summary', 'entered_by', 'confidence', 'does_not_apply[]'],
  ...['asked.benefits_query[]', 'asked.benefits_codes[]', 'asked.call_script_id'],
  ...['ended_at', 'representative', 'reference_number', 'recording_url', 'transcript_url'].map(
    (name) => `calls[].${name}`,
  ),
  ...['calls[].has_transcript', 'calls[].custom_answers[].question'],
  ...['calls[].custom_answers[].answer', 'plan.custom_answers[].question'],
  ...['plan.custom_answers[].answer'],
  ...['name', 'description', 'status', 'is_met', 'evidence', 'reasoning', 'validation'].map(
    (name) => `verification.checks[].${name}`,
  ),
  ...['verification.checks[].call_log_id', 'verification.checks[].checked_at'],
  ...['plan', 'maximums', 'clauses', 'procedure_classes', 'procedure_codes'].map(
    (part) => `${part}.answered`,
  ),
  ...['treatment_history.answered', 'procedure_classes.classes[].name'],
  ...['procedure_classes.classes[].answered', 'procedure_codes.codes[].answered'],
  ...['code', 'said_as', 'name', 'asked'].map((name) => `procedure_codes.codes[].${name}`),
  ...['standing', 'date', 'counted[]'].map(
    (name) => `procedure_codes.codes[].next_eligible.${name}`,
  ),
  ...['kind', 'name', 'title', 'said_on', 'about', 'inquiry_id', 'representative'].map(
    (name) => `earlier[].${name}`,
  ),
  'earlier[].reference_number',
  ...['procedure_classes.classes[]', 'procedure_codes.codes[]', 'earlier[]'].flatMap((entry) =>
    [
      ...['is_covered', 'is_prior_auth_required', 'prior_auth_info', 'plan_pays_percent'],
      ...['patient_pays_percent', 'copay', 'is_deductible_waived', 'frequency_limitations'],
      ...['age_limit', 'is_downgraded', 'downgraded_info', 'limitations', 'more_info'],
    ].map((name) => `${entry}.benefits.${name}`),
  ),
  ...['date', 'code', 'said_as', 'teeth[]', 'surfaces[]', 'quadrants[]'].map(
    (name) => `treatment_history.treatments[].${name}`,
  ),
  ...['path', 'value', 'why'].map((name) => `unparsed[].${name}`),
];

/** Why a field has no value. Each reason has its own words. */
export type Absence = 'not_asked' | 'not_answered' | 'does_not_apply';

/** For a place where only a value fits. */
export const ABSENCE_TEXTS: Readonly<Record<Absence, string>> = {
  not_asked: '',
  not_answered: 'unknown',
  does_not_apply: 'does not apply',
};

/** For a sentence. */
const ABSENCE_WORDS: Readonly<Record<Absence, string>> = {
  not_asked: 'Not asked',
  not_answered: 'Asked and not answered',
  does_not_apply: 'Does not apply',
};

/** A field as shown to people; `text` is the value, or the reason for its absence. */
type ReadField = { key: FieldKey; label: string; text: string; absence: Absence | null };

/** Reads every field of the list, in its order. Pure. */
export function readFields(record: EligibilityRecord): ReadField[] {
  return RECORD_FIELDS.map(([key, path, label]) => {
    const said = textOf(valueAt(record, path)) ?? inferred(record, path);
    if (said !== null) return { key, label, text: said, absence: null };
    const absence = absenceOf(record, path);
    return { key, label, text: ABSENCE_TEXTS[absence], absence };
  });
}

/** Returns one sentence for each reason for absence, with the fields concerned. */
export function absenceSentences(record: EligibilityRecord): string[] {
  const fields = readFields(record);
  const kinds: Absence[] = ['not_answered', 'not_asked', 'does_not_apply'];
  return kinds.flatMap((kind) => {
    const labels = fields.filter(({ absence }) => absence === kind).map(({ label }) => label);
    const lists = listLabels(record, kind);
    return labels.length + lists.length === 0
      ? []
      : [`${ABSENCE_WORDS[kind]}: ${[...labels, ...lists].join(', ')}.`];
  });
}

function listLabels(record: EligibilityRecord, kind: Absence): string[] {
  const lists = [
    ['procedure_codes', 'procedure codes'],
    ['procedure_classes', 'classes of procedures'],
    ['treatment_history', 'treatment history'],
  ] as const;
  return lists.flatMap(([part, label]) => {
    const found = record[part];
    if (found !== undefined) return kind === 'not_answered' && !found.answered ? [label] : [];
    return absenceOf(record, part) === kind ? [label] : [];
  });
}

function valueAt(record: EligibilityRecord, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (node, name) =>
        typeof node === 'object' && node !== null
          ? (node as Record<string, unknown>)[name]
          : undefined,
      record,
    );
}

function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'object') {
    const money = value as Money;
    return 'text' in money ? money.text : money.amount;
  }
  return String(value);
}

/** Infers what is left of nothing, or of something unlimited, without an answer of the payer. */
function inferred(record: EligibilityRecord, path: string): string | null {
  if (!path.endsWith('.remaining')) return null;
  const amount = valueAt(record, path.replace(/remaining$/, 'amount')) as Money | null | undefined;
  if (path.includes('deductible') && (isNothing(amount) || centsOfMoney(amount) === 0))
    return '0.00';
  return !path.includes('deductible') && isUnlimited(amount) ? 'unlimited' : null;
}

const OF_DENTAL_ALONE = /^(?:clauses|treatment_history|maximums\.(?:coverage|orthodontics)_)/;
const NOT_OF_DENTAL = /^maximums\.(?:individual|family)_out_of_pocket/;

function absenceOf(record: EligibilityRecord, path: string): Absence {
  const said = record.does_not_apply ?? [];
  if (said.some((each) => path === each || path.startsWith(`${each}.`))) return 'does_not_apply';
  const value = valueAt(record, path);
  if (value === null) return 'not_answered';
  const is_dental = record.specialty === 'dental';
  return (is_dental ? NOT_OF_DENTAL : OF_DENTAL_ALONE).test(path) ? 'does_not_apply' : 'not_asked';
}
