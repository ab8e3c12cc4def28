/**
 * The state of all appointments: queries for `status`, `list`, the demo and the daily summary.
 * Read-only. A claim has a situation like an appointment, and is counted separately.
 */
import { sql } from 'kysely';
import type { ClosedReason } from '../../domain/explanation.ts';
import type { SituationWord } from '../../domain/situation.ts';
import type { InquiryState } from '../../domain/states.ts';
import { countDeliveries } from '../answers/deliveries.ts';
import { currentHalts, type Halt } from '../calls/halts.ts';
import type { Db } from '../engine/database.ts';
import type { SubjectKind } from '../engine/tables.ts';
import { type UnreadCount, unreadCounts } from '../intake/unread-messages.ts';
import { situationAt } from './situation.ts';

/** The number of appointments in each situation; the parts add up to `total`. */
export type SituationCounts = Record<Exclude<SituationWord, 'closed'>, number> & {
  total: number;
  closed: Partial<Record<ClosedReason, number>>;
};

/** The counts of appointments, and those of claims separately. */
export type AllCounts = SituationCounts & { claims: SituationCounts };

export async function countSituations(db: Db, now: number): Promise<AllCounts> {
  return allCounts(await situationGroups(db, now));
}

export function allCounts(groups: readonly SituationGroup[]): AllCounts {
  return { ...foldCounts(groups, 'appointment'), claims: foldCounts(groups, 'claim') };
}

export type SituationGroup = {
  kind: SubjectKind;
  situation: SituationWord;
  /** Why it is closed, or what planning waits for. */
  reason: string | null;
  count: number;
  next_at: number | null;
  first_visit_at: number;
};

/** Which appointments to count: by visit time, or by row; `null`: all. */
type CountedPart =
  | { visits_from: number }
  | { visits_before: number; ids: { above: number; to: number } }
  | null;

/** Counts the appointments in one pass. */
export async function situationGroups(
  db: Db,
  now: number,
  part: CountedPart = null,
): Promise<SituationGroup[]> {
  const judged = countedBySituation(db, now, part);
  return await (part === null ? judged.unionAll(closedGroups(db)) : judged).execute();
}

/** Closed ones need no other rows, and there are years of them: reads only their index. */
function closedGroups(db: Db) {
  return db
    .selectFrom('appointments')
    .select((select) => [
      'kind' as const,
      sql<SituationWord>`'closed'`.as('situation'),
      sql<string | null>`closed_reason`.as('reason'),
      select.fn.countAll<number>().as('count'),
      sql<number | null>`null`.as('next_at'),
      select.fn.min('starts_at').as('first_visit_at'),
    ])
    .where('closed_reason', 'is not', null)
    .groupBy(['kind', 'closed_reason']);
}

function countedBySituation(db: Db, now: number, part: CountedPart) {
  return db
    .selectFrom((from) =>
      from
        .selectFrom('appointments')
        .where((where) => {
          if (part === null)
            return where.and([
              where('superseded_at', 'is', null),
              where('closed_reason', 'is', null),
            ]);
          if ('visits_from' in part)
            return where.and([
              where('superseded_at', 'is', null),
              where('starts_at', '>=', part.visits_from),
            ]);
          const { ids, visits_before } = part;
          return where.and([
            where('id', '>', ids.above),
            where('id', '<=', ids.to),
            where.or([
              where('superseded_at', 'is not', null),
              where('starts_at', '<', visits_before),
            ]),
          ]);
        })
        .select([
          'kind',
          'starts_at',
          'plan_due_at',
          'plan_wait',
          'closed_reason',
          situationAt(now).as('situation'),
        ])
        .as('each'),
    )
    .select((select) => [
      'kind' as const,
      'situation' as const,
      sql<
        string | null
      >`case situation when 'closed' then closed_reason when 'waiting' then plan_wait end`.as(
        'reason',
      ),
      select.fn.countAll<number>().as('count'),
      select.fn.min<number | null>('plan_due_at').as('next_at'),
      select.fn.min('starts_at').as('first_visit_at'),
    ])
    .groupBy(['kind', 'situation', 'reason']);
}

function foldCounts(groups: readonly SituationGroup[], of: SubjectKind): SituationCounts {
  const counts: SituationCounts = {
    total: 0,
    waiting: 0,
    planned: 0,
    asking: 0,
    answered: 0,
    delivered: 0,
    attention: 0,
    closed: {},
  };
  for (const { kind, situation, reason, count } of groups) {
    if (kind !== of) continue;
    counts.total += count;
    if (situation === 'closed') counts.closed[reason as ClosedReason] = count;
    else counts[situation] += count;
  }
  return counts;
}

export type StatusOverview = {
  counts: SituationCounts;
  claims: SituationCounts;
  /** The earliest visit in each situation except `closed`. */
  first_visits: Partial<Record<SituationWord, number>>;
  /**
   * What planning waits for; `next_at`: when it returns to the first of them. Null: new or changed.
   */
  waiting: { reason: string | null; count: number; next_at: number | null }[];
  inquiries: InquiryCounts;
  deliveries: { pending: number; failed: number; parked: number; oldest_at: number | null };
  halts: Halt[];
  attention: { reason: string; count: number; since: number }[];
  /** When the last source of each connector was read completely. */
  last_reads: { connector: string; at: number }[];
  /** Messages that are acknowledged and not read yet. */
  unread_messages: UnreadCount[];
};

type InquiryCounts = Record<
  Extract<InquiryState, 'planned' | 'sending' | 'uncertain' | 'open'>,
  number
> & {
  held: { reason: string; count: number }[];
  overdue: number;
  /** The inquiry that has been at the service longest. */
  longest: { inquiry: number; sent_at: number } | null;
};

/**
 * Returns everything that `eligd status` shows, in one pass over the database. `counted`: the
 * counts of appointments, if the caller has them.
 */
export async function readStatus(
  db: Db,
  now: number,
  counted?: readonly SituationGroup[],
): Promise<StatusOverview> {
  const groups = counted ?? (await situationGroups(db, now));
  const first_visits: StatusOverview['first_visits'] = {};
  for (const { kind, situation, first_visit_at } of groups) {
    if (kind === 'appointment' && situation !== 'closed')
      first_visits[situation] = Math.min(first_visit_at, first_visits[situation] ?? Infinity);
  }
  const attention = await db
    .selectFrom('attention')
    .select((select) => [
      'reason' as const,
      select.fn.countAll<number>().as('count'),
      select.fn.min('since').as('since'),
    ])
    .where('resolved_at', 'is', null)
    .groupBy('reason')
    .orderBy('reason')
    .execute();
  return {
    counts: foldCounts(groups, 'appointment'),
    claims: foldCounts(groups, 'claim'),
    first_visits,
    waiting: groups
      .filter(({ kind, situation }) => kind === 'appointment' && situation === 'waiting')
      .map(({ reason, count, next_at }) => ({
        reason,
        count,
        // What is due at once has 0 or 1.
        next_at: next_at === null ? null : Math.max(next_at, now),
      })),
    inquiries: await inquiryCounts(db),
    deliveries: await deliveryCounts(db),
    halts: await currentHalts(db),
    attention,
    last_reads: await lastReads(db),
    unread_messages: await unreadCounts(db),
  };
}

/** Returns when the last source of each connector was read completely. */
export async function lastReads(db: Db): Promise<{ connector: string; at: number }[]> {
  // Skips from one connector to the next in the index: a connector may have read 100,000 messages.
  const { rows } = await sql<{ connector: string; at: number | null }>`
    with recursive names(connector) as (
      select min(connector) from sources
      union all
      select (select min(connector) from sources where connector > names.connector)
        from names where names.connector is not null
    )
    select connector,
        (select max(completed_at) from sources where sources.connector = names.connector) as at
      from names where connector is not null`.execute(db);
  return rows.flatMap(({ connector, at }) => (at === null ? [] : [{ connector, at }]));
}

async function inquiryCounts(db: Db): Promise<InquiryCounts> {
  const rows = await db
    .selectFrom('inquiries_with_call')
    .select((select) => [
      'state' as const,
      'hold_reason' as const,
      select.fn.countAll<number>().as('count'),
      select.fn.count<number>('overdue_since').as('overdue'),
      select.fn.min('sent_at').as('sent_at'),
    ])
    .where('state', 'in', ['planned', 'sending', 'uncertain', 'open'])
    .groupBy(['state', 'hold_reason'])
    .execute();
  const of = (state: InquiryState) => rows.filter((row) => row.state === state);
  const sum = (counted: { count: number }[]) =>
    counted.reduce((total, { count }) => total + count, 0);
  const sent = rows.flatMap(({ state, sent_at }) =>
    state === 'planned' || sent_at === null ? [] : [sent_at],
  );
  return {
    planned: sum(of('planned')),
    sending: sum(of('sending')),
    uncertain: sum(of('uncertain')),
    open: sum(of('open')),
    held: of('planned').flatMap(({ hold_reason, count }) =>
      hold_reason === null ? [] : [{ reason: hold_reason, count }],
    ),
    overdue: of('open').reduce((total, { overdue }) => total + overdue, 0),
    longest: sent.length === 0 ? null : await sentAt(db, Math.min(...sent)),
  };
}

async function sentAt(db: Db, sent_at: number): Promise<InquiryCounts['longest']> {
  const row = await db
    .selectFrom('inquiries_with_call')
    .select('id')
    .where('sent_at', '=', sent_at)
    .where('state', 'in', ['sending', 'uncertain', 'open'])
    .orderBy('id')
    .executeTakeFirst();
  return row === undefined ? null : { inquiry: row.id, sent_at };
}

async function deliveryCounts(db: Db): Promise<StatusOverview['deliveries']> {
  const { pending = 0, failed = 0, parked = 0 } = await countDeliveries(db);
  const { oldest_at } = await db
    .selectFrom('deliveries')
    .select((select) => select.fn.min('created_at').as('oldest_at'))
    .where('state', 'in', ['pending', 'failed', 'parked'])
    .executeTakeFirstOrThrow();
  return { pending, failed, parked, oldest_at };
}
