import type { VerificationTimes } from '../../../store/calls/due-inquiries.ts';
import type { CollectDeps } from '../deps.ts';

/** Earlier than any verification: none is postponed. */
export const ALL_DUE = -1;

/**
 * Returns the range of due times for which verifications may be requested now; postponed ones wait.
 */
export function verificationsDue({ memory, env }: Pick<CollectDeps, 'memory' | 'env'>) {
  const until = env.clock.now();
  return { after: waiting(memory, until)?.at ?? ALL_DUE, until } satisfies VerificationTimes;
}

/**
 * Postpones everything that is due now, because no rate-limit slot is free or the service is
 * unavailable. Keeps one time for all instead of one for each. Verifications that already wait for
 * a slot are not postponed again, or they would never have their turn.
 */
export function putOff({ memory, env }: CollectDeps, put_off_ms: number): void {
  const at = env.clock.now();
  memory.put_off = { at, until: waiting(memory, at)?.until ?? at + put_off_ms };
}

/** Returns the postponement in effect. A clock that was set back ends it. */
function waiting(
  { put_off }: CollectDeps['memory'],
  now: number,
): CollectDeps['memory']['put_off'] {
  return put_off !== null && put_off.at <= now && now < put_off.until ? put_off : null;
}
