import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  // How often the service was asked in vain since a webhook event announced the end of an open
  // inquiry; null: no end is announced, or the announcement was not believed any more.
  await sql`ALTER TABLE inquiries ADD COLUMN announced_asks INTEGER`.execute(db);
}
