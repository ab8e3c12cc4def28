import { type Kysely, sql } from 'kysely';

/**
 * A visit keeps the office's hold while no call has it. Before this migration, the call that was
 * taken back kept it: for the visits that it still serves, and for the one whose label it has. That
 * the office has released the calls of a vanished visit was only in the audit trail.
 */
const STATEMENTS = [
  `CREATE TABLE kept_holds (
    appointment INTEGER NOT NULL REFERENCES appointments (id) ON DELETE CASCADE,
    inquiry INTEGER NOT NULL REFERENCES inquiries (id) ON DELETE CASCADE,
    PRIMARY KEY (appointment, inquiry)
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX kept_holds_inquiry ON kept_holds (inquiry)',
  `INSERT INTO kept_holds (appointment, inquiry)
    SELECT a.id, i.id FROM inquiries i
    JOIN appointments a ON a.connector = i.connector AND a.superseded_at IS NULL
    WHERE i.state = 'withdrawn' AND i.hold_reason = 'operator'
      AND (a.id IN (SELECT appointment FROM inquiry_appointments WHERE inquiry = i.id)
        OR (a.patient_key = i.patient_key AND instr(i.external_id, a.source_id) > 0))`,
  'ALTER TABLE appointments ADD COLUMN is_confirmed INTEGER NOT NULL DEFAULT 0',
  `UPDATE appointments SET is_confirmed = 1
    WHERE missing_since IS NOT NULL AND EXISTS (
      SELECT 1 FROM inquiry_appointments l JOIN audit t ON t.subject = 'inquiry:' || l.inquiry
      WHERE l.appointment = appointments.id AND t.to_state = 'released'
        AND t.at >= appointments.missing_since)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
