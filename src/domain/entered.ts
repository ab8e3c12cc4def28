/** Describes answers that the office got itself, whatever the reason that eligd did not call. */
import type { AppointmentInput } from './appointment.ts';
import type { Attention } from './attention.ts';
import { fittingCodes } from './codes.ts';
import type { ClosedReason } from './explanation.ts';
import { NOTHING_LEARNED } from './learned.ts';
import {
  draftCoverage,
  isInsured,
  type PlannedCoverage,
  type PlanningFacts,
  treatedUnder,
} from './planning.ts';
import { effectiveProvider } from './provider.ts';
import { isDate, localDate, yearOf } from './time.ts';

export type EnteredCoverage = Pick<
  PlannedCoverage,
  'rank' | 'need_base' | 'benefit_year' | 'draft'
>;

/** The questions of the form, in the service's words; anything else counts as not asked. */
const ASKED = ['DEDUCTIBLES_AND_MAXIMUMS', 'CODE_LOOKUP_BENEFITS', 'CODE_LOOKUP_FREQUENCIES'];

/**
 * Returns the coverages of a visit that the office can have called about. The office can enter an
 * answer even if the birth date is missing, eligd does not call the payer, or the visit is over.
 */
export function coveragesToEnter(
  { patient_key, input }: { patient_key: string; input: AppointmentInput },
  facts: Omit<PlanningFacts, 'is_clock_trusted'>,
): EnteredCoverage[] {
  const { clinic, payers } = facts;
  const starts_at = Date.parse(input.starts_at);
  const visit = localDate(starts_at, clinic.time_zone);
  const { patient } = input;
  const born = patient.birth_date ?? '';
  const appointment = {
    ...input,
    patient: { ...patient, birth_date: isDate(born) ? born : null },
  };
  const found: EnteredCoverage[] = [];
  for (const [index, coverage] of input.coverages.entries()) {
    if (!isInsured(coverage)) continue;
    const rank = index + 1;
    const provider = effectiveProvider(treatedUnder(appointment, rank), clinic);
    const payer = payers.find(coverage.payor_id, coverage.carrier);
    const question = { patient_key, appointment, coverage, rank, starts_at };
    const { need_base, draft } = draftCoverage(
      { ...question, payer, provider, visit },
      { ...facts, is_clock_trusted: true },
      NOTHING_LEARNED,
    );
    // The practice software may name the same coverage twice; one answer is enough.
    if (found.some((each) => each.need_base === need_base)) continue;
    const benefits_codes = fittingCodes(provider.specialty, input.procedure_codes).fitting;
    const asked = { benefits_query: [...ASKED], benefits_codes, call_script_id: null };
    const benefit_year = yearOf(visit);
    found.push({ rank, need_base, benefit_year, draft: { ...draft, ...asked } });
  }
  return found;
}

/** Returns why no answer can be entered for a visit, and what to do; null: one can. */
export function refuseEntering({
  input,
  closed_reason,
}: {
  input: AppointmentInput;
  closed_reason: ClosedReason | null;
}): Pick<Attention, 'what' | 'next'> | null {
  if (closed_reason === 'replaced')
    return {
      what: 'The practice software uses the ID of this visit for someone else now.',
      next: 'Find the patient on the schedule, and enter the answer there.',
    };
  if (closed_reason === 'cancelled' || input.status === 'cancelled')
    return {
      what: 'This visit was canceled.',
      next: 'Enter the answer for the patient’s next visit.',
    };
  if (input.coverages.some(isInsured)) return null;
  const next =
    'Enter the insurance there first. The visit has it after the next export; then enter the ' +
    'answer here.';
  return input.insurance === 'awaited'
    ? { what: 'The practice software has not sent the patient’s insurance yet.', next }
    : { what: 'The practice software has no insurance for this visit.', next };
}
