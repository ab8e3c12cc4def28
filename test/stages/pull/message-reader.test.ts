/** What one connector's failing message does to the other messages. */
import Sqlite from 'better-sqlite3';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { PullBatch } from '../../../connectors/contract.ts';
import { realClock } from '../../../src/ops/env.ts';
import { messagesOf } from '../../../src/stages/pull/index.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import type { Store } from '../../../src/store/engine/store.ts';
import { unreadCounts } from '../../../src/store/intake/unread-messages.ts';
import { anAppointment } from '../../domain/examples.ts';
import { temporaryPath, temporaryStore } from '../../store/temporary.ts';
import { damagePage } from '../../support/damage.ts';

let later_ms = 0;
let sent = 0;
const never = new AbortController().signal;

/** A text is `ID status`, with `LONG` for a visit that fills a page. */
function start(store: Store, connector_id: string, onReading: () => void = () => {}) {
  const clock = { ...realClock, elapsed: () => later_ms + performance.now() };
  const messages = messagesOf({
    store,
    env: { clock, random: () => 0, log: () => {} },
    connector_id,
    connector: {
      readMessage: (text) => {
        onReading();
        return batchOf(text);
      },
      deliver: async () => [],
      check: async () => [],
    },
    onAccepted: () => {},
  });
  if (messages === null) throw new Error('The connector reads messages.');
  const keep = (text: string) => {
    sent += 1;
    return messages.keep({ key: `${sent}`, name: `M-${sent}`, reply: '', text });
  };
  return { messages, keep };
}

function batchOf(text: string): PullBatch {
  const [source_id = '', status, length] = text.split(' ');
  const diagnosis_codes = Array.from({ length: length === 'LONG' ? 900 : 1 }, () => 'M54.5');
  const is_cancelled = status === 'S15';
  return {
    source: { key: '', name: '', is_last: true, completeness: 'changes' },
    appointments: [
      anAppointment({ source_id, diagnosis_codes, status: is_cancelled ? 'cancelled' : 'booked' }),
    ],
    rejected: [],
    cursor: null,
  };
}

test('the messages of only one connector are being read, so only they can end eligd', async () => {
  const path = temporaryPath();
  const store = await temporaryStore(path);
  const look = new Sqlite(path, { readonly: true });
  const seen = new Set<string>();
  const onReading = () =>
    seen.add(JSON.stringify(look.prepare('select connector from messages_being_read').all()));
  const both = ['a', 'b'].map((id) => start(store, id, onReading));
  for (const { keep } of both)
    await Promise.all(Array.from({ length: 1_200 }, (_, number) => keep(`V-${number} S12`)));
  await Promise.all(both.map(({ messages }) => messages.readAll()));
  look.close();
  expect([...seen].sort()).toEqual(['[{"connector":"a"}]', '[{"connector":"b"}]']);
});

const visit = (number: number) => `V-${String(number).padStart(6, '0')}`;

test('a damaged page sets aside only the message that needs it, and keeps its text', async () => {
  const path = temporaryPath();
  let store = await temporaryStore(path);
  const before = start(store, 'lab');
  for (let part = 0; part < 2_000; part += 500)
    await Promise.all(
      Array.from({ length: 500 }, (_, number) => before.keep(`${visit(part + number)} S12 LONG`)),
    );
  await before.messages.readAll();
  await sql`pragma wal_checkpoint(truncate)`.execute(store.db);
  await store.close();
  store = await temporaryStore(path);
  const { messages, keep } = start(store, 'lab');
  damagePage(path, visit(700));
  await sql`pragma shrink_memory`.execute(store.db);
  const first = sent;
  for (let number = 0; number < 50; number += 1) await keep(`${visit(5_000 + number)} S12`);
  await keep(`${visit(700)} S15`);
  for (let number = 50; number < 100; number += 1) await keep(`${visit(5_000 + number)} S12`);
  let failures = 0;
  for (let tries = 0; tries < 8 && (await unreadCounts(store.db)).length > 0; tries += 1) {
    await messages.step(never).catch(() => {
      failures += 1;
    });
    later_ms += 120_000;
  }
  expect([failures, await unreadCounts(store.db)]).toEqual([2, []]);
  const listed = await openAttention(store.db);
  expect(listed.map(({ what, words }) => [what, words])).toEqual([
    [
      'Message: received, but the database failed each time eligd stored what it says.',
      `It is in M-${first + 51}.`,
    ],
  ]);
  const kept = await store.db.selectFrom('unread_messages').select('text').execute();
  expect(kept).toEqual([{ text: `${visit(700)} S15` }]);
  const read = await store.db
    .selectFrom('appointments')
    .select('source_id')
    .orderBy('id', 'desc')
    .limit(100)
    .execute();
  expect([read[0]?.source_id, read[99]?.source_id]).toEqual([visit(5_099), visit(5_000)]);
});
