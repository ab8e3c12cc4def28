/**
 * Takes in data about patients that arrives without an appointment. Insurance is stored here and
 * copied into the appointments, where planning, delivery and every list read it.
 */
import { sql } from 'kysely';
import type { AppointmentInput, CoverageInput, Patient } from '../../domain/appointment.ts';
import type { ClaimInput } from '../../domain/claim.ts';
import { inForce } from '../../domain/coverage-period.ts';
import { parsed } from '../../domain/damaged.ts';
import { keysOfPatient } from '../../domain/needs.ts';
import type { PatientUpdate } from '../../domain/patient-update.ts';
import { planVisitAgain } from '../calls/plan-due.ts';
import type { Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import { addAlias, aliasesOf, resolveMerge, withCurrentIds } from './aliases.ts';
import { changeContent, IDS_PER_STATEMENT, type NamedAppointment } from './appointments.ts';
import type { IntakeContext } from './context.ts';
import { deceasedOf, noteDeceased, withDeath } from './deceased.ts';
import { mergeNeeds } from './merge-needs.ts';
import { changeClaimsOf, insuredClaim } from './patient-claims.ts';

/**
 * Returns the appointments with the insurance in force at the visit: their own, or their patients',
 * or marked as awaited when none is known.
 */
export async function withInsurance(
  tx: Tx,
  connector: string,
  named: readonly NamedAppointment[],
): Promise<readonly NamedAppointment[]> {
  const own = await withCurrentIds(
    tx,
    connector,
    named.map(({ appointment }) => appointment),
  );
  const ids = [...new Set(own.flatMap(insuredId))];
  const known = await insuranceOf(tx, connector, ids);
  const deceased = await deceasedOf(tx, connector, ids);
  return named.map((each, index) => {
    const appointment = withDeath(insured(own[index] ?? each.appointment, known), deceased);
    return appointment === each.appointment ? each : { appointment, source: each.source };
  });
}

/** Applies the updates in order. Adds the number of changed appointments to `counts.changed`. */
export async function takePatientUpdates(
  context: IntakeContext,
  updates: readonly PatientUpdate[],
  counts: { changed: number },
): Promise<void> {
  const { tx, connector, now } = context;
  for (const update of updates) {
    if (update.kind === 'described') {
      const { patient, coverages } = await forCurrentId(tx, connector, update);
      await noteDeceased(tx, connector, patient, now);
      if (coverages !== null) await storeInsurance(context, patient.id, coverages);
      // A claim was sent to a specific insurance, so the patient's present insurance does not
      // change it.
      const insure = (claim: ClaimInput) =>
        coverages !== null && claim.insurance === 'awaited'
          ? insuredClaim(claim, coverages)
          : claim;
      counts.changed += await changeAppointmentsOf(context, patient.id, (each) =>
        described(each, patient),
      );
      counts.changed += await changeClaimsOf(context, patient.id, (each) =>
        insure(described(each, patient)),
      );
    } else if (update.kind === 'merged') {
      counts.changed += await merge(context, update);
    } else {
      const cancel = (each: AppointmentInput): AppointmentInput => ({
        ...each,
        status: 'cancelled',
      });
      counts.changed += await changeAppointmentsOf(context, update.patient_id, cancel);
      const settle = (each: ClaimInput): ClaimInput => ({ ...each, status: 'settled' });
      counts.changed += await changeClaimsOf(context, update.patient_id, settle);
      await forgetInsurance(tx, connector, update.patient_id);
    }
  }
}

/**
 * Returns the update under the current ID. A late one under a merged ID is reduced: it does not
 * describe the current patient, except for the insurance if none is known.
 */
async function forCurrentId(
  tx: Tx,
  connector: string,
  update: Extract<PatientUpdate, { kind: 'described' }>,
): Promise<Extract<PatientUpdate, { kind: 'described' }>> {
  const id = (await aliasesOf(tx, connector, [update.patient.id])).get(update.patient.id);
  if (id === undefined) return update;
  const is_insured = (await insuranceOf(tx, connector, [id])).has(id);
  return {
    kind: 'described',
    patient: { id, first_name: '', last_name: '', birth_date: null },
    coverages: is_insured ? null : update.coverages,
  };
}

/** Merges two records of a patient. Returns how many appointments and claims changed. */
async function merge(
  context: IntakeContext,
  merged: Extract<PatientUpdate, { kind: 'merged' }>,
): Promise<number> {
  const { tx, connector, now } = context;
  const { from_id, into } = await deathOf(context, await resolveMerge(tx, connector, merged));
  if (from_id === into.id) return 0;
  await addAlias(tx, connector, { from_id, into_id: into.id }, now);
  const known = await insuranceOf(tx, connector, [from_id, into.id]);
  const merged_coverages = known.get(from_id);
  if (merged_coverages !== undefined && !known.has(into.id))
    await storeInsurance(context, into.id, merged_coverages);
  await forgetInsurance(tx, connector, from_id);
  await mergeNeeds(tx, { connector, from_id, into_id: into.id }, now);
  const coverages = (await insuranceOf(tx, connector, [into.id])).get(into.id);
  const insure = (claim: ClaimInput) =>
    claim.insurance === 'awaited' ? insuredClaim(claim, coverages) : claim;
  let moved = 0;
  for (const id of [from_id, into.id]) {
    moved += await changeAppointmentsOf(context, id, (each) => described(each, into));
    moved += await changeClaimsOf(context, id, (each) => insure(described(each, into)));
  }
  await renameVisits(tx, connector, { from_id, into_id: into.id });
  return moved;
}

/**
 * Moves the past and canceled visits of a merged record to the remaining patient: they tell who is
 * a returning patient, and a legal hold must keep them. Their content keeps the former record's
 * patient, so whoever reads it by patient must compare its ID (`latestPatient`).
 */
async function renameVisits(
  tx: Tx,
  connector: string,
  { from_id, into_id }: { from_id: string; into_id: string },
): Promise<void> {
  const keys = keysOfPatient(connector, from_id);
  const { from } = keysOfPatient(connector, into_id);
  await tx
    .updateTable('appointments')
    .set({ patient_key: sql`${from} || substr(patient_key, length(${keys.from}) + 1)` })
    .where('patient_key', '>=', keys.from)
    .where('patient_key', '<', keys.before)
    .execute();
}

/** Returns the merge, with a known death in the merged record unless the message denies it. */
async function deathOf(
  { tx, connector, now }: IntakeContext,
  merged: Extract<PatientUpdate, { kind: 'merged' }>,
): Promise<Extract<PatientUpdate, { kind: 'merged' }>> {
  const { from_id, into } = merged;
  const has_died = (await deceasedOf(tx, connector, [from_id])).has(from_id);
  const patient = has_died ? { is_deceased: true, ...into } : into;
  await noteDeceased(tx, connector, patient, now);
  return { ...merged, into: patient };
}

/**
 * Returns the input with the patient's new data. Fields that the PMS left empty keep their values.
 */
function described<Each extends { patient: Patient }>(each: Each, patient: Patient): Each {
  const { first_name, last_name, birth_date } = each.patient;
  const as_written =
    patient.as_written ?? (each.patient.id === patient.id ? each.patient.as_written : undefined);
  const is_deceased = patient.is_deceased ?? each.patient.is_deceased;
  const has_name = patient.first_name !== '' || patient.last_name !== '';
  return {
    ...each,
    patient: {
      id: patient.id,
      first_name: has_name ? patient.first_name : first_name,
      last_name: has_name ? patient.last_name : last_name,
      birth_date: patient.birth_date ?? birth_date,
      ...(is_deceased === undefined ? {} : { is_deceased }),
      ...(as_written === undefined ? {} : { as_written }),
    },
  };
}

/**
 * Changes the patient's appointments that are open, or closed for lack of insurance. Returns how
 * many changed.
 */
async function changeAppointmentsOf(
  { tx, connector, now }: IntakeContext,
  patient_id: string,
  change: (appointment: AppointmentInput) => AppointmentInput,
): Promise<number> {
  const keys = keysOfPatient(connector, patient_id);
  const rows = await tx
    .selectFrom('appointments')
    .select(['id', 'connector', 'content'])
    .where('patient_key', '>=', keys.from)
    .where('patient_key', '<', keys.before)
    .where('kind', '=', 'appointment')
    .where('superseded_at', 'is', null)
    .where((where) =>
      where.or([where('closed_reason', 'is', null), where('closed_reason', '=', 'no_coverage')]),
    )
    .orderBy('id')
    .execute();
  let changed_count = 0;
  for (const row of rows) {
    const before = parsed(row.content) as AppointmentInput | null;
    if (before === null) await planVisitAgain(tx, row.id);
    if (before?.patient.id !== patient_id) continue;
    const changed = change(before);
    const known = await insuranceOf(tx, connector, insuredId(changed));
    const after = insured(changed, known);
    if (JSON.stringify(after) === row.content) continue;
    await changeContent(tx, row, after, now);
    changed_count += 1;
  }
  return changed_count;
}

/**
 * Returns the ID of the patient whose insurance applies to the appointment; empty when the
 * appointment has its own, or the patient has no ID.
 */
function insuredId({ insurance, patient }: AppointmentInput): string[] {
  return insurance === undefined || patient.id === null ? [] : [patient.id];
}

function insured(
  appointment: AppointmentInput,
  known: ReadonlyMap<string, CoverageInput[]>,
): AppointmentInput {
  if (appointment.insurance === undefined)
    return withThoseInForce(appointment, appointment.coverages);
  const coverages = appointment.patient.id === null ? undefined : known.get(appointment.patient.id);
  if (coverages === undefined) return { ...appointment, coverages: [], insurance: 'awaited' };
  const { other_coverages: _, ...rest } = appointment;
  return { ...withThoseInForce(rest, coverages), insurance: 'of_patient' };
}

/**
 * Returns the appointment with the coverages in force at the visit. Keeps the others if their
 * source text must be written back.
 */
function withThoseInForce(
  appointment: AppointmentInput,
  all: readonly CoverageInput[],
): AppointmentInput {
  const is_limited = all.some(({ period }) => period !== undefined);
  if (all === appointment.coverages && !is_limited) return appointment;
  const held = inForce(all, appointment.starts_at);
  const others = all.filter((each) => each.as_written !== undefined && !held.includes(each));
  return {
    ...appointment,
    coverages: held,
    ...(others.length === 0 ? {} : { other_coverages: others }),
  };
}

/** Returns the stored coverages by patient ID; a patient whose insurance is unknown is missing. */
export async function insuranceOf(
  tx: Tx,
  connector: string,
  patient_ids: readonly string[],
): Promise<Map<string, CoverageInput[]>> {
  const known = new Map<string, CoverageInput[]>();
  for (let first = 0; first < patient_ids.length; first += IDS_PER_STATEMENT) {
    const ids = patient_ids.slice(first, first + IDS_PER_STATEMENT);
    for (const { patient_id, coverages } of await INSURANCE(tx, { connector, ids }))
      known.set(patient_id, JSON.parse(coverages) as CoverageInput[]);
  }
  return known;
}

const INSURANCE = prepared<{ connector: string; ids: readonly string[] }>()((tx, place) =>
  tx
    .selectFrom('patients')
    .select(['patient_id', 'coverages'])
    .where('connector', '=', place('connector'))
    .where('patient_id', 'in', place('ids')),
);

async function storeInsurance(
  { tx, connector, now }: IntakeContext,
  patient_id: string,
  coverages: readonly CoverageInput[],
): Promise<void> {
  const values = { connector, patient_id, coverages: JSON.stringify(coverages), updated_at: now };
  await tx
    .insertInto('patients')
    .values(values)
    .onConflict((conflict) =>
      conflict
        .columns(['connector', 'patient_id'])
        .doUpdateSet({ coverages: values.coverages, updated_at: now }),
    )
    .execute();
}

async function forgetInsurance(tx: Tx, connector: string, patient_id: string): Promise<void> {
  await tx
    .deleteFrom('patients')
    .where('connector', '=', connector)
    .where('patient_id', '=', patient_id)
    .execute();
}
