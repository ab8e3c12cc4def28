import { sql, type Transaction } from 'kysely';
import type { Db, Tx } from './database.ts';
import type { Tables } from './tables.ts';

type Job = {
  work: (tx: Tx) => Promise<unknown>;
  resolve: (value: never) => void;
  reject: (error: unknown) => void;
};

/** How many pieces of work one commit takes at most, so that none waits long for its neighbours. */
const JOBS_PER_COMMIT_MAX = 200;

/**
 * Group commit: pieces of work that wait at the same time share one transaction, because the flush
 * to the disk is what a commit costs. Each runs in a savepoint of its own, so one that fails takes
 * nobody with it (G7). `write` resolves after the commit, and only then may an outside effect
 * follow (G3); what a job hands to `tx.after` runs then, and only when the job did not fail.
 */
export class WriteQueue {
  readonly #db: Db;
  #waiting: Job[] = [];
  #running: Promise<void> | null = null;

  constructor(db: Db) {
    this.#db = db;
  }

  write<Value>(work: (tx: Tx) => Promise<Value>): Promise<Value> {
    return new Promise<Value>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as Job['resolve'], reject });
      this.#running ??= this.#drain();
    });
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #drain(): Promise<void> {
    // One turn of the event loop: replies that arrive together are committed together.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const jobs = this.#waiting.splice(0, JOBS_PER_COMMIT_MAX);
      const settlements: (() => void)[] = [];
      try {
        await this.#db.transaction().execute(async (transaction) => {
          const run = jobs.length === 1 ? runAlone : runInSavepoint;
          for (const job of jobs) settlements.push(await run(transaction, job));
        });
        for (const finish of settlements) finish();
      } catch (error) {
        for (const { reject } of jobs) reject(error);
      }
    }
    this.#running = null;
  }
}

/**
 * Of a commit that is one job's alone the transaction is savepoint enough: when the job fails, all
 * of it is rolled back.
 */
async function runAlone(transaction: Transaction<Tables>, job: Job): Promise<() => void> {
  const { tx, effects } = withEffects(transaction);
  const value = await job.work(tx);
  return () => settle(job, value, effects);
}

/** The transaction as one job sees it, with the effects that wait for its commit. */
function withEffects(transaction: Transaction<Tables>): { tx: Tx; effects: (() => void)[] } {
  const effects: (() => void)[] = [];
  // Another view of the same transaction: jobs that share a commit do not share effects.
  const tx = Object.assign(transaction.withoutPlugins(), {
    after: (effect: () => void) => void effects.push(effect),
  });
  return { tx, effects };
}

/** The work is committed: an effect that throws fails its own job's promise and no neighbor's. */
function settle(job: Job, value: unknown, effects: readonly (() => void)[]): void {
  try {
    for (const effect of effects) effect();
  } catch (error) {
    job.reject(error);
    return;
  }
  job.resolve(value as never);
}

/**
 * On a full disk and on some errors of the disk SQLite ends the whole transaction by itself. Then
 * no savepoint is left, and what comes after must not run as if there were one: everything of the
 * commit fails, with the error that broke it.
 */
async function runInSavepoint(transaction: Transaction<Tables>, job: Job): Promise<() => void> {
  const { tx, effects } = withEffects(transaction);
  await sql`savepoint job`.execute(tx);
  try {
    const value = await job.work(tx);
    await sql`release job`.execute(tx);
    return () => settle(job, value, effects);
  } catch (error) {
    try {
      await sql`rollback to job`.execute(tx);
      await sql`release job`.execute(tx);
    } catch {
      throw error;
    }
    return () => job.reject(error);
  }
}
