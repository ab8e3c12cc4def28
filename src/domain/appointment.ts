import type { Specialty } from './specialty.ts';

/**
 * An appointment as a connector read it out of the practice management system. Values are the PMS's
 * own, trimmed and decoded but not judged: whether a member id or an NPI is good enough for a call
 * is decided by planning, so that a bad value ends on the attention list and not in a rejected
 * file.
 */
export type AppointmentInput = {
  /** The PMS's id of the appointment, unique within one connector. */
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
   * What else the PMS holds of the patient's insurance, set by eligd alone: coverages that do not
   * hold at the visit, of connectors that give `as_written`. Left out: nothing.
   */
  other_coverages?: CoverageInput[];
  /**
   * Left out: `coverages` is what the PMS has. `of_patient`: the source keeps insurance with the
   * patient (`PatientUpdate`) and not with the appointment; `coverages` is then filled, and kept up
   * to date, with the patient's. `awaited`, set by eligd alone: nothing has come about that
   * patient's insurance yet, so that the empty `coverages` is unknown and not self-pay (G8).
   */
  insurance?: 'of_patient' | 'awaited';
  provider: ProviderInput;
  /** The PMS's name or id of the place, looked up in `locations:`. */
  location: string | null;
  /**
   * The PMS's id of the appointment that this one was rescheduled from, where rescheduling makes a
   * new one: it keeps the old one's inquiry. Left out otherwise.
   */
  replaces?: string;
  /** Null: the clinic's. */
  specialty: Specialty | null;
  /** CDT or CPT codes as written in the PMS, upper case, in order, without repeats. */
  procedure_codes: string[];
  /** How often a code is scheduled in this visit; a code that is left out: once. */
  procedure_counts?: Record<string, number>;
  /**
   * What the clinic charges for each of the codes, US dollars as decimal text, by code; a code that
   * is scheduled twice has the sum. Left out when the PMS says nothing.
   */
  procedure_fees?: Record<string, string>;
  /** ICD-10 codes as written in the PMS, upper case. */
  diagnosis_codes: string[];
  /**
   * Where the service is given, in words or as the code of CMS; left out when unknown. Medical and
   * mental health.
   */
  place_of_service?: string;
  /**
   * What will be billed in US dollars, decimal text (`120.00`); left out when unknown. Medical and
   * mental health.
   */
  billed_amount?: string;
  /**
   * The connector knows that no answer could be written back, so nobody should pay for a call. Left
   * out otherwise.
   */
  is_unwritable?: true;
  /** Values that the connector could not read; the field itself is null or left out then. */
  problems: FieldProblem[];
};

/**
 * `booked`: it may still take place. `cancelled`: nobody comes. `completed`: it is over, whatever
 * the clock says. `appointment-states.ts` has the PMSs' words for them.
 */
export const APPOINTMENT_STATUSES = ['booked', 'cancelled', 'completed'] as const;

export type AppointmentStatus = (typeof APPOINTMENT_STATUSES)[number];

export type Patient = {
  /** The PMS's id of the patient; null when it gives none. */
  id: string | null;
  first_name: string;
  last_name: string;
  /** `YYYY-MM-DD`; null when missing or impossible. */
  birth_date: string | null;
  /** Whether the PMS says that the patient has died; left out when it says nothing. */
  is_deceased?: boolean;
  /** As `as_written` of a coverage. */
  as_written?: string;
};

export type CoverageInput = {
  /** The PMS's id of the coverage, to write the answer next to it; left out when it gives none. */
  id?: string;
  /** The payer's name in the PMS, empty when it gives none. */
  carrier: string;
  /** The payer's electronic id, text because leading zeros count; empty when there is none. */
  payor_id: string;
  member_id: string;
  group_id: string;
  /**
   * When it holds; left out when the PMS names no day. A coverage that does not hold at the visit
   * counts only when no other does (`coverage-period.ts`).
   */
  period?: CoveragePeriod;
  /** The person who holds the policy, when that is not the patient. */
  subscriber: Subscriber | null;
  /**
   * The PMS's own text, for a connector that gives it back unchanged next to the answer (HL7: the
   * segments). Only that connector reads it. Left out when it does not need it.
   */
  as_written?: string;
};

/**
 * When a coverage holds, as instants in ISO 8601 UTC: from `from` on, and before `until`. Null: the
 * PMS names no day.
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
  /** Empty: by location or the clinic's own. */
  billing_npi: string;
  /** Empty: by location or the clinic's own. */
  tax_id: string;
  is_specialist: boolean | null;
  in_network: boolean | null;
};

/**
 * Something that a person should fix in the PMS. It names field and kind of value, never the value
 * (G6).
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
   * Which value a call goes without because of it, by its name in `required_fields:` where it has
   * one, and of which coverage (1 is the primary). Left out: any value may be meant.
   */
  about?: { field: string; coverage_rank?: number };
};
