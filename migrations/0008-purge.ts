import { type Kysely, sql } from 'kysely';

/**
 * The audit trail stays append-only, but for the purge of what is older than the clinic keeps: its
 * sentences may hold what the service said about a patient. A purge says so in `facts` for as long
 * as its transaction runs.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`DROP TRIGGER audit_no_delete`.execute(db);
  await sql`CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
    WHEN NOT EXISTS (SELECT 1 FROM facts WHERE name = 'purging')
    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END`.execute(db);
}
