import { type Kysely, sql } from 'kysely';

/**
 * From now on, a listed inquiry with a lower row than a request was listed before the request was
 * stored. Migration 0028 has numbered the rows otherwise.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `UPDATE calls SET id = id - (SELECT max(id) + 1 FROM calls)
       WHERE service_id IS NULL AND id > 0`,
    )
    .execute(db);
}
