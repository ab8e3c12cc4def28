import { createHash } from 'node:crypto';
import type { AppointmentInput } from '../domain/appointment.ts';
import { patientKey } from '../domain/needs.ts';
import { raiseAttention, resolveAttention } from './attention.ts';
import { type AuditEntry, appointmentSubject, writeAudit } from './audit.ts';
import type { Db, Tx } from './database.ts';
import { parkDeliveriesOf } from './deliveries.ts';

/** What a connector hands over at once; the contract's PullBatch has exactly these parts. */
export type IntakeBatch = {
  source: { key: string; name: string; is_last: boolean; completeness: 'full' | 'changes' | 'unknown' };
  appointments: readonly AppointmentInput[];
  rejected: readonly { position: string; field: string; value_class: string; remedy: string }[];
  cursor: string | null;
};

export type IntakeCounts = { new: number; changed: number; unchanged: number; rejected: number; vanished: number };

/** Variables a statement may have; SQLite takes 32,766. */
const IDS_PER_STATEMENT = 500;

type Known = {
  id: number;
  source_id: string;
  content: string;
  content_hash: string;
  patient_key: string;
  closed_reason: string | null;
  missing_since: number | null;
};

/**
 * Stores a batch: all of it, with the cursor, or nothing (G3). Taking the same batch twice changes nothing. Appointments that
 * are new or changed become due for planning; nothing is decided here.
 */
export async function acceptBatch(tx: Tx, connector: string, batch: IntakeBatch, now: number): Promise<IntakeCounts> {
  const source = await rememberSource(tx, connector, batch.source, now);
  const { readable, unreadable } = sift(batch.appointments);
  const rejected = [...batch.rejected, ...unreadable];
  const latest = new Map(readable.map((appointment) => [appointment.source_id, appointment]));
  const known = await knownAppointments(tx, connector, [...latest.keys()]);
  const counts: IntakeCounts = { new: 0, changed: 0, unchanged: 0, rejected: rejected.length, vanished: 0 };
  const audit: AuditEntry[] = [];
  const seen: number[] = [];
  const added: Prepared[] = [];
  for (const appointment of latest.values()) {
    const prepared = prepare(connector, appointment, source, now);
    const row = known.get(appointment.source_id);
    if (row === undefined || (isSomebodyElse(row, prepared) && (await supersede(tx, row, now, audit)))) {
      added.push(prepared);
    } else if (row.content_hash === prepared.content_hash && row.missing_since === null) {
      seen.push(row.id);
    } else {
      await update(tx, row, prepared, now);
      audit.push({
        at: now,
        subject: appointmentSubject(row.id),
        from_state: null,
        to_state: 'changed',
        reason: changeReason(row, appointment),
      });
      counts.changed += 1;
    }
  }
  await insert(tx, added, audit, now);
  await touch(tx, seen, source);
  await writeAudit(tx, audit);
  counts.new = added.length;
  counts.unchanged = seen.length;
  for (const item of rejected) await reject(tx, connector, batch.source, item, now);
  if (batch.cursor !== null) await setCursor(tx, connector, batch.cursor);
  if (batch.source.is_last) {
    if (batch.source.completeness !== 'changes') await forgetUnreadable(tx, connector, batch.source.key, now);
    counts.vanished = await flagVanished(tx, { connector, source, completeness: batch.source.completeness }, now);
    await tx.updateTable('sources').set({ completed_at: now }).where('id', '=', source).execute();
  }
  return counts;
}

/** A connector that names or dates an appointment badly costs that one, not its neighbours (G7). */
function sift(appointments: readonly AppointmentInput[]) {
  const readable: AppointmentInput[] = [];
  const unreadable: IntakeBatch['rejected'][number][] = [];
  for (const [index, appointment] of appointments.entries()) {
    const field =
      appointment.source_id === '' ? 'source_id' : Number.isNaN(Date.parse(appointment.starts_at)) ? 'starts_at' : null;
    if (field === null) readable.push(appointment);
    else
      unreadable.push({
        position: `appointment ${index + 1}`,
        field,
        value_class: field === 'source_id' ? 'empty' : 'not a date and time',
        remedy: 'Tell the maker of the connector: every appointment needs an id and a start.',
      });
  }
  return { readable, unreadable };
}

/** Whether a source with this content was accepted to its end. */
export async function isSourceAccepted(db: Db, connector: string, key: string): Promise<boolean> {
  const row = await db
    .selectFrom('sources')
    .select('id')
    .where('connector', '=', connector)
    .where('key', '=', key)
    .where('completed_at', 'is not', null)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Whether the source that was last accepted to its end had this content, so that reading it again would change nothing. An
 * export that is the same as an earlier one takes back what those between them changed, so it has to be read.
 */
export async function isLatestSource(db: Db, connector: string, key: string): Promise<boolean> {
  const row = await db
    .selectFrom('sources')
    .select('key')
    .where('connector', '=', connector)
    .where('completed_at', 'is not', null)
    .orderBy('completed_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst();
  return row?.key === key;
}

export async function cursorOf(db: Db, connector: string): Promise<string | null> {
  const row = await db.selectFrom('connectors').select('cursor').where('id', '=', connector).executeTakeFirst();
  return row?.cursor ?? null;
}

async function setCursor(tx: Tx, id: string, cursor: string): Promise<void> {
  await tx
    .insertInto('connectors')
    .values({ id, cursor })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ cursor }))
    .execute();
}

async function rememberSource(tx: Tx, connector: string, source: IntakeBatch['source'], now: number): Promise<number> {
  const row = await tx
    .insertInto('sources')
    .values({ connector, key: source.key, name: source.name, first_seen_at: now, completed_at: null })
    .onConflict((conflict) => conflict.columns(['connector', 'key']).doUpdateSet({ name: source.name }))
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

async function knownAppointments(tx: Tx, connector: string, source_ids: readonly string[]): Promise<Map<string, Known>> {
  const known = new Map<string, Known>();
  for (let first = 0; first < source_ids.length; first += IDS_PER_STATEMENT) {
    const rows = await tx
      .selectFrom('appointments')
      .select(['id', 'source_id', 'content', 'content_hash', 'patient_key', 'closed_reason', 'missing_since'])
      .where('connector', '=', connector)
      .where('superseded_at', 'is', null)
      .where('source_id', 'in', source_ids.slice(first, first + IDS_PER_STATEMENT))
      .execute();
    for (const row of rows) known.set(row.source_id, row);
  }
  return known;
}

type Prepared = ReturnType<typeof prepare>;

function prepare(connector: string, appointment: AppointmentInput, source: number, now: number) {
  const content = JSON.stringify(appointment);
  return {
    connector,
    source_id: appointment.source_id,
    superseded_at: null,
    content,
    content_hash: createHash('sha256').update(content).digest('base64'),
    starts_at: Date.parse(appointment.starts_at),
    patient_key: patientKey(connector, appointment),
    last_source: source,
    missing_since: null,
    closed_reason: null,
    closed_at: null,
    plan_due_at: now,
    plan_wait: null,
    created_at: now,
    updated_at: now,
  };
}

/** A source id that comes back with another birth date and another member id is another appointment (design, section 3). */
function isSomebodyElse(row: Known, next: Prepared): boolean {
  if (row.patient_key === next.patient_key) return false;
  const before = JSON.parse(row.content) as AppointmentInput;
  const after = JSON.parse(next.content) as AppointmentInput;
  const member = (appointment: AppointmentInput) => appointment.coverages[0]?.member_id ?? '';
  return before.patient.birth_date !== after.patient.birth_date && member(before) !== member(after);
}

async function supersede(tx: Tx, row: Known, now: number, audit: AuditEntry[]): Promise<true> {
  await tx
    .updateTable('appointments')
    .set({ superseded_at: now, closed_reason: 'replaced', closed_at: now, plan_due_at: now })
    .where('id', '=', row.id)
    .execute();
  const reason = 'The practice management system uses this appointment id for somebody else now.';
  // Written now, the answer would land in that other person's chart.
  await parkDeliveriesOf(tx, row.id, reason, now);
  audit.push({ at: now, subject: appointmentSubject(row.id), from_state: null, to_state: 'closed', reason });
  return true;
}

async function update(tx: Tx, row: Known, next: Prepared, now: number): Promise<void> {
  const { created_at: _, ...changes } = next;
  // A closed appointment opens again: planning decides anew what becomes of it.
  await tx
    .updateTable('appointments')
    .set({ ...changes, updated_at: now })
    .where('id', '=', row.id)
    .execute();
  if (row.missing_since !== null) await resolveAttention(tx, appointmentSubject(row.id), now, ['vanished']);
}

function changeReason(row: Known, after: AppointmentInput): string {
  if (row.missing_since !== null) return 'It is in the export again.';
  const before = JSON.parse(row.content) as AppointmentInput;
  const parts: [string, (appointment: AppointmentInput) => unknown][] = [
    ['status', ({ status }) => status],
    ['time', ({ starts_at }) => starts_at],
    ['patient', ({ patient }) => patient],
    ['coverage', ({ coverages }) => coverages],
    ['provider or place', ({ provider, location }) => [provider, location]],
    ['procedures', ({ procedure_codes }) => procedure_codes],
  ];
  const changed = parts.filter(([, of]) => JSON.stringify(of(before)) !== JSON.stringify(of(after))).map(([name]) => name);
  return `Changed in the practice management system: ${changed.length === 0 ? 'other values' : changed.join(', ')}.`;
}

async function insert(tx: Tx, rows: readonly Prepared[], audit: AuditEntry[], now: number): Promise<void> {
  for (let first = 0; first < rows.length; first += IDS_PER_STATEMENT) {
    const ids = await tx
      .insertInto('appointments')
      .values(rows.slice(first, first + IDS_PER_STATEMENT))
      .returning('id')
      .execute();
    for (const { id } of ids) {
      audit.push({
        at: now,
        subject: appointmentSubject(id),
        from_state: null,
        to_state: 'accepted',
        reason: 'Read from the practice management system.',
      });
    }
  }
}

async function touch(tx: Tx, ids: readonly number[], source: number): Promise<void> {
  for (let first = 0; first < ids.length; first += IDS_PER_STATEMENT) {
    await tx
      .updateTable('appointments')
      .set({ last_source: source })
      .where('id', 'in', ids.slice(first, first + IDS_PER_STATEMENT))
      .execute();
  }
}

async function reject(
  tx: Tx,
  connector: string,
  source: IntakeBatch['source'],
  item: IntakeBatch['rejected'][number],
  now: number,
): Promise<void> {
  await raiseAttention(
    tx,
    // With the field: one item may have several faults, and each is a line of its own.
    { connector, appointment: null, inquiry: null, subject: `source:${connector}:${source.key}:${item.position}:${item.field}` },
    {
      reason: 'row_unreadable',
      what: `${source.name}, ${item.position}: ${item.field} is ${item.value_class}.`,
      next: item.remedy,
    },
    now,
  );
}

/** A newer export takes the place of older ones: a row that is still unreadable is on the list again by this one. */
async function forgetUnreadable(tx: Tx, connector: string, key: string, now: number): Promise<void> {
  await tx
    .updateTable('attention')
    .set({ resolved_at: now })
    .where('connector', '=', connector)
    .where('reason', '=', 'row_unreadable')
    .where('resolved_at', 'is', null)
    .where('subject', 'not like', `source:${connector}:${key}:%`)
    .execute();
}

/**
 * Flags open, upcoming appointments that the source should have named and did not. A source that does not say whether it is
 * full counts as full when it names at least half of what was known of its span of days; one row proves nothing.
 */
async function flagVanished(
  tx: Tx,
  source: { connector: string; source: number; completeness: IntakeBatch['source']['completeness'] },
  now: number,
): Promise<number> {
  if (source.completeness === 'changes') return 0;
  const span = await tx
    .selectFrom('appointments')
    .select((select) => [
      select.fn.min('starts_at').as('first'),
      select.fn.max('starts_at').as('last'),
      select.fn.countAll<number>().as('named'),
    ])
    .where('connector', '=', source.connector)
    .where('superseded_at', 'is', null)
    .where('last_source', '=', source.source)
    .where('starts_at', '>=', now)
    .executeTakeFirstOrThrow();
  if (span.named === 0) return 0;
  const missing = await tx
    .selectFrom('appointments')
    .select(['id', 'missing_since'])
    .where('connector', '=', source.connector)
    .where('superseded_at', 'is', null)
    .where('closed_reason', 'is', null)
    .where('starts_at', '>=', span.first)
    .where('starts_at', '<=', span.last)
    .where((where) => where.or([where('last_source', '!=', source.source), where('last_source', 'is', null)]))
    .execute();
  if (source.completeness === 'unknown' && (span.named < 2 || missing.length > span.named)) return 0;
  const fresh = missing.filter(({ missing_since }) => missing_since === null);
  for (const { id } of fresh) {
    await tx.updateTable('appointments').set({ missing_since: now, plan_due_at: now }).where('id', '=', id).execute();
    await raiseAttention(
      tx,
      { connector: source.connector, appointment: id, inquiry: null, subject: appointmentSubject(id) },
      {
        reason: 'vanished',
        what: 'The appointment was not in the last export, which held the others of those days. No call is made for it.',
        next: 'If it was cancelled, cancel it in the practice management system; if it takes place, export it again.',
      },
      now,
    );
  }
  return fresh.length;
}
