import { type Kysely, sql } from 'kysely';

/** Claims beside appointments, and transcript verification beside answers. */
const STATEMENTS = [
  // appointment, claim. A claim stands in this table, with ClaimInput as its content, because
  // everything that happens to an appointment happens to it. Its starts_at is the day on which
  // nobody looks after it any more (domain/claim.ts).
  `ALTER TABLE appointments ADD COLUMN kind TEXT NOT NULL DEFAULT 'appointment'`,
  `DROP INDEX appointments_current`,
  'CREATE UNIQUE INDEX appointments_current ON appointments (connector, kind, source_id) ' +
    'WHERE superseded_at IS NULL',

  // The array of the service as it came, newest first; null while there is none. An answer whose
  // verification came later is another revision of it, with the same raw and content_hash.
  `ALTER TABLE answers ADD COLUMN verifications TEXT`,

  // When the verification is asked for; null: no longer.
  `ALTER TABLE inquiries ADD COLUMN verify_at INTEGER`,
  `ALTER TABLE inquiries ADD COLUMN verify_until INTEGER`, // asked for no longer
  `CREATE INDEX inquiries_verify ON inquiries (verify_at) WHERE verify_at IS NOT NULL`,

  // How the coverages of the appointment went together when the delivery was planned, as JSON; null
  // with one coverage.
  `ALTER TABLE deliveries ADD COLUMN coordination TEXT`,
];

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
