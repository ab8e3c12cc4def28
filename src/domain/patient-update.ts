import type { CoverageInput, Patient } from './appointment.ts';

/** A patient whom the PMS identifies by ID; without an ID, appointments could not be matched. */
export type IdentifiedPatient = Patient & { id: string };

/**
 * What a source sends about a patient independently of appointments, as HL7 ADT messages do. It
 * applies to every upcoming appointment of the patient whose `insurance` is `of_patient`, including
 * appointments that arrive later.
 */
export type PatientUpdate =
  /**
   * The current name, birth date, and insurance. An empty name and a null birth date leave the
   * known values unchanged. `coverages`: all of them, primary first; empty: self-pay; null: the
   * source said nothing about insurance.
   */
  | { kind: 'described'; patient: IdentifiedPatient; coverages: CoverageInput[] | null }
  /** Two records were one person: everything of `from_id` belongs to `into` from now on. */
  | { kind: 'merged'; from_id: string; into: IdentifiedPatient }
  /** The PMS no longer has this patient: none of their appointments takes place. */
  | { kind: 'deleted'; patient_id: string };
