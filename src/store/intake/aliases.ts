/**
 * Ids of patients who were merged into another: whatever still comes under them is the other's, so
 * that nobody is called about twice (G1).
 */
import type { AppointmentInput } from '../../domain/appointment.ts';
import type { ClaimInput } from '../../domain/claim.ts';
import type { PatientUpdate } from '../../domain/patient-update.ts';
import type { Tx } from '../engine/database.ts';
import { IDS_PER_STATEMENT } from './appointments.ts';

/** The ids that stay, by the ids that went. */
export type Aliases = ReadonlyMap<string, string>;

/** Of `patient_ids` those that were merged away. */
export async function aliasesOf(
  tx: Tx,
  connector: string,
  patient_ids: readonly (string | null)[],
): Promise<Aliases> {
  const ids = [...new Set(patient_ids.filter((id) => id !== null))];
  const found = new Map<string, string>();
  for (let first = 0; first < ids.length; first += IDS_PER_STATEMENT) {
    const rows = await tx
      .selectFrom('patient_aliases')
      .select(['alias', 'patient_id'])
      .where('connector', '=', connector)
      .where('alias', 'in', ids.slice(first, first + IDS_PER_STATEMENT))
      .execute();
    for (const { alias, patient_id } of rows) found.set(alias, patient_id);
  }
  return found;
}

/** The same visit or claim under the patient's id of today. */
export function underOwnId<Each extends AppointmentInput | ClaimInput>(
  each: Each,
  aliases: Aliases,
): Each {
  const { patient } = each;
  const id = patient.id === null ? undefined : aliases.get(patient.id);
  if (id === undefined) return each;
  // What was written is about the id that went, which must not be written to any more.
  const { as_written: _, ...known } = patient;
  return { ...each, patient: { ...known, id } };
}

/**
 * A merge between the ids of today. One that turns an earlier merge around takes that back first:
 * the id that went is the one that stays now.
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
  // A straggler of the merge that is known, or the same one again.
  if (from !== from_id) return { ...merge, from_id: target, into: { ...into, id: target } };
  await tx
    .deleteFrom('patient_aliases')
    .where('connector', '=', connector)
    .where('alias', '=', into.id)
    .execute();
  return merge;
}

/** Remembers that `from_id` is `into_id` from now on, and so is whatever was `from_id` before. */
export async function addAlias(
  tx: Tx,
  connector: string,
  { from_id, into_id }: { from_id: string; into_id: string },
  now: number,
): Promise<void> {
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
