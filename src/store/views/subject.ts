/**
 * One appointment or inquiry with everything that belongs to it: for `show` and `explain`.
 * Read-only.
 */
import type { OpenEntry, Progress } from '../../domain/explanation.ts';
import { storedSaysWho } from '../../domain/says-who.ts';
import { type AnswerRecord, latestRecord } from '../answers/answers.ts';
import type { DeliveryRow } from '../answers/deliveries.ts';
import {
  type AuditRow,
  appointmentSubject,
  auditOf,
  deliverySubject,
  inquirySubject,
} from '../bookkeeping/audit.ts';
import { type InquiryRow, inquiryById } from '../calls/inquiries.ts';
import type { Db } from '../engine/database.ts';
import type { SubjectKind } from '../engine/tables.ts';
import { type AppointmentOverview, listAppointments } from './listed-appointments.ts';
import { deliveriesTo, openEntries, withProgress } from './progress.ts';

/**
 * The subject that an ID on the command line identifies. `ambiguous`: several connectors have an
 * appointment with that ID.
 */
export type Found =
  | { kind: 'appointment'; id: number }
  | { kind: 'inquiry'; id: number }
  | { kind: 'ambiguous'; connectors: string[] }
  | { kind: 'none' };

/**
 * Reads an ID as a user types it: `inquiry:3` and `appointment:12` (rows, as in the attention list
 * and the log), the PMS's appointment ID, the same with `connector:` before it, or the service's ID
 * of an inquiry. A claim also has its own ID, with `claim:` before it if an appointment has the
 * same one.
 */
export async function findSubject(db: Db, text: string): Promise<Found> {
  const row = /^(inquiry|appointment):(\d+)$/.exec(text);
  if (row !== null) {
    const kind = row[1] === 'inquiry' ? 'inquiry' : 'appointment';
    const table = kind === 'inquiry' ? 'inquiries' : 'appointments';
    const found = await db
      .selectFrom(table)
      .select('id')
      .where('id', '=', Number(row[2]))
      .executeTakeFirst();
    if (found !== undefined) return { kind, id: found.id };
  }
  const named = await namedBy(db, text);
  const appointments = named.filter(({ kind }) => kind === 'appointment');
  const claimed = text.startsWith('claim:')
    ? await namedBy(db, text.slice('claim:'.length))
    : named;
  const [only, ...others] =
    appointments.length > 0 ? appointments : claimed.filter(({ kind }) => kind === 'claim');
  if (only !== undefined && others.length === 0) return { kind: 'appointment', id: only.id };
  if (only !== undefined)
    return { kind: 'ambiguous', connectors: [only, ...others].map(({ connector }) => connector) };
  const inquiry = await db
    .selectFrom('inquiries_with_call')
    .select('id')
    .where('service_id', '=', text)
    .executeTakeFirst();
  return inquiry === undefined ? { kind: 'none' } : { kind: 'inquiry', id: inquiry.id };
}

async function namedBy(
  db: Db,
  text: string,
): Promise<{ id: number; kind: SubjectKind; connector: string }[]> {
  const found = [];
  for (const connector of await connectorsOf(db)) {
    const prefix = `${connector}:`;
    const ids = [text, ...(text.startsWith(prefix) ? [text.slice(prefix.length)] : [])];
    found.push(
      ...(await db
        .selectFrom('appointments')
        .select(['id', 'kind', 'connector'])
        .where('superseded_at', 'is', null)
        .where('connector', '=', connector)
        .where('kind', 'in', ['appointment', 'claim'])
        .where('source_id', 'in', ids)
        .execute()),
    );
  }
  return found;
}

/**
 * Returns the connectors of all appointments, also those that the configuration no longer has, in
 * order. Reads one entry of an index for each, not one for each appointment.
 */
async function connectorsOf(db: Db): Promise<string[]> {
  const known: string[] = [];
  for (let last = ''; ; ) {
    const { next } = await db
      .selectFrom('appointments')
      .select((select) => select.fn.min<string | null>('connector').as('next'))
      .where('superseded_at', 'is', null)
      .where('connector', '>', last)
      .executeTakeFirstOrThrow();
    if (next === null) return known;
    known.push(next);
    last = next;
  }
}

/**
 * Returns every ID by which an appointment or claim can be found, for a hint when none matches.
 * Leaves out IDs that say who the patient is.
 */
export async function knownSourceIds(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('appointments')
    .select(['source_id', 'content'])
    .where('superseded_at', 'is', null)
    .execute();
  return rows
    .filter(({ source_id, content }) => !storedSaysWho(source_id, content))
    .map(({ source_id }) => source_id);
}

export type AppointmentProgress = AppointmentOverview & { progress: Progress };

/**
 * The subject of `show` and `explain`: one appointment with its inquiries, or one inquiry with its
 * appointments.
 */
export type SubjectDetail = {
  /** As in the audit trail: `appointment:12`, `inquiry:3`. */
  subject: string;
  appointments: AppointmentProgress[];
  /** By coverage, newest first, including withdrawn ones. */
  inquiries: InquiryDetail[];
  attention: Omit<OpenEntry, 'appointment'>[];
  /** Oldest first. */
  deliveries: DeliveryRow[];
};

export type InquiryDetail = {
  row: InquiryRow;
  /** The rank of the appointment's coverage; null when the subject is the inquiry itself. */
  coverage_rank: number | null;
  /** Null: no record yet. */
  answer: {
    revision: number;
    created_at: number;
    record: AnswerRecord;
  } | null;
};

export async function readSubject(
  db: Db,
  found: Extract<Found, { kind: 'appointment' | 'inquiry' }>,
  now: number,
): Promise<SubjectDetail> {
  return found.kind === 'appointment'
    ? await readAppointment(db, found.id, now)
    : await readInquiry(db, found.id, now);
}

async function readAppointment(db: Db, id: number, now: number): Promise<SubjectDetail> {
  const links = await db
    .selectFrom('inquiry_appointments')
    .select(['inquiry', 'coverage_rank'])
    .where('appointment', '=', id)
    .orderBy('coverage_rank')
    .orderBy('inquiry', 'desc')
    .execute();
  const inquiries: InquiryDetail[] = [];
  for (const { inquiry, coverage_rank } of links)
    inquiries.push(await inquiryDetail(db, inquiry, coverage_rank));
  return {
    subject: appointmentSubject(id),
    appointments: await appointmentsWith(db, [id], now),
    inquiries,
    attention: (await openEntries(db, [id])).map(({ appointment: _, ...entry }) => entry),
    deliveries: await deliveriesTo(db, [id]),
  };
}

async function readInquiry(db: Db, id: number, now: number): Promise<SubjectDetail> {
  const links = await db
    .selectFrom('inquiry_appointments')
    .select('appointment')
    .where('inquiry', '=', id)
    .execute();
  const appointments = links.map(({ appointment }) => appointment);
  const attention = await db
    .selectFrom('attention')
    .select(['id', 'reason', 'what', 'next', 'words', 'since'])
    .where('inquiry', '=', id)
    .where('resolved_at', 'is', null)
    .orderBy('id')
    .execute();
  return {
    subject: inquirySubject(id),
    appointments: await appointmentsWith(db, appointments, now),
    inquiries: [await inquiryDetail(db, id, null)],
    attention,
    deliveries: await db
      .selectFrom('deliveries')
      .selectAll()
      .where('inquiry', '=', id)
      .orderBy('id')
      .execute(),
  };
}

async function appointmentsWith(
  db: Db,
  ids: readonly number[],
  now: number,
): Promise<AppointmentProgress[]> {
  if (ids.length === 0) return [];
  const { appointments } = await listAppointments(db, { ids }, ids.length, now);
  return await withProgress(db, appointments);
}

async function inquiryDetail(
  db: Db,
  id: number,
  coverage_rank: number | null,
): Promise<InquiryDetail> {
  const row = await inquiryById(db, id);
  if (row === null) throw new Error(`Inquiry ${id} does not exist.`);
  const latest = await latestRecord(db, id);
  if (latest === null) return { row, coverage_rank, answer: null };
  const { revision, created_at, record } = latest;
  return { row, coverage_rank, answer: { revision, created_at, record } };
}

/** Returns the audit trail of everything that belongs to the subject, oldest first. */
export async function trailOf(
  db: Db,
  detail: Pick<SubjectDetail, 'inquiries' | 'deliveries'> & { appointments: { id: number }[] },
): Promise<AuditRow[]> {
  return await auditOf(db, [
    ...detail.appointments.map(({ id }) => appointmentSubject(id)),
    ...detail.inquiries.map(({ row }) => inquirySubject(row.id)),
    ...detail.deliveries.map(({ key }) => deliverySubject(key)),
  ]);
}
