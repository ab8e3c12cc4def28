/** Migration 0040 puts an unread message into one row, and keeps messages in every state. */
import { beforeEach, expect, test } from 'vitest';
import { writeBackup } from '../../src/store/engine/backup.ts';
import { restoreDatabase } from '../../src/store/engine/restore.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { keepMessages } from '../../src/store/intake/keep-messages.ts';
import type { MessageContent } from '../../src/store/intake/messages.ts';
import { allUnread, noteEndedRun, unreadCounts } from '../../src/store/intake/unread-messages.ts';
import { anAppointment, FRIDAY_MS } from '../domain/examples.ts';
import { databaseBefore } from './database-before.ts';
import { readMessages } from './read-messages.ts';
import { temporaryPath, temporaryStore } from './temporary.ts';

/** A database of the version before, with a message in each state, which is its key. */
async function olderDatabase(): Promise<string> {
  const path = temporaryPath();
  const raw = await databaseBefore(path, '0040');
  raw.exec(`insert into sources (connector, key, name, first_seen_at, completed_at, reply) values
    ('lab', 'read', 'message read', 1, 1, 'reply read'),
    ('lab', 'ended', 'message ended', 2, 2, 'reply ended'),
    ('lab', 'failed', 'message failed', 3, 3, 'reply failed'),
    ('lab', 'ends', 'message ends', 4, 4, 'reply ends'),
    ('lab', 'begun', 'message begun', 5, 5, 'reply begun'),
    ('lab', 'unread', 'message unread', 6, 6, 'reply unread'),
    ('front-desk', 'a file', 'a file', 7, 7, null)`);
  raw.exec(`insert into unread_messages
    (source, connector, received_at, ended_runs, failed_at, text) values
    (2, 'lab', 2, 1, null, 'ended'), (3, 'lab', 3, 0, 8, 'failed'), (4, 'lab', 4, 4, 8, 'ends'),
    (5, 'lab', 5, 0, null, 'begun'), (6, 'lab', 6, 0, null, 'unread')`);
  raw.exec(`insert into messages_being_read values ('lab', 5)`);
  raw.close();
  return path;
}

const STATES = ['read', 'ended', 'failed', 'ends', 'begun', 'unread'];

let store: Store;
let path: string;
beforeEach(async () => {
  path = await olderDatabase();
  store = await temporaryStore(path);
});

/** The connector's name is a visit's ID here. */
const visitOf = (text: string): MessageContent => ({
  source: { key: '', name: '', is_last: true, completeness: 'changes' },
  appointments: [anAppointment({ source_id: text })],
  rejected: [],
  cursor: null,
});

const sendAgain = async () => {
  const unread = new Map((await allUnread(store.db, 'lab')).map((each) => [each.key, each]));
  const messages = STATES.map((key) => ({ key, name: 'M', reply: 'another', text: key }));
  return await store.write((tx) =>
    keepMessages({ tx, connector: 'lab', now: FRIDAY_MS }, messages, unread),
  );
};

const readAll = async () => {
  while ((await readMessages(store, visitOf)).messages > 0);
  const rows = await store.db
    .selectFrom('appointments')
    .select('source_id')
    .orderBy('id')
    .execute();
  return rows.map(({ source_id }) => source_id);
};

test('an upgrade reads what is unread, in its order, and nothing else', async () => {
  expect(await unreadCounts(store.db)).toEqual([{ connector: 'lab', count: 3, since: 2 }]);
  expect(await readAll()).toEqual(['ended', 'begun', 'unread']);
  const rest = await store.db.selectFrom('unread_messages').select('text').orderBy('id').execute();
  expect(rest).toEqual([{ text: 'failed' }, { text: 'ends' }]);
});

test('an upgrade keeps which messages were being read when eligd ended', async () => {
  await store.write((tx) => noteEndedRun(tx, 'lab'));
  const runs = await store.db
    .selectFrom('unread_messages')
    .select(['key', 'ended_runs'])
    .orderBy('id')
    .execute();
  expect(runs.map(({ key, ended_runs }) => [key, ended_runs])).toEqual([
    ['ended', 2],
    ['failed', 0],
    ['ends', 4],
    ['begun', 1],
    ['unread', 0],
  ]);
});

test('after an upgrade, each message that comes again gets its first reply', async () => {
  const { replies, added } = await sendAgain();
  expect(replies).toEqual(STATES.map((key) => `reply ${key}`));
  expect(added.map(({ key }) => key)).toEqual(['failed']);
  expect(await readAll()).toEqual(['ended', 'failed', 'begun', 'unread']);
  expect((await sendAgain()).replies).toEqual(STATES.map((key) => `reply ${key}`));
  expect(await readAll()).toHaveLength(4);
});

test('an upgrade keeps sources that were read', async () => {
  const sources = await store.db.selectFrom('sources').select(['id', 'name']).execute();
  expect(sources).toEqual([
    { id: 1, name: 'message read' },
    { id: 7, name: 'a file' },
  ]);
});

test('a restore names the messages since the backup, also the unread ones', async () => {
  const backup = temporaryPath();
  writeBackup(path, backup, FRIDAY_MS);
  await sendAgain();
  const names = (forgotten: readonly { name: string }[] | null) =>
    forgotten?.map(({ name }) => name);
  const late = { key: 'late', name: 'message late', reply: '', text: 'late' };
  await store.write((tx) =>
    keepMessages({ tx, connector: 'lab', now: FRIDAY_MS + 2 }, [late], new Map()),
  );
  await store.close();
  const { forgotten } = restoreDatabase(path, backup, FRIDAY_MS + 9, 0);
  expect(names(forgotten)).toEqual(['message late']);
});

test('a restore names the messages in a database of the version before', async () => {
  const [backup, older] = [temporaryPath(), await olderDatabase()];
  writeBackup(older, backup, 4);
  const { forgotten } = restoreDatabase(older, backup, 9, 0);
  expect(forgotten?.map(({ name }) => name)).toEqual(['message begun', 'message unread', 'a file']);
});
