import type { Tx } from '../engine/database.ts';
import type { Store } from '../engine/store.ts';
import { readLearnedAll, writeLearned } from './learned-settings.ts';

const factOf = (job: string) => `job:${job}`;

/** Records that a scheduled job succeeded at `at` (epoch milliseconds). */
export async function noteJob(tx: Tx, job: string, at: number): Promise<void> {
  await writeLearned(tx, factOf(job), String(at), at);
}

/**
 * Returns when each job last succeeded. A new job counts as run at `now`, so that it first runs at
 * its scheduled time and not at once.
 */
export async function jobSuccesses(
  store: Store,
  jobs: readonly string[],
  now: number,
): Promise<Map<string, number>> {
  const facts = await readLearnedAll(store.db, jobs.map(factOf));
  const fresh = jobs.filter((job) => !facts.has(factOf(job)));
  if (fresh.length > 0)
    await store.write(async (tx) => {
      for (const job of fresh) await noteJob(tx, job, now);
    });
  return new Map(jobs.map((job) => [job, Number(facts.get(factOf(job))?.value ?? now)]));
}
