/**
 * The benefit sheet: everything that the payer said, procedures first. It separates questions that
 * the payer did not answer from questions that were not asked; neither reads as no (G8).
 */
import type {
  Age,
  Allowance,
  BenefitRule,
  EligibilityRecord,
  Money,
  Percent,
} from '../records/eligibility.ts';
import { dollarWords } from '../records/schedule-line.ts';
import { dollarText, STANDING_WORDS } from '../records/verdict/text.ts';
import type { ProcedureVerdict, Verdict } from '../records/verdict.ts';
import { type Html, html, WIDE } from './html.ts';
import { moneyWords } from './office-words.ts';
import { dateWords } from './times.ts';

type Value = string | boolean | number | Money | Percent | Age | null | undefined;

/** Formats a value for people; null: not answered or not asked. */
function valueWords(value: Value): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return dateWords(value);
  if ('amount' in value) return dollarWords(value.amount);
  return `“${value.text}”`;
}

const percentWords = (value: Percent | null | undefined) =>
  typeof value === 'number' ? `${value}%` : valueWords(value);

/** The fields of a record with their labels; fields that a specialty lacks are left out. */
export type Answered = { label: string; value: string }[];
type Gap = { label: string; is_asked: boolean };

type Named = readonly [label: string, words: string | null, is_asked: boolean];

const named = (label: string, value: Value, words = valueWords(value)): Named => [
  label,
  words,
  value !== undefined,
];

function planFields({ plan }: EligibilityRecord): Named[] {
  if (plan === undefined) return [];
  return [
    named('Active', plan.is_active),
    named('Plan', plan.plan_name),
    named('Type', plan.plan_type),
    named('Began', plan.effective_date),
    named('Ends', plan.termination_date),
    named('In network', plan.is_provider_in_network),
    named('Out of network', plan.out_of_network_benefits),
    named('Pays first', plan.is_primary_insurance),
    named('Other insurance', plan.has_other_insurance),
    named('Calendar year', plan.is_calendar_year_plan),
    named('Self-funded', plan.is_self_funded),
    named('Primary care provider', plan.is_provider_pcp),
    named('Other states', plan.has_out_of_state_coverage),
    named('Referral required', plan.referral_required),
    named('About referrals', plan.referral_info),
  ];
}

function clauseFields({ clauses }: EligibilityRecord): Named[] {
  if (clauses === undefined) return [];
  return [
    named('Waiting periods', clauses.waiting_periods),
    named('Missing tooth clause', clauses.missing_tooth_clause),
    named('Deductible applies to preventive care', clauses.deductible_applies_to_preventive),
    named('Preventive care counts toward the maximum', clauses.preventive_applies_to_maximum),
    named('Pending claims that use up benefits', clauses.has_pending_claims),
  ];
}

type AllowanceRow = { label: string; allowance: Allowance | undefined };

function allowances({ maximums, specialty }: EligibilityRecord): AllowanceRow[] {
  if (maximums === undefined) return [];
  const of_all = [
    { label: 'Deductible', allowance: maximums.individual_deductible },
    { label: 'Family deductible', allowance: maximums.family_deductible },
  ];
  return specialty === 'dental'
    ? [...of_all, { label: 'Yearly maximum', allowance: maximums.coverage_limit }]
    : [
        ...of_all,
        { label: 'Out-of-pocket maximum', allowance: maximums.individual_out_of_pocket_maximum },
        {
          label: 'Family out-of-pocket maximum',
          allowance: maximums.family_out_of_pocket_maximum,
        },
      ];
}

export function proceduresTable(verdict: Verdict): Html {
  if (verdict.procedures.length === 0)
    return html`<p class="soft">No procedure is scheduled in the practice software.</p>`;
  return html`${WIDE}<table>
<thead><tr>${['Procedure', 'Verdict', 'Plan pays', 'Fee', 'Patient pays', 'Why'].map(
    (name) => html`<th scope="col">${name}</th>`,
  )}</tr></thead>
<tbody>${verdict.procedures.map((each) => procedureRow(each, verdict))}</tbody></table></div>`;
}

const STANDING_COLORS = {
  payable: 'green',
  not_payable: 'red',
  needs_authorization: 'red',
  unknown: 'amber',
} as const;

function procedureRow(procedure: ProcedureVerdict, { reasons }: Verdict): Html {
  const { code, standing, plan_pays_percent, copay, fee, patient_pays, next_eligible, remarks } =
    procedure;
  const own = procedure.reasons.filter(
    (reason) => !reasons.some((other) => other.code === reason.code),
  );
  const pays = [
    ...(plan_pays_percent === null ? [] : [`${plan_pays_percent}%`]),
    ...(copay === null ? [] : [`copay ${moneyWords(`$${copay}`)}`]),
  ].join(', ');
  const notes = [
    ...own.map(({ text }) => text),
    ...(next_eligible === null || own.some(({ text }) => text.includes(dateWords(next_eligible)))
      ? []
      : [`Next eligible ${dateWords(next_eligible)}.`]),
    ...remarks,
  ];
  return html`<tr><th scope="row">${code}</th>
<td><span class="pill ${STANDING_COLORS[standing]}">${STANDING_WORDS[standing]}</span></td>
<td>${pays}</td><td>${fee === null ? '' : moneyWords(`$${fee}`)}</td><td>${moneyWords(
    dollarText(patient_pays),
  )}</td>
<td>${moneyWords([...new Set(notes)].join(' '))}</td></tr>`;
}

export function amountsTable(record: EligibilityRecord): Html | null {
  const rows = allowances(record).filter(({ allowance }) => allowance !== undefined);
  const ortho = record.maximums?.orthodontics_coverage_limit;
  if (rows.length === 0 && ortho == null) return null;
  const cell = (money: Money | null | undefined) => valueWords(money) ?? 'not answered';
  return html`${WIDE}<table>
<thead><tr><th scope="col">Amount</th><th scope="col">Total</th><th scope="col">Used</th>
<th scope="col">Left</th></tr></thead><tbody>${rows.map(
    ({ label, allowance }) => html`<tr><th scope="row">${label}</th>
<td>${cell(allowance?.amount)}</td><td>${cell(allowance?.used)}</td>
<td><strong>${cell(allowance?.remaining)}</strong></td></tr>`,
  )}${
    ortho == null
      ? null
      : html`<tr><th scope="row">Orthodontics maximum</th><td>${cell(ortho)}</td><td></td>
<td></td></tr>`
  }</tbody></table></div>`;
}

export function planFacts(record: EligibilityRecord): Html | null {
  return factList(planFields(record));
}

export function clauseFacts(record: EligibilityRecord): Html | null {
  return factList(clauseFields(record));
}

function factList(fields: readonly Named[]): Html | null {
  const known = fields.filter(([, words]) => words !== null);
  if (known.length === 0) return null;
  return html`<dl class="facts">${known.map(
    ([label, words]) => html`<div><dt>${label}</dt><dd>${words}</dd></div>`,
  )}</dl>`;
}

/** Describes a rule in words; empty: nothing was answered. */
function ruleWords(rule: BenefitRule): string {
  const yesNo = (value: boolean | null | undefined, yes: string, no: string) =>
    value == null ? [] : [value ? yes : no];
  const text = (label: string, value: string | null | undefined) =>
    value == null ? [] : [`${label}: “${value}”`];
  const share = (label: string, value: Percent | null | undefined) =>
    value == null ? [] : [`${label} ${percentWords(value)}`];
  return [
    ...yesNo(rule.is_covered, 'covered', 'not covered'),
    ...share('plan pays', rule.plan_pays_percent),
    ...share('patient pays', rule.patient_pays_percent),
    ...(rule.copay == null ? [] : [`copay ${valueWords(rule.copay)}`]),
    ...yesNo(rule.is_deductible_waived, 'no deductible', 'after the deductible'),
    ...yesNo(rule.is_prior_auth_required, 'needs prior authorization', 'no prior authorization'),
    ...text('prior authorization', rule.prior_auth_info),
    ...text('frequency', rule.frequency_limitations),
    ...(rule.age_limit == null ? [] : [`age limit ${valueWords(rule.age_limit)}`]),
    ...yesNo(rule.is_downgraded, 'downgraded', 'not downgraded'),
    ...text('downgrade', rule.downgraded_info),
    ...text('limitations', rule.limitations),
    ...text('also said', rule.more_info),
  ].join('; ');
}

export function rulesTable(record: EligibilityRecord): {
  codes: Html | null;
  classes: Html | null;
} {
  const table = (first: string, rows: { name: string; said: string }[]) =>
    rows.length === 0
      ? null
      : html`${WIDE}<table><thead><tr><th scope="col">${first}</th>
<th scope="col">What the insurance company said</th></tr></thead><tbody>${rows.map(
          ({ name, said }) =>
            html`<tr><th scope="row">${name}</th><td>${said || 'not answered'}</td></tr>`,
        )}</tbody></table></div>`;
  return {
    codes: table(
      'Code',
      (record.procedure_codes?.codes ?? []).map(({ code, benefits }) => ({
        name: code,
        said: ruleWords(benefits),
      })),
    ),
    classes: table(
      'Class',
      (record.procedure_classes?.classes ?? []).map(({ name, benefits }) => ({
        name: name.charAt(0) + name.slice(1).toLowerCase().replaceAll('_', ' '),
        said: ruleWords(benefits),
      })),
    ),
  };
}

export function historyTable({ treatment_history }: EligibilityRecord): Html | null {
  if (treatment_history === undefined) return null;
  const { answered, treatments } = treatment_history;
  if (treatments.length === 0)
    return html`<p>${
      answered ? 'The insurance company has no treatment on file.' : 'Not answered.'
    }</p>`;
  const list = (values: readonly string[] | null) => values?.join(', ') ?? '';
  return html`${WIDE}<table><thead><tr><th scope="col">Date</th>
<th scope="col">Code</th><th scope="col">Teeth</th><th scope="col">Surfaces, quadrants</th></tr>
</thead><tbody>${treatments.toReversed().map(
    ({ date, code, teeth, surfaces, quadrants }) => html`<tr><th scope="row">${dateWords(date)}</th>
<td>${code ?? 'not said'}</td><td>${list(teeth)}</td>
<td>${[list(surfaces), list(quadrants)].filter((each) => each !== '').join('; ')}</td></tr>`,
  )}</tbody></table></div>`;
}

/** Returns what is open: questions without an answer, and questions that were not asked. */
export function gapsOf(record: EligibilityRecord): { unanswered: string[]; not_asked: string[] } {
  const gaps: Gap[] = [
    ...[...planFields(record), ...clauseFields(record)]
      .filter(([, words]) => words === null)
      .map(([label, , is_asked]) => ({ label, is_asked })),
    ...allowances(record)
      .filter(({ allowance }) => allowance === undefined || allowance.remaining === null)
      .map(({ label, allowance }) => ({ label, is_asked: allowance !== undefined })),
    ...(record.procedure_codes?.codes ?? [])
      .filter(({ asked, answered }) => asked && !answered)
      .map(({ code }) => ({ label: `Benefits of ${code}`, is_asked: true })),
    ...partGaps(record),
  ];
  const of = (is_asked: boolean) =>
    gaps.filter((gap) => gap.is_asked === is_asked).map(({ label }) => label);
  return { unanswered: of(true), not_asked: of(false) };
}

function partGaps(record: EligibilityRecord): Gap[] {
  const part = (label: string, value: { answered: boolean } | undefined): Gap[] => {
    if (value === undefined) return [{ label, is_asked: false }];
    return value.answered ? [] : [{ label, is_asked: true }];
  };
  return [
    ...part('The plan', record.plan),
    ...part('Deductibles and maximums', record.maximums),
    ...part('Benefits by class', record.procedure_classes),
    ...part('Benefits by code', record.procedure_codes),
    ...(record.specialty === 'dental'
      ? [...part('Treatment history', record.treatment_history), ...part('Clauses', record.clauses)]
      : []),
  ];
}
