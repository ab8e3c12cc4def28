/**
 * Retention: what is older than the clinic keeps is deleted so that its bytes are gone.
 * `secure_delete` (database.ts) overwrites what is deleted in the database; the WAL is emptied
 * afterwards. What a disk or a file system keeps of overwritten blocks is not in our hands.
 */
import { sql } from 'kysely';
import type { Tx } from '../engine/database.ts';
import type { Store } from '../engine/store.ts';
import { appointmentSubject, deliverySubject, inquirySubject } from './audit.ts';
import { forgetFact, writeFact } from './facts.ts';

export type Purged = { appointments: number; inquiries: number };

const APPOINTMENTS_PER_COMMIT = 200;
/**
 * The trigger of `migrations/0008-purge.ts` lets the audit trail be deleted from while this fact is
 * there.
 */
const PURGING = 'purging';
/** What remains of a call: its ids and times. */
const WITHOUT_PATIENT = { match_key: '', external_id: '', given_name: '', body: null };

/**
 * Deletes appointments whose visit and last change lie before `before` (epoch milliseconds), with
 * the inquiries that serve no other appointment, their answers, records, deliveries, attention
 * and audit. What the service may still answer stays. What the service holds keeps
 * its ids, without what they say about a patient, so that no reconciliation takes them for new
 * ones.
 */
export async function purge(store: Store, before: number, now: number): Promise<Purged> {
  const total: Purged = { appointments: 0, inquiries: 0 };
  for (;;) {
    const done = await store.write((tx) => purgeSome(tx, before, now));
    total.appointments += done.appointments;
    total.inquiries += done.inquiries;
    if (done.appointments < APPOINTMENTS_PER_COMMIT) break;
  }
  await store.write((tx) => purgeRest(tx, before));
  await sql`pragma wal_checkpoint(truncate)`.execute(store.db);
  return total;
}

async function purgeSome(tx: Tx, before: number, now: number): Promise<Purged> {
  const rows = await tx
    .selectFrom('appointments')
    .select('id')
    .where('starts_at', '<', before)
    .where('updated_at', '<', before)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('inquiry_appointments as l')
            .innerJoin('inquiries as i', 'i.id', 'l.inquiry')
            .select('i.id')
            .whereRef('l.appointment', '=', 'appointments.id')
            .where('i.state', 'in', ['planned', 'sending', 'uncertain', 'open']),
        ),
      ),
    )
    .orderBy('id')
    .limit(sql.lit(APPOINTMENTS_PER_COMMIT))
    .execute();
  const appointments = rows.map(({ id }) => id);
  if (appointments.length === 0) return { appointments: 0, inquiries: 0 };
  await writeFact(tx, PURGING, '', now);
  const linked = await tx
    .selectFrom('inquiry_appointments')
    .select('inquiry')
    .where('appointment', 'in', appointments)
    .execute();
  await tx.deleteFrom('inquiry_appointments').where('appointment', 'in', appointments).execute();
  const deliveries = await tx
    .deleteFrom('deliveries')
    .where('appointment', 'in', appointments)
    .returning('key')
    .execute();
  const inquiries = await withoutAppointments(tx, [
    ...new Set(linked.map(({ inquiry }) => inquiry)),
  ]);
  await purgeInquiries(tx, inquiries);
  await tx.deleteFrom('attention').where('appointment', 'in', appointments).execute();
  await purgeAudit(tx, [
    ...appointments.map(appointmentSubject),
    ...inquiries.map(inquirySubject),
    ...deliveries.map(({ key }) => deliverySubject(key)),
  ]);
  await tx.deleteFrom('appointments').where('id', 'in', appointments).execute();
  await forgetFact(tx, PURGING);
  return { appointments: appointments.length, inquiries: inquiries.length };
}

async function withoutAppointments(tx: Tx, inquiries: readonly number[]): Promise<number[]> {
  if (inquiries.length === 0) return [];
  const kept = await tx
    .selectFrom('inquiry_appointments')
    .select('inquiry')
    .where('inquiry', 'in', inquiries)
    .execute();
  const standing = new Set(kept.map(({ inquiry }) => inquiry));
  return inquiries.filter((id) => !standing.has(id));
}

async function purgeInquiries(tx: Tx, inquiries: readonly number[]): Promise<void> {
  if (inquiries.length === 0) return;
  await tx.deleteFrom('deliveries').where('inquiry', 'in', inquiries).execute();
  await tx.deleteFrom('records').where('inquiry', 'in', inquiries).execute();
  await tx.deleteFrom('answers').where('inquiry', 'in', inquiries).execute();
  await tx.deleteFrom('attention').where('inquiry', 'in', inquiries).execute();
  await tx
    .deleteFrom('calls')
    .where('inquiry', 'in', inquiries)
    .where('service_id', 'is', null)
    .execute();
  await tx
    .updateTable('calls')
    .set({ inquiry: null, role: 'unclaimed', ...WITHOUT_PATIENT })
    .where('inquiry', 'in', inquiries)
    .execute();
  await tx.deleteFrom('inquiries').where('id', 'in', inquiries).execute();
}

async function purgeAudit(tx: Tx, subjects: readonly string[]): Promise<void> {
  for (let first = 0; first < subjects.length; first += 500)
    await tx
      .deleteFrom('audit')
      .where('subject', 'in', subjects.slice(first, first + 500))
      .execute();
}

/**
 * What hangs on no appointment: names of files, coverages of patients, entries about rows, the
 * calls of others. The hashes of the service's messages stay: they say nothing of a patient, and
 * the same message may come again at any time (G3).
 */
async function purgeRest(tx: Tx, before: number): Promise<void> {
  await tx.deleteFrom('office_views').where('at', '<', before).execute();
  const day = new Date(before).toISOString().slice(0, 10);
  await tx.deleteFrom('plan_terms').where('said_on', '<', day).execute();
  await tx.deleteFrom('sources').where('first_seen_at', '<', before).execute();
  await tx
    .deleteFrom('attention')
    .where('since', '<', before)
    .where('appointment', 'is', null)
    .where('inquiry', 'is', null)
    .execute();
  await tx
    .updateTable('calls')
    .set(WITHOUT_PATIENT)
    .where('inquiry', 'is', null)
    .where('seen_at', '<', before)
    .where((where) =>
      where.or([where('sent_service_at', 'is', null), where('sent_service_at', '<', before)]),
    )
    .execute();
  await tx
    .deleteFrom('patients')
    .where('updated_at', '<', before)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('appointments')
            .select('appointments.id')
            .whereRef('appointments.connector', '=', 'patients.connector')
            .where(
              sql<boolean>`
                json_extract(appointments.content, '$.patient.id') = patients.patient_id`,
            ),
        ),
      ),
    )
    .execute();
  await tx.deleteFrom('patient_aliases').where('merged_at', '<', before).execute();
  await tx.deleteFrom('visit_messages').where('written_at', '<', before).execute();
  await tx.deleteFrom('deceased_patients').where('told_at', '<', before).execute();
  await tx.deleteFrom('connector_journal').where('updated_at', '<', before).execute();
}
