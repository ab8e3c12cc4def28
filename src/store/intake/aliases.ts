/**
 * IDs of patients who were merged into another. Data that still arrives under such an ID belongs to
 * the surviving record, so that eligd does not call about one person twice (G1).
 */
import { type SqlBool, sql } from 'kysely';
import type { AppointmentInput, Patient } from '../../domain/appointment.ts';
import type { ClaimInput } from '../../domain/claim.ts';
import { keysOfPatient } from '../../domain/needs.ts';
import type { PatientUpdate } from '../../domain/patient-update.ts';
import { mergeLegalHold } from '../bookkeeping/legal-holds.ts';
import type { Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import { IDS_PER_STATEMENT } from './appointments.ts';

/** Returns the surviving ID for each of `patient_ids` that was merged into another. */
export async function aliasesOf(
  tx: Tx,
  connector: string,
  patient_ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(patient_ids.filter((id) => id !== null))];
  const found = new Map<string, string>();
  for (let first = 0; first < ids.length; first += IDS_PER_STATEMENT) {
    const part = ids.slice(first, first + IDS_PER_STATEMENT);
    for (const { alias, patient_id } of await ALIASES(tx, { connector, ids: part }))
      found.set(alias, patient_id);
  }
  return found;
}

const ALIASES = prepared<{ connector: string; ids: readonly string[] }>()((tx, place) =>
  tx
    .selectFrom('patient_aliases')
    .select(['alias', 'patient_id'])
    .where('connector', '=', place('connector'))
    .where('alias', 'in', place('ids')),
);

/**
 * Returns the visits and claims under their patients' current IDs, in the same order. Data under a
 * merged ID is about the current person: a wrong birth date in the old record must not create
 * another need (G1).
 */
export async function withCurrentIds<Each extends AppointmentInput | ClaimInput>(
  tx: Tx,
  connector: string,
  all: readonly Each[],
): Promise<Each[]> {
  const aliases = await aliasesOf(
    tx,
    connector,
    all.map(({ patient }) => patient.id),
  );
  const people = new Map<string, Patient | null>();
  for (const id of new Set(aliases.values()))
    people.set(id, await latestPatient(tx, connector, id));
  return all.map((each) => {
    const id = aliases.get(each.patient.id ?? '');
    if (id === undefined) return each;
    // `as_written` holds the merged ID, which must not be written back anymore.
    const { as_written: _, ...written } = each.patient;
    const { first_name, last_name, birth_date } = people.get(id) ?? written;
    return { ...each, patient: { ...written, id, first_name, last_name, birth_date } };
  });
}

/** Returns the patient from the latest visit or claim; null: there is none. */
async function latestPatient(
  tx: Tx,
  connector: string,
  patient_id: string,
): Promise<Patient | null> {
  const keys = keysOfPatient(connector, patient_id);
  const row = await tx
    .selectFrom('appointments')
    .select('content')
    .where('patient_key', '>=', keys.from)
    .where('patient_key', '<', keys.before)
    // A closed visit of a merged record keeps its content.
    .where(sql<SqlBool>`json_valid(content) and content ->> '$.patient.id' = ${patient_id}`)
    .orderBy('updated_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : (JSON.parse(row.content) as AppointmentInput).patient;
}

/**
 * Returns the merge with current IDs. A merge in the opposite direction of an earlier one first
 * undoes that one: the ID that was merged now survives.
 */
export async function resolveMerge(
  tx: Tx,
  connector: string,
  merge: Extract<PatientUpdate, { kind: 'merged' }>,
): Promise<Extract<PatientUpdate, { kind: 'merged' }>> {
  const { from_id, into } = merge;
  const aliases = await aliasesOf(tx, connector, [from_id, into.id]);
  const from = aliases.get(from_id) ?? from_id;
  const target = aliases.get(into.id);
  if (target === undefined) return { ...merge, from_id: from };
  if (target !== from) return { ...merge, from_id: from, into: { ...into, id: target } };
  // A late message of a known merge, or the same message again.
  if (from !== from_id) return { ...merge, from_id: target, into: { ...into, id: target } };
  await tx
    .deleteFrom('patient_aliases')
    .where('connector', '=', connector)
    .where('alias', '=', into.id)
    .execute();
  return merge;
}

/** Saves that `from_id` is now `into_id`, and so are all IDs that were `from_id` before. */
export async function addAlias(
  tx: Tx,
  connector: string,
  { from_id, into_id }: { from_id: string; into_id: string },
  now: number,
): Promise<void> {
  await mergeLegalHold(tx, connector, { from_id, into_id });
  await tx
    .updateTable('patient_aliases')
    .set({ patient_id: into_id, merged_at: now })
    .where('connector', '=', connector)
    .where('patient_id', '=', from_id)
    .execute();
  const values = { connector, alias: from_id, patient_id: into_id, merged_at: now };
  await tx
    .insertInto('patient_aliases')
    .values(values)
    .onConflict((conflict) =>
      conflict.columns(['connector', 'alias']).doUpdateSet({ patient_id: into_id, merged_at: now }),
    )
    .execute();
}
