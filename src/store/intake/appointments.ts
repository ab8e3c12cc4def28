import { sql } from 'kysely';
import type { AppointmentInput } from '../../domain/appointment.ts';
import { parsed } from '../../domain/damaged.ts';
import { patientKey } from '../../domain/needs.ts';
import { type AuditEntry, appointmentSubject, writeAudit } from '../bookkeeping/audit.ts';
import { CHANGED } from '../calls/due-at-once.ts';
import type { Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';

/** Number of variables in a statement; SQLite allows 32,766. */
export const IDS_PER_STATEMENT = 500;

/** The stored columns of an appointment that intake compares with new data. */
export type KnownAppointment = {
  id: number;
  connector: string;
  source_id: string;
  content: string;
  patient_key: string;
  closed_reason: string | null;
  missing_since: number | null;
};

/** An appointment with the row of the source that contains it. */
export type NamedAppointment = { appointment: AppointmentInput; source: number };

/** Returns the stored appointments with these source IDs, by ID. */
export async function knownAppointments(
  tx: Tx,
  connector: string,
  source_ids: readonly string[],
): Promise<Map<string, KnownAppointment>> {
  const known = new Map<string, KnownAppointment>();
  for (let first = 0; first < source_ids.length; first += IDS_PER_STATEMENT) {
    const part = source_ids.slice(first, first + IDS_PER_STATEMENT);
    for (const row of await KNOWN(tx, { connector, source_ids: part }))
      known.set(row.source_id, row);
  }
  return known;
}

const KNOWN = prepared<{ connector: string; source_ids: readonly string[] }>()((tx, place) =>
  tx
    .selectFrom('appointments')
    .select(['id', 'connector', 'source_id', 'content', 'patient_key'])
    .select(['closed_reason', 'missing_since'])
    .where('connector', '=', place('connector'))
    .where('kind', '=', sql.lit('appointment'))
    .where('superseded_at', 'is', null)
    .where('source_id', 'in', place('source_ids')),
);

export type PreparedAppointment = ReturnType<typeof prepare>;

/** Returns the row for an appointment that was just read: open, and due for planning. */
export function prepare(
  connector: string,
  appointment: AppointmentInput,
  source: number,
  now: number,
) {
  const content = JSON.stringify(appointment);
  return {
    connector,
    source_id: appointment.source_id,
    superseded_at: null,
    content,
    starts_at: Date.parse(appointment.starts_at),
    patient_key: patientKey(connector, appointment),
    last_source: source,
    missing_since: null,
    is_confirmed: 0 as const,
    missed_source: null,
    closed_reason: null,
    closed_at: null,
    plan_due_at: CHANGED,
    plan_wait: null,
    created_at: now,
    updated_at: now,
  };
}

/**
 * Changes the content of a stored appointment by a message that does not contain the whole
 * appointment. Planning then handles it again.
 */
export async function changeContent(
  tx: Tx,
  row: Pick<KnownAppointment, 'id' | 'connector' | 'content'>,
  appointment: AppointmentInput,
  now: number,
): Promise<void> {
  const { content, patient_key } = prepare(row.connector, appointment, 0, now);
  await tx
    .updateTable('appointments')
    .set({
      content,
      patient_key,
      closed_reason: null,
      closed_at: null,
      plan_due_at: CHANGED,
      plan_wait: null,
    })
    .set({ updated_at: now })
    .where('id', '=', row.id)
    .execute();
  await writeAudit(tx, [changed({ ...row, missing_since: null }, appointment, now)]);
}

/** Returns the audit entry that names the changed parts. */
export function changed(
  row: Pick<KnownAppointment, 'id' | 'content' | 'missing_since'>,
  after: AppointmentInput,
  now: number,
): AuditEntry {
  return {
    at: now,
    subject: appointmentSubject(row.id),
    from_state: null,
    to_state: 'changed',
    reason: changeReason(row, after),
  };
}

function changeReason(
  row: Pick<KnownAppointment, 'content' | 'missing_since'>,
  after: AppointmentInput,
): string {
  if (row.missing_since !== null) return 'It is in the export again.';
  const before = parsed(row.content) as AppointmentInput | null;
  if (before === null) return 'Read again; what was stored was damaged.';
  const parts: [string, (appointment: AppointmentInput) => unknown][] = [
    ['status', ({ status }) => status],
    ['time', ({ starts_at }) => starts_at],
    ['patient', ({ patient }) => patient],
    ['coverage', ({ coverages }) => coverages],
    ['provider or place', ({ provider, location }) => [provider, location]],
    ['procedures', ({ procedure_codes }) => procedure_codes],
  ];
  const changed = parts
    .filter(([, of]) => JSON.stringify(of(before)) !== JSON.stringify(of(after)))
    .map(([name]) => name);
  return (
    'Changed in the practice management system: ' +
    `${changed.length === 0 ? 'other values' : changed.join(', ')}.`
  );
}
