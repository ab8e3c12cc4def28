/** Patients who have died according to messages, independent of any appointment. */
import type { AppointmentInput, Patient } from '../../domain/appointment.ts';
import type { Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import { IDS_PER_STATEMENT } from './appointments.ts';

/** Saves what the message says about the patient's death; if it says nothing, changes nothing. */
export async function noteDeceased(
  tx: Tx,
  connector: string,
  { id, is_deceased }: Pick<Patient, 'is_deceased'> & { id: string },
  now: number,
): Promise<void> {
  if (is_deceased === undefined) return;
  if (is_deceased)
    await tx
      .insertInto('deceased_patients')
      .values({ connector, patient_id: id, told_at: now })
      .onConflict((conflict) =>
        conflict.columns(['connector', 'patient_id']).doUpdateSet({ told_at: now }),
      )
      .execute();
  else
    await tx
      .deleteFrom('deceased_patients')
      .where('connector', '=', connector)
      .where('patient_id', '=', id)
      .execute();
}

/** Returns those of `patient_ids` who have died. */
export async function deceasedOf(
  tx: Tx,
  connector: string,
  patient_ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let first = 0; first < patient_ids.length; first += IDS_PER_STATEMENT) {
    const ids = patient_ids.slice(first, first + IDS_PER_STATEMENT);
    for (const { patient_id } of await DECEASED(tx, { connector, ids })) found.add(patient_id);
  }
  return found;
}

const DECEASED = prepared<{ connector: string; ids: readonly string[] }>()((tx, place) =>
  tx
    .selectFrom('deceased_patients')
    .select('patient_id')
    .where('connector', '=', place('connector'))
    .where('patient_id', 'in', place('ids')),
);

/** Returns the appointment with the known death of its patient, unless it has its own value. */
export function withDeath(
  appointment: AppointmentInput,
  deceased: ReadonlySet<string>,
): AppointmentInput {
  const { patient } = appointment;
  if (patient.id === null || patient.is_deceased !== undefined || !deceased.has(patient.id))
    return appointment;
  return { ...appointment, patient: { ...patient, is_deceased: true } };
}
