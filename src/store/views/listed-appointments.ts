/** The appointments that match a filter, for lists and pages. Read-only. */
import { type SqlBool, sql } from 'kysely';
import type { AppointmentInput } from '../../domain/appointment.ts';
import type { ClaimInput } from '../../domain/claim.ts';
import { readAppointment, readClaim } from '../../domain/damaged.ts';
import type { ClosedReason } from '../../domain/explanation.ts';
import type { SituationWord } from '../../domain/situation.ts';
import type { Db } from '../engine/database.ts';
import type { SubjectKind } from '../engine/tables.ts';
import { situationAt } from './situation.ts';

/** An appointment, or a claim, whose `starts_at` is not shown to users (domain/claim.ts). */
export type AppointmentOverview = OverviewRow &
  ({ kind: 'appointment'; input: AppointmentInput } | { kind: 'claim'; input: ClaimInput });

type OverviewRow = {
  id: number;
  connector: string;
  source_id: string;
  starts_at: number;
  situation: SituationWord;
  closed_reason: ClosedReason | null;
  closed_at: number | null;
  plan_due_at: number | null;
  plan_wait: string | null;
  created_at: number;
  superseded_at: number | null;
};

export type OverviewFilter = {
  /** Absent: every situation except `closed`. */
  situation?: SituationWord;
  connector?: string;
  /** Earlier visits are sorted last; omitted: all visits are sorted by time. */
  coming_from?: number;
  /** Visits from this time on (epoch milliseconds); claims do not match. */
  from?: number;
  /** Visits before this time. */
  before?: number;
  /** A part of the name of a coverage's payer, ignoring case, or its complete ID. */
  payer?: string;
  /** Rows of `appointments`. */
  ids?: readonly number[];
};

function overviewQuery(db: Db, filter: OverviewFilter, now: number) {
  let query = db
    .selectFrom('appointments')
    .select([
      'id',
      'kind',
      'connector',
      'source_id',
      'starts_at',
      'closed_reason',
      'closed_at',
      'plan_due_at',
      'plan_wait',
      'created_at',
      'superseded_at',
      'content',
      situationAt(now).as('situation'),
    ]);
  if (filter.connector !== undefined) query = query.where('connector', '=', filter.connector);
  if (filter.from !== undefined) query = query.where('starts_at', '>=', filter.from);
  if (filter.before !== undefined) query = query.where('starts_at', '<', filter.before);
  if (filter.from !== undefined || filter.before !== undefined)
    query = query.where('kind', '=', 'appointment');
  if (filter.payer !== undefined) {
    const payer = filter.payer.toLowerCase();
    query = query.where(
      sql<SqlBool>`exists (
        select 1 from json_tree(
          case when json_valid(appointments.content) then appointments.content end
        ) as found
        where (found.key = 'carrier' and instr(lower(found.value), ${payer}) > 0)
          or (found.key = 'payor_id' and lower(found.value) = ${payer}))`,
    );
  }
  if (filter.ids !== undefined) return query.where('id', 'in', filter.ids);
  if (filter.situation === 'closed') return query.where('closed_reason', 'is not', null);
  // A row that another row has replaced is closed, so the index of open ones has the others.
  const open = query.where('superseded_at', 'is', null).where('closed_reason', 'is', null);
  return filter.situation === undefined
    ? open
    : open.where(situationAt(now), '=', filter.situation);
}

/** Of a damaged visit, the list shows what it can: it must not hide the others (G2, G7). */
function overviewOf({
  content,
  ...row
}: OverviewRow & { kind: SubjectKind; content: string }): AppointmentOverview {
  return row.kind === 'claim'
    ? { ...row, kind: 'claim', input: readClaim({ ...row, content }) }
    : { ...row, kind: 'appointment', input: readAppointment({ ...row, content }) };
}

/**
 * Returns the appointments that match the filter, upcoming visits first (nearest first), then past
 * ones (latest first), and the number of those beyond `limit`.
 */
export async function listAppointments(
  db: Db,
  filter: OverviewFilter,
  limit: number,
  now: number,
): Promise<{ total: number; appointments: AppointmentOverview[] }> {
  const query = overviewQuery(db, filter, now);
  const { coming_from: today = 0 } = filter;
  const rows = await query
    .orderBy(sql`starts_at < ${today}`)
    .orderBy(sql`case when starts_at < ${today} then -starts_at else starts_at end`)
    .orderBy('id')
    .limit(sql.lit(limit))
    .execute();
  const appointments = rows.map(overviewOf);
  if (rows.length < limit) return { total: rows.length, appointments };
  const { total } = await query
    .clearSelect()
    .select((select) => select.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { total, appointments };
}
