import type { Narrative } from '@medplum/fhirtypes';
import type { Allowance, EligibilityRecord, Money } from '../../../src/records/eligibility.ts';
import { OUTCOME_SENTENCES, summarizeEligibility } from '../../../src/records/summary.ts';
import { verdictLines } from '../../../src/records/verdict/text.ts';
import { holdsAt } from '../../../src/records/verdict.ts';
import type { Delivery } from '../../contract.ts';

/** What a person reads first: in one line, for lists. */
export function disposition({ record, verdict }: Delivery): string {
  if (record.outcome !== 'successful')
    return `${OUTCOME_SENTENCES[record.outcome]} Nothing is known about the coverage.`;
  const holds = holdsAt(record, verdict);
  const active =
    holds === null
      ? 'Whether the coverage is active is unknown.'
      : `Coverage is ${holds ? '' : 'not '}active.`;
  const whole =
    record.completeness === 'complete' ? '' : ' Not everything that was asked was answered.';
  return `${active}${whole}`;
}

type Line = [name: string, value: string];

/**
 * What a record says about a plan: absent when it was not asked, `unknown` when it was not answered
 * (G8).
 */
function yesNo(name: string, value: boolean | null | undefined): Line[] {
  return value === undefined ? [] : [[name, value === null ? 'unknown' : value ? 'yes' : 'no']];
}

function words(name: string, value: string | null | undefined): Line[] {
  return value === undefined ? [] : [[name, value ?? 'unknown']];
}

const amount = (money: Money | null) =>
  money === null ? 'unknown' : 'text' in money ? money.text : money.amount;

function allowance(name: string, value: Allowance | undefined): Line[] {
  if (value === undefined) return [];
  return [
    [
      name,
      `${amount(value.amount)} (used ${amount(value.used)}, remaining ${amount(value.remaining)})`,
    ],
  ];
}

function planLines({ plan, maximums, clauses }: EligibilityRecord): Line[] {
  const orthodontics = maximums?.orthodontics_coverage_limit;
  return [
    ...yesNo('Active', plan?.is_active),
    ...words('Plan', plan?.plan_name),
    ...words('Plan type', plan?.plan_type),
    ...words('Effective', plan?.effective_date),
    ...words('Ends', plan?.termination_date),
    ...yesNo('In network', plan?.is_provider_in_network),
    ...yesNo('Pays first', plan?.is_primary_insurance),
    ...yesNo('Other insurance', plan?.has_other_insurance),
    ...yesNo('Referral required', plan?.referral_required),
    ...yesNo('Primary care provider', plan?.is_provider_pcp),
    ...yesNo('Self-funded', plan?.is_self_funded),
    ...yesNo('Out-of-state coverage', plan?.has_out_of_state_coverage),
    ...yesNo('Benefit year is the calendar year', plan?.is_calendar_year_plan),
    ...words('Amounts of', maximums?.name),
    ...allowance('Maximum', maximums?.coverage_limit),
    ...words('Orthodontics maximum', orthodontics === undefined ? undefined : amount(orthodontics)),
    ...allowance('Individual deductible', maximums?.individual_deductible),
    ...allowance('Family deductible', maximums?.family_deductible),
    ...yesNo(
      'Deductible starts over on January 1',
      maximums?.individual_deductible_resets_each_calendar_year,
    ),
    ...allowance('Individual out-of-pocket maximum', maximums?.individual_out_of_pocket_maximum),
    ...allowance('Family out-of-pocket maximum', maximums?.family_out_of_pocket_maximum),
    ...yesNo(
      'Preventive care counts toward the deductible',
      clauses?.deductible_applies_to_preventive,
    ),
    ...yesNo('Preventive care counts toward the maximum', clauses?.preventive_applies_to_maximum),
    ...yesNo('Pending claims', clauses?.has_pending_claims),
  ];
}

function historyLines({ treatment_history }: EligibilityRecord): Line[] {
  if (treatment_history === undefined) return [];
  const { answered, treatments } = treatment_history;
  if (treatments.length === 0)
    return [['Treatment history', answered ? 'none on file' : 'unknown']];
  return treatments.map(({ date, code, teeth, surfaces, quadrants }) => {
    const places = Object.entries({ teeth, surfaces, quadrants }).flatMap(([name, list]) =>
      list === null || list.length === 0 ? [] : [`${name} ${list.join(', ')}`],
    );
    return [`Treatment on ${date}`, [code ?? 'code unknown', ...places].join('; ')];
  });
}

/**
 * The whole record as lines of `name: value`, the way a front desk reads it. `notes` are the core's
 * own remarks.
 */
export function lines(delivery: Delivery): string[] {
  const { record, notes, verdict } = delivery;
  const summary = summarizeEligibility(record, verdict);
  const calls: Line[] = [
    ['Call ended', summary.call_ended_at],
    ['Representative', summary.representative],
    ['Reference number', summary.reference_number],
    ['Confidence by the checks of the call', summary.confidence],
    ['Summary of the call', summary.call_summary],
  ];
  const benefits: Line[] = [
    ...planLines(record),
    ...summary.procedure_classes.map(({ name, line }): Line => [name, line]),
    ...summary.procedure_codes.map(({ code, line }): Line => [code, line]),
  ];
  const written = (named: readonly Line[]) => named.map(([name, value]) => `${name}: ${value}`);
  return [
    ...verdictLines(verdict),
    disposition(delivery),
    ...notes,
    ...written(benefits),
    ...written(historyLines(record)),
    ...written(calls.filter(([, value]) => value !== '')),
    ...summary.notes,
  ];
}

export function narrative(delivery: Delivery): Narrative {
  const list = lines(delivery).map((line) => `<li>${escapeXml(line)}</li>`);
  return {
    status: 'generated',
    div: `<div xmlns="http://www.w3.org/1999/xhtml"><ul>${list.join('')}</ul></div>`,
  };
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
