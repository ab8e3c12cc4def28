import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { outcomeOf } from '../../domain/outcome.ts';
import type { ClaimStatusRecord } from '../../records/claim-status.ts';
import type { EligibilityRecord } from '../../records/eligibility.ts';
import { inquirySubject } from '../bookkeeping/audit.ts';
import type { VerificationTimes } from '../calls/due-inquiries.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';

/** The JSON in place of a raw answer that was erased. */
export const NO_RAW = 'null';

/** The record that eligd makes of an answer; `schema` says which kind it is. */
export type AnswerRecord = EligibilityRecord | ClaimStatusRecord;

export type RawAnswer = {
  id: number;
  inquiry: number;
  revision: number;
  service_status: string;
  raw: unknown;
  /** The service's array of transcript verifications, newest first; null before the first one. */
  verifications: unknown;
  received_at: number;
};

/**
 * Returns the hash by which eligd recognizes a new answer: over the service's status, summary and
 * results, regardless of the order of their keys.
 */
export function answerHash(answer: {
  status: string;
  summary: string | null;
  results: unknown;
}): string {
  return createHash('sha256')
    .update(canonicalJson([answer.status.trim().toUpperCase(), answer.summary, answer.results]))
    .digest('base64');
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

/**
 * Stores an answer exactly as received, unless it equals the newest one of this inquiry. Returns
 * its revision, or null when the answer was not new.
 */
export async function storeAnswer(
  tx: Tx,
  answer: { inquiry: number; service_status: string; raw: unknown; content_hash: string },
  now: number,
): Promise<number | null> {
  const newest = await tx
    .selectFrom('answers')
    .select(['revision', 'content_hash', 'verifications'])
    .where('inquiry', '=', answer.inquiry)
    .orderBy('revision', 'desc')
    .executeTakeFirst();
  if (newest?.content_hash === answer.content_hash) return null;
  const revision = (newest?.revision ?? 0) + 1;
  await tx
    .insertInto('answers')
    // A revised answer keeps the verifications of its calls.
    .values({
      ...answer,
      raw: JSON.stringify(answer.raw),
      verifications: newest?.verifications ?? null,
      revision,
      received_at: now,
    })
    .execute();
  return revision;
}

/**
 * Stores the service's verifications of an inquiry's calls: with the newest answer while that has
 * no record, otherwise as another revision of it, which takes over the raw answer. Returns whether
 * they were new.
 */
export async function storeVerifications(
  tx: Tx,
  inquiry: number,
  verifications: readonly unknown[],
  now: number,
): Promise<boolean> {
  const newest = await tx
    .selectFrom('answers')
    .selectAll()
    .where('inquiry', '=', inquiry)
    .orderBy('revision', 'desc')
    .executeTakeFirst();
  const text = canonicalJson(verifications);
  if (newest === undefined || verifications.length === 0 || newest.verifications === text)
    return false;
  if (newest.is_normalized === 0) {
    await tx
      .updateTable('answers')
      .set({ verifications: text })
      .where('id', '=', newest.id)
      .execute();
  } else {
    const { id: _, is_normalized: __, ...answer } = newest;
    await tx
      .insertInto('answers')
      .values({ ...answer, verifications: text, revision: newest.revision + 1, received_at: now })
      .execute();
    await tx.updateTable('answers').set({ raw: NO_RAW }).where('id', '=', newest.id).execute();
  }
  return true;
}

/** Returns whether only the verification is new: the answer equals the revision before it. */
export async function isVerificationAlone(
  tx: Tx,
  answer: Pick<RawAnswer, 'inquiry' | 'revision'>,
): Promise<boolean> {
  const hashes = await tx
    .selectFrom('answers')
    .select('content_hash')
    .where('inquiry', '=', answer.inquiry)
    .where('revision', 'in', [answer.revision - 1, answer.revision])
    .execute();
  return hashes.length === 2 && hashes[0]?.content_hash === hashes[1]?.content_hash;
}

/** Returns the newest answer exactly as received; null when there is none. */
export async function latestAnswer(db: Db | Tx, inquiry: number): Promise<{ raw: unknown } | null> {
  const [row] = await LATEST_ANSWER(db, { inquiry });
  return row === undefined ? null : { raw: JSON.parse(row.raw) as unknown };
}

const LATEST_ANSWER = prepared<{ inquiry: number }>()((db, place) =>
  db
    .selectFrom('answers')
    .select('raw')
    .where('inquiry', '=', place('inquiry'))
    .orderBy('revision', 'desc')
    .limit(sql.lit(1)),
);

/** Returns the hash of the newest answer; null when there is none. */
export async function newestAnswerHash(tx: Tx, inquiry: number): Promise<string | null> {
  const newest = await tx
    .selectFrom('answers')
    .select('content_hash')
    .where('inquiry', '=', inquiry)
    .orderBy('revision', 'desc')
    .executeTakeFirst();
  return newest?.content_hash ?? null;
}

/**
 * Returns committed answers after the row `after` that have no record yet, oldest first. Leaves out
 * answers whose verification is due, because eligd requests that first.
 */
export async function answersToNormalize(
  db: Db,
  limit: number,
  after: number,
  due: VerificationTimes,
): Promise<RawAnswer[]> {
  const rows = await TO_NORMALIZE(db, { row: after, ...due }, limit);
  return rows.map((row) => ({
    ...row,
    raw: JSON.parse(row.raw) as unknown,
    verifications: row.verifications === null ? null : (JSON.parse(row.verifications) as unknown),
  }));
}

const TO_NORMALIZE = prepared<{ row: number } & VerificationTimes>()((db, place, limit: number) =>
  db
    .selectFrom('answers')
    .select(['id', 'inquiry', 'revision', 'service_status', 'raw', 'verifications', 'received_at'])
    // Must be a literal: SQLite does not use the index answers_raw for a parameter.
    .where('is_normalized', '=', sql.lit(0))
    .where('id', '>', place('row'))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('inquiries_with_call as inquiries')
            .whereRef('inquiries.id', '=', 'answers.inquiry')
            .where('verify_at', '>', place('after'))
            .where('verify_at', '<=', place('until'))
            .where('service_id', 'is not', null)
            .select('inquiries.id'),
        ),
      ),
    )
    .orderBy('id')
    .limit(sql.lit(limit)),
);

/** Stores the record of an answer and returns its row. Repeating it replaces the record. */
export async function storeRecord(
  tx: Tx,
  answer: Pick<RawAnswer, 'id' | 'inquiry' | 'revision'>,
  record: AnswerRecord,
  now: number,
): Promise<number> {
  const text = JSON.stringify(record);
  const { id } = await tx
    .insertInto('records')
    .values({
      answer: answer.id,
      inquiry: answer.inquiry,
      revision: answer.revision,
      record: text,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column('answer').doUpdateSet({ record: text }))
    .returning('id')
    .executeTakeFirstOrThrow();
  await tx.updateTable('answers').set({ is_normalized: 1 }).where('id', '=', answer.id).execute();
  return id;
}

/** Returns the record of the revision before `revision`; null when there is none. */
export async function recordBefore(
  tx: Tx,
  inquiry: number,
  revision: number,
): Promise<AnswerRecord | null> {
  const row = await tx
    .selectFrom('records')
    .select('record')
    .where('inquiry', '=', inquiry)
    .where('revision', '<', revision)
    .orderBy('revision', 'desc')
    .executeTakeFirst();
  return row === undefined ? null : (JSON.parse(row.record) as AnswerRecord);
}

export async function latestRecord(
  db: Db | Tx,
  inquiry: number,
): Promise<{ id: number; revision: number; record: AnswerRecord; created_at: number } | null> {
  const [row] = await LATEST_RECORD(db, { inquiry });
  return row === undefined ? null : { ...row, record: JSON.parse(row.record) as AnswerRecord };
}

const LATEST_RECORD = prepared<{ inquiry: number }>()((db, place) =>
  db
    .selectFrom('records')
    .select(['id', 'revision', 'record', 'created_at'])
    .where('inquiry', '=', place('inquiry'))
    .orderBy('revision', 'desc')
    .limit(sql.lit(1)),
);

/** Returns when eligd read the first answer of the inquiry, before any revision; null: never. */
export async function firstAnswerAt(db: Db | Tx, inquiry: number): Promise<number | null> {
  const [row] = await FIRST_ANSWER(db, { inquiry });
  return row?.received_at ?? null;
}

const FIRST_ANSWER = prepared<{ inquiry: number }>()((db, place) =>
  db
    .selectFrom('answers')
    .select('received_at')
    .where('inquiry', '=', place('inquiry'))
    .where('revision', '=', sql.lit(1)),
);

/**
 * Returns when eligd read that the call had failed, before any revision that says so again; null
 * unless its newest answer is a failure. A failure after the service took an answer back is another
 * one.
 */
export async function failureReadAt(tx: Tx, inquiry: number): Promise<number | null> {
  const taken_back_at = (await TAKEN_BACK(tx, { subject: inquirySubject(inquiry) }))[0]?.at ?? 0;
  let read_at: number | null = null;
  for (const { service_status, created_at } of await READ(tx, { inquiry })) {
    if (outcomeOf(service_status) === 'successful') break;
    if (read_at !== null && created_at < taken_back_at) break;
    read_at = created_at;
  }
  return read_at;
}

const READ = prepared<{ inquiry: number }>()((db, place) =>
  db
    .selectFrom('records')
    .innerJoin('answers', 'answers.id', 'records.answer')
    .select(['answers.service_status', 'records.created_at'])
    .where('records.inquiry', '=', place('inquiry'))
    .orderBy('records.revision', 'desc'),
);

const TAKEN_BACK = prepared<{ subject: string }>()((db, place) =>
  db
    .selectFrom('audit')
    .select((select) => select.fn.max('at').as('at'))
    .where('subject', '=', place('subject'))
    .where('from_state', '=', sql.lit('answered'))
    .where('to_state', '=', sql.lit('open')),
);
