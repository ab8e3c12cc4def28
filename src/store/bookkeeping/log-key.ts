import { randomBytes } from 'node:crypto';
import type { Db, Tx } from '../engine/database.ts';
import type { Store } from '../engine/store.ts';
import { readLearned, writeLearned } from './learned-settings.ts';

const FACT = 'log_key';

/**
 * Returns the key for the hashes that stand for appointments in the log. Created at the first start
 * and included in backups.
 */
export async function logKey(store: Store, now: number): Promise<string> {
  return await store.write((tx) => logKeyIn(tx, now));
}

/** Returns the key inside a transaction; creates it if needed. */
export async function logKeyIn(tx: Tx, now: number): Promise<string> {
  const known = await readLearned(tx, FACT);
  if (known !== null) return known.value;
  const made = randomBytes(32).toString('hex');
  await writeLearned(tx, FACT, made, now);
  return made;
}

/** Returns the key without creating it; null before the first start of a version that has it. */
export async function knownLogKey(db: Db): Promise<string | null> {
  return (await readLearned(db, FACT))?.value ?? null;
}
