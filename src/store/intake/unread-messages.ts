/**
 * Messages that are acknowledged and not read yet: each arrives alone, must be answered quickly,
 * and may be sent again. So its text is stored first, which is all that an acknowledgment needs
 * (G3), and read soon after (messages.ts).
 */
import { sql } from 'kysely';
import { FIELD_LENGTH_MAX } from '../../domain/field-length.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared, preparedRows } from '../engine/prepared.ts';
import type { IntakeContext } from './context.ts';
import { forgetRejectedMessages, type Rejected, reject } from './rejected.ts';

/** The contract's KeptMessage has exactly these parts. */
export type KeptMessage = { key: string; name: string; reply: string; text: string | null };

/** `added`: how much became unread. */
type Kept = { replies: string[]; added: Backlog };

/** How many messages are unread, and the bytes of their texts. */
export type Backlog = { count: number; bytes: number };

export type UnreadMessage = {
  source: number;
  key: string;
  name: string;
  text: string;
  received_at: number;
};

/** To keep a commit short, and to bound the memory for large messages. */
const READ_TOGETHER = 500;
const READ_BYTES = 8_000_000;
/**
 * A message during whose reading eligd ended this often is set aside: it may be what ends eligd
 * (G7). A kill or a power failure also counts, but hardly ever strikes one message again.
 */
const ENDED_RUNS_MAX = 4;

/**
 * Stores messages that are read later. A repeated one is not stored again, unless it could not be
 * read: then it becomes unread again. One that ended eligd too often is never read again, because a
 * file whose reading it interrupted would bring it again at each start (G7). Returns the reply of
 * each: its own, or the stored one if the message came before.
 */
export async function keepMessages(
  tx: Tx,
  connector: string,
  messages: readonly KeptMessage[],
  now: number,
): Promise<Kept> {
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
  const rows = await ADD_SOURCES(tx, sources);
  const unread = rows.flatMap(({ id, key }) => {
    const text = first.get(key)?.text ?? null;
    return text === null ? [] : [{ source: id, connector, received_at: now, text }];
  });
  if (unread.length > 0) await ADD_UNREAD(tx, unread);
  const added = {
    count: unread.length,
    bytes: unread.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
  };
  const replies = new Map([...first].map(([key, { reply }]) => [key, reply]));
  const fresh = new Set(rows.map(({ key }) => key));
  const keys = [...first.keys()].filter((key) => !fresh.has(key));
  if (keys.length > 0)
    for (const { id, key, reply, may_be_read } of await KNOWN(tx, { connector, keys })) {
      if (reply !== null) replies.set(key, reply);
      const text = first.get(key)?.text ?? null;
      if (may_be_read !== 1 || text === null) continue;
      await READ_AGAIN(tx, { source: id, text, now });
      await SEEN_AGAIN(tx, { source: id, now });
      await forgetRejectedMessages(tx, connector, [key], now);
      added.count += 1;
      added.bytes += Buffer.byteLength(text);
    }
  return { replies: messages.map(({ key, reply }) => replies.get(key) ?? reply), added };
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

const ADD_UNREAD = preparedRows<{
  source: number;
  connector: string;
  received_at: number;
  text: string;
}>()((tx, rows) => tx.insertInto('unread_messages').values(rows));

const MAY_BE_READ = sql<number>`failed_at is not null and ended_runs < ${sql.lit(ENDED_RUNS_MAX)}`;

const KNOWN = prepared<{ connector: string; keys: readonly string[] }>()((tx, place) =>
  tx
    .selectFrom('sources')
    .leftJoin('unread_messages', 'unread_messages.source', 'sources.id')
    .select(['sources.id', 'key', 'reply', MAY_BE_READ.as('may_be_read')])
    .where('sources.connector', '=', place('connector'))
    .where('key', 'in', place('keys')),
);

/** With the text as it came now: a connector's key may be the sender's own ID of the message. */
const READ_AGAIN = prepared<{ source: number; text: string; now: number }>()((tx, place) =>
  tx
    .updateTable('unread_messages')
    .set({ failed_at: null, ended_runs: 0, received_at: place('now'), text: place('text') })
    .where('source', '=', place('source')),
);

const SEEN_AGAIN = prepared<{ source: number; now: number }>()((tx, place) =>
  tx
    .updateTable('sources')
    .set({ first_seen_at: place('now') })
    .where('id', '=', place('source')),
);

/** Returns how much of a connector is unread. Reads all of it, so it is called once. */
export async function unreadBacklog(db: Db, connector: string): Promise<Backlog> {
  return await db
    .selectFrom('unread_messages')
    .select((select) => [
      select.fn.countAll<number>().as('count'),
      sql<number>`coalesce(sum(octet_length(text)), 0)`.as('bytes'),
    ])
    .where('connector', '=', connector)
    .where('failed_at', 'is', null)
    .executeTakeFirstOrThrow();
}

/** Returns the source of a connector's last unread message; null: every message is read. */
export async function lastUnread(db: Db, connector: string): Promise<number | null> {
  return (await END_OF(db, { connector }, 'desc'))[0]?.source ?? null;
}

/** Returns the source of a connector's oldest unread message; null: every message is read. */
export async function firstUnread(db: Db, connector: string): Promise<number | null> {
  return (await END_OF(db, { connector }, 'asc'))[0]?.source ?? null;
}

const END_OF = prepared<{ connector: string }>()((db, place, order: 'asc' | 'desc') =>
  db
    .selectFrom('unread_messages')
    .select('source')
    .where('connector', '=', place('connector'))
    .where('failed_at', 'is', null)
    .orderBy('source', order)
    .limit(sql.lit(1)),
);

/**
 * Counts an earlier process that ended while it read messages. Those are then read one by one, so
 * that only the one that ended it is set aside. Called once in each process, before reading.
 */
export async function noteEndedRun(tx: Tx, connector: string): Promise<void> {
  const begun = await tx
    .deleteFrom('messages_being_read')
    .where('connector', '=', connector)
    .returning('last_source')
    .executeTakeFirst();
  if (begun === undefined) return;
  await tx
    .updateTable('unread_messages')
    .set(({ ref }) => ({ ended_runs: sql`${ref('ended_runs')} + 1` }))
    .where('connector', '=', connector)
    .where('failed_at', 'is', null)
    .where('source', '<=', begun.last_source)
    .execute();
}

/**
 * Returns the oldest unread messages that are read together, in their order, and stores that
 * reading them has begun: this commit comes before the reading. Sets messages aside that have
 * ended eligd too often; `set_aside`: those. `is_single`: reads only the oldest one.
 */
export async function beginReading(
  context: IntakeContext,
  { is_single }: { is_single: boolean },
): Promise<{ messages: UnreadMessage[]; set_aside: Backlog }> {
  const { tx, connector } = context;
  const set_aside = { count: 0, bytes: 0 };
  for (;;) {
    const sizes = await SIZES(tx, { connector }, is_single ? 1 : READ_TOGETHER);
    const { last, alone } = batchOf(sizes);
    if (last === null) return { messages: [], set_aside };
    const rows = await UNREAD(tx, { connector, last });
    const [first] = rows;
    if (!alone || first === undefined || first.ended_runs < ENDED_RUNS_MAX) {
      await BEGIN(tx, { connector, last });
      return { messages: rows, set_aside };
    }
    await setAside(context, [first], ENDS_ELIGD);
    set_aside.count += 1;
    set_aside.bytes += Buffer.byteLength(first.text);
  }
}

type Size = { source: number; size: number; ended_runs: number };

/**
 * Returns the last of the messages that are read together; null: there is none. `alone`: the first
 * one may have ended eligd, so it is read alone.
 */
function batchOf(sizes: readonly Size[]): { last: number | null; alone: boolean } {
  const [first] = sizes;
  if (first === undefined) return { last: null, alone: false };
  if (first.ended_runs > 0) return { last: first.source, alone: true };
  let bytes = 0;
  const end = sizes.findIndex(({ size, ended_runs }, index) => {
    bytes += size;
    return index > 0 && (bytes > READ_BYTES || ended_runs > 0);
  });
  return { last: sizes.at(end === -1 ? -1 : end - 1)?.source ?? null, alone: false };
}

const SIZES = prepared<{ connector: string }>()((tx, place, limit: number) =>
  tx
    .selectFrom('unread_messages')
    .select(['source', 'ended_runs', sql<number>`octet_length(text)`.as('size')])
    .where('connector', '=', place('connector'))
    .where('failed_at', 'is', null)
    .orderBy('source')
    .limit(sql.lit(limit)),
);

const UNREAD = prepared<{ connector: string; last: number }>()((tx, place) =>
  tx
    .selectFrom('unread_messages')
    .innerJoin('sources', 'sources.id', 'unread_messages.source')
    .select(['source', 'key', 'name', 'text', 'received_at', 'ended_runs'])
    .where('unread_messages.connector', '=', place('connector'))
    .where('failed_at', 'is', null)
    .where('source', '<=', place('last'))
    .orderBy('source'),
);

const BEGIN = prepared<{ connector: string; last: number }>()((tx, place) =>
  tx
    .insertInto('messages_being_read')
    .values({ connector: place('connector'), last_source: place('last') })
    .onConflict((conflict) =>
      conflict.column('connector').doUpdateSet({ last_source: place('last') }),
    ),
);

/** Stores that these messages are read. Sets those aside that could not be read. */
export async function endReading(
  context: IntakeContext,
  { read, failed }: { read: readonly UnreadMessage[]; failed: readonly UnreadMessage[] },
): Promise<void> {
  const { tx, connector } = context;
  await setAside(context, failed, UNREADABLE);
  if (read.length > 0) await FORGET(tx, { sources: read.map(({ source }) => source) });
  await END(tx, { connector });
}

const FORGET = prepared<{ sources: readonly number[] }>()((tx, place) =>
  tx.deleteFrom('unread_messages').where('source', 'in', place('sources')),
);

const END = prepared<{ connector: string }>()((tx, place) =>
  tx.deleteFrom('messages_being_read').where('connector', '=', place('connector')),
);

/**
 * Sets an unread message aside because the database fails whenever eligd stores what it says.
 * Returns how much that was.
 */
export async function setAsideUnstored(context: IntakeContext, source: number): Promise<Backlog> {
  const rows = await context.tx
    .selectFrom('unread_messages')
    .innerJoin('sources', 'sources.id', 'unread_messages.source')
    .select(['source', 'key', 'name', sql<number>`octet_length(text)`.as('bytes')])
    .where('source', '=', source)
    .where('failed_at', 'is', null)
    .execute();
  await setAside(context, rows, UNSTORED);
  return { count: rows.length, bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Puts messages on the attention list (G2). Their texts stay, so that they can be read again. */
async function setAside(
  context: IntakeContext,
  messages: readonly Pick<UnreadMessage, 'source' | 'key' | 'name'>[],
  item: Rejected,
): Promise<void> {
  const { tx, now } = context;
  for (const { source, key, name } of messages) {
    await tx
      .updateTable('unread_messages')
      .set({ failed_at: now })
      .where('source', '=', source)
      .execute();
    await reject(context, { key, name }, item);
  }
}

const REMEDY =
  'If it is about a visit, call the payer yourself. Report it to the administrator of eligd. The ' +
  'sender can find the message by its control ID; let it send the current state of the visit as ' +
  'a new message, and not this one again, which may be outdated by now.';

const UNREADABLE: Rejected = {
  position: 'message',
  field: 'message',
  value_class: 'received, but eligd could not read it',
  remedy: REMEDY,
};

const ENDS_ELIGD: Rejected = {
  ...UNREADABLE,
  value_class: `received, but eligd ended ${ENDED_RUNS_MAX} times while it read it`,
};

const UNSTORED: Rejected = {
  ...UNREADABLE,
  value_class: 'received, but the database failed each time eligd stored what it says',
  remedy: `${REMEDY} The database may be damaged: run "eligd check".`,
};

/** `since`: when the message arrived that has been unread longest. */
export type UnreadCount = { connector: string; count: number; since: number };

/**
 * Returns how many messages are unread, also those of connectors that no longer exist. Reads only
 * the index of `unread_messages`: their pages may be damaged.
 */
export async function unreadCounts(db: Db): Promise<UnreadCount[]> {
  return await COUNTS(db, {});
}

const COUNTS = prepared()((db) =>
  db
    .selectFrom(({ selectFrom }) =>
      selectFrom('unread_messages')
        .select((select) => [
          'connector',
          select.fn.countAll<number>().as('count'),
          select.fn.min('source').as('first'),
        ])
        .where('failed_at', 'is', null)
        .groupBy('connector')
        .as('unread'),
    )
    .innerJoin('sources', 'sources.id', 'unread.first')
    .select(['unread.connector', 'unread.count', 'sources.first_seen_at as since']),
);
