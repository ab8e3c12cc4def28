import { sql } from 'kysely';
import type { Arrival } from '../../domain/export-watch.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';

const KEPT_MS = 60 * DAY_MS;

/** An export was read to its end. Its rows are what it was the last to name. */
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

/** An export came again that was the last one read: it arrived, and changes nothing. */
export async function noteRepeatedArrival(
  tx: Tx,
  connector: string,
  key: string,
  now: number,
): Promise<void> {
  const [last] = await LAST(tx, { connector });
  // A rejected file that comes again has not arrived either.
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

/** The arrivals within these times, each from its start until before its end; one at least. */
export async function arrivalsWithin(
  db: Db,
  connector: string,
  times: readonly { from: number; until: number }[],
): Promise<Arrival[]> {
  return await db
    .selectFrom('arrivals')
    .select(['at', 'rows'])
    .where((where) =>
      where.or(
        times.map(({ from, until }) =>
          where.and([
            where('connector', '=', connector),
            where('at', '>=', from),
            where('at', '<', until),
          ]),
        ),
      ),
    )
    .execute();
}
