import type { SqliteDatabase, Transaction } from 'kysely';
import { type Db, databaseBelow, type Tx } from './database.ts';
import { GroupCommit, type Outcome } from './group-commit.ts';
import { preparedText } from './prepared.ts';
import type { Tables } from './tables.ts';

type Job = (tx: Tx) => Promise<unknown>;

const BEGIN_JOB = preparedText('savepoint job');
const END_JOB = preparedText('release job');
const UNDO_JOB = preparedText('rollback to job');

/** The maximum number of jobs in one commit, so that none waits long for the others. */
const JOBS_PER_COMMIT_MAX = 200;

type WriteQueue = {
  /** Resolves after the commit. */
  write: <Value>(work: (tx: Tx) => Promise<Value>) => Promise<Value>;
  /** Resolves when no job waits anymore. */
  idle: () => Promise<void>;
  /** Names what runs after each commit that makes a visit or a claim due for planning. */
  onPlanDue: (wake: () => void) => void;
};

/**
 * Opens the queue. Jobs that wait at the same time share one transaction. Each runs in its own
 * savepoint, so a failed job does not affect the others (G7). Effects passed to `tx.after` run
 * after the commit, and only if the job succeeded; so does what `onPlanDue` names.
 */
export function openWriteQueue(db: Db): WriteQueue {
  const database = databaseBelow(db);
  let wakePlanning = () => {};
  const view = (transaction: Transaction<Tables>) =>
    viewOf(transaction, database, () => wakePlanning());
  const jobs = new GroupCommit<Job, unknown>({
    items_per_commit_max: JOBS_PER_COMMIT_MAX,
    // Wait one turn of the event loop: replies that arrive together are committed together.
    gather: () => new Promise((resolve) => setImmediate(resolve)),
    commit: async (take) => {
      const ran = await db.transaction().execute(async (transaction) => {
        const taken = take();
        const run = taken.length === 1 ? runAlone : runInSavepoint;
        const queue = view(transaction).tx;
        const done: Ran[] = [];
        for (const job of taken) done.push(await run(view(transaction), job, queue));
        return done;
      });
      return ran.map(finish);
    },
  });
  return {
    write: <Value>(work: (tx: Tx) => Promise<Value>) => jobs.add(work) as Promise<Value>,
    idle: () => jobs.idle(),
    onPlanDue: (wake) => {
      wakePlanning = wake;
    },
  };
}

/** A job that has run, with the effects that wait for its commit. */
type Ran = { value: unknown; effects: readonly (() => void)[] } | { error: unknown };

/**
 * Runs the only job of a commit. It needs no savepoint: if it fails, the whole transaction is
 * rolled back.
 */
async function runAlone(view: View, job: Job): Promise<Ran> {
  return { value: await runToEnd(view, job), effects: view.effects };
}

/**
 * Runs a job and then refuses its late statements: they would fall into the next job's part of the
 * commit, or outside of it. Kysely would not detect this for prepared statements.
 */
async function runToEnd({ tx, end }: View, job: Job): Promise<unknown> {
  try {
    return await job(tx);
  } finally {
    end();
  }
}

/** One job's view of the transaction, with the effects that wait for its commit. */
type View = { tx: Tx; effects: (() => void)[]; end: () => void };

function viewOf(
  transaction: Transaction<Tables>,
  below: SqliteDatabase | undefined,
  onPlanDue: () => void,
): View {
  const effects: (() => void)[] = [];
  let has_ended = false;
  const prepare: SqliteDatabase['prepare'] | undefined =
    below &&
    ((text) => {
      if (has_ended) throw new Error('A statement ran after its job had ended.');
      return below.prepare(text);
    });
  // A separate view of the same transaction: jobs that share a commit do not share effects.
  const tx = Object.assign(transaction.withoutPlugins(), {
    after: (effect: () => void) => void effects.push(effect),
    wakePlanning: () => void effects.push(onPlanDue),
    ...(prepare && { database: { prepare } }),
  });
  const end = () => {
    has_ended = true;
  };
  return { tx, effects, end };
}

/**
 * Runs the effects after the commit. If an effect throws, only its own job's promise is rejected.
 */
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
 * Runs a job in a savepoint. When the disk is full, and after some disk errors, SQLite itself ends
 * the whole transaction. Then there is no savepoint left, and later statements must not run without
 * one: the whole commit fails with the original error.
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
