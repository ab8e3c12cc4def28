import type { SqliteDatabase, Transaction } from 'kysely';
import { type Db, databaseBelow, type Tx } from './database.ts';
import { GroupCommit, type Outcome } from './group-commit.ts';
import { preparedText } from './prepared.ts';
import type { Tables } from './tables.ts';

type Job = (tx: Tx) => Promise<unknown>;

const BEGIN_JOB = preparedText('savepoint job');
const END_JOB = preparedText('release job');
const UNDO_JOB = preparedText('rollback to job');

/** How many pieces of work one commit takes at most, so that none waits long for its neighbors. */
const JOBS_PER_COMMIT_MAX = 200;

export type WriteQueue = {
  /** Resolves after the commit. */
  write: <Value>(work: (tx: Tx) => Promise<Value>) => Promise<Value>;
  /** Resolves when nothing waits any more. */
  idle: () => Promise<void>;
};

/**
 * Pieces of work that wait at the same time share one transaction. Each runs in a savepoint of its
 * own, so one that fails takes nobody with it (G7). What a job hands to `tx.after` runs after the
 * commit, and only when the job did not fail.
 */
export function openWriteQueue(db: Db): WriteQueue {
  const database = databaseBelow(db);
  const jobs = new GroupCommit<Job, unknown>({
    items_per_commit_max: JOBS_PER_COMMIT_MAX,
    // One turn of the event loop: replies that arrive together are committed together.
    gather: () => new Promise((resolve) => setImmediate(resolve)),
    commit: async (take) => {
      const ran = await db.transaction().execute(async (transaction) => {
        const taken = take();
        const run = taken.length === 1 ? runAlone : runInSavepoint;
        const queue = viewOf(transaction, database).tx;
        const done: Ran[] = [];
        for (const job of taken) done.push(await run(viewOf(transaction, database), job, queue));
        return done;
      });
      return ran.map(finish);
    },
  });
  return {
    write: <Value>(work: (tx: Tx) => Promise<Value>) => jobs.add(work) as Promise<Value>,
    idle: () => jobs.idle(),
  };
}

/** A job that has run, with the effects that wait for its commit. */
type Ran = { value: unknown; effects: readonly (() => void)[] } | { error: unknown };

/**
 * Of a commit that is one job's alone the transaction is savepoint enough: when the job fails, all
 * of it is rolled back.
 */
async function runAlone(view: View, job: Job): Promise<Ran> {
  return { value: await runToEnd(view, job), effects: view.effects };
}

/**
 * A statement that comes when its job has settled would be in the next job's part of the commit, or
 * in none: prepared statements, which ask kysely nothing, are refused from then on.
 */
async function runToEnd({ tx, end }: View, job: Job): Promise<unknown> {
  try {
    return await job(tx);
  } finally {
    end();
  }
}

/** The transaction as one job sees it, with the effects that wait for its commit. */
type View = { tx: Tx; effects: (() => void)[]; end: () => void };

function viewOf(transaction: Transaction<Tables>, below: SqliteDatabase | undefined): View {
  const effects: (() => void)[] = [];
  let has_ended = false;
  const prepare: SqliteDatabase['prepare'] | undefined =
    below &&
    ((text) => {
      if (has_ended) throw new Error('A statement came after its piece of work has ended.');
      return below.prepare(text);
    });
  // Another view of the same transaction: jobs that share a commit do not share effects.
  const tx = Object.assign(transaction.withoutPlugins(), {
    after: (effect: () => void) => void effects.push(effect),
    ...(prepare && { database: { prepare } }),
  });
  const end = () => {
    has_ended = true;
  };
  return { tx, effects, end };
}

/** The work is committed: an effect that throws fails its own job's promise and no neighbor's. */
function finish(ran: Ran): Outcome<unknown> {
  if (!('value' in ran)) return ran;
  try {
    for (const effect of ran.effects) effect();
  } catch (error) {
    return { error };
  }
  return { value: ran.value };
}

/**
 * On a full disk and on some errors of the disk SQLite itself ends the whole transaction. Then no
 * savepoint is left, and what comes after must not run as if there were one: everything of the
 * commit fails, with the error that broke it.
 */
async function runInSavepoint(view: View, job: Job, queue: Tx): Promise<Ran> {
  await BEGIN_JOB(queue);
  try {
    const value = await runToEnd(view, job);
    await END_JOB(queue);
    return { value, effects: view.effects };
  } catch (error) {
    try {
      await UNDO_JOB(queue);
      await END_JOB(queue);
    } catch {
      throw error;
    }
    return { error };
  }
}
