/** Records who viewed whose record: pages and commands write here before they show a record. */
import { sql } from 'kysely';
import { appointmentHash } from '../../domain/appointment-hash.ts';
import { parsed } from '../../domain/damaged.ts';
import type { Db, Tx } from '../engine/database.ts';
import { accessHash, CHAIN_START, patientHash } from './chain.ts';
import { knownLogKey, logKeyIn } from './log-key.ts';

/** A record that is shown: an appointment or a claim, with the PMS's ID of its patient. */
export type ShownRecord = { connector: string; source_id: string; patient_id: string | null };

/** Who viewed records, and where: `show`, `explain`, `visit`, `schedule`. */
export type Look = { at: number; actor: string; page: string };

export type AccessRow = Look & { subject: string; patient: string | null };

const ROWS_PER_STATEMENT = 500;

/**
 * Adds a row for each record. The log holds no IDs of the practice management system: keyed hashes
 * identify the record and the patient. The hash of the record is the same as in the journal.
 */
export async function writeAccess(
  tx: Tx,
  look: Look,
  records: readonly ShownRecord[],
): Promise<void> {
  if (records.length === 0) return;
  const key = await logKeyIn(tx, look.at);
  let hash = await newestAccessHash(tx);
  const rows = new Map<string, AccessRow & { hash: Buffer }>();
  for (const { connector, source_id, patient_id } of records) {
    const subject = appointmentHash(key, connector, source_id);
    if (rows.has(subject)) continue;
    const patient = patient_id === null ? null : patientHash(key, connector, patient_id);
    const row = { ...look, subject, patient };
    hash = accessHash(hash, row);
    rows.set(subject, { ...row, hash });
  }
  const values = [...rows.values()];
  for (let first = 0; first < values.length; first += ROWS_PER_STATEMENT)
    await tx
      .insertInto('access_log')
      .values(values.slice(first, first + ROWS_PER_STATEMENT))
      .execute();
}

/**
 * Returns the records that the given inquiries at the service are about. An inquiry that serves no
 * visit here is represented by its own label.
 */
export async function recordsOfInquiries(
  db: Db | Tx,
  inquiries: readonly { id: string; external_id: string }[],
): Promise<ShownRecord[]> {
  const found: ShownRecord[] = [];
  for (let first = 0; first < inquiries.length; first += ROWS_PER_STATEMENT) {
    const part = inquiries.slice(first, first + ROWS_PER_STATEMENT);
    const rows = await db
      .selectFrom('inquiries_with_call as inquiries')
      .innerJoin('inquiry_appointments as l', 'l.inquiry', 'inquiries.id')
      .innerJoin('appointments as a', 'a.id', 'l.appointment')
      .select(['inquiries.service_id', 'a.connector', 'a.source_id', 'a.content'])
      .where(
        'inquiries.service_id',
        'in',
        part.map(({ id }) => id),
      )
      .execute();
    const known = Map.groupBy(rows, ({ service_id }) => service_id);
    for (const { id, external_id } of part) {
      const unknown = { connector: 'service', source_id: external_id || id, patient_id: null };
      found.push(...(known.get(id)?.map(shownRecord) ?? [unknown]));
    }
  }
  return found;
}

function shownRecord({
  connector,
  source_id,
  content,
}: {
  connector: string;
  source_id: string;
  content: string;
}): ShownRecord {
  const input = parsed(content) as { patient: { id: string | null } } | null;
  return { connector, source_id, patient_id: input?.patient.id ?? null };
}

/** Returns the newest hash of the chain. */
async function newestAccessHash(db: Db | Tx): Promise<Buffer> {
  const newest = await db
    .selectFrom('access_log')
    .select('hash')
    .orderBy('id', 'desc')
    .limit(sql.lit(1))
    .executeTakeFirst();
  return newest?.hash ?? CHAIN_START;
}

/** Returns who viewed an appointment, newest first. */
export async function looksAt(
  db: Db,
  { connector, source_id }: Pick<ShownRecord, 'connector' | 'source_id'>,
  limit: number,
): Promise<AccessRow[]> {
  const key = await knownLogKey(db);
  if (key === null) return [];
  return await db
    .selectFrom('access_log')
    .select(['at', 'actor', 'page', 'subject', 'patient'])
    .where('subject', '=', appointmentHash(key, connector, source_id))
    .orderBy('id', 'desc')
    .limit(sql.lit(limit))
    .execute();
}
