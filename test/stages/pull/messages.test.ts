import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Connector, PullBatch } from '../../../connectors/contract.ts';
import { DAY_MS } from '../../../src/domain/time.ts';
import { realClock } from '../../../src/ops/env.ts';
import { newConnectorState } from '../../../src/stages/connector-state.ts';
import { IDLE, runLoop, Waker } from '../../../src/stages/loop.ts';
import {
  afterReading,
  type Messages,
  messagesOf,
  pullStep,
} from '../../../src/stages/pull/index.ts';
import type { Store } from '../../../src/store/engine/store.ts';
import { allUnread, unreadCounts } from '../../../src/store/intake/unread-messages.ts';
import { anAppointment } from '../../domain/examples.ts';
import { temporaryStore } from '../../store/temporary.ts';

let store: Store;
let elapsed_ms: number;
let log: string[];
/** Called with each text before it is read. */
let onReading: (text: string) => void;
let messages: Messages;
beforeEach(async () => {
  store = await temporaryStore();
  elapsed_ms = 0;
  log = [];
  onReading = () => {};
  messages = start();
});

/** A process: a text is `ID status`, and may go on after that. */
function start(): Messages {
  const clock = { ...realClock, elapsed: () => elapsed_ms + performance.now() };
  const made = messagesOf({
    store,
    env: { clock, random: () => 0, log: (event) => void log.push(event) },
    connector_id: 'lab',
    connector: {
      readMessage: (text) => {
        onReading(text);
        return batchOf(text);
      },
      deliver: async () => [],
      check: async () => [],
    },
    onAccepted: () => {},
  });
  if (made === null) throw new Error('The connector reads messages.');
  return made;
}

function batchOf(text: string): PullBatch {
  const [source_id = '', status] = text.split(' ', 2);
  const visit = anAppointment({ source_id, status: status === 'S15' ? 'cancelled' : 'booked' });
  return {
    source: { key: '', name: '', is_last: true, completeness: 'changes' },
    appointments: [visit],
    rejected: [],
    cursor: null,
  };
}

let sent = 0;
function keep(text: string): Promise<string> {
  sent += 1;
  return messages.keep({ key: `${sent}`, name: 'M', reply: `reply ${sent}`, text });
}

const never = new AbortController().signal;
const claimed = <Value>(claim: () => Promise<Value>) => afterReading([messages], claim, never);
const statuses = async () =>
  (await store.db.selectFrom('appointments').select('content').orderBy('id').execute()).map(
    ({ content }) => (JSON.parse(content) as { status: string }).status,
  );
const unread = async () => (await unreadCounts(store.db))[0]?.count ?? 0;

/** Fails each statement that stores a visit as a full disk does. */
async function fillDisk(): Promise<void> {
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(store.db);
  await sql`pragma max_page_count = ${sql.lit(rows[0]?.page_count ?? 0)}`.execute(store.db);
}
const emptyDisk = () => sql`pragma max_page_count = 1000000`.execute(store.db);

describe('a claim of calls', () => {
  test('finds every acknowledged message read, also while others keep arriving (G1)', async () => {
    let is_over = false;
    const traffic = (async () => {
      for (let number = 0; !is_over; number += 1) {
        await keep(`V-${number % 50} S12`);
        await sleep(1);
      }
    })();
    for (let claims = 0; claims < 20; claims += 1) {
      await keep('V-100 S15');
      const seen = await claimed(async () => {
        const left = await unread();
        await sleep(5);
        return [left, await unread()];
      });
      expect(seen).toEqual([0, 0]);
    }
    is_over = true;
    await traffic;
  });

  test('goes on while messages cannot be read, and others are acknowledged again', async () => {
    for (let number = 0; number < 200; number += 1) void keep(`V-${number} S12`);
    await keep('V-200 S12');
    await fillDisk();
    expect(await claimed(unread)).toBe(201);
    await emptyDisk();
    await keep('V-300 S12');
    elapsed_ms += 3_600_000;
    expect(await claimed(unread)).toBe(0);
    expect(await statuses()).toHaveLength(202);
  });
});

describe('reading', () => {
  test('keeps the order of the messages, whoever reads', async () => {
    const replies: Promise<string>[] = [];
    for (let number = 0; number < 3_000; number += 1) {
      replies.push(keep(`V-${number % 7} ${number >= 2_993 || number % 3 === 0 ? 'S15' : 'S12'}`));
      if (number % 200 === 0) await Promise.all([messages.readAll(), messages.step(never)]);
    }
    await Promise.all(replies);
    await messages.readAll();
    expect(await statuses()).toEqual(Array.from({ length: 7 }, () => 'cancelled'));
  });

  test('all ends although each message brings another one', async () => {
    const replies: Promise<string>[] = [];
    onReading = () => void replies.push(keep('V-1 S12'));
    await keep('V-1 S12');
    await messages.readAll();
    expect(replies).toHaveLength(1);
    await Promise.all(replies);
    expect(await unread()).toBe(1);
    // A step reads one batch, and then lets the loop do something else.
    expect(await messages.step(never)).toMatchObject({ did: 1 });
  });

  test('rests after the database failed, and reads later', async () => {
    const texts = Array.from({ length: 300 }, (_, number) => `V-${number} S12`);
    await Promise.all(texts.map(keep));
    await fillDisk();
    await expect(messages.step(never)).rejects.toMatchObject({ code: 'SQLITE_FULL' });
    let reads = 0;
    onReading = () => {
      reads += 1;
    };
    expect(await messages.step(never)).toMatchObject({ did: 0, next_at: expect.any(Number) });
    expect(reads).toBe(0);
    await emptyDisk();
    elapsed_ms += 2_000;
    expect(await messages.step(never)).toMatchObject({ did: 300 });
    expect(log).not.toContain('message_not_read');
  });

  test('is tried at least once a minute while the database fails, and not while idle', async () => {
    let now = 0;
    const tries: number[] = [];
    let looks = 0;
    const stop = new AbortController();
    const sleep = async (ms: number, signal?: AbortSignal) => {
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      now += ms;
      if (now > 1_800_000) stop.abort();
    };
    const clock = { now: () => 1_800_000_000_000 + now, elapsed: () => now, sleep };
    const log = () => void tries.push(now);
    const env = { clock: { ...realClock, ...clock }, random: () => 0.5, log };
    const reader = { readMessage: batchOf, deliver: async () => [], check: async () => [] };
    const connector_id = 'lab';
    const made = messagesOf({ store, env, connector_id, connector: reader, onAccepted: () => {} });
    const step = async (signal: AbortSignal) => {
      looks += 1;
      return (await made?.step(signal)) ?? IDLE;
    };
    const waker = made?.arrived ?? new Waker();
    const options = {
      name: 'read lab',
      step,
      waker,
      env,
      interval_ms: DAY_MS,
      retry_ms_max: 60_000,
    };
    await Promise.all(Array.from({ length: 300 }, (_, number) => keep(`V-${number} S12`)));
    await fillDisk();
    await runLoop({ ...options, signal: stop.signal });
    const gaps = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
    expect(tries.length).toBeGreaterThan(30);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(61_000);
    await emptyDisk();
    await made?.readAll();
    now += 60_000;
    await made?.readAll();
    looks = 0;
    const idle = new AbortController();
    const running = runLoop({ ...options, env: { ...env, clock: realClock }, signal: idle.signal });
    await realClock.sleep(300);
    idle.abort();
    await running;
    expect([await unread(), looks <= 3]).toEqual([0, true]);
  });

  test('a process that was not ended by reading counts no ended run', async () => {
    const texts = Array.from({ length: 300 }, (_, number) => `V-${number} S12`);
    await Promise.all(texts.map(keep));
    messages = start();
    await messages.readAll();
    await keep('V-1 S15');
    messages = start();
    await messages.readAll();
    expect(await unread()).toBe(0);
    expect(await store.db.selectFrom('messages_being_read').selectAll().execute()).toEqual([]);
  });
});

describe('a message that comes again', () => {
  const send = (reply: string) => messages.keep({ key: 'K', name: 'M', reply, text: 'V-1 S12' });

  test('gets its first reply, unread or read, in this process or the next', async () => {
    expect([await send('first'), await send('second')]).toEqual(['first', 'first']);
    messages = start();
    expect(await send('third')).toBe('first');
    await messages.readAll();
    expect(await statuses()).toHaveLength(1);
    expect(await send('fourth')).toBe('first');
    expect(await unread()).toBe(0);
  });

  test('is stored if its first commit failed (G3)', async () => {
    await fillDisk();
    const large = () =>
      messages.keep({ key: 'K', name: 'M', reply: 'R', text: 'V-1 S12 '.padEnd(100_000, '.') });
    await expect(large()).rejects.toMatchObject({ code: 'SQLITE_FULL' });
    await emptyDisk();
    expect(await large()).toBe('R');
    expect(await unread()).toBe(1);
  });
});

describe('when too much is unread', () => {
  const large = (number: number) => `V-${number} S12 `.padEnd(4_000_000, '.');

  test('senders wait until some of it is read, and no message is dropped', async () => {
    const replies: Promise<string>[] = [];
    for (let number = 0; number < 40; number += 1) {
      const reply = keep(large(number));
      replies.push(reply);
      if (number % 2 === 1) await reply;
      const sizes = (await allUnread(store.db, 'lab')).map(({ bytes }) => bytes);
      expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(80_000_000);
    }
    expect((await Promise.all(replies)).length).toBe(40);
    await messages.readAll();
    expect(await statuses()).toHaveLength(40);
  });

  test('and nothing can be read, they are told to send it again', async () => {
    await Promise.all(Array.from({ length: 300 }, (_, number) => keep(`V-${number} S12`)));
    for (let number = 0; number < 16; number += 1) await keep(large(number));
    await fillDisk();
    for (let tries = 0; tries < 2; tries += 1) await expect(keep('V-300 S12')).rejects.toThrow();
    await emptyDisk();
    elapsed_ms += 60_000;
    expect(await keep('V-300 S12')).toBe(`reply ${sent}`);
    await messages.readAll();
    expect(await statuses()).toHaveLength(301);
  });
});

test('a connector that reads no messages later has nothing to keep them', async () => {
  let given: object = {};
  const connector: Connector = {
    pull: async (call) => {
      given = call;
    },
    deliver: async () => [],
    check: async () => [],
  };
  const env = { clock: realClock, random: () => 0, log: () => {} };
  const intake = { store, env, connector_id: 'lab', connector, onAccepted: () => {} };
  const none = messagesOf(intake);
  await pullStep({ ...intake, messages: none, state: newConnectorState() }, never);
  expect([none, 'accept' in given, 'keep' in given]).toEqual([null, true, false]);
});
