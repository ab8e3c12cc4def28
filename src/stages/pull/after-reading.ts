import type { Messages } from './messages.ts';

/**
 * Runs `claim` when all acknowledged messages are read; until it ends, no other is acknowledged. So
 * no call is claimed for a visit whose cancellation is only acknowledged. `is_read`: false when
 * some could not be read, because the database failed.
 */
export async function afterReading<Value>(
  all: readonly Messages[],
  claim: (is_read: boolean) => Promise<Value>,
): Promise<Value> {
  // Most are read here, while others arrive; so the senders then wait only briefly.
  for (const messages of all) await messages.readAll();
  const releases: (() => void)[] = [];
  try {
    let is_read = true;
    for (const messages of all) {
      releases.push(await messages.hold());
      is_read = (await messages.readAll()) && is_read;
    }
    return await claim(is_read);
  } finally {
    for (const release of releases) release();
  }
}
