import type { Transaction } from 'kysely';
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
        const done: Ran[] = [];
        for (const job of taken) {
          const { tx, effects } = withEffects(transaction);
          if (database !== undefined) tx.database = database;
          done.push(await run({ tx, effects }, job));
        }
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
async function runAlone({ tx, effects }: View, job: Job): Promise<Ran> {
  return { value: await job(tx), effects };
}

/** The transaction as one job sees it, with the effects that wait for its commit. */
type View = { tx: Tx; effects: (() => void)[] };

function withEffects(transaction: Transaction<Tables>): View {
  const effects: (() => void)[] = [];
  // Another view of the same transaction: jobs that share a commit do not share effects.
  const tx = Object.assign(transaction.withoutPlugins(), {
    after: (effect: () => void) => void effects.push(effect),
  });
  return { tx, effects };
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
async function runInSavepoint({ tx, effects }: View, job: Job): Promise<Ran> {
  await BEGIN_JOB(tx);
  try {
    const value = await job(tx);
    await END_JOB(tx);
    return { value, effects };
  } catch (error) {
    try {
      await UNDO_JOB(tx);
      await END_JOB(tx);
    } catch {
      throw error;
    }
    return { error };
  }
}
