import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';

/**
 * Single values by name: settings learned about the service, and times of the last runs.
 */

/** Returns the learned setting of this name; null when it is unknown. */
export async function readLearned(
  db: Db | Tx,
  name: string,
): Promise<{ value: string; updated_at: number } | null> {
  const [row] = await BY_NAME(db, { name });
  return row ?? null;
}

const BY_NAME = prepared<{ name: string }>()((db, place) =>
  db
    .selectFrom('learned_settings')
    .select(['value', 'updated_at'])
    .where('name', '=', place('name')),
);

/** Returns the known values among `names`. */
export async function readLearnedAll(
  db: Db | Tx,
  names: readonly string[],
): Promise<Map<string, { value: string; updated_at: number }>> {
  const rows = await BY_NAMES(db, Object.fromEntries(names.entries()), names.length);
  return new Map(rows.map(({ name, ...setting }) => [name, setting]));
}

/**
 * Statements are cached by the number of names, because callers use only a few lengths of lists.
 */
const BY_NAMES = prepared<Readonly<Record<string, string>>>()((db, place, length: number) =>
  db
    .selectFrom('learned_settings')
    .select(['name', 'value', 'updated_at'])
    .where(
      'name',
      'in',
      Array.from({ length }, (_, index) => place(`${index}`)),
    ),
);

/** Stores a learned setting; `now` becomes its `updated_at`. */
export async function writeLearned(
  tx: Tx,
  name: string,
  value: string,
  now: number,
): Promise<void> {
  await WRITE(tx, { name, value, now });
}

const WRITE = prepared<{ name: string; value: string; now: number }>()((tx, place) =>
  tx
    .insertInto('learned_settings')
    .values({ name: place('name'), value: place('value'), updated_at: place('now') })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet({ value: place('value'), updated_at: place('now') }),
    ),
);

/** Deletes a learned setting. */
export async function forgetLearned(tx: Tx, name: string): Promise<void> {
  await tx.deleteFrom('learned_settings').where('name', '=', name).execute();
}
