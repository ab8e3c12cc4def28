/** What a connector is given to write back; the contract exports all of it. */
import type { AppointmentInput } from '../src/domain/appointment.ts';
import type { ClaimInput } from '../src/domain/claim.ts';
import type { ClaimStatusRecord } from '../src/records/claim-status.ts';
import type { Coordination } from '../src/records/coordination.ts';
import type { EligibilityRecord } from '../src/records/eligibility.ts';
import type { Verdict } from '../src/records/verdict.ts';

/**
 * Records for one connector, at most a few hundred. `id` stays the same when the same batch is
 * delivered again.
 */
export type DeliveryBatch = { id: string; created_at: string; deliveries: Delivery[] };

export type Delivery = {
  /** Identifies (appointment, coverage, revision of the record) for good. Letters, digits, `-`. */
  key: string;
  appointment: DeliveredAppointment;
  record: EligibilityRecord;
  /** 1 for the first answer, counted up when the service revised it. */
  revision: number;
  /**
   * Plain sentences to show next to the record, e.g. that the call was made before the benefit year
   * began.
   */
  notes: string[];
  /**
   * What the answer comes to for this visit, and why. Never shown without its caution:
   * `verdictLines` makes texts of both.
   */
  verdict: Verdict;
  /**
   * How the answers about all coverages of the appointment go together; left out when it has one
   * coverage.
   */
  coordination?: Coordination;
};

export type DeliveredAppointment = Pick<
  AppointmentInput,
  'source_id' | 'starts_at' | 'patient' | 'location' | 'procedure_codes'
> & {
  /** 1 for the primary coverage. */
  coverage_rank: number;
  coverage: AppointmentInput['coverages'][number];
  /**
   * Everything that the PMS holds of the patient's insurance, in its order, for a connector that
   * gives `as_written`: coverages that do not hold at the visit included. Left out: `coverage` is
   * all that is known.
   */
  all_coverages?: readonly AppointmentInput['coverages'][number][];
};

/** A visit of the coming days, with one of its coverages. */
export type ScheduledLine = {
  source_id: string;
  /** ISO 8601. */
  starts_at: string;
  patient_name: string;
  /** 1 is the primary one. */
  coverage_rank: number;
  carrier: string;
  member_id: string;
} & (
  | { answer: { record: EligibilityRecord; verdict: Verdict } }
  /** How far it has come, in a few words: there is no answer yet. */
  | { standing: string }
);

/**
 * Claim records for one connector, at most a few hundred. `id` stays the same when the same batch
 * is delivered again.
 */
export type ClaimBatch = { id: string; created_at: string; deliveries: ClaimDelivery[] };

export type ClaimDelivery = {
  /** Identifies (claim, revision of the record) for good. Letters, digits, `-`. */
  key: string;
  claim: DeliveredClaim;
  record: ClaimStatusRecord;
  /**
   * 1 for the first answer about the claim, one more for each that follows: when the service
   * revises it, and when another call was made.
   */
  revision: number;
  notes: string[];
};

export type DeliveredClaim = Pick<
  ClaimInput,
  | 'source_id'
  | 'claim_number'
  | 'date_of_service'
  | 'billed_amount'
  | 'patient'
  | 'coverage'
  | 'coverage_rank'
  | 'location'
  | 'procedure_codes'
>;

export type DeliveryOutcome =
  | { key: string; outcome: 'delivered' }
  /** `is_permanent`: trying again cannot help; it goes to the attention list at once. */
  | {
      key: string;
      outcome: 'failed';
      is_permanent: boolean;
      what: string;
      next: string;
      /** What the PMS itself said, as sentences: shown only where patients are. */
      words?: string;
    };

/**
 * One line of the attention list: something waits for you. May hold protected health
 * information; it stays in the PMS.
 */
export type AttentionEntry = {
  /**
   * The appointment's id in the PMS, or null when the entry is about a claim, a source or the
   * installation.
   */
  source_id: string | null;
  /** The claim's id in the PMS; left out when the entry is not about a claim. */
  claim_id?: string;
  starts_at: string | null;
  patient_name: string | null;
  carrier: string | null;
  /** Stable word for programs, e.g. `member_id_missing`. */
  reason: string;
  /** What happened and why. */
  what: string;
  /** What to do. */
  next: string;
  since: string;
};
