import type {
  AppointmentInput,
  CoverageInput,
  FieldProblem,
  Patient,
  ProviderInput,
} from './appointment.ts';
import type { Specialty } from './specialty.ts';
import { DAY_MS, type Instant, type LocalDate } from './time.ts';

/**
 * A claim that the clinic has sent to a payer, as a connector read it out of the practice
 * management system. As with an appointment, values are the PMS's own, trimmed and decoded but not
 * judged.
 */
export type ClaimInput = {
  /** The PMS's id of the claim, unique among the claims of one connector. */
  source_id: string;
  /**
   * `settled`: paid, written off or withdrawn in the PMS, so nobody has to ask about it any more.
   */
  status: 'open' | 'settled';
  /** The payer's number of the claim; empty while it is not known. */
  claim_number: string;
  /** `YYYY-MM-DD`; null when missing or impossible. */
  date_of_service: LocalDate | null;
  /**
   * What was billed in US dollars, decimal text with two decimals or more (`1500.00`); empty when
   * unknown.
   */
  billed_amount: string;
  patient: Patient;
  /** The coverage that the claim was sent to. */
  coverage: CoverageInput;
  /**
   * `of_patient`: the source says nothing about insurance with the claim; the patient's first one
   * is filled in where it is known. `awaited`, set by eligd alone: nothing is known of it yet.
   */
  insurance?: 'of_patient' | 'awaited';
  /** 1: it was sent to the primary coverage. */
  coverage_rank: number;
  provider: ProviderInput;
  location: string | null;
  /** In words or as the code of CMS; empty when unknown. Not for dental. */
  place_of_service: string;
  /** Null: the clinic's. */
  specialty: Specialty | null;
  /** CDT or CPT codes of the claim, upper case, in order, without repeats. */
  procedure_codes: string[];
  diagnosis_codes: string[];
  problems: FieldProblem[];
};

/**
 * A claim of a service longer ago than this is not asked about any more: no payer takes it up after
 * so long.
 */
export const CLAIM_DAYS_MAX = 365;

/**
 * When a claim is looked after no more: its place on the time line where an appointment has its
 * start.
 */
export function claimHorizon(
  { date_of_service }: Pick<ClaimInput, 'date_of_service'>,
  now: Instant,
): Instant {
  const from = date_of_service === null ? now : Date.parse(`${date_of_service}T00:00:00Z`);
  return from + CLAIM_DAYS_MAX * DAY_MS;
}

/**
 * The coverage whose payer we show: the first of an appointment, the one that a claim was sent to.
 */
export function firstCoverage(input: AppointmentInput | ClaimInput): CoverageInput | null {
  return 'coverage' in input ? input.coverage : (input.coverages[0] ?? null);
}
