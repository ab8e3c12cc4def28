/**
 * The visits of several days with their answers: for the office page and other lists of upcoming
 * days. Read-only.
 */
import { sql } from 'kysely';
import type { AppointmentInput } from '../../domain/appointment.ts';
import type { EligibilityRecord } from '../../records/eligibility.ts';
import { mayHaveChanged } from '../calls/due-at-once.ts';
import type { Db } from '../engine/database.ts';
import { type AppointmentOverview, listAppointments } from './listed-appointments.ts';
import { withProgress } from './progress.ts';
import type { AppointmentProgress } from './subject.ts';

/**
 * More visits than any clinic has in the days of one page; protects the daemon from a broken
 * export.
 */
const VISITS_MAX = 5_000;
/** A visit with its answers takes 10 to 20 KB of memory. */
const VISITS_PER_PAGE = 200;
const IDS_PER_STATEMENT = 500;

export type ScheduledVisit = AppointmentProgress & {
  kind: 'appointment';
  input: AppointmentInput;
  /** The newest answer of the current inquiry about each coverage, first coverage first. */
  answers: VisitAnswer[];
};

export type VisitAnswer = {
  coverage_rank: number;
  inquiry: number;
  revision: number;
  created_at: number;
  record: EligibilityRecord;
};

/** Returns one visit; null when it does not exist or is a claim. */
export async function visitById(
  db: Db,
  id: number,
  now: number,
): Promise<(ScheduledVisit & { patient_key: string }) | null> {
  const { appointments } = await listAppointments(db, { ids: [id] }, 1, now);
  const [visit] = await withAnswers(db, appointments.filter(isVisit));
  if (visit === undefined) return null;
  const { patient_key } = await db
    .selectFrom('appointments')
    .select('patient_key')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return { ...visit, patient_key };
}

/**
 * Returns the payer's statement about a coverage of a visit before this answer: the previous
 * revision, or the last one of an earlier call. Answers without benefits do not count. Null: no
 * such statement.
 */
export async function answerBefore(
  db: Db,
  visit: number,
  { coverage_rank, inquiry, revision }: Pick<VisitAnswer, 'coverage_rank' | 'inquiry' | 'revision'>,
): Promise<EligibilityRecord | null> {
  const rows = await db
    .selectFrom('inquiry_appointments as l')
    .innerJoin('records as r', 'r.inquiry', 'l.inquiry')
    .select('r.record')
    .where('l.appointment', '=', visit)
    .where('l.coverage_rank', '=', coverage_rank)
    .where((where) =>
      where.or([
        where('l.inquiry', '<', inquiry),
        where.and([where('l.inquiry', '=', inquiry), where('r.revision', '<', revision)]),
      ]),
    )
    .orderBy('l.inquiry', 'desc')
    .orderBy('r.revision', 'desc')
    .execute();
  for (const { record } of rows) {
    const read = JSON.parse(record) as EligibilityRecord;
    if (read.schema === 'eligd.eligibility/1' && read.outcome === 'successful') return read;
  }
  return null;
}

/**
 * Returns visits that start at `from` or later and before `to`, in order of time, including closed
 * ones, some at a time: with their answers, the visits of a large clinic would take much memory. A
 * visit that is moved or replaced after the first page is left out.
 */
export async function* visitPages(
  db: Db,
  range: { from: number; to: number },
  now: number,
): AsyncGenerator<ScheduledVisit[]> {
  const ids = await visitIds(db, range);
  for (let first = 0; first < ids.length; first += VISITS_PER_PAGE) {
    const page = ids.slice(first, first + VISITS_PER_PAGE);
    // The list counts what is beyond its limit.
    const { appointments } = await listAppointments(db, { ids: page }, page.length + 1, now);
    const current = appointments.filter(
      ({ superseded_at, starts_at }) =>
        superseded_at === null && starts_at >= range.from && starts_at < range.to,
    );
    yield await withAnswers(db, current.filter(isVisit));
  }
}

async function visitIds(db: Db, { from, to }: { from: number; to: number }): Promise<number[]> {
  const rows = await db
    .selectFrom('appointments')
    .select('id')
    .where('superseded_at', 'is', null)
    .where('kind', '=', sql.lit('appointment'))
    .where('starts_at', '>=', from)
    .where('starts_at', '<', to)
    .orderBy('starts_at')
    .orderBy('id')
    .limit(sql.lit(VISITS_MAX))
    .execute();
  return rows.map(({ id }) => id);
}

async function withAnswers(
  db: Db,
  visits: (AppointmentOverview & { kind: 'appointment'; input: AppointmentInput })[],
): Promise<ScheduledVisit[]> {
  return await withNewestAnswers(db, await withProgress(db, visits));
}

/**
 * Returns each visit with the newest answer of the current inquiry about each coverage, first
 * coverage first. Without any until planning has seen its last change: the answer may be about
 * another person (G8).
 */
export async function withNewestAnswers<Visit extends AppointmentProgress>(
  db: Db,
  visits: readonly Visit[],
): Promise<(Visit & { answers: VisitAnswer[] })[]> {
  const inquiries = visits.flatMap(({ progress }) => progress.inquiries.map(({ id }) => id));
  const records = await latestRecords(db, [...new Set(inquiries)]);
  return visits.map((visit) => ({
    ...visit,
    answers: mayHaveChanged(visit) ? [] : answersOf(visit, records),
  }));
}

const isVisit = (
  each: AppointmentOverview,
): each is AppointmentOverview & { kind: 'appointment'; input: AppointmentInput } =>
  each.kind === 'appointment';

function answersOf(
  { progress }: AppointmentProgress,
  records: ReadonlyMap<number, Omit<VisitAnswer, 'coverage_rank'>>,
): VisitAnswer[] {
  return progress.inquiries
    .filter(({ state }) => state === 'answered')
    .flatMap(({ id, coverage_rank }) => {
      const found = records.get(id);
      return found === undefined ? [] : [{ coverage_rank, ...found }];
    })
    .toSorted((a, b) => a.coverage_rank - b.coverage_rank);
}

async function latestRecords(
  db: Db,
  inquiries: readonly number[],
): Promise<Map<number, Omit<VisitAnswer, 'coverage_rank'>>> {
  const found = new Map<number, Omit<VisitAnswer, 'coverage_rank'>>();
  for (let first = 0; first < inquiries.length; first += IDS_PER_STATEMENT) {
    const rows = await db
      .selectFrom('records as r')
      .select(['r.inquiry', 'r.revision', 'r.created_at', 'r.record'])
      .where('r.inquiry', 'in', inquiries.slice(first, first + IDS_PER_STATEMENT))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('records as newer')
              .select('newer.id')
              .whereRef('newer.inquiry', '=', 'r.inquiry')
              .whereRef('newer.revision', '>', 'r.revision'),
          ),
        ),
      )
      .execute();
    for (const { record, ...row } of rows) {
      const read = JSON.parse(record) as EligibilityRecord | { schema: string };
      if (read.schema === 'eligd.eligibility/1')
        found.set(row.inquiry, { ...row, record: read as EligibilityRecord });
    }
  }
  return found;
}

/**
 * Returns each time at which visits of the range start, with their number and how many of them have
 * an open attention item.
 */
export async function visitTimes(
  db: Db,
  { from, to }: { from: number; to: number },
): Promise<{ starts_at: number; count: number; listed: number }[]> {
  return await db
    .selectFrom('appointments')
    .select(({ fn, exists, selectFrom }) => [
      'starts_at',
      fn.countAll<number>().as('count'),
      fn
        .sum<number>(
          exists(
            selectFrom('attention')
              .select('attention.id')
              .whereRef('attention.appointment', '=', 'appointments.id')
              .where('attention.resolved_at', 'is', null),
          ),
        )
        .as('listed'),
    ])
    .where('superseded_at', 'is', null)
    .where('kind', '=', sql.lit('appointment'))
    .where('starts_at', '>=', from)
    .where('starts_at', '<', to)
    .where((where) =>
      where.or([where('closed_reason', 'is', null), where('closed_reason', '<>', 'cancelled')]),
    )
    .groupBy('starts_at')
    .orderBy('starts_at')
    .execute();
}
