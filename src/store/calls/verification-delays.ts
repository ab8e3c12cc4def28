/**
 * Returns how long the checks of the last calls took from the end of the call (milliseconds, oldest
 * first).
 */

import { readLearned, writeLearned } from '../bookkeeping/learned-settings.ts';
import type { Tx } from '../engine/database.ts';

const SETTING = 'verification_delays';

export async function verificationDelays(tx: Tx): Promise<number[]> {
  const setting = await readLearned(tx, SETTING);
  return setting === null ? [] : (JSON.parse(setting.value) as number[]);
}

/** Saves a delay and keeps only the last `count`. */
export async function keepVerificationDelay(
  tx: Tx,
  delay_ms: number,
  count: number,
  now: number,
): Promise<void> {
  const delays = [...(await verificationDelays(tx)), delay_ms].slice(-count);
  await writeLearned(tx, SETTING, JSON.stringify(delays), now);
}
