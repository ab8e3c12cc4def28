/**
 * Patients whose data must not be deleted, because a court, an auditor or a payer may request it.
 */
import { type SqlBool, sql } from 'kysely';
import { keysOfPatient } from '../../domain/needs.ts';
import type { Db, Tx } from '../engine/database.ts';
import { appointmentSubject, inquirySubject, writeAudit } from './audit.ts';
import { patientHash } from './chain.ts';
import { knownLogKey, logKeyIn } from './log-key.ts';

export type HeldPatient = { connector: string; patient_id: string };

type LegalHold = HeldPatient & { reason: string; actor: string; since: number };

export async function legalHolds(db: Db | Tx): Promise<LegalHold[]> {
  return await db
    .selectFrom('legal_holds')
    .select(['connector', 'patient_id', 'reason', 'actor', 'since'])
    .orderBy('since')
    .execute();
}

/** Returns the connectors that have a visit of a patient with this ID. */
export async function connectorsOfPatient(
  db: Db | Tx,
  patient_id: string,
  connectors: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const connector of connectors) {
    const keys = keysOfPatient(connector, patient_id);
    const visit = await db
      .selectFrom('appointments')
      .select('id')
      .where('patient_key', '>=', keys.from)
      .where('patient_key', '<', keys.before)
      .limit(sql.lit(1))
      .executeTakeFirst();
    if (visit !== undefined) found.push(connector);
  }
  return found;
}

/** Adds a hold and returns whether it is new. The trail names the patient by the keyed hash. */
export async function addLegalHold(
  tx: Tx,
  { connector, patient_id }: HeldPatient,
  { reason, actor }: { reason: string; actor: string },
  now: number,
): Promise<boolean> {
  const added = await tx
    .insertInto('legal_holds')
    .values({ connector, patient_id, reason, actor, since: now })
    .onConflict((conflict) => conflict.doNothing())
    .returning('since')
    .executeTakeFirst();
  if (added !== undefined)
    await note(tx, { connector, patient_id }, { to_state: 'legal_hold', reason }, now);
  return added !== undefined;
}

/** Ends a hold and returns whether there was one. */
export async function removeLegalHold(
  tx: Tx,
  { connector, patient_id }: HeldPatient,
  now: number,
): Promise<boolean> {
  const removed = await tx
    .deleteFrom('legal_holds')
    .where('connector', '=', connector)
    .where('patient_id', '=', patient_id)
    .returning('since')
    .executeTakeFirst();
  if (removed !== undefined)
    await note(tx, { connector, patient_id }, { to_state: 'legal_hold_ended', reason: '' }, now);
  return removed !== undefined;
}

async function note(
  tx: Tx,
  { connector, patient_id }: HeldPatient,
  step: { to_state: string; reason: string },
  now: number,
): Promise<void> {
  const subject = patientSubject(await logKeyIn(tx, now), { connector, patient_id });
  await writeAudit(tx, [{ at: now, subject, from_state: null, ...step }]);
}

export const patientSubject = (key: string, { connector, patient_id }: HeldPatient): string =>
  `patient:${patientHash(key, connector, patient_id)}`;

/** Extends the hold of a merged patient to the record that it was merged into. */
export async function mergeLegalHold(
  tx: Tx,
  connector: string,
  { from_id, into_id }: { from_id: string; into_id: string },
): Promise<void> {
  await sql`insert into legal_holds (connector, patient_id, reason, actor, since)
    select connector, ${into_id}, reason, actor, since from legal_holds
    where connector = ${connector} and patient_id = ${from_id}
    on conflict do nothing`.execute(tx);
}

/** Condition on a row of appointments (`a`) or of inquiries (`i`): its patient is on legal hold. */
export const isHeld = (alias: 'a' | 'i') => sql<SqlBool>`exists (select 1 from legal_holds h
  where h.connector = ${sql.ref(`${alias}.connector`)}
    and ${sql.ref(`${alias}.patient_key`)} >= h.connector || '|' || h.patient_id || '|'
    and ${sql.ref(`${alias}.patient_key`)} < h.connector || '|' || h.patient_id || '}')`;

/**
 * Condition on a row with alias `r` and a column `inquiry`: the inquiry is about a held patient, or
 * about a claim that is now of a held patient.
 */
export const isHeldInquiry = sql<SqlBool>`(exists (select 1 from inquiries i
  where i.id = r.inquiry and ${isHeld('i')})
  or exists (select 1 from inquiry_appointments l join appointments a on a.id = l.appointment
    where l.inquiry = r.inquiry and ${isHeld('a')}))`;

type StoredVisit = { id: number; connector: string; source_id: string };

/**
 * Returns the patient's visits, and `subjects`: the visits and all calls about the patient or for
 * these visits, also those that serve no visit anymore, as the audit trail names them.
 */
export async function storedOfPatient(
  db: Db | Tx,
  { connector, patient_id }: HeldPatient,
): Promise<{ visits: StoredVisit[]; subjects: string[] }> {
  const { from, before } = keysOfPatient(connector, patient_id);
  const visits = await db
    .selectFrom('appointments')
    .select(['id', 'connector', 'source_id'])
    .where('patient_key', '>=', from)
    .where('patient_key', '<', before)
    .execute();
  const about = db
    .selectFrom('inquiries')
    .select('id')
    .where('need_base', '>=', from)
    .where('need_base', '<', before);
  const linked = db
    .selectFrom('appointments')
    .innerJoin('inquiry_appointments', 'inquiry_appointments.appointment', 'appointments.id')
    .select('inquiry_appointments.inquiry as id')
    .where('patient_key', '>=', from)
    .where('patient_key', '<', before);
  const inquiries = await about.union(linked).execute();
  const subjects = [
    ...visits.map(({ id }) => appointmentSubject(id)),
    ...inquiries.map(({ id }) => inquirySubject(id)),
  ];
  return { visits, subjects };
}

/**
 * Returns the first entry in each log about a patient on hold; the log is kept from that entry on.
 * Null: the log has no such entry.
 */
export async function firstHeldEntries(
  tx: Db | Tx,
): Promise<{ audit: number | null; access_log: number | null }> {
  const holds = await legalHolds(tx);
  if (holds.length === 0) return { audit: null, access_log: null };
  const key = await knownLogKey(tx);
  const subjects = key === null ? [] : holds.map((each) => patientSubject(key, each));
  for (const each of holds) subjects.push(...(await storedOfPatient(tx, each)).subjects);
  const patients =
    key === null ? [] : holds.map((each) => patientHash(key, each.connector, each.patient_id));
  return {
    audit: await firstOf(tx, 'audit', 'subject', subjects),
    access_log: await firstOf(tx, 'access_log', 'patient', patients),
  };
}

const VALUES_PER_STATEMENT = 500;

async function firstOf(
  tx: Db | Tx,
  table: 'audit' | 'access_log',
  column: 'subject' | 'patient',
  values: readonly string[],
): Promise<number | null> {
  let first: number | null = null;
  for (let at = 0; at < values.length; at += VALUES_PER_STATEMENT) {
    const list = sql.join(values.slice(at, at + VALUES_PER_STATEMENT));
    const { rows } = await sql<{ id: number | null }>`select min(id) as id from ${sql.table(table)}
      where ${sql.ref(column)} in (${list})`.execute(tx);
    const id = rows[0]?.id ?? null;
    if (id !== null) first = Math.min(first ?? id, id);
  }
  return first;
}
