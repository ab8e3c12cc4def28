import { hash } from 'node:crypto';
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { openAttention } from '../../src/store/bookkeeping/attention.ts';
import { purge } from '../../src/store/bookkeeping/purge.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { keepMessages } from '../../src/store/intake/keep-messages.ts';
import type { MessageContent } from '../../src/store/intake/messages.ts';
import {
  allUnread,
  beginReading,
  noteEndedRun,
  unreadCounts,
} from '../../src/store/intake/unread-messages.ts';
import { anAppointment, FRIDAY_MS } from '../domain/examples.ts';
import { readMessages } from './read-messages.ts';
import { temporaryPath, temporaryStore } from './temporary.ts';

/** More than SQLite keeps in memory before it opens a file for what a statement changes. */
const MANY = 6_000;

let store: Store;
beforeEach(async () => {
  store = await temporaryStore();
});

/** Messages whose texts are their keys. */
const messagesOf = (keys: readonly string[]) =>
  keys.map((key) => ({ key, name: `message ${key}`, reply: `reply ${key}`, text: key }));

/** As a process that has just started. */
const keep = (...keys: string[]) =>
  store.write(async (tx) => {
    const unread = await allUnread(tx, 'lab');
    return await keepMessages(
      { tx, connector: 'lab', now: FRIDAY_MS },
      messagesOf(keys),
      new Map(unread.map((each) => [each.key, each])),
    );
  });

/** A text is the ID of a visit here. */
const visitOf = (text: string): MessageContent => ({
  source: { key: '', name: '', is_last: true, completeness: 'changes' },
  appointments: [anAppointment({ source_id: text })],
  rejected: [],
  cursor: null,
});

const visits = async () =>
  (await store.db.selectFrom('appointments').select('source_id').orderBy('id').execute()).map(
    ({ source_id }) => source_id,
  );
const unread = async () => (await unreadCounts(store.db)).map(({ count }) => count);
const listed = async () => (await openAttention(store.db)).map(({ what, words }) => [what, words]);

/** Limits the database file to its present size, so that SQLite reports a full disk. */
async function fillDisk() {
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(store.db);
  await sql`pragma max_page_count = ${sql.lit(rows[0]?.page_count ?? 0)}`.execute(store.db);
}
const emptyDisk = () => sql`pragma max_page_count = 1000000`.execute(store.db);

const longVisitOf = (text: string): MessageContent => ({
  ...visitOf(text),
  appointments: [
    anAppointment({ source_id: text, diagnosis_codes: Array.from({ length: 900 }, () => 'M54.5') }),
  ],
});

describe('when the database fails while messages are read', () => {
  test('they stay unread, none is listed, and they are read later (G2, G3)', async () => {
    const keys = Array.from({ length: 20 }, (_, index) => `V-${index}`);
    await keep(...keys);
    await fillDisk();
    await expect(readMessages(store, longVisitOf)).rejects.toMatchObject({ code: 'SQLITE_FULL' });
    expect(await unread()).toEqual([20]);
    expect(await visits()).toEqual([]);
    expect(await listed()).toEqual([]);
    await emptyDisk();
    await readMessages(store, longVisitOf);
    expect(await visits()).toEqual(keys);
    expect(await unread()).toEqual([]);
  });

  test('one bad message among them is still the only one that is listed (G7)', async () => {
    await keep('V-1', 'bad', 'V-2');
    const read = (text: string) => {
      if (text === 'bad') throw new RangeError('Not readable.');
      return visitOf(text);
    };
    await readMessages(store, read);
    expect(await visits()).toEqual(['V-1', 'V-2']);
    expect(await listed()).toEqual([
      ['Message: received, but eligd could not read it.', 'It is in message bad.'],
    ]);
  });
});

test('content that is no content is the fault of its message alone (G7)', async () => {
  await keep('V-1', 'none', 'V-2');
  await readMessages(store, (text) =>
    text === 'none' ? (undefined as unknown as MessageContent) : visitOf(text),
  );
  expect(await visits()).toEqual(['V-1', 'V-2']);
  expect(await listed()).toHaveLength(1);
});

describe('a message that could not be read', () => {
  const refuse = () => {
    throw new Error('A bug.');
  };
  beforeEach(async () => {
    await keep('V-1');
    await readMessages(store, refuse);
  });

  test('is not unread, and its text is kept', async () => {
    expect(await unread()).toEqual([]);
    const kept = await store.db.selectFrom('unread_messages').select('text').execute();
    expect(kept).toEqual([{ text: 'V-1' }]);
  });

  test('is read again when the sender sends it again, with the same reply', async () => {
    expect((await keep('V-1')).replies).toEqual(['reply V-1']);
    expect(await listed()).toEqual([]);
    await readMessages(store, visitOf);
    expect(await visits()).toEqual(['V-1']);
    expect(await store.db.selectFrom('unread_messages').selectAll().execute()).toEqual([]);
    await keep('V-1');
    expect(await unread()).toEqual([]);
  });

  test('has been unread only since it came again', async () => {
    const again = { key: 'V-1', name: 'message V-1', reply: '', text: 'V-1' };
    await store.write((tx) =>
      keepMessages({ tx, connector: 'lab', now: FRIDAY_MS + 9 }, [again], new Map()),
    );
    expect(await unreadCounts(store.db)).toMatchObject([{ count: 1, since: FRIDAY_MS + 9 }]);
  });

  test('is read as its sender corrected it under the same key', async () => {
    const corrected = { key: 'V-1', name: 'message V-1', reply: 'reply V-1', text: 'V-9' };
    await store.write((tx) =>
      keepMessages({ tx, connector: 'lab', now: FRIDAY_MS }, [corrected], new Map()),
    );
    await readMessages(store, visitOf);
    expect(await visits()).toEqual(['V-9']);
  });

  test('is deleted after the retention time, with its source', async () => {
    await purge(store, limits(FRIDAY_MS + 1), FRIDAY_MS + 1);
    expect(await store.db.selectFrom('unread_messages').selectAll().execute()).toEqual([]);
    expect(await store.db.selectFrom('sources').selectAll().execute()).toEqual([]);
  });
});

const limits = (visits_before: number) => ({
  visits: visits_before,
  answers: null,
  requests: null,
  recordings: null,
  logs: null,
});

test('a purge never deletes a message that is not read (G2)', async () => {
  await keep('V-1', 'V-2');
  await purge(store, limits(FRIDAY_MS + 1), FRIDAY_MS + 1);
  await readMessages(store, visitOf);
  expect(await visits()).toEqual(['V-1', 'V-2']);
});

describe('when eligd ends while it reads', () => {
  /** A process that reads until a message ends it. */
  async function run(ends: string): Promise<void> {
    await store.write((tx) => noteEndedRun(tx, 'lab'));
    const context = { connector: 'lab', now: FRIDAY_MS };
    for (;;) {
      const { messages } = await store.write((tx) =>
        beginReading({ ...context, tx }, { is_single: false }),
      );
      if (messages.length === 0 || messages.some(({ text }) => text === ends)) return;
      await readMessages(store, visitOf);
    }
  }

  test('only the message that ends it is set aside, after some runs (G7)', async () => {
    await keep('V-1', 'V-2', 'ends', 'V-3');
    const seen: string[][] = [];
    for (let runs = 0; runs < 5; runs += 1) {
      await run('ends');
      seen.push(await visits());
    }
    expect(seen).toEqual([
      [],
      ['V-1', 'V-2'],
      ['V-1', 'V-2'],
      ['V-1', 'V-2'],
      ['V-1', 'V-2', 'V-3'],
    ]);
    expect(await unread()).toEqual([]);
    expect(await listed()).toEqual([
      ['Message: received, but eligd ended 4 times while it read it.', 'It is in message ends.'],
    ]);
  });

  test('that message is not read again when its file brings it at each start (G7)', async () => {
    await keep('V-1', 'ends', 'V-2');
    let ended = 0;
    for (let runs = 0; runs < 12; runs += 1) {
      await run('ends');
      if ((await unread()).length > 0) ended += 1;
      expect((await keep('V-1', 'ends', 'V-2')).replies[1]).toBe('reply ends');
      expect((await listed()).length).toBe(runs < 4 ? 0 : 1);
    }
    expect(ended).toBe(4);
    expect(await unread()).toEqual([]);
  });
});

test('an acknowledgment adds to the end of a table, whatever was read before', async () => {
  const path = temporaryPath();
  store = await temporaryStore(path);
  await keep(...Array.from({ length: 4_000 }, (_, number) => `${hash('sha256', `${number}`)}`));
  while ((await readMessages(store, visitOf)).messages > 0);
  const logged = async () => {
    await sql`pragma wal_checkpoint(truncate)`.execute(store.db);
    await keep(...Array.from({ length: 64 }, (_, number) => `${hash('sha256', `n${number}`)}`));
    return statSync(`${path}-wal`).size;
  };
  // 64 messages of some 250 bytes, and the index of their connectors: about 12 pages.
  expect(await logged()).toBeLessThan(20 * 4_200);
});

describe('a message that comes again', () => {
  test('while it is unread gets the first reply, and is read once', async () => {
    await keep('V-1', 'V-2');
    expect((await keep('V-1', 'V-3', 'V-1')).replies).toEqual([
      'reply V-1',
      'reply V-3',
      'reply V-1',
    ]);
    expect(await unread()).toEqual([3]);
    await readMessages(store, visitOf);
    expect(await visits()).toEqual(['V-1', 'V-2', 'V-3']);
  });

  test('after it was read gets the first reply, and no number is used again', async () => {
    const before = await keep('V-1');
    await readMessages(store, visitOf);
    const after = await keep('V-1', 'V-2');
    expect(after.replies).toEqual(['reply V-1', 'reply V-2']);
    const numbers = [...before.added, ...after.added].map(({ id }) => id);
    expect(numbers).toEqual([1, 2]);
  });

  test('is read once although the process did not know it', async () => {
    await keep('V-1');
    const context = { connector: 'lab', now: FRIDAY_MS };
    await store.write((tx) => keepMessages({ ...context, tx }, messagesOf(['V-1']), new Map()));
    const seen: string[] = [];
    await readMessages(store, (text) => {
      seen.push(text);
      return visitOf(seen.length === 1 ? text : 'again');
    });
    expect(await visits()).toEqual(['V-1']);
    expect(await unread()).toEqual([]);
  });

  test('and was read when the process still thinks it unread gets the first reply', async () => {
    const { added } = await keep('V-1');
    await readMessages(store, visitOf);
    const stale = new Map(added.map((each) => [each.key, each]));
    await keep('V-2');
    const context = { connector: 'lab', now: FRIDAY_MS };
    const again = [{ key: 'V-1', name: 'M', reply: 'another', text: 'V-1' }];
    const kept = await store.write((tx) => keepMessages({ ...context, tx }, again, stale));
    expect(kept).toEqual({ replies: ['reply V-1'], added: [] });
  });
});

test('a message without content is not read, and gets its first reply again', async () => {
  const context = { connector: 'lab', now: FRIDAY_MS };
  const empty = (reply: string) => [{ key: 'E', name: 'M', reply, text: null }];
  await store.write((tx) => keepMessages({ ...context, tx }, empty('first'), new Map()));
  await readMessages(store, () => {
    throw new Error('There is nothing to read.');
  });
  expect(await unread()).toEqual([]);
  expect(await listed()).toEqual([]);
  const again = await store.write((tx) =>
    keepMessages({ ...context, tx }, empty('second'), new Map()),
  );
  expect(again).toEqual({ replies: ['first'], added: [] });
});

test('storing many messages copies no patient data to a temporary file', async () => {
  const scattered = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, number) => `${(number * 7_919) % count}-${prefix}`);
  await keep(...scattered('first', MANY));
  const files = await store.write(async (tx) => {
    const messages = scattered('next', MANY).map((key) => ({
      key,
      name: key,
      reply: 'reply',
      text: key,
    }));
    await keepMessages({ tx, connector: 'lab', now: FRIDAY_MS }, messages, new Map());
    return openFiles();
  });
  expect(files.some((path) => path.includes('eligd.db'))).toBe(true);
  expect(files.filter((path) => path.endsWith('(deleted)'))).toEqual([]);
});

/** The paths of this process's open files, deleted ones included. */
const openFiles = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      return [];
    }
  });
