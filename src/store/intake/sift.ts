import type { AppointmentInput } from '../../domain/appointment.ts';
import type { ClaimInput } from '../../domain/claim.ts';
import { FIELD_LENGTH_MAX, tooLongField } from '../../domain/field-length.ts';
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

/** The parts of a batch besides its visits, claims, and patients. */
type Named = {
  source: { name: string; written?: { at: string; by: string } };
  cancelled_ids?: readonly string[];
  rejected: readonly Rejected[];
};

const SHORTEN = 'Shorten it where it comes from, and send it again.';

/**
 * Cuts or leaves out texts that are too long in the parts of a batch besides its visits, claims,
 * and patients, and reports each. It only cuts the texts of items that are rejected anyway.
 */
export function limited<Batch extends Named>(batch: Batch): Batch {
  const { source, cancelled_ids = [], rejected } = batch;
  const { written, ...unwritten } = source;
  const found: Rejected[] = [];
  const report = (position: string, field: string, remedy = SHORTEN) =>
    found.push({ position, field, value_class: 'too long', remedy });
  if (isLong(source.name)) report('source', 'name');
  const is_unsaid = written !== undefined && isLong(written.by);
  if (is_unsaid) report('source', 'sender', `Its time was not used. ${SHORTEN}`);
  const ids = cancelled_ids.filter((id, index) => {
    if (isLong(id)) report(`cancellation ${index + 1}`, 'appointment ID');
    return !isLong(id);
  });
  if (found.length === 0 && !rejected.some(isLongItem)) return batch;
  return {
    ...batch,
    source: { ...(is_unsaid ? unwritten : source), name: cut(source.name) },
    ...(batch.cancelled_ids === undefined ? {} : { cancelled_ids: ids }),
    rejected: [...rejected.map(cutItem), ...found],
  };
}

const isLong = (text: string): boolean => text.length > FIELD_LENGTH_MAX;

const cut = (text: string): string =>
  isLong(text) ? `${text.slice(0, FIELD_LENGTH_MAX - 1)}…` : text;

const isLongItem = (item: Rejected): boolean => Object.values(item).some(isLong);

/** Leaves out an ID that is too long: half of it could be another visit's ID. */
function cutItem({ source_id, ...item }: Rejected): Rejected {
  return {
    position: cut(item.position),
    field: cut(item.field),
    value_class: cut(item.value_class),
    remedy: cut(item.remedy),
    ...(source_id === undefined || isLong(source_id) ? {} : { source_id }),
  };
}

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
 * Rejects the same items as `siftLong`, and appointments without an ID or a start time. In a
 * message, such an appointment makes the whole message fail instead.
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
