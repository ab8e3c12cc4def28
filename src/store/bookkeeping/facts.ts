import type { Db, Tx } from '../engine/database.ts';

/** Single values by name: what was learned about the service, when something was last done. */
export async function readFact(
  db: Db | Tx,
  name: string,
): Promise<{ value: string; updated_at: number } | null> {
  const row = await db
    .selectFrom('facts')
    .select(['value', 'updated_at'])
    .where('name', '=', name)
    .executeTakeFirst();
  return row ?? null;
}

/** Those of `names` that are known. */
export async function readFacts(
  db: Db | Tx,
  names: readonly string[],
): Promise<Map<string, { value: string; updated_at: number }>> {
  const rows = await db
    .selectFrom('facts')
    .select(['name', 'value', 'updated_at'])
    .where('name', 'in', names)
    .execute();
  return new Map(rows.map(({ name, ...fact }) => [name, fact]));
}

export async function writeFact(tx: Tx, name: string, value: string, now: number): Promise<void> {
  await tx
    .insertInto('facts')
    .values({ name, value, updated_at: now })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value, updated_at: now }))
    .execute();
}

export async function forgetFact(tx: Tx, name: string): Promise<void> {
  await tx.deleteFrom('facts').where('name', '=', name).execute();
}
