import { beforeEach, describe, expect, test } from 'vitest';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { openAttention } from '../../src/store/bookkeeping/attention.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { keepMessages } from '../../src/store/intake/keep-messages.ts';
import type { MessageContent } from '../../src/store/intake/messages.ts';
import { unreadCounts } from '../../src/store/intake/unread-messages.ts';
import { anAppointment, FRIDAY_MS } from '../domain/examples.ts';
import { readMessages } from './read-messages.ts';
import { temporaryStore } from './temporary.ts';

let store: Store;
beforeEach(async () => {
  store = await temporaryStore();
});

type Message = MessageContent & { reply: string };

const message = (key: string, parts: Partial<Omit<Message, 'source'>> = {}): Message => ({
  appointments: [],
  rejected: [],
  cursor: null,
  reply: `reply to ${key}`,
  ...parts,
  source: { key, name: key, is_last: true, completeness: 'changes' },
});

const visit = (source_id: string, over: Partial<AppointmentInput> = {}) =>
  anAppointment({ source_id, ...over });

const parsed = (text: string) => JSON.parse(text) as MessageContent;

/** Stores messages and reads them. A text is the content as JSON here. */
async function accept(...messages: Message[]): Promise<string[]> {
  const kept = messages.map(({ reply, ...content }) => ({
    key: content.source.key,
    name: content.source.name,
    reply,
    text: JSON.stringify(content),
  }));
  const { replies } = await store.write((tx) =>
    keepMessages({ tx, connector: 'lab', now: FRIDAY_MS }, kept, new Map()),
  );
  await readMessages(store, parsed);
  return replies;
}

const statuses = async () => {
  const rows = await store.db
    .selectFrom('appointments')
    .select(['source_id', 'content'])
    .orderBy('id')
    .execute();
  return rows.map(({ source_id, content }) => [
    source_id,
    (JSON.parse(content) as AppointmentInput).status,
  ]);
};

describe('messages that arrive together', () => {
  test('all messages are stored with their replies', async () => {
    expect(
      await accept(
        message('1', { appointments: [visit('A')] }),
        message('2', { appointments: [visit('B')] }),
      ),
    ).toEqual(['reply to 1', 'reply to 2']);
    expect(await statuses()).toEqual([
      ['A', 'booked'],
      ['B', 'booked'],
    ]);
  });

  test('a field that is too long loses only its own visit, which is listed', async () => {
    const long = visit('B', { location: 'x'.repeat(1_001) });
    await accept(message('1', { appointments: [visit('A'), long] }));
    expect(await statuses()).toEqual([['A', 'booked']]);
    expect((await openAttention(store.db)).map(({ what }) => what)).toEqual([
      'Appointment 2, location: too long.',
    ]);
  });

  test('a sender whose name is too long is listed, and its time is not used', async () => {
    const by = 'x'.repeat(1_000_000);
    const first = message('1', { appointments: [visit('A')], cancelled_ids: ['y'.repeat(1_001)] });
    const written = { at: '2026-11-23T12:00:00Z', by };
    const answered = await accept({ ...first, source: { ...first.source, written } });
    expect(answered).toEqual(['reply to 1']);
    expect(await statuses()).toEqual([['A', 'booked']]);
    expect((await openAttention(store.db)).map(({ what }) => what)).toEqual([
      'Source, sender: too long.',
      'Cancellation 1, appointment ID: too long.',
    ]);
    const times = await store.db.selectFrom('visit_messages').selectAll().execute();
    expect(JSON.stringify(times)).not.toContain('xxx');
  });

  test('messages about one appointment count in their order', async () => {
    await accept(
      message('1', { appointments: [visit('A')] }),
      message('2', { cancelled_ids: ['A'] }),
      message('3', { appointments: [visit('B')] }),
      message('4', { appointments: [visit('B', { status: 'cancelled' })] }),
      message('5', { appointments: [visit('B')] }),
    );
    expect(await statuses()).toEqual([
      ['A', 'cancelled'],
      ['B', 'booked'],
    ]);
  });

  test('if one message cannot be stored, the others are (G7)', async () => {
    const bad = { ...visit('B'), starts_at: 'no time' };
    await accept(
      message('1', { appointments: [visit('A')] }),
      message('2', { appointments: [bad] }),
      message('3', { appointments: [visit('C')] }),
    );
    expect((await statuses()).map(([id]) => id)).toEqual(['A', 'C']);
    expect(await openAttention(store.db)).toMatchObject([
      { what: 'Message: received, but eligd could not read it.', words: 'It is in 2.' },
    ]);
    expect(await unreadCounts(store.db)).toEqual([]);
  });

  test('large messages are read a few at a time, and a text comes back as it was', async () => {
    const seen: string[] = [];
    const read = (text: string) => {
      seen.push(text);
      return message('1');
    };
    const texts = ['a\0ü\u{1f600}', 'b', 'c', 'd'].map((text) => text.padEnd(3_000_000, 'x'));
    const kept = texts.map((text, index) => ({ key: `${index}`, name: 'M', reply: '', text }));
    await store.write((tx) =>
      keepMessages({ tx, connector: 'lab', now: FRIDAY_MS }, kept, new Map()),
    );
    for (const expected of [2, 2, 0]) {
      const { messages } = await readMessages(store, read);
      expect(messages).toBe(expected);
    }
    expect(seen).toEqual(texts);
  });

  test('a text that the connector cannot read blocks no other, and is listed (G7)', async () => {
    const texts = ['no JSON', JSON.stringify(message('2', { appointments: [visit('A')] }))];
    const kept = texts.map((text, index) => ({
      key: `${index}`,
      name: `${index}`,
      reply: '',
      text,
    }));
    await store.write((tx) =>
      keepMessages({ tx, connector: 'lab', now: FRIDAY_MS }, kept, new Map()),
    );
    const { errors } = await readMessages(store, parsed);
    expect(errors).toHaveLength(1);
    expect(await statuses()).toEqual([['A', 'booked']]);
    expect(await openAttention(store.db)).toMatchObject([{ words: 'It is in 0.' }]);
  });
});

describe('a message that arrives again', () => {
  test('a repeated message gets its first answer and undoes no later change', async () => {
    const first = message('1', { appointments: [visit('A')] });
    await accept(first);
    await accept(message('2', { cancelled_ids: ['A'] }));
    expect(await accept({ ...first, reply: 'another reply' })).toEqual(['reply to 1']);
    expect(await statuses()).toEqual([['A', 'cancelled']]);
  });

  test('a message that arrives twice in one batch is taken once', async () => {
    const first = message('1', { appointments: [visit('A')] });
    expect(await accept(first, message('2', { cancelled_ids: ['A'] }), first)).toEqual([
      'reply to 1',
      'reply to 2',
      'reply to 1',
    ]);
    expect(await statuses()).toEqual([['A', 'cancelled']]);
  });
});

test('canceling an unknown appointment changes nothing', async () => {
  expect(await accept(message('1', { cancelled_ids: ['A'] }))).toEqual(['reply to 1']);
  expect(await statuses()).toEqual([]);
});

test('an unreadable item leaves the list when it arrives in readable form', async () => {
  const rejected = [
    {
      position: 'message 1',
      source_id: 'A',
      field: 'SCH-11',
      value_class: 'not a time',
      remedy: 'Enter the time.',
    },
  ];
  await accept(message('1', { rejected }), message('2', { appointments: [visit('B')] }));
  expect((await openAttention(store.db)).map(({ reason }) => reason)).toEqual(['row_unreadable']);
  await accept(message('3', { appointments: [visit('A')] }));
  expect(await openAttention(store.db)).toEqual([]);
});
