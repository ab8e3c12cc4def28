import { sql } from 'kysely';
import { type Arrival, type Book, daysSince, LEARNED_DAYS } from '../../domain/export-watch.ts';
import { addDays, DAY_MS, localDate, startOfDay } from '../../domain/time.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';

/** Older arrivals are deleted. */
const KEPT_MS = 60 * DAY_MS;
/**
 * Visits within this many days show that the practice books ahead; a recall further away does not.
 */
const AHEAD_MS = 14 * DAY_MS;

/**
 * Records that an export was read completely. Its rows are the appointments that it was the last
 * source to name.
 */
export async function noteArrival(
  tx: Tx,
  connector: string,
  source: number,
  now: number,
): Promise<void> {
  const { rows } = await tx
    .selectFrom('appointments')
    .select((select) => select.fn.countAll<number>().as('rows'))
    .where('last_source', '=', source)
    .executeTakeFirstOrThrow();
  await tx.insertInto('arrivals').values({ connector, source, at: now, rows }).execute();
  await tx
    .deleteFrom('arrivals')
    .where('connector', '=', connector)
    .where('at', '<', now - KEPT_MS)
    .execute();
}

/** Records that the latest export arrived again: it counts as an arrival but changes nothing. */
export async function noteRepeatedArrival(
  tx: Tx,
  connector: string,
  key: string,
  now: number,
): Promise<void> {
  const [last] = await LAST(tx, { connector });
  // A rejected file that is found again is not an arrival.
  if (last?.key === key)
    await tx
      .insertInto('arrivals')
      .values({ connector, source: last.source, rows: last.rows, at: now })
      .execute();
}

const LAST = prepared<{ connector: string }>()((tx, place) =>
  tx
    .selectFrom('arrivals')
    .innerJoin('sources', 'sources.id', 'arrivals.source')
    .select(['arrivals.source', 'arrivals.rows', 'sources.key'])
    .where('arrivals.connector', '=', place('connector'))
    .orderBy('arrivals.at', 'desc')
    .orderBy('arrivals.id', 'desc')
    .limit(sql.lit(1)),
);

/** Returns the last arrival and those of the preceding weeks, for comparison. */
export async function lastArrivals(db: Db, connector: string): Promise<Arrival[]> {
  return await db
    .selectFrom('arrivals')
    .select(['at', 'rows', 'source'])
    .where('connector', '=', connector)
    .where('at', '>=', (select) =>
      select
        .selectFrom('arrivals')
        .select((last) => sql<number>`${last.fn.max('at')} - ${LEARNED_DAYS * DAY_MS}`.as('from'))
        .where('connector', '=', connector),
    )
    .execute();
}

/**
 * Returns what the connector's visits show about its exports: the days with visits since its last
 * arrival, and the later visits that were known before and that today's exports named again. A
 * visit counts as known before today if it was first read before today.
 */
export async function readBook(
  db: Db,
  about: { connector: string; arrivals: readonly Arrival[]; time_zone: string },
  now: number,
): Promise<Book> {
  const { connector, arrivals, time_zone } = about;
  const today = localDate(now, time_zone);
  const last = arrivals.length === 0 ? null : Math.max(...arrivals.map(({ at }) => at));
  const [first = today] = daysSince(last, today, time_zone);
  const from = startOfDay(today, time_zone);
  const until = startOfDay(addDays(today, 1), time_zone);
  const visits = ofConnector(db, connector);
  const near = await visits
    .select('starts_at')
    .where('starts_at', '>=', startOfDay(first, time_zone))
    .where('starts_at', '<', until)
    .where((where) =>
      where.or([where('closed_reason', 'is', null), where('closed_reason', '<>', 'cancelled')]),
    )
    .execute();
  const later = await visits
    .select(['created_at', 'last_source', 'starts_at'])
    .where('starts_at', '>=', until)
    .where('closed_reason', 'is', null)
    .execute();
  const sources = new Set(arrivals.filter(({ at }) => at >= from).map(({ source }) => source));
  const known = later.filter(({ created_at }) => created_at < from);
  return {
    visit_days: new Set(near.map(({ starts_at }) => localDate(starts_at, time_zone))),
    known_later: known.length,
    named_again: known.filter(({ last_source }) => last_source !== null && sources.has(last_source))
      .length,
    has_later: later.some(({ starts_at }) => starts_at < until + AHEAD_MS),
  };
}

function ofConnector(db: Db, connector: string) {
  return db
    .selectFrom('appointments')
    .where('connector', '=', connector)
    .where('kind', '=', 'appointment')
    .where('superseded_at', 'is', null);
}
