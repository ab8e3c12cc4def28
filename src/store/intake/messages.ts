/**
 * Takes in messages: each arrives alone, must be answered quickly, and may be sent again. So its
 * text is stored first, which is all that an acknowledgment needs (G3), and read soon after.
 */
import { sql } from 'kysely';
import { FIELD_LENGTH_MAX } from '../../domain/field-length.ts';
import type { Tx } from '../engine/database.ts';
import { prepared, preparedRows, preparedText } from '../engine/prepared.ts';
import type { NamedAppointment } from './appointments.ts';
import { takeClaims } from './claims.ts';
import type { IntakeContext } from './context.ts';
import {
  type IntakeBatch,
  type IntakeCounts,
  NOTHING_COUNTED,
  takeAppointments,
  takeCancelled,
} from './intake.ts';
import { MessageTimes } from './message-times.ts';
import { takePatientUpdates } from './patients.ts';
import { type Rejected, reject } from './rejected.ts';
import { limited, siftLong } from './sift.ts';

/** The contract's KeptMessage has exactly these parts. */
export type KeptMessage = { key: string; name: string; reply: string; text: string | null };

/** What a text says; `written`: when and by whom. */
export type MessageContent = Omit<IntakeBatch, 'source'> & {
  source: IntakeBatch['source'] & { written?: { at: string; by: string } };
};

/** A message that is being read, with the row of its source. */
type Message = MessageContent & { row: number };

/** To keep a commit short, and to bound the memory for large messages. */
const READ_TOGETHER = 500;
const READ_BYTES = 8_000_000;

/**
 * Stores messages that `readMessages` reads later, a repeated one not again. Returns the reply of
 * each: its own, or the stored one if the message came before.
 */
export async function keepMessages(
  tx: Tx,
  connector: string,
  messages: readonly KeptMessage[],
  now: number,
): Promise<string[]> {
  const first = new Map<string, KeptMessage>();
  for (const message of messages) if (!first.has(message.key)) first.set(message.key, message);
  const sources = [...first.values()].map(({ key, name, reply }) => ({
    connector,
    key,
    name: name.slice(0, FIELD_LENGTH_MAX),
    first_seen_at: now,
    completed_at: now,
    reply,
  }));
  const added = await ADD_SOURCES(tx, sources);
  const unread = added.flatMap(({ id, key }) => {
    const text = first.get(key)?.text ?? null;
    return text === null ? [] : [{ source: id, connector, text }];
  });
  await ADD_UNREAD(tx, unread);
  const replies = new Map([...first].map(([key, { reply }]) => [key, reply]));
  const fresh = new Set(added.map(({ key }) => key));
  const keys = [...first.keys()].filter((key) => !fresh.has(key));
  if (keys.length > 0)
    for (const { key, reply } of await REPLIES(tx, { connector, keys }))
      if (reply !== null) replies.set(key, reply);
  return messages.map(({ key, reply }) => replies.get(key) ?? reply);
}

const ADD_SOURCES = preparedRows<{
  connector: string;
  key: string;
  name: string;
  first_seen_at: number;
  completed_at: number;
  reply: string;
}>()((tx, rows) =>
  tx
    .insertInto('sources')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'key']),
);

const ADD_UNREAD = preparedRows<{ source: number; connector: string; text: string }>()((tx, rows) =>
  tx.insertInto('unread_messages').values(rows),
);

const REPLIES = prepared<{ connector: string; keys: readonly string[] }>()((tx, place) =>
  tx
    .selectFrom('sources')
    .select(['key', 'reply'])
    .where('connector', '=', place('connector'))
    .where('key', 'in', place('keys')),
);

/**
 * `messages`: how many were read; `has_more`: others are still unread; `errors`: of those that are
 * on the attention list instead.
 */
type ReadResult = {
  messages: number;
  has_more: boolean;
  counts: IntakeCounts;
  errors: unknown[];
};

/**
 * Reads the oldest unread messages: each completely, or not at all and on the attention list (G2,
 * G7), in their order. Rows of all messages are written in shared statements.
 */
export async function readMessages(
  tx: Tx,
  connector: string,
  read: (text: string, received_at: number) => MessageContent,
  now: number,
): Promise<ReadResult> {
  const context = { tx, connector, now };
  const { unread, has_more } = await unreadMessages(tx, connector);
  const counts = { ...NOTHING_COUNTED };
  const result: ReadResult = { messages: unread.length, has_more, counts, errors: [] };
  if (unread.length === 0) return result;
  const messages: Message[] = [];
  const fail = async ({ key, name }: { key: string; name: string }, error: unknown) => {
    result.errors.push(error);
    await reject(context, { key, name }, UNREADABLE);
  };
  for (const { source: row, text, first_seen_at, key, name } of unread) {
    try {
      const content = read(text, first_seen_at);
      messages.push(limited({ ...content, row, source: { ...content.source, key, name } }));
    } catch (error) {
      await fail({ key, name }, error);
    }
  }
  const together = await inSavepoint(tx, () => takeAll(context, messages));
  if ('value' in together) result.counts = together.value;
  else
    for (const message of messages) {
      const alone = await inSavepoint(tx, () => takeAll(context, [message]));
      if ('error' in alone) await fail(message.source, alone.error);
      else
        for (const [name, count] of Object.entries(alone.value))
          result.counts[name as keyof IntakeCounts] += count;
    }
  await FORGET(tx, { sources: unread.map(({ source }) => source) });
  return result;
}

/** Returns the oldest messages that are read together, at least one if there is any. */
async function unreadMessages(tx: Tx, connector: string) {
  const sizes = await SIZES(tx, { connector });
  let bytes = 0;
  const end = sizes.findIndex(({ size }, index) => {
    bytes += size;
    return index > 0 && bytes > READ_BYTES;
  });
  const last = sizes.at(end === -1 ? -1 : end - 1)?.source;
  return {
    unread: last === undefined ? [] : await UNREAD(tx, { connector, last }),
    has_more: end !== -1 || sizes.length === READ_TOGETHER,
  };
}

const SIZES = prepared<{ connector: string }>()((tx, place) =>
  tx
    .selectFrom('unread_messages')
    .select(['source', sql<number>`octet_length(text)`.as('size')])
    .where('connector', '=', place('connector'))
    .orderBy('source')
    .limit(sql.lit(READ_TOGETHER)),
);

const UNREAD = prepared<{ connector: string; last: number }>()((tx, place) =>
  tx
    .selectFrom('unread_messages')
    .innerJoin('sources', 'sources.id', 'unread_messages.source')
    .select(['source', 'text', 'first_seen_at', 'key', 'name'])
    .where('unread_messages.connector', '=', place('connector'))
    .where('source', '<=', place('last'))
    .orderBy('source'),
);

const FORGET = prepared<{ sources: readonly number[] }>()((tx, place) =>
  tx.deleteFrom('unread_messages').where('source', 'in', place('sources')),
);

/** The message is acknowledged, so its sender does not send it again. */
const UNREADABLE: Rejected = {
  position: 'message',
  field: 'message',
  value_class: 'received, but eligd could not read it',
  remedy:
    'If it is about a visit, call the payer yourself. Report it to the administrator of eligd; ' +
    'the sender can find the message by its control ID.',
};

/** A name that no outer savepoint uses: SQLite rolls back to the innermost savepoint of a name. */
const BEGIN = preparedText('savepoint messages');
const END = preparedText('release messages');
const UNDO = preparedText('rollback to messages');

async function inSavepoint<Value>(
  tx: Tx,
  work: () => Promise<Value>,
): Promise<{ value: Value } | { error: unknown }> {
  await BEGIN(tx);
  try {
    const value = await work();
    await END(tx);
    return { value };
  } catch (error) {
    await UNDO(tx);
    await END(tx);
    return { error };
  }
}

async function takeAll(
  context: IntakeContext,
  messages: readonly Message[],
): Promise<IntakeCounts> {
  const { tx, connector, now } = context;
  const counts = { ...NOTHING_COUNTED };
  const times = await MessageTimes.read(tx, connector, messages);
  let run = new Map<string, NamedAppointment>();
  const finishRun = async () => {
    await takeAppointments(context, [...run.values()], counts);
    run = new Map();
  };
  for (const message of messages) {
    const { source, row, cancelled_ids = [] } = message;
    if (times.isLate(message)) {
      await finishRun();
      await times.recordLate(message, now);
      continue;
    }
    times.note(message);
    const { appointments, claims, patients, ...sifted } = siftLong(message);
    const rejected = [...message.rejected, ...sifted.rejected];
    // Messages that may concern the same appointment or patient keep their order.
    const is_plain = patients.length === 0 && cancelled_ids.length === 0;
    if (!is_plain || appointments.some(({ source_id }) => run.has(source_id))) await finishRun();
    await takePatientUpdates(context, patients, counts);
    await takeCancelled(context, { source_ids: cancelled_ids, source: row }, counts);
    for (const appointment of appointments)
      run.set(appointment.source_id, { appointment, source: row });
    await takeClaims(context, { claims, source: row }, counts);
    for (const item of rejected) await reject(context, source, item);
    counts.rejected += rejected.length;
  }
  await finishRun();
  await times.write();
  return counts;
}
