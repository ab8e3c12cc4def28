/**
 * Retention: deletes data that is older than the clinic keeps. Its bytes go when the database is
 * rewritten afterward (daemon/old-bytes.ts). eligd cannot erase copies of overwritten blocks that a
 * disk or a file system keeps.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { SPECIALTIES } from '../../domain/specialty.ts';
import type { Db, Tx } from '../engine/database.ts';
import type { Store } from '../engine/store.ts';
import { appointmentSubject, deliverySubject, inquirySubject } from './audit.ts';
import { isHeld, legalHolds } from './legal-holds.ts';
import { type AnswerKind, countOldAnswers, type Old, purgeAnswers } from './purge-answers.ts';
import { countOldEntries, eraseWords, oldNamedSubjects, purgeLogs } from './purge-logs.ts';

export type Purged = { appointments: number; inquiries: number; log_entries: number } & Record<
  AnswerKind,
  number
>;

const ROWS_PER_COMMIT = 200;
/** Reasons in the audit trail for purged subjects; the trail keeps the event without its words. */
const OLD_VISIT = 'The visit is older than retention.days.';
const OLD_FILE = 'The file is older than retention.days.';
/** Clears everything about the patient from a call; its IDs and times stay. */
const WITHOUT_PATIENT = { match_key: '', external_id: '', given_name: '', body: null };

/** Data before these times (epoch milliseconds) is purged; null: nothing is purged. */
export type PurgeLimits = Record<PurgedKind, number | null>;

/**
 * visits: a visit and everything that belongs to it. answers, requests, recordings: parts of an
 * answer that are erased earlier (purge-answers.ts). logs: entries of the audit trail and the
 * access log.
 */
export type PurgedKind = 'visits' | AnswerKind | 'logs';

/**
 * Deletes data that is older than the clinic keeps, except for patients on legal hold. Returns how
 * much it deleted. Each step is a separate commit; the next purge completes an interrupted one.
 */
export async function purge(store: Store, limits: PurgeLimits, now: number): Promise<Purged> {
  const { visits, logs } = limits;
  const nothing = { appointments: 0, inquiries: 0 };
  const purged = visits === null ? nothing : await purgeVisits(store, visits, now);
  const erased = { answers: 0, requests: 0, recordings: 0 };
  for (const kind of ANSWER_KINDS) {
    const before = limits[kind];
    if (before !== null) erased[kind] = await purgeAnswers(store, kind, before);
  }
  const log_entries =
    logs === null ? 0 : await store.write((tx) => purgeLogs(tx, { before: logs, now }));
  return { ...purged, ...erased, log_entries };
}

/**
 * Returns how much `purge` would delete, and the age of the oldest item. Answers, requests, and
 * recordings that are deleted with their visits count as such, as in the result of `purge`.
 */
export async function countOld(db: Db, limits: PurgeLimits): Promise<Record<PurgedKind, Old>> {
  const none: Old = { count: 0, oldest: null };
  const counted = { visits: none, answers: none, requests: none, recordings: none, logs: none };
  if (limits.visits !== null) counted.visits = await countVisits(db, limits.visits);
  for (const kind of ANSWER_KINDS) {
    const before = limits[kind];
    if (before === null) continue;
    const gone = await goesWithVisits(db, kind, limits.visits);
    counted[kind] = await countOldAnswers(db, kind, before, gone);
  }
  if (limits.logs !== null) {
    const is_written = await writesToTrail(db, limits.visits, counted.visits.count);
    counted.logs = await countOldEntries(db, limits.logs, { is_written });
  }
  return counted;
}

/** Of a row of that kind under the name `r`: whether deleting visits deletes it, or its content. */
async function goesWithVisits(
  db: Db,
  kind: AnswerKind,
  before: number | null,
): Promise<RawBuilder<SqlBool>> {
  if (before === null) return sql<SqlBool>`false`;
  const links = sql`select 1 from inquiry_appointments s where s.inquiry = r.inquiry`;
  const old = oldVisits(db, before).select('a.id');
  const with_visits = sql<SqlBool>`(r.inquiry in (${oldUnneeded(db, before)}) or (exists (${links})
    and not exists (${links} and s.appointment not in (${old}))))`;
  if (kind !== 'requests' || (await legalHolds(db)).length > 0) return with_visits;
  return sql<SqlBool>`(${with_visits} or (r.inquiry is null and r.seen_at < ${before}
    and (r.sent_service_at is null or r.sent_service_at < ${before})))`;
}

/** Whether deleting visits, or the words about files, writes entries to the trail. */
async function writesToTrail(db: Db, before: number | null, visits: number): Promise<boolean> {
  if (before === null) return false;
  if (visits > 0 || (await oldUnneeded(db, before).limit(sql.lit(1)).execute()).length > 0)
    return true;
  return (await legalHolds(db)).length === 0 && (await oldNamedSubjects(db, before)).length > 0;
}

const ANSWER_KINDS = ['answers', 'requests', 'recordings'] as const;

type PurgedVisits = { appointments: number; inquiries: number };

/**
 * Deletes (and counts) appointments whose visit and last change lie before `before` (epoch
 * milliseconds), with the inquiries that serve no other appointment, their answers, records,
 * deliveries, attention items, and the words of their audit trail. So do old inquiries that serve
 * no appointment anymore. Inquiries that the service may still answer stay. Calls that the service
 * has keep their IDs but no patient data, so that a reconciliation does not treat them as new.
 */
async function purgeVisits(store: Store, before: number, now: number): Promise<PurgedVisits> {
  const total: PurgedVisits = { appointments: 0, inquiries: 0 };
  for (;;) {
    const done = await store.write((tx) => purgeSome(tx, before, now));
    total.appointments += done.appointments;
    total.inquiries += done.inquiries;
    if (done.appointments < ROWS_PER_COMMIT) break;
  }
  for (;;) {
    const done = await store.write((tx) => purgeUnneeded(tx, before, now));
    total.inquiries += done;
    if (done < ROWS_PER_COMMIT) break;
  }
  await store.write((tx) => purgeRest(tx, before, now));
  return total;
}

/** Selects old appointments and claims, with alias `a`. */
function oldVisits(db: Db | Tx, before: number) {
  return db
    .selectFrom('appointments as a')
    .where('a.starts_at', '<', before)
    .where('a.updated_at', '<', before)
    .where(sql<SqlBool>`not ${isHeld('a')}`)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('inquiry_appointments as l')
            .innerJoin('inquiries as i', 'i.id', 'l.inquiry')
            .select('i.id')
            .whereRef('l.appointment', '=', 'a.id')
            .where((each) =>
              each.or([
                each('i.state', 'in', ['planned', 'sending', 'uncertain', 'open']),
                // A claim that is now of another patient; its deliveries name the former one.
                isHeld('i'),
              ]),
            ),
        ),
      ),
    );
}

async function countVisits(db: Db, before: number): Promise<Old> {
  const row = await oldVisits(db, before)
    .select((select) => [
      select.fn.countAll<number>().as('count'),
      select.fn.min('a.starts_at').as('oldest'),
    ])
    .executeTakeFirst();
  return row ?? { count: 0, oldest: null };
}

async function purgeSome(tx: Tx, before: number, now: number): Promise<PurgedVisits> {
  const rows = await oldVisits(tx, before)
    .select('a.id')
    .orderBy('a.id')
    .limit(sql.lit(ROWS_PER_COMMIT))
    .execute();
  const appointments = rows.map(({ id }) => id);
  if (appointments.length === 0) return { appointments: 0, inquiries: 0 };
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
  const inquiries = await unneededOf(tx, [...new Set(linked.map(({ inquiry }) => inquiry))]);
  await purgeInquiries(tx, inquiries);
  await tx.deleteFrom('attention').where('appointment', 'in', appointments).execute();
  const subjects = [
    ...appointments.map(appointmentSubject),
    ...inquiries.map(inquirySubject),
    ...deliveries.map(({ key }) => deliverySubject(key)),
  ];
  await eraseWords(tx, subjects, { now, reason: OLD_VISIT });
  await tx.deleteFrom('appointments').where('id', 'in', appointments).execute();
  return { appointments: appointments.length, inquiries: inquiries.length };
}

/**
 * Deletes old inquiries that serve no appointment: its coverage has changed since, for example.
 * Returns how many.
 */
async function purgeUnneeded(tx: Tx, before: number, now: number): Promise<number> {
  const rows = await oldUnneeded(tx, before).limit(sql.lit(ROWS_PER_COMMIT)).execute();
  const inquiries = rows.map(({ id }) => id);
  await purgeInquiries(tx, inquiries);
  await eraseWords(tx, inquiries.map(inquirySubject), { now, reason: OLD_VISIT });
  return inquiries.length;
}

/**
 * Condition on a row of inquiries (`i`): it serves no appointment, and its patient is not on legal
 * hold. A claim may have moved to another patient since.
 */
const isUnneeded = sql<SqlBool>`not exists (select 1 from inquiry_appointments l
  where l.inquiry = i.id) and not ${isHeld('i')}`;

/** Selects old inquiries (`i`) that the service has ended and that nobody needs. */
export function oldUnneeded(db: Db | Tx, before: number) {
  return db
    .selectFrom('inquiries as i')
    .select('i.id')
    .where('i.state', 'in', ['withdrawn', 'rejected', 'undecidable', 'answered'])
    .where('i.specialty', 'in', SPECIALTIES)
    .where('i.visit_at', '<', before)
    .where('i.updated_at', '<', before)
    .where(isUnneeded);
}

/** Returns those of the inquiries that nobody needs anymore. */
async function unneededOf(tx: Tx, inquiries: readonly number[]): Promise<number[]> {
  if (inquiries.length === 0) return [];
  const rows = await tx
    .selectFrom('inquiries as i')
    .select('i.id')
    .where('i.id', 'in', inquiries)
    .where(isUnneeded)
    .execute();
  return rows.map(({ id }) => id);
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

/**
 * Deletes old data that belongs to no appointment: file names, coverages of patients, items about
 * rows, calls of others. The hashes of webhook messages stay: they reveal nothing about a patient,
 * and the same message may come again at any time (G3). This data may concern a patient on legal
 * hold, so connectors with a hold keep all of it.
 */
async function purgeRest(tx: Tx, before: number, now: number): Promise<void> {
  const day = new Date(before).toISOString().slice(0, 10);
  await tx.deleteFrom('plan_terms').where('said_on', '<', day).execute();
  const held = [...new Set((await legalHolds(tx)).map(({ connector }) => connector))];
  if (held.length === 0) {
    const named = await oldNamedSubjects(tx, before);
    await eraseWords(tx, named, { now, before, reason: OLD_FILE });
    await purgeStrangers(tx, before);
  }
  await purgeAttention(tx, before, held);
  await purgePatients(tx, before, held);
  // A message that is not read has not failed, and stays.
  for (const [table, time] of [
    ['unread_messages', 'failed_at'],
    ['sources', 'first_seen_at'],
    ['patient_aliases', 'merged_at'],
    ['visit_messages', 'written_at'],
    ['deceased_patients', 'told_at'],
    ['connector_journal', 'updated_at'],
  ] as const)
    await sql`delete from ${sql.table(table)} where ${sql.ref(time)} < ${before}
      and ${notOf(held)}`.execute(tx);
}

/** Returns the condition that a row belongs to none of these connectors. */
const notOf = (connectors: readonly string[]) =>
  connectors.length === 0
    ? sql<SqlBool>`true`
    : sql<SqlBool>`coalesce(connector, '') not in (${sql.join(connectors)})`;

async function purgeAttention(tx: Tx, before: number, held: readonly string[]): Promise<void> {
  await tx
    .deleteFrom('attention')
    .where('since', '<', before)
    .where('appointment', 'is', null)
    .where('inquiry', 'is', null)
    .where(notOf(held))
    .execute();
}

/** Clears the patient data of old calls that no inquiry of ours owns. */
async function purgeStrangers(tx: Tx, before: number): Promise<void> {
  await tx
    .updateTable('calls')
    .set(WITHOUT_PATIENT)
    .where('inquiry', 'is', null)
    .where('seen_at', '<', before)
    .where((where) =>
      where.or([where('sent_service_at', 'is', null), where('sent_service_at', '<', before)]),
    )
    .execute();
}

async function purgePatients(tx: Tx, before: number, held: readonly string[]): Promise<void> {
  await tx
    .deleteFrom('patients')
    .where('updated_at', '<', before)
    .where(notOf(held))
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('appointments')
            .select('appointments.id')
            .whereRef('appointments.connector', '=', 'patients.connector')
            .where(sql<boolean>`appointments.content -> 'patient' ->> 'id' = patients.patient_id`),
        ),
      ),
    )
    .execute();
}
