import type { Messages } from './messages.ts';

/**
 * Runs `claim` after the acknowledged messages are read; until it ends, no other is acknowledged.
 * So no call is claimed for a visit whose cancellation is only acknowledged. Some may stay unread,
 * because the database failed or `signal` was aborted: a claim leaves out the visits of their
 * connector (`dueForSubmission`).
 */
export async function afterReading<Value>(
  all: readonly Messages[],
  claim: () => Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  // Most are read here, while others arrive; so the senders then wait only briefly.
  for (const messages of all) await messages.readAll(signal);
  const releases: (() => void)[] = [];
  try {
    for (const messages of all) {
      releases.push(await messages.hold());
      await messages.readAll(signal);
    }
    return await claim();
  } finally {
    for (const release of releases) release();
  }
}
