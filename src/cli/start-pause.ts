import { EligdError } from '../domain/errors.ts';
import { MINUTE_MS } from '../domain/time.ts';
import { readFailure } from '../ops/daemon-failure.ts';
import { realClock } from '../ops/env.ts';
import type { Notifier } from '../ops/systemd.ts';
import type { CliContext } from './context.ts';
import { reportError, StatusExit } from './exit.ts';

/** Much shorter than TimeoutStartSec= of the unit. */
const LONGEST_MS = 5 * MINUTE_MS;

type Failed = { state_path: string; notifier: Notifier; signal: AbortSignal };

/**
 * Returns the error with which a failed start ends. After a temporary failure under systemd, it
 * first prints the error and waits as long as starts have been failing, at most five minutes, so
 * that the restarts become rarer. (RestartSteps= needs systemd 254.) A stop during the wait is
 * no failure.
 */
export async function afterPause(
  error: unknown,
  context: CliContext,
  { state_path, notifier, signal }: Failed,
): Promise<unknown> {
  if (!(error instanceof EligdError) || error.kind !== 'temporary') return error;
  if (!notifier.is_heard) return error;
  const { first_at } = readFailure(state_path, context.environment);
  const failing_ms = first_at === null ? 0 : realClock.now() - first_at;
  const pause_ms = Math.min(LONGEST_MS, failing_ms);
  if (pause_ms <= 0) return error;
  const code = reportError(error, context);
  const seconds = Math.ceil(pause_ms / 1000);
  await notifier.tell(`STATUS=The start failed: ${error.what} Next attempt in ${seconds} s.`);
  await realClock.sleep(pause_ms, signal).catch(() => {});
  return new StatusExit(signal.aborted ? 0 : code);
}
