/**
 * How long the checks of the last calls took, from the end of the call (milliseconds, oldest
 * first).
 */

import { readFact, writeFact } from '../bookkeeping/facts.ts';
import type { Tx } from '../engine/database.ts';

const FACT = 'verification_delays';

export async function verificationDelays(tx: Tx): Promise<number[]> {
  const fact = await readFact(tx, FACT);
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
  await writeFact(tx, FACT, JSON.stringify(delays), now);
}
