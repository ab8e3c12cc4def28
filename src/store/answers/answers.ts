import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { ClaimStatusRecord } from '../../records/claim-status.ts';
import type { EligibilityRecord } from '../../records/eligibility.ts';
import type { VerificationTimes } from '../calls/due-inquiries.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';

/** What an answer becomes; `schema` tells which. */
export type AnswerRecord = EligibilityRecord | ClaimStatusRecord;

export type RawAnswer = {
  id: number;
  inquiry: number;
  revision: number;
  service_status: string;
  raw: unknown;
  /** The service's array of transcript verifications, newest first; null while there is none. */
  verifications: unknown;
  received_at: number;
};

/**
 * What decides whether an answer is new: the service's status, summary and results, whatever order
 * their keys have.
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
 * Stores an answer as it came, unless the newest one of this inquiry says the same. Returns the
 * revision that it became, or null when it was nothing new.
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
    // The calls of an answer that was revised were made all the same.
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
 * Keeps what the service says about the transcripts of an inquiry's calls: with the newest answer
 * while no record was made of it, and as another revision of that answer afterwards. Returns
 * whether it was anything new.
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
  }
  return true;
}

/**
 * Whether the answer says what the revision before it said, so that only its verification is new.
 */
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

/** The newest answer as it came, or null when there is none. */
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

/** The hash of the newest answer; null before there is one. */
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
 * Answers after the row `after` that are committed and not yet normalized, oldest first; without
 * those whose verification is due, since it is asked for first.
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
    // A literal, since the index answers_raw serves no parameter.
    .where('is_normalized', '=', sql.lit(0))
    .where('id', '>', place('row'))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('inquiries')
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

/** Stores the record of an answer and returns its row. Doing it again replaces the record. */
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

/** The record of the revision before `revision`; null when it is the first. */
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
