/**
 * Changes since the last read, for counters: the audit trail has every step of an inquiry and of a
 * delivery, in order.
 */
import { readDraft } from '../../domain/inquiry.ts';
import type { Db } from '../engine/database.ts';

/** The position up to which changes were read. */
export type ChangeCursor = { audit: number; record: number };

/** An inquiry that the service has ended; `payer` names no patient (G6). */
type EndedCall = {
  service_status: string | null;
  payer: string;
  duration_ms: number | null;
};

type WrittenResult = { connector: string; to: string; duration_ms: number | null };

export type Changes = {
  cursor: ChangeCursor;
  sent: number;
  ended: EndedCall[];
  deliveries: WrittenResult[];
  records: number;
  /** Whether there are more changes to read. */
  is_cut: boolean;
};

/** The maximum number of audit rows in one read. */
const ROWS_MAX = 5_000;

/** Returns the current end of the trail. */
export async function endOfChanges(db: Db): Promise<ChangeCursor> {
  const last = async (table: 'audit' | 'records') =>
    (await db.selectFrom(table).select('id').orderBy('id', 'desc').limit(1).executeTakeFirst())
      ?.id ?? 0;
  return { audit: await last('audit'), record: await last('records') };
}

export async function changesSince(db: Db, cursor: ChangeCursor): Promise<Changes> {
  const rows = await db
    .selectFrom('audit')
    .select(['id', 'at', 'subject', 'to_state'])
    .where('id', '>', cursor.audit)
    .orderBy('id')
    .limit(ROWS_MAX)
    .execute();
  const steps = rows.map(({ subject, ...row }) => {
    const colon = subject.indexOf(':');
    return { ...row, kind: subject.slice(0, colon), of: subject.slice(colon + 1) };
  });
  const of = (kind: string, ...states: string[]) =>
    steps.filter((step) => step.kind === kind && states.includes(step.to_state));
  const records = await db
    .selectFrom('records')
    .select((select) => [select.fn.countAll<number>().as('count'), select.fn.max('id').as('last')])
    .where('id', '>', cursor.record)
    .executeTakeFirstOrThrow();
  return {
    cursor: { audit: rows.at(-1)?.id ?? cursor.audit, record: records.last ?? cursor.record },
    sent: of('inquiry', 'sending').length,
    ended: await endedCalls(db, of('inquiry', 'answered')),
    deliveries: await writtenResults(db, of('delivery', 'delivered', 'failed', 'parked')),
    records: records.count,
    is_cut: rows.length === ROWS_MAX,
  };
}

type Step = { at: number; of: string; to_state: string };

async function endedCalls(db: Db, steps: readonly Step[]): Promise<EndedCall[]> {
  if (steps.length === 0) return [];
  const ids = [...new Set(steps.map((step) => Number(step.of)))];
  const rows = await db
    .selectFrom('inquiries_with_call')
    .select(['id', 'service_status', 'sent_at', 'draft'])
    .where('id', 'in', ids)
    .execute();
  const by_id = new Map(rows.map((row) => [row.id, row]));
  return steps.flatMap((step) => {
    const row = by_id.get(Number(step.of));
    if (row === undefined) return [];
    const { service_status, sent_at, draft } = row;
    const duration_ms = sent_at === null ? null : step.at - sent_at;
    return { service_status, payer: payerLabel(draft), duration_ms };
  });
}

async function writtenResults(db: Db, steps: readonly Step[]): Promise<WrittenResult[]> {
  if (steps.length === 0) return [];
  const rows = await db
    .selectFrom('deliveries')
    .innerJoin('inquiries', 'inquiries.id', 'deliveries.inquiry')
    .select(['deliveries.key', 'deliveries.connector', 'inquiries.answered_at'])
    .where(
      'deliveries.key',
      'in',
      steps.map((step) => step.of),
    )
    .execute();
  const by_key = new Map(rows.map((row) => [row.key, row]));
  return steps.flatMap((step) => {
    const row = by_key.get(step.of);
    if (row === undefined) return [];
    const { connector, answered_at } = row;
    const duration_ms = answered_at === null ? null : step.at - answered_at;
    return { connector, to: step.to_state, duration_ms };
  });
}

/**
 * Returns the carrier's identifier, or the payer ID; empty for a damaged draft. Leaves out names in
 * free text, which may contain anything in a PMS.
 */
function payerLabel(draft: string): string {
  const asked = readDraft(draft);
  const known = [asked?.insurance, asked?.insurance_payor_id].find(
    (each) => each !== undefined && /^[A-Z0-9_]{2,64}$/.test(each) && each !== 'UNKNOWN',
  );
  return known ?? 'other';
}
