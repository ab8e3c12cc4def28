/** Removes the bytes that deleted data leaves in the files of the database. */
import { DAY_MS, HOUR_MS } from '../domain/time.ts';
import { readLearned, writeLearned } from '../store/bookkeeping/learned-settings.ts';
import type { Db } from '../store/engine/database.ts';
import { isInstanceRunning } from '../store/engine/instance-lock.ts';
import { type Rewritten, rewriteDatabase } from '../store/engine/rewrite.ts';
import type { Store } from '../store/engine/store.ts';
import { emptyWal } from '../store/engine/wal.ts';

/**
 * Larger databases are not rewritten while a daemon works on them: it stands still meanwhile (5 ms
 * per MB here, 35 ms with encryption), and SQLite keeps a copy in memory, of which MemoryMax=
 * allows 1 GB.
 */
const BYTES_MAX = 250_000_000;
/** After a failure of another part, a purge is tried again within hours. */
const RETRIED_MS = 20 * HOUR_MS;
/** A larger database is to be rewritten by hand about once a month. */
const BY_HAND_MS = 31 * DAY_MS;

/** The learned setting whose time says when the database was last rewritten. */
const REWRITTEN = 'database_rewritten';

/**
 * Rewrites the database, unless a purge has just done so and deleted nothing since. Empties the
 * write-ahead log before: while another program reads the database, the log cannot be emptied, and
 * would grow by the whole database at each purge.
 */
export async function removeOldBytes(
  store: Store,
  path: string,
  { now, has_deleted }: { now: number; has_deleted: boolean },
): Promise<Rewritten> {
  if (!(await emptyWal(store.db))) return 'busy';
  if (!has_deleted && (await isRewrittenSince(store.db, now - RETRIED_MS, now))) return 'done';
  const bytes_max = isInstanceRunning(path) ? BYTES_MAX : process.availableMemory() / 2;
  let rewritten: Rewritten = 'busy';
  try {
    rewritten = await rewriteDatabase(store.db, path, bytes_max);
    if (rewritten === 'done') await store.write((tx) => writeLearned(tx, REWRITTEN, '', now));
  } finally {
    if (!(await emptyWal(store.db))) rewritten = 'busy';
  }
  return rewritten;
}

/** Returns whether someone has rewritten a database that is too large for the daemon lately. */
export async function isRewrittenByHand(db: Db, now: number): Promise<boolean> {
  return await isRewrittenSince(db, now - BY_HAND_MS, now);
}

async function isRewrittenSince(db: Db, since: number, now: number): Promise<boolean> {
  const at = (await readLearned(db, REWRITTEN))?.updated_at ?? Number.NEGATIVE_INFINITY;
  return at >= since && at <= now;
}
