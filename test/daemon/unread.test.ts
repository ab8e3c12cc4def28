import { expect, test } from 'vitest';
import { watchUnread } from '../../src/daemon/unread.ts';
import { realClock } from '../../src/ops/env.ts';
import { openIncidents } from '../../src/store/bookkeeping/incidents.ts';
import { keepMessages } from '../../src/store/intake/unread-messages.ts';
import { temporaryStore } from '../store/temporary.ts';

test('a restart neither ends an open incident about unread messages nor opens one', async () => {
  const store = await temporaryStore();
  const logged: string[] = [];
  const options = { env: { clock: realClock, log: (event: string) => void logged.push(event) } };
  const watched = { options, store, connectors: [{ id: 'lab', messages: {} }] };
  const message = { key: 'K', name: 'M', reply: '', text: 'T' };
  const ten_minutes_ago = Date.now() - 10 * 60_000;
  await store.write((tx) => keepMessages(tx, 'lab', [message], ten_minutes_ago));
  const seen: number[] = [];
  for (const is_starting of [true, false, true, true, false]) {
    await watchUnread(watched, { is_starting });
    seen.push((await openIncidents(store.db)).length);
  }
  expect(seen).toEqual([0, 1, 1, 1, 1]);
  expect(logged).toEqual(['messages_unread']);
  const all = await store.db.selectFrom('attention').select('what').execute();
  expect(all).toHaveLength(1);
  expect(all[0]?.what).toContain('eligd makes no call for its visits');
});
