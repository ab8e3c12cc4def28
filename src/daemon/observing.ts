/** `mode: observe`: eligd reads and plans, and makes no calls. */
import { endHalt, halt } from '../store/calls/halts.ts';
import type { Store } from '../store/engine/store.ts';

const WHAT = 'eligd only observes (mode: observe): it reads and plans, and makes no calls.';

/** Stops submission while the configuration says so, and raises an attention item about it. */
export async function noteMode(store: Store, mode: 'live' | 'observe', now: number): Promise<void> {
  await store.write(async (tx) => {
    if (mode === 'live') {
      await endHalt(tx, 'observe', now);
      return;
    }
    await halt(
      tx,
      { reason: 'observe', detail: WHAT, next_try_at: null },
      {
        what: WHAT,
        next: 'To make calls, ask IT to set mode: live in the configuration.',
      },
      now,
    );
  });
}
