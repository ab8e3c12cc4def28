import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, Tx } from '../engine/database.ts';
import { prepared, preparedRows } from '../engine/prepared.ts';
import { type AuditLink, auditHash, CHAIN_START, sealWords } from './chain.ts';
import { logKeyIn } from './log-key.ts';

/** Something that happened to a subject; `reason` may hold the service's words. */
export type AuditEntry = {
  at: number;
  subject: string;
  from_state: string | null;
  to_state: string;
  reason: string;
};

/** A row of the trail, with the person or program that acted (null: eligd itself). */
export type AuditRow = AuditEntry & { actor: string | null };

/**
 * For a purge: the last row of a log that it deletes, and the hash of that row, with which the rest
 * of the chain begins.
 */
export type Covered = { covers: number; start_hash: Buffer };

/** `to_state` of the row that allows the words of its subject to be erased (migrations/0029). */
export const PURGED = 'purged';

/**
 * Subjects that contain a file name or an ID of the practice management system. Either may name a
 * patient, and the trail is kept for years, so they are hashed. The pattern excludes subjects that
 * are already hashed.
 */
const NAMED = /^(?:rejected|item|source):(?![0-9a-f]{12}$)/;

/** Returns the transaction with an actor: audit rows that it writes name `actor`. */
export function actingAs(tx: Tx, actor: string): Tx {
  const { after, wakePlanning, database } = tx;
  const same = { after, wakePlanning, ...(database && { database }) };
  return Object.assign(tx.withoutPlugins(), { ...same, actor });
}

/**
 * Adds rows to the append-only trail, in the same transaction as the change that they describe.
 * Each row is chained to the one before (chain.ts).
 */
export async function writeAudit(
  tx: Tx,
  entries: readonly (AuditEntry & Partial<Covered>)[],
): Promise<void> {
  if (entries.length === 0) return;
  let hash = await newestAuditHash(tx);
  const rows = [];
  for (const { at, subject, from_state, to_state, reason, covers, start_hash } of entries) {
    const { salt, words_hash } = sealWords(reason);
    const link = {
      at,
      actor: tx.actor ?? null,
      subject: NAMED.test(subject) ? await hashedSubject(tx, subject, at) : subject,
      from_state,
      to_state,
      covers: covers ?? null,
      start_hash: start_hash ?? null,
      words_hash,
    };
    hash = auditHash(hash, link);
    rows.push({ ...link, reason, salt, hash });
  }
  await ADD(tx, rows);
}

const ADD = preparedRows<AuditLink & { reason: string; salt: Buffer; hash: Buffer }>()((tx, rows) =>
  tx.insertInto('audit').values(rows),
);

/** Returns the newest hash of the chain. */
async function newestAuditHash(db: Db | Tx): Promise<Buffer> {
  const [newest] = await NEWEST(db, {});
  return newest?.hash ?? CHAIN_START;
}

const NEWEST = prepared()((db) =>
  db.selectFrom('audit').select('hash').orderBy('id', 'desc').limit(sql.lit(1)),
);

async function hashedSubject(tx: Tx, subject: string, now: number): Promise<string> {
  const hash = createHmac('sha256', await logKeyIn(tx, now)).update(JSON.stringify([subject]));
  return `${subject.slice(0, subject.indexOf(':'))}:${hash.digest('hex').slice(0, 12)}`;
}

/**
 * Returns everything that happened to the subjects, oldest first. Leaves out entries about a purged
 * row that had the same number.
 */
export async function auditOf(db: Db, subjects: readonly string[]): Promise<AuditRow[]> {
  if (subjects.length === 0) return [];
  const rows = await db
    .selectFrom('audit')
    .select(['at', 'actor', 'subject', 'from_state', 'to_state', 'reason'])
    .where('subject', 'in', subjects)
    .orderBy('id')
    .execute();
  const purged = new Map<string, number>();
  for (const [index, { subject, to_state }] of rows.entries())
    if (to_state === PURGED) purged.set(subject, index);
  return rows.filter(({ subject }, index) => index > (purged.get(subject) ?? -1));
}

/** Returns the subject of entries about an appointment or a claim. */
export const appointmentSubject = (id: number): string => `appointment:${id}`;
/** Returns the subject of entries about an inquiry. */
export const inquirySubject = (id: number): string => `inquiry:${id}`;
/** Returns the subject of entries about a delivery. */
export const deliverySubject = (key: string): string => `delivery:${key}`;
