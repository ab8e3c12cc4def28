import { type Kysely, sql } from 'kysely';

/**
 * A listed inquiry with a lower row than a request counts as listed before the request was stored.
 * Migration 0028 has given lower rows to all, so requests without an ID move below them: of those,
 * none counts as listed before.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `UPDATE calls SET id = id - (SELECT max(id) + 1 FROM calls)
       WHERE service_id IS NULL AND id > 0`,
    )
    .execute(db);
}
