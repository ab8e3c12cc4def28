/**
 * Takes in claims. They are stored in the table `appointments` (migrations/0004-claims.ts), with
 * rules of their own.
 */
import { type ClaimInput, claimHorizon } from '../../domain/claim.ts';
import { parsed } from '../../domain/damaged.ts';
import { parkDeliveriesOf } from '../answers/delivery-steps.ts';
import { type AuditEntry, appointmentSubject, writeAudit } from '../bookkeeping/audit.ts';
import { AT_ONCE, CHANGED } from '../calls/due-at-once.ts';
import type { Tx } from '../engine/database.ts';
import { withCurrentIds } from './aliases.ts';
import { IDS_PER_STATEMENT } from './appointments.ts';
import type { IntakeContext } from './context.ts';
import { contentOf, insuredClaim } from './patient-claims.ts';
import { insuranceOf } from './patients.ts';

type Counts = { new: number; changed: number; unchanged: number; rejected: number };

type KnownClaim = {
  id: number;
  source_id: string;
  content: string;
  patient_key: string;
  missing_since: number | null;
};

/**
 * Stores claims; if several have the same ID, the last one counts. New and changed claims become
 * due for planning. A claim without an ID is skipped: its connector has violated the contract.
 */
export async function takeClaims(
  { tx, connector, now }: IntakeContext,
  { claims, source }: { claims: readonly ClaimInput[]; source: number },
  counts: Counts,
): Promise<void> {
  const latest = new Map(
    claims.filter(({ source_id }) => source_id !== '').map((claim) => [claim.source_id, claim]),
  );
  if (latest.size === 0) return;
  const known = await knownClaims(tx, connector, [...latest.keys()]);
  const audit: AuditEntry[] = [];
  const current = await withCurrentIds(tx, connector, [...latest.values()]);
  const of_patients = current.flatMap(({ insurance, patient }) =>
    insurance === undefined ? [] : (patient.id ?? []),
  );
  const insurances = await insuranceOf(tx, connector, [...new Set(of_patients)]);
  for (const each of current) {
    const claim = insuredClaim(each, insurances.get(each.patient.id ?? ''));
    const row = known.get(claim.source_id);
    const prepared = prepare(connector, claim, source, now);
    if (row !== undefined && row.content === prepared.content && row.missing_since === null) {
      await tx
        .updateTable('appointments')
        .set({ last_source: source })
        .where('id', '=', row.id)
        .execute();
      counts.unchanged += 1;
    } else if (row === undefined || isOtherPerson(row, claim, prepared.patient_key)) {
      if (row !== undefined) await supersede(tx, row.id, audit, now);
      const { id } = await tx
        .insertInto('appointments')
        .values(prepared)
        .returning('id')
        .executeTakeFirstOrThrow();
      audit.push(entry(id, 'accepted', 'Read from the practice management system.', now));
      counts.new += 1;
    } else {
      const { created_at: _, ...changes } = prepared;
      await tx.updateTable('appointments').set(changes).where('id', '=', row.id).execute();
      audit.push(entry(row.id, 'changed', 'Changed in the practice management system.', now));
      counts.changed += 1;
    }
  }
  await writeAudit(tx, audit);
}

/**
 * Marks the claims that the source does not name as settled; planning then closes them. For a
 * source that states that it has every open claim. Marks none if the source names no claim. Returns
 * how many it marked.
 */
export async function settleMissingClaims(
  tx: Tx,
  connector: string,
  source: number,
  now: number,
): Promise<number> {
  const open = tx
    .updateTable('appointments')
    .set({ missing_since: now, plan_due_at: AT_ONCE })
    .where('connector', '=', connector)
    .where('kind', '=', 'claim')
    .where('superseded_at', 'is', null)
    .where('closed_reason', 'is', null)
    .where('missing_since', 'is', null)
    .where('last_source', '!=', source);
  const named = await tx
    .selectFrom('appointments')
    .select('id')
    .where('connector', '=', connector)
    .where('kind', '=', 'claim')
    .where('last_source', '=', source)
    .executeTakeFirst();
  return named === undefined ? 0 : (await open.returning('id').execute()).length;
}

function prepare(connector: string, claim: ClaimInput, source: number, now: number) {
  return {
    kind: 'claim' as const,
    connector,
    source_id: claim.source_id,
    superseded_at: null,
    ...contentOf(connector, claim),
    starts_at: claimHorizon(claim, now),
    last_source: source,
    missing_since: null,
    closed_reason: null,
    closed_at: null,
    plan_due_at: CHANGED,
    plan_wait: null,
    created_at: now,
    updated_at: now,
  };
}

/**
 * Returns whether the ID now belongs to another person: as with appointments, both the birth date
 * and the member ID differ, or the stored data is damaged.
 */
function isOtherPerson(row: KnownClaim, after: ClaimInput, patient_key: string): boolean {
  if (row.patient_key === patient_key) return false;
  const before = parsed(row.content) as ClaimInput | null;
  if (before === null) return true;
  return (
    before.patient.birth_date !== after.patient.birth_date &&
    before.coverage.member_id !== after.coverage.member_id
  );
}

async function supersede(tx: Tx, id: number, audit: AuditEntry[], now: number): Promise<void> {
  await tx
    .updateTable('appointments')
    .set({ superseded_at: now, closed_reason: 'replaced', closed_at: now, plan_due_at: CHANGED })
    .where('id', '=', id)
    .execute();
  const reason = 'The practice management system uses this claim ID for someone else now.';
  await parkDeliveriesOf(tx, { appointment: id }, reason, now);
  audit.push(entry(id, 'closed', reason, now));
}

function entry(id: number, to_state: string, reason: string, now: number): AuditEntry {
  return { at: now, subject: appointmentSubject(id), from_state: null, to_state, reason };
}

async function knownClaims(
  tx: Tx,
  connector: string,
  source_ids: readonly string[],
): Promise<Map<string, KnownClaim>> {
  const known = new Map<string, KnownClaim>();
  for (let first = 0; first < source_ids.length; first += IDS_PER_STATEMENT) {
    const rows = await tx
      .selectFrom('appointments')
      .select(['id', 'source_id', 'content', 'patient_key', 'missing_since'])
      .where('connector', '=', connector)
      .where('kind', '=', 'claim')
      .where('superseded_at', 'is', null)
      .where('source_id', 'in', source_ids.slice(first, first + IDS_PER_STATEMENT))
      .execute();
    for (const row of rows) known.set(row.source_id, row);
  }
  return known;
}
