/** Stores sessions and failed logins of the office page. */
import { createHash } from 'node:crypto';
import { afterFailure, type Failures } from '../../domain/lockout.ts';
import type { Db, Tx } from '../engine/database.ts';

type OfficeSession = {
  user: string;
  /** The token that each form must send back. */
  csrf: string;
  password_mark: string;
  created_at: number;
  seen_at: number;
};

const BUCKETS = 4096;

const hashed = (token: string) => createHash('sha256').update(token).digest('base64url');

export async function beginSession(tx: Tx, token: string, session: OfficeSession): Promise<void> {
  await tx
    .insertInto('office_sessions')
    .values({ ...session, token_hash: hashed(token) })
    .execute();
}

export async function findSession(db: Db | Tx, token: string): Promise<OfficeSession | null> {
  const row = await db
    .selectFrom('office_sessions')
    .select(['user', 'csrf', 'password_mark', 'created_at', 'seen_at'])
    .where('token_hash', '=', hashed(token))
    .executeTakeFirst();
  return row ?? null;
}

export async function touchSession(tx: Tx, token: string, now: number): Promise<void> {
  await tx
    .updateTable('office_sessions')
    .set({ seen_at: now })
    .where('token_hash', '=', hashed(token))
    .execute();
}

export async function endSession(tx: Tx, token: string): Promise<void> {
  await tx.deleteFrom('office_sessions').where('token_hash', '=', hashed(token)).execute();
}

/** Ends sessions that have not been used since `unused_since`. */
export async function endSessions(tx: Tx, unused_since: number): Promise<void> {
  await tx.deleteFrom('office_sessions').where('seen_at', '<', unused_since).execute();
}

/**
 * Returns the bucket of a user name. A fixed number of buckets keeps invented names from filling
 * the table.
 */
function bucketOf(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32BE(0) % BUCKETS;
}

export async function readFailures(db: Db | Tx, name: string): Promise<Failures> {
  const row = await db
    .selectFrom('office_failures')
    .select(['count', 'last_at'])
    .where('bucket', '=', bucketOf(name))
    .executeTakeFirst();
  return row ?? { count: 0, last_at: 0 };
}

/** Counts a failed login. Called before the password is checked, so that no attempt is free. */
export async function countFailure(tx: Tx, name: string, now: number): Promise<void> {
  const after = afterFailure(await readFailures(tx, name), now);
  await tx
    .insertInto('office_failures')
    .values({ bucket: bucketOf(name), ...after })
    .onConflict((conflict) => conflict.column('bucket').doUpdateSet(after))
    .execute();
}

export async function forgetFailures(tx: Tx, name: string): Promise<void> {
  await tx.deleteFrom('office_failures').where('bucket', '=', bucketOf(name)).execute();
}
