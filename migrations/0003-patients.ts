import { type Kysely, sql } from 'kysely';

/**
 * Messages: what each was answered, and insurance that comes with the patient instead of the
 * appointment.
 */
const STATEMENTS = [
  // What a message was answered; the same message again is answered the same. Null for files and
  // pages.
  'ALTER TABLE sources ADD COLUMN reply TEXT',

  // The insurance of patients whose source keeps it with them. A patient about whose insurance
  // nothing came has no row.
  `CREATE TABLE patients (
    connector TEXT NOT NULL,
    patient_id TEXT NOT NULL,                  -- the PMS's id
    coverages TEXT NOT NULL,                   -- CoverageInput[] as JSON; empty: self-pay
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (connector, patient_id)
  ) STRICT, WITHOUT ROWID`,
];

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
