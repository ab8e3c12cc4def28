import type { CoverageInput, Patient } from './appointment.ts';

/** A patient whom the PMS names by an id; without one there is nothing to join appointments by. */
export type IdentifiedPatient = Patient & { id: string };

/**
 * What a source says about a patient apart from any appointment, as HL7 ADT messages do. It counts
 * for every upcoming appointment of the patient whose `insurance` is `of_patient`, those that come
 * later included.
 */
export type PatientUpdate =
  /**
   * Name, birth date and insurance as they are now. An empty name and a null birth date leave what
   * is known. `coverages`: all of them, primary first; empty: none, the patient pays; null: nothing
   * was said about insurance.
   */
  | { kind: 'described'; patient: IdentifiedPatient; coverages: CoverageInput[] | null }
  /** Two records were one person: everything of `from_id` is `into`'s from now on. */
  | { kind: 'merged'; from_id: string; into: IdentifiedPatient }
  /** The PMS has no such patient any more: no appointment of theirs takes place. */
  | { kind: 'deleted'; patient_id: string };
