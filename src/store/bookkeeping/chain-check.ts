/** Implements `eligd audit verify`: checks whether both logs are unchanged. */
import { sql } from 'kysely';
import type { Db } from '../engine/database.ts';
import { PURGED } from './audit.ts';
import { accessHash, auditHash, CHAIN_START, wordsHash } from './chain.ts';
import { type Log, logSubject } from './purge-logs.ts';

/**
 * A row and the first half of its hash, which is enough to identify it. The journal and the screen
 * show it as `12:9f86d081884c7d659a2feaa0c55ad015`.
 */
export type Head = { id: number; hash: string };

export type ChainReport = {
  log: Log;
  rows: number;
  /** When its first row was written (epoch milliseconds); null: the log is empty. */
  since: number | null;
  head: Head | null;
  /** The first problem found. */
  fault: string | null;
  /** The requested heads that are in the chain. */
  known: readonly Head[];
};

const ROWS_PER_READ = 1_000;

const TRIGGERS: Readonly<Record<Log, readonly string[]>> = {
  audit: ['audit_no_update', 'audit_no_delete'],
  access_log: ['access_log_no_update', 'access_log_no_delete'],
};

export const headText = ({ id, hash }: Head): string => `${id}:${hash}`;

/** Returns the newest row of each log; null: it is empty. */
export async function readHeads(db: Db): Promise<Record<Log, Head | null>> {
  const head = async (log: Log) => {
    const row = await db
      .selectFrom(log)
      .select(['id', 'hash'])
      .orderBy('id', 'desc')
      .limit(sql.lit(1))
      .executeTakeFirst();
    return row === undefined ? null : headOf(row);
  };
  return { audit: await head('audit'), access_log: await head('access_log') };
}

/** Reads a log from its beginning and recalculates every hash. */
export async function checkChain(db: Db, log: Log, wanted: readonly Head[]): Promise<ChainReport> {
  const begin = await beginOf(db, log);
  const walk: Walk = log === 'audit' ? new AuditWalk() : new AccessWalk();
  let hash = begin.hash;
  let rows = 0;
  let since: number | null = null;
  let fault = begin.fault ?? (await missingTrigger(db, log));
  let head: Head | null = null;
  const known: Head[] = [];
  for (let after = 0; ; ) {
    const page = await walk.read(db, after);
    for (const row of page) {
      fault ??= row.hashAfter(hash).equals(row.hash) ? null : brokenAt(row);
      // After a break, the next row is checked against the stored hash.
      hash = row.hash;
      since ??= row.at;
      rows += 1;
      after = row.id;
      const last = headOf(row);
      head = last;
      known.push(...wanted.filter(({ id, hash }) => id === last.id && hash === last.hash));
    }
    if (page.length < ROWS_PER_READ) break;
  }
  fault ??= walk.fault();
  return { log, rows, since, head, fault, known };
}

const HEAD_DIGITS = 32;

const headOf = ({ id, hash }: Pick<Row, 'id' | 'hash'>): Head => ({
  id,
  hash: hash.toString('hex').slice(0, HEAD_DIGITS),
});

const brokenAt = ({ id, at }: Pick<Row, 'id' | 'at'>) =>
  `The chain is broken at entry ${id} (${new Date(at).toISOString()}): it was changed, or the ` +
  'one before it was removed.';

type Row = { id: number; at: number; hash: Buffer; hashAfter: (before: Buffer) => Buffer };

/**
 * Returns the hash with which the chain begins, and a fault if rows that a purge covers still
 * exist.
 */
async function beginOf(db: Db, log: Log): Promise<{ hash: Buffer; fault: string | null }> {
  const purge = await db
    .selectFrom('audit')
    .select(['id', 'covers', 'start_hash'])
    .where('subject', '=', logSubject(log))
    .where('covers', 'is not', null)
    .orderBy('covers', 'desc')
    .limit(sql.lit(1))
    .executeTakeFirst();
  if (purge === undefined || purge.covers === null || purge.start_hash === null)
    return { hash: CHAIN_START, fault: null };
  const left = await db
    .selectFrom(log)
    .select('id')
    .where('id', '<=', purge.covers)
    .limit(sql.lit(1))
    .executeTakeFirst();
  const fault =
    left === undefined
      ? null
      : `Entry ${purge.id} of the trail records a purge of entries that still exist. eligd ` +
        'deletes them in the same step.';
  return { hash: purge.start_hash, fault };
}

async function missingTrigger(db: Db, log: Log): Promise<string | null> {
  const { rows } = await sql<{ name: string }>`select name from sqlite_master
    where type = 'trigger' and tbl_name = ${log}`.execute(db);
  const missing = TRIGGERS[log].find((name) => !rows.some((row) => row.name === name));
  return missing === undefined
    ? null
    : `The database no longer protects the log: its trigger ${missing} is missing.`;
}

/** Reads the rows of a log in chain order, a thousand at a time. */
type Walk = {
  read: (db: Db, after: number) => Promise<Row[]>;
  /** Returns a problem other than a wrong hash; called at the end. */
  fault: () => string | null;
};

class AuditWalk implements Walk {
  /** By subject: the newest row whose words are erased, and the newest row that records a purge. */
  readonly #erased = new Map<string, number>();
  readonly #purged = new Map<string, number>();
  #fault: string | null = null;

  async read(db: Db, after: number): Promise<Row[]> {
    const rows = await db
      .selectFrom('audit')
      .selectAll()
      .where('id', '>', after)
      .orderBy('id')
      .limit(sql.lit(ROWS_PER_READ))
      .execute();
    for (const { id, at, subject, to_state, reason, salt, words_hash } of rows) {
      if (to_state === PURGED) this.#purged.set(subject, id);
      if (salt === null) this.#erased.set(subject, id);
      const is_as_written =
        salt === null ? reason === '' : wordsHash(salt, reason).equals(words_hash);
      if (!is_as_written) this.#fault ??= brokenAt({ id, at });
    }
    return rows.map((row) => ({ ...row, hashAfter: (before) => auditHash(before, row) }));
  }

  fault(): string | null {
    if (this.#fault !== null) return this.#fault;
    for (const [subject, id] of this.#erased)
      if (id > (this.#purged.get(subject) ?? 0))
        return `The words of entry ${id} were erased, and no later entry records it.`;
    return null;
  }
}

class AccessWalk implements Walk {
  async read(db: Db, after: number): Promise<Row[]> {
    const rows = await db
      .selectFrom('access_log')
      .selectAll()
      .where('id', '>', after)
      .orderBy('id')
      .limit(sql.lit(ROWS_PER_READ))
      .execute();
    return rows.map((row) => ({ ...row, hashAfter: (before) => accessHash(before, row) }));
  }

  fault(): null {
    return null;
  }
}
