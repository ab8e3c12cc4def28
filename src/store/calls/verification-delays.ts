/**
 * How long the checks of the last calls took, from the end of the call (milliseconds, oldest
 * first).
 */

import { readLearned, writeLearned } from '../bookkeeping/learned-settings.ts';
import type { Tx } from '../engine/database.ts';

const FACT = 'verification_delays';

export async function verificationDelays(tx: Tx): Promise<number[]> {
  const fact = await readLearned(tx, FACT);
  return fact === null ? [] : (JSON.parse(fact.value) as number[]);
}

/** Keeps the last `count` of them. */
export async function keepVerificationDelay(
  tx: Tx,
  delay_ms: number,
  count: number,
  now: number,
): Promise<void> {
  const delays = [...(await verificationDelays(tx)), delay_ms].slice(-count);
  await writeLearned(tx, FACT, JSON.stringify(delays), now);
}
