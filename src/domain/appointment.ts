import type { Specialty } from './specialty.ts';

/**
 * An appointment as a connector read it out of the practice management system. Values are the PMS's
 * own, trimmed and decoded but not judged: planning decides whether a member ID or an NPI is good
 * enough for a call, so that a bad value leads to the attention list and not to a rejected file.
 */
export type AppointmentInput = {
  /** The PMS's ID of the appointment, unique within one connector. */
  source_id: string;
  /** Start of the visit, ISO 8601 in UTC with milliseconds: `2026-11-23T15:30:00.000Z`. */
  starts_at: string;
  status: AppointmentStatus;
  patient: Patient;
  /**
   * In order: primary first. Empty when the PMS holds nothing about insurance (self-pay), unless
   * `insurance` says otherwise.
   */
  coverages: CoverageInput[];
  /**
   * The patient's other coverages in the PMS, which are not in force at the visit; for connectors
   * that provide `as_written`. Only eligd sets this. Left out when there are none.
   */
  other_coverages?: CoverageInput[];
  /**
   * Left out: `coverages` holds the PMS's coverages. `of_patient`: the source stores insurance with
   * the patient (`PatientUpdate`) and not with the appointment; eligd then fills `coverages` from
   * the patient and keeps it up to date. `awaited`, which only eligd sets: that patient's insurance
   * has not arrived yet, so the empty `coverages` means unknown, not self-pay (G8).
   */
  insurance?: 'of_patient' | 'awaited';
  provider: ProviderInput;
  /** The PMS's name or ID of the location, looked up in `locations:`. */
  location: string | null;
  /**
   * The PMS's ID of the appointment that this one replaces, if rescheduling creates a new
   * appointment. The new appointment takes over the inquiry of the old one. Left out otherwise.
   */
  replaces?: string;
  /** Null: the clinic's specialty. */
  specialty: Specialty | null;
  /** CDT or CPT codes as written in the PMS, upper case, in order, without repeats. */
  procedure_codes: string[];
  /** How often a code is scheduled in this visit; a missing code is scheduled once. */
  procedure_counts?: Record<string, number>;
  /**
   * The clinic's fee for each code, US dollars as decimal text, by code. For a code that is
   * scheduled twice, the sum. Left out when the PMS does not provide fees.
   */
  procedure_fees?: Record<string, string>;
  /** ICD-10 codes as written in the PMS, upper case. */
  diagnosis_codes: string[];
  /**
   * Place of service, as words or as the CMS code; left out when unknown. Medical and mental health
   * only.
   */
  place_of_service?: string;
  /**
   * The amount to be billed in US dollars, decimal text (`120.00`); left out when unknown. Medical
   * and mental health only.
   */
  billed_amount?: string;
  /**
   * The connector knows that it could not write an answer back, so eligd should not pay for a call.
   * Left out otherwise.
   */
  is_unwritable?: true;
  /** Values that the connector could not read; the field itself is null or left out then. */
  problems: FieldProblem[];
};

/**
 * `booked`: it may still take place. `cancelled`: it will not. `completed`: it is over, regardless
 * of the time. `appointment-states.ts` lists the PMSs' words for them.
 */
export const APPOINTMENT_STATUSES = ['booked', 'cancelled', 'completed'] as const;

export type AppointmentStatus = (typeof APPOINTMENT_STATUSES)[number];

export type Patient = {
  /** The PMS's ID of the patient; null when it has none. */
  id: string | null;
  first_name: string;
  last_name: string;
  /** `YYYY-MM-DD`; null when missing or impossible. */
  birth_date: string | null;
  /** Whether the PMS says that the patient has died; left out when it does not say. */
  is_deceased?: boolean;
  /** See `as_written` of a coverage. */
  as_written?: string;
};

export type CoverageInput = {
  /**
   * The PMS's ID of the coverage, used to write the answer next to it; left out when it has none.
   */
  id?: string;
  /** The payer's name in the PMS; empty when it has none. */
  carrier: string;
  /** The payer's electronic ID, as text because leading zeros matter; empty when unknown. */
  payor_id: string;
  member_id: string;
  group_id: string;
  /**
   * The period in which it is in force; left out when the PMS gives no dates. A coverage that is
   * not in force at the visit counts only when no other coverage is (`coverage-period.ts`).
   */
  period?: CoveragePeriod;
  /** The policyholder, if not the patient. */
  subscriber: Subscriber | null;
  /**
   * The PMS's own text, for a connector that returns it unchanged with the answer (HL7: the
   * segments). Only that connector reads it. Left out if the connector does not need it.
   */
  as_written?: string;
};

/**
 * The period in which a coverage is in force, as instants in ISO 8601 UTC: from `from` (inclusive)
 * to `until` (exclusive). Null: the PMS gives no date.
 */
export type CoveragePeriod = { from: string | null; until: string | null };

export type Subscriber = {
  name: string;
  /** `YYYY-MM-DD` or null. */
  birth_date: string | null;
  /**
   * The patient's relationship to the subscriber in the PMS's words (`child`, `spouse`), empty when
   * unknown.
   */
  relationship: string;
};

export type ProviderInput = {
  rendering_npi: string;
  /** Empty: the location's or the clinic's. */
  billing_npi: string;
  /** Empty: the location's or the clinic's. */
  tax_id: string;
  is_specialist: boolean | null;
  in_network: boolean | null;
};

/**
 * Something that the office should fix in the PMS. It names the field and the kind of value, never
 * the value (G6).
 */
export type FieldProblem = {
  /** The field's name as the user knows it: the column's header, an HL7 path, a FHIR element. */
  field: string;
  /**
   * What kind of value was found: `empty`, `impossible date`, `not a date`, `not a number`,
   * `unknown word`, …
   */
  value_class: string;
  /** One sentence: what to do about it. */
  remedy: string;
  /**
   * The value that is missing from the call because of this problem: its name in `required_fields:`
   * if it has one, and its coverage (1 is the primary). Left out: any value may be affected.
   */
  about?: { field: string; coverage_rank?: number };
};
