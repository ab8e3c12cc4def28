import type { AppointmentInput } from '../../domain/appointment.ts';
import type { ClaimInput } from '../../domain/claim.ts';
import { tooLongField } from '../../domain/field-length.ts';
import type { PatientUpdate } from '../../domain/patient-update.ts';
import type { Rejected } from './rejected.ts';

type Offered = {
  appointments: readonly AppointmentInput[];
  claims?: readonly ClaimInput[] | undefined;
  patients?: readonly PatientUpdate[] | undefined;
};
type Sifted = {
  appointments: AppointmentInput[];
  claims: ClaimInput[];
  patients: PatientUpdate[];
  rejected: Rejected[];
};

/** Rejects items with a field that is too long and keeps the others (G7). */
export function siftLong({ appointments, claims = [], patients = [] }: Offered): Sifted {
  const rejected: Rejected[] = [];
  const isShort = (kind: string) => (input: { source_id?: string }, index: number) => {
    const field = tooLongField(input);
    if (field !== null)
      rejected.push({
        position: `${kind} ${index + 1}`,
        ...(field === 'source_id' || input.source_id === undefined
          ? {}
          : { source_id: input.source_id }),
        field,
        value_class: 'too long',
        remedy: 'Shorten the value in the practice management system, and export it again.',
      });
    return field === null;
  };
  return {
    appointments: appointments.filter(isShort('appointment')),
    claims: claims.filter(isShort('claim')),
    patients: patients.filter((each, index) => isShort('patient')(each as object, index)),
    rejected,
  };
}

/**
 * Also rejects appointments without an ID or a start time. In a message, such an appointment makes
 * the whole message fail instead.
 */
export function sift(offered: Offered): Sifted {
  const sifted = siftLong(offered);
  const { rejected } = sifted;
  const appointments = sifted.appointments.filter((appointment) => {
    const { source_id, starts_at } = appointment;
    if (source_id !== '' && !Number.isNaN(Date.parse(starts_at))) return true;
    rejected.push({
      position: `appointment ${offered.appointments.indexOf(appointment) + 1}`,
      field: source_id === '' ? 'source_id' : 'starts_at',
      value_class: source_id === '' ? 'empty' : 'not a date and time',
      remedy: 'Tell the author of the connector: every appointment needs an ID and a start time.',
    });
    return false;
  });
  return { ...sifted, appointments };
}
