import { type Kysely, sql } from 'kysely';

/**
 * Records that were written before they had an outcome get it from the service's word, as
 * domain/outcome.ts reads it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`UPDATE records SET record = json_set(record, '$.outcome',
    CASE upper(trim(json_extract(record, '$.status')))
      WHEN 'SUCCESS' THEN 'successful'
      WHEN 'UNSUCCESSFUL' THEN 'unsuccessful'
      WHEN 'CANCELLED' THEN 'cancelled'
      ELSE 'unknown' END)
    WHERE json_extract(record, '$.outcome') IS NULL`.execute(db);
}
