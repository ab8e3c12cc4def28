import { randomBytes } from 'node:crypto';
import type { Db, Tx } from '../engine/database.ts';
import type { Store } from '../engine/store.ts';
import { readLearned, writeLearned } from './learned-settings.ts';

const FACT = 'log_key';

/**
 * The key of the hashes by which appointments appear in the log; made at the first start, and kept
 * by backups.
 */
export async function logKey(store: Store, now: number): Promise<string> {
  return await store.write((tx) => logKeyIn(tx, now));
}

/** The same inside a transaction. */
export async function logKeyIn(tx: Tx, now: number): Promise<string> {
  const known = await readLearned(tx, FACT);
  if (known !== null) return known.value;
  const made = randomBytes(32).toString('hex');
  await writeLearned(tx, FACT, made, now);
  return made;
}

/** The same for who only reads; null before the first start of a version that has it. */
export async function knownLogKey(db: Db): Promise<string | null> {
  return (await readLearned(db, FACT))?.value ?? null;
}
