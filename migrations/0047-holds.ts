import { type Kysely, sql } from 'kysely';

/**
 * A visit keeps the office's hold while no call has it. Before this migration, the call that was
 * taken back kept it: for the visits that it still serves, and for the one whose label it has,
 * until another call for the need followed. A label contains the ID of its visit or claim, and may
 * contain shorter IDs by chance. That the office has released the calls of a vanished visit was
 * only in the audit trail.
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
      AND NOT EXISTS (SELECT 1 FROM inquiries n WHERE n.need_base = i.need_base
        AND n.benefit_year = i.benefit_year AND n.attempt > i.attempt AND n.state <> 'withdrawn')
      AND (a.id IN (SELECT appointment FROM inquiry_appointments WHERE inquiry = i.id)
        OR (a.patient_key = i.patient_key AND instr(i.external_id, a.source_id) > 0
          AND (a.kind = 'claim') = (instr(i.draft, '"claim":') > 0)
          AND NOT EXISTS (SELECT 1 FROM appointments b WHERE b.connector = a.connector
            AND b.patient_key = a.patient_key AND b.kind = a.kind AND b.superseded_at IS NULL
            AND instr(i.external_id, b.source_id) > 0
            AND length(b.source_id) > length(a.source_id))))`,
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
