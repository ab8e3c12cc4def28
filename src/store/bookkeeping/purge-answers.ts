/**
 * Erases parts of an answer before its visit is purged: the service's raw answer, the exact
 * request, and the links to the recording and the transcript of the call. The record that eligd
 * made of the answer stays with the visit.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { NO_RAW } from '../answers/answers.ts';
import type { Db, Tx } from '../engine/database.ts';
import type { Store } from '../engine/store.ts';
import { isHeldInquiry } from './legal-holds.ts';

/** How many rows can be erased; `oldest`: epoch milliseconds of the oldest one. */
export type Old = { count: number; oldest: number | null };

export type AnswerKind = 'answers' | 'requests' | 'recordings';

const ROWS_PER_COMMIT = 500;

/** An answer keeps its content until it has a record and its verifications are complete. */
const isSettled = sql<SqlBool>`r.is_normalized = 1 and not exists (select 1 from inquiries i
  where i.id = r.inquiry and i.verify_at is not null)`;

/** A request is kept while a lookup or a reply may be compared with it. */
const isUnderWay = sql<SqlBool>`r.fate in ('out', 'lost')`;

const hasLink = sql<SqlBool>`instr(record, '_url":"') > 0`;

/** The rows of a kind that are older than `before` and belong to no patient on hold. */
function rowsOf(kind: AnswerKind, before: number) {
  const isFree = sql<SqlBool>`not ${isHeldInquiry}`;
  switch (kind) {
    case 'answers':
      return sql`from answers as r where raw <> 'null' and received_at < ${before}
        and ${isSettled} and ${isFree}`;
    case 'requests':
      return sql`from calls as r where body is not null and sent_at < ${before}
        and not ${isUnderWay} and ${isFree}`;
    case 'recordings':
      return sql`from records as r where ${hasLink} and created_at < ${before} and ${isFree}`;
  }
}

const TIMES = { answers: 'received_at', requests: 'sent_at', recordings: 'created_at' } as const;

/** How many rows would be erased, without those (`r`) that are `gone` before that. */
export async function countOldAnswers(
  db: Db | Tx,
  kind: AnswerKind,
  before: number,
  gone: RawBuilder<SqlBool> = sql`false`,
): Promise<Old> {
  const { rows } = await sql<Old>`select count(*) as count, min(${sql.ref(TIMES[kind])}) as oldest
    ${rowsOf(kind, before)} and not ${gone}`.execute(db);
  return rows[0] ?? { count: 0, oldest: null };
}

/** Erases them, a limited number in each commit. Returns how many. */
export async function purgeAnswers(
  store: Store,
  kind: AnswerKind,
  before: number,
): Promise<number> {
  for (let total = 0; ; ) {
    const done = await store.write((tx) => eraseSome(tx, kind, before));
    total += done;
    if (done < ROWS_PER_COMMIT) return total;
  }
}

async function eraseSome(tx: Tx, kind: AnswerKind, before: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`select r.id ${rowsOf(kind, before)}
    order by ${sql.ref(TIMES[kind])} limit ${sql.lit(ROWS_PER_COMMIT)}`.execute(tx);
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return 0;
  if (kind === 'answers')
    await tx
      .updateTable('answers')
      .set({ raw: NO_RAW, verifications: null })
      .where('id', 'in', ids)
      .execute();
  else if (kind === 'requests')
    await tx.updateTable('calls').set({ body: null }).where('id', 'in', ids).execute();
  else await eraseLinks(tx, ids);
  return ids.length;
}

async function eraseLinks(tx: Tx, ids: readonly number[]): Promise<void> {
  const rows = await tx
    .selectFrom('records')
    .select(['id', 'record'])
    .where('id', 'in', ids)
    .execute();
  for (const { id, record } of rows)
    await tx
      .updateTable('records')
      .set({ record: withoutLinks(record) })
      .where('id', '=', id)
      .execute();
}

/**
 * Returns the record without links. Every URL in a record points to a recording or a transcript, or
 * was named in the call.
 */
function withoutLinks(record: string): string {
  return JSON.stringify(
    JSON.parse(record, (name, value: unknown) =>
      name.endsWith('_url') && typeof value === 'string' ? null : value,
    ),
  );
}
