/** The records that a connector writes back; the contract exports all of these types. */
import type { AppointmentInput } from '../src/domain/appointment.ts';
import type { ClaimInput } from '../src/domain/claim.ts';
import type { ClaimStatusRecord } from '../src/records/claim-status.ts';
import type { Coordination } from '../src/records/coordination.ts';
import type { EligibilityRecord } from '../src/records/eligibility.ts';
import type { Verdict } from '../src/records/verdict.ts';

/**
 * Records for one connector, at most a few hundred. `id` stays the same when the batch is delivered
 * again.
 */
export type DeliveryBatch = { id: string; created_at: string; deliveries: Delivery[] };

export type Delivery = {
  /** Identifies (appointment, coverage, record revision) permanently. Letters, digits, `-`. */
  key: string;
  appointment: DeliveredAppointment;
  record: EligibilityRecord;
  /** 1 for the first answer, incremented when the service revises it. */
  revision: number;
  /**
   * Plain sentences to show next to the record, such as that the call was made before the benefit
   * year began.
   */
  notes: string[];
  /**
   * The verdict for this visit, and its reasons. Never shown without its caution: `verdictLines`
   * formats both.
   */
  verdict: Verdict;
  /**
   * How the answers about all coverages of the appointment combine; undefined with one coverage.
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
   * All insurance data that the PMS has about the patient, in its order, including coverages that
   * do not apply to the visit, for a connector that supplies `as_written`. Undefined: only
   * `coverage` is known.
   */
  all_coverages?: readonly AppointmentInput['coverages'][number][];
};

/**
 * Rows that the connector reads one by one, from the beginning as often as it needs. Without a copy
 * of all of them, memory does not grow with their number.
 */
export type Rows<Row> = AsyncIterable<Row> | Iterable<Row>;

/** A visit of the coming days, with one of its coverages. */
export type ScheduledLine = {
  source_id: string;
  /** ISO 8601. */
  starts_at: string;
  patient_name: string;
  /** 1 for the primary coverage. */
  coverage_rank: number;
  carrier: string;
  member_id: string;
} & (
  | { answer: { record: EligibilityRecord; verdict: Verdict } }
  /**
   * The status in a few words while there is no answer. `why` and `to_do` are set if the office
   * has to act.
   */
  | { standing: string; why?: string; to_do?: string }
);

/**
 * Claim records for one connector, at most a few hundred. `id` stays the same when the batch is
 * delivered again.
 */
export type ClaimBatch = { id: string; created_at: string; deliveries: ClaimDelivery[] };

export type ClaimDelivery = {
  /** Identifies (claim, record revision) permanently. Letters, digits, `-`. */
  key: string;
  claim: DeliveredClaim;
  record: ClaimStatusRecord;
  /**
   * 1 for the first answer about the claim, incremented for each later one: a revision by the
   * service, or another call.
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
  /** `is_permanent`: another try cannot help; it goes on the attention list at once. */
  | {
      key: string;
      outcome: 'failed';
      is_permanent: boolean;
      what: string;
      next: string;
      /** The PMS's own message, as sentences: shown only where patients are shown. */
      words?: string;
    };

/** One line of the attention list: something needs you. May contain PHI; it stays in the PMS. */
export type AttentionEntry = {
  /**
   * The appointment's ID in the PMS; null if the entry is about a claim, a source, or the
   * installation.
   */
  source_id: string | null;
  /** The claim's ID in the PMS; undefined if the entry is not about a claim. */
  claim_id?: string;
  starts_at: string | null;
  patient_name: string | null;
  carrier: string | null;
  /** Stable word for programs, such as `member_id_missing`. */
  reason: string;
  /** What happened and why. */
  what: string;
  /** What to do. */
  next: string;
  since: string;
};
