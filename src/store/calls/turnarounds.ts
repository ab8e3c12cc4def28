/** How long the calling service takes with each payer, learned from earlier calls. */
import { TURNAROUND_CALLS_KEPT, type Turnaround, turnaroundOf } from '../../domain/turnaround.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';

/**
 * Saves a call that took `took_ms`, including `open_ms` in which the payer answers the phone, and
 * deletes calls that are too old to count.
 */
export async function keepTurnaround(
  tx: Tx,
  payer: string,
  took: { took_ms: number; open_ms: number },
  now: number,
): Promise<void> {
  await tx
    .insertInto('turnarounds')
    .values({ payer, ...took, learned_at: now })
    .execute();
  await tx
    .deleteFrom('turnarounds')
    .where('payer', '=', payer)
    .where('id', 'not in', (select) =>
      select
        .selectFrom('turnarounds')
        .select('id')
        .where('payer', '=', payer)
        .orderBy('id', 'desc')
        .limit(TURNAROUND_CALLS_KEPT),
    )
    .execute();
}

/**
 * Returns how long the service takes with a payer (`payerKey`); null: unknown, or too few calls.
 */
export async function turnaround(db: Db | Tx, payer: string | null): Promise<Turnaround | null> {
  if (payer === null) return null;
  const rows = await TOOK(db, { payer });
  return turnaroundOf(rows.map(({ took_ms }) => took_ms));
}

const TOOK = prepared<{ payer: string }>()((db, place) =>
  db.selectFrom('turnarounds').select('took_ms').where('payer', '=', place('payer')),
);

/**
 * Like `turnaround`, in hours in which the payer answers the phone, without nights and weekends.
 */
export async function openTurnaround(
  db: Db | Tx,
  payer: string | null,
): Promise<Turnaround | null> {
  if (payer === null) return null;
  const rows = await TOOK_OPEN(db, { payer });
  return turnaroundOf(rows.flatMap(({ open_ms }) => open_ms ?? []));
}

const TOOK_OPEN = prepared<{ payer: string }>()((db, place) =>
  db.selectFrom('turnarounds').select('open_ms').where('payer', '=', place('payer')),
);

/** Returns the turnaround of every payer with enough calls, by `payerKey`. */
export async function allTurnarounds(db: Db | Tx): Promise<ReadonlyMap<string, Turnaround>> {
  const rows = await db.selectFrom('turnarounds').select(['payer', 'took_ms']).execute();
  const known = new Map<string, Turnaround>();
  for (const [payer, calls] of Map.groupBy(rows, (row) => row.payer)) {
    const learned = turnaroundOf(calls.map(({ took_ms }) => took_ms));
    if (learned !== null) known.set(payer, learned);
  }
  return known;
}

/** Like `openTurnaround`, for every payer with enough calls. */
export async function allOpenTurnarounds(db: Db | Tx): Promise<ReadonlyMap<string, Turnaround>> {
  const rows = await db.selectFrom('turnarounds').select(['payer', 'open_ms']).execute();
  const known = new Map<string, Turnaround>();
  for (const [payer, calls] of Map.groupBy(rows, (row) => row.payer)) {
    const learned = turnaroundOf(calls.flatMap(({ open_ms }) => open_ms ?? []));
    if (learned !== null) known.set(payer, learned);
  }
  return known;
}
