/** The daemon's fee schedule, which is read again when the file changes. */
import type { Env } from '../domain/env.ts';
import type { FeeFile } from '../ops/fees.ts';
import { raiseAttention, resolveAttention } from '../store/bookkeeping/attention.ts';
import type { Store } from '../store/engine/store.ts';

const SUBJECT = 'fees';

/** Reads the file again if it has changed. If it has errors, the previous fees remain in effect. */
export async function followFees(
  { store, env }: { store: Store; env: Env },
  fees: FeeFile,
): Promise<void> {
  const change = fees.refresh();
  if (change.kind === 'same') return;
  const now = env.clock.now();
  if (change.kind === 'changed') {
    env.log('fees_changed');
    await store.write((tx) => resolveAttention(tx, SUBJECT, now, ['fees_unreadable']));
    return;
  }
  env.log('fees_unreadable');
  const { what, why } = change.error;
  await store.write((tx) =>
    raiseAttention(
      tx,
      { connector: null, appointment: null, inquiry: null, subject: SUBJECT },
      {
        reason: 'fees_unreadable',
        what: `${what} ${why} eligd keeps using the previous fees.`,
        next: 'Ask IT to correct the file; eligd reads it again when it changes.',
      },
      now,
    ),
  );
}
