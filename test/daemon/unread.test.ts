import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { watchUnread } from '../../src/daemon/unread.ts';
import { realClock } from '../../src/ops/env.ts';
import { openIncidents } from '../../src/store/bookkeeping/incidents.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { keepMessages } from '../../src/store/intake/keep-messages.ts';
import { readStatus } from '../../src/store/views/overview.ts';
import { temporaryPath, temporaryStore } from '../store/temporary.ts';
import { damagePage } from '../support/damage.ts';

const MINUTE_MS = 60_000;

/** A daemon's watch, and a message that came ten minutes ago. */
async function watchOf(store: Store, text: string) {
  const logged: string[] = [];
  const options = { env: { clock: realClock, log: (event: string) => void logged.push(event) } };
  const connectors = [{ id: 'lab', messages: {} }];
  const message = { key: 'K', name: 'M', reply: '', text };
  const came_at = Date.now() - 10 * MINUTE_MS;
  await store.write((tx) =>
    keepMessages({ tx, connector: 'lab', now: came_at }, [message], new Map()),
  );
  return {
    came_at,
    logged,
    watch: async (excused_from: number | null) => {
      await watchUnread({ options, store, connectors }, { excused_from });
      return (await openIncidents(store.db)).length;
    },
  };
}

test('a restart neither ends an open incident about unread messages nor opens one', async () => {
  const store = await temporaryStore();
  const { watch, came_at, logged } = await watchOf(store, 'T');
  const seen: number[] = [];
  for (const excused_from of [0, came_at, null, 0, came_at, null])
    seen.push(await watch(excused_from));
  expect(seen).toEqual([0, 0, 1, 1, 1, 1]);
  expect(logged).toEqual(['messages_unread']);
  const all = await store.db.selectFrom('attention').select('what').execute();
  expect(all).toHaveLength(1);
  expect(all[0]?.what).toContain('eligd makes no call for its visits');
});

test('what also the process before did not read is on the list at the start', async () => {
  const store = await temporaryStore();
  const { watch, came_at } = await watchOf(store, 'T');
  expect(await watch(came_at + 1)).toBe(1);
});

test('messages on a damaged page are shown, and are on the attention list (G2)', async () => {
  const path = temporaryPath();
  const store = await temporaryStore(path);
  const { watch, came_at } = await watchOf(store, 'TEXT'.repeat(200));
  await sql`pragma wal_checkpoint(truncate)`.execute(store.db);
  damagePage(path, 'TEXTTEXT');
  await sql`pragma shrink_memory`.execute(store.db);
  const texts = store.db.selectFrom('unread_messages').select('text').execute();
  await expect(texts).rejects.toMatchObject({ code: 'SQLITE_CORRUPT' });
  const { unread_messages } = await readStatus(store.db, Date.now());
  expect(unread_messages).toEqual([{ connector: 'lab', count: 1, since: came_at }]);
  expect(await watch(null)).toBe(1);
});
