import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realClock } from '../../src/ops/env.ts';
import { openInbox } from '../../src/store/answers/inbox.ts';
import { openStore } from '../../src/store/engine/store.ts';

/** On this clock, no wait ends unless it is aborted. */
const STOPPED: typeof realClock = {
  ...realClock,
  sleep: (_ms, signal) =>
    new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    }),
};

test('events are committed as soon as as many have come as in the last commit', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-inbox-'));
  const store = await openStore(join(folder, 'eligd.db'));
  try {
    const inbox = openInbox(store, STOPPED);
    const accept = (hash: string) =>
      inbox.accept({ message_hash: hash, body: Buffer.from('{}'), received_at: 1 });
    await Promise.all(['a', 'b', 'c'].map(accept));
    let is_stored = false;
    const first = accept('d').finally(() => {
      is_stored = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(is_stored).toBe(false);
    expect(await Promise.all([first, accept('e'), accept('a')])).toEqual([
      'stored',
      'stored',
      'duplicate',
    ]);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
});
