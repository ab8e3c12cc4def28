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
 * A claim that the clinic has sent to a payer, as a connector read it from the practice management
 * system. As with an appointment, the values are the PMS's own: trimmed and decoded, but not
 * validated.
 */
export type ClaimInput = {
  /** The PMS's ID of the claim, unique among the claims of one connector. */
  source_id: string;
  /** `settled`: paid, written off, or withdrawn in the PMS, so eligd stops asking about it. */
  status: 'open' | 'settled';
  /** The payer's number of the claim; empty until it is known. */
  claim_number: string;
  /** `YYYY-MM-DD`; null when missing or impossible. */
  date_of_service: LocalDate | null;
  /**
   * The billed amount in US dollars, decimal text with at least two decimals (`1500.00`); empty
   * when unknown.
   */
  billed_amount: string;
  patient: Patient;
  /** The coverage that the claim was sent to. */
  coverage: CoverageInput;
  /**
   * `of_patient`: the source sends no insurance with the claim; eligd fills in the patient's first
   * coverage when it knows it. `awaited`, set only by eligd: the patient's insurance has not
   * arrived yet.
   */
  insurance?: 'of_patient' | 'awaited';
  /** 1: the claim was sent to the primary coverage. */
  coverage_rank: number;
  provider: ProviderInput;
  location: string | null;
  /** As words or as the CMS code; empty when unknown. Not for dental. */
  place_of_service: string;
  /** Null: the clinic's specialty. */
  specialty: Specialty | null;
  /** CDT or CPT codes of the claim, upper case, in order, without repeats. */
  procedure_codes: string[];
  diagnosis_codes: string[];
  problems: FieldProblem[];
};

/**
 * eligd does not ask about a claim whose service is longer ago than this: no payer still handles
 * it.
 */
const CLAIM_DAYS_MAX = 365;

/** Returns when eligd stops following a claim. It is stored where an appointment has its start. */
export function claimHorizon(
  { date_of_service }: Pick<ClaimInput, 'date_of_service'>,
  now: Instant,
): Instant {
  const from = date_of_service === null ? now : Date.parse(`${date_of_service}T00:00:00Z`);
  return from + CLAIM_DAYS_MAX * DAY_MS;
}

/**
 * Returns the coverage whose payer is shown: the first of an appointment, or the coverage that a
 * claim was sent to.
 */
export function firstCoverage(input: AppointmentInput | ClaimInput): CoverageInput | null {
  return 'coverage' in input ? input.coverage : (input.coverages[0] ?? null);
}
