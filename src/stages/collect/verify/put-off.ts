import type { VerificationTimes } from '../../../store/calls/due-inquiries.ts';
import type { CollectDeps } from '../deps.ts';

/** Before every verification: nothing is put off. */
export const ALL_DUE = -1;

/** When the verifications fell due that may be asked for now; those that are put off wait. */
export function verificationsDue({ memory, env }: Pick<CollectDeps, 'memory' | 'env'>) {
  const until = env.clock.now();
  return { after: waiting(memory, until)?.at ?? ALL_DUE, until } satisfies VerificationTimes;
}

/**
 * Has everything wait that is due now, for want of a place or because the service is away. One
 * moment is kept, and not a time with each of the many that wait. What waits already is not put off
 * again for want of a place: it would never have its turn.
 */
export function putOff({ memory, env }: CollectDeps, put_off_ms: number): void {
  const at = env.clock.now();
  memory.put_off = { at, until: waiting(memory, at)?.until ?? at + put_off_ms };
}

/** A clock that was set back ends the wait. */
function waiting(
  { put_off }: CollectDeps['memory'],
  now: number,
): CollectDeps['memory']['put_off'] {
  return put_off !== null && put_off.at <= now && now < put_off.until ? put_off : null;
}
