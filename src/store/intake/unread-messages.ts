/** Messages that are acknowledged (keep-messages.ts) and not read yet (messages.ts). */
import { sql } from 'kysely';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import type { IntakeContext } from './context.ts';
import { type Rejected, reject } from './rejected.ts';

/** What a process knows of an unread message. `bytes`: of its text. */
export type Unread = { id: number; key: string; bytes: number };

/** `text`: null if there is nothing to read. */
export type UnreadMessage = {
  id: number;
  key: string;
  name: string;
  text: string | null;
  received_at: number;
};

/** To keep a commit short, and to bound the memory for large messages. */
const READ_TOGETHER = 500;
const READ_BYTES = 8_000_000;
/**
 * A message during whose reading eligd ended this often is set aside: it may be what ends eligd
 * (G7). A kill or a power failure also counts, but hardly ever strikes one message again.
 */
export const ENDED_RUNS_MAX = 4;

/** Returns what is unread of a connector. Reads all of it, so it is called once. */
export async function allUnread(db: Db, connector: string): Promise<Unread[]> {
  return await db
    .selectFrom('unread_messages')
    .select(['id', 'key', OCTETS.as('bytes')])
    .where('connector', '=', connector)
    .where('failed_at', 'is', null)
    .execute();
}

const OCTETS = sql<number>`coalesce(octet_length(text), 0)`;

/** Returns the number of a connector's last unread message; null: every message is read. */
export async function lastUnread(db: Db, connector: string): Promise<number | null> {
  return (await END_OF(db, { connector }, 'desc'))[0]?.id ?? null;
}

/** Returns the number of a connector's oldest unread message; null: every message is read. */
export async function firstUnread(db: Db, connector: string): Promise<number | null> {
  return (await END_OF(db, { connector }, 'asc'))[0]?.id ?? null;
}

const END_OF = prepared<{ connector: string }>()((db, place, order: 'asc' | 'desc') =>
  db
    .selectFrom('unread_messages')
    .select('id')
    .where('connector', '=', place('connector'))
    .where('failed_at', 'is', null)
    .orderBy('id', order)
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
    .returning('last_message')
    .executeTakeFirst();
  if (begun === undefined) return;
  await tx
    .updateTable('unread_messages')
    .set(({ ref }) => ({ ended_runs: sql`${ref('ended_runs')} + 1` }))
    .where('connector', '=', connector)
    .where('failed_at', 'is', null)
    .where('id', '<=', begun.last_message)
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
): Promise<{ messages: UnreadMessage[]; set_aside: Unread[] }> {
  const { tx, connector } = context;
  const set_aside: Unread[] = [];
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
    set_aside.push(unreadOf(first));
  }
}

type Size = { id: number; size: number; ended_runs: number };

/**
 * Returns the last of the messages that are read together; null: there is none. `alone`: the first
 * one may have ended eligd, so it is read alone.
 */
function batchOf(sizes: readonly Size[]): { last: number | null; alone: boolean } {
  const [first] = sizes;
  if (first === undefined) return { last: null, alone: false };
  if (first.ended_runs > 0) return { last: first.id, alone: true };
  let bytes = 0;
  const end = sizes.findIndex(({ size, ended_runs }, index) => {
    bytes += size;
    return index > 0 && (bytes > READ_BYTES || ended_runs > 0);
  });
  return { last: sizes.at(end === -1 ? -1 : end - 1)?.id ?? null, alone: false };
}

const SIZES = prepared<{ connector: string }>()((tx, place, limit: number) =>
  tx
    .selectFrom('unread_messages')
    .select(['id', 'ended_runs', OCTETS.as('size')])
    .where('connector', '=', place('connector'))
    .where('failed_at', 'is', null)
    .orderBy('id')
    .limit(sql.lit(limit)),
);

const UNREAD = prepared<{ connector: string; last: number }>()((tx, place) =>
  tx
    .selectFrom('unread_messages')
    .select(['id', 'key', 'name', 'text', 'received_at', 'ended_runs'])
    .where('connector', '=', place('connector'))
    .where('failed_at', 'is', null)
    .where('id', '<=', place('last'))
    .orderBy('id'),
);

const BEGIN = prepared<{ connector: string; last: number }>()((tx, place) =>
  tx
    .insertInto('messages_being_read')
    .values({ connector: place('connector'), last_message: place('last') })
    .onConflict((conflict) =>
      conflict.column('connector').doUpdateSet({ last_message: place('last') }),
    ),
);

/** Returns what a process knows of this message. */
export const unreadOf = ({ id, key, text }: UnreadMessage): Unread => ({
  id,
  key,
  bytes: sizeOf(text),
});

/** Returns the bytes of a text. */
export const sizeOf = (text: string | null): number =>
  text === null ? 0 : Buffer.byteLength(text);

/**
 * Adds messages to the sources, with their replies, because they are read now. Returns the source
 * of each, by its ID; none for one that was read before: it must not be read again.
 */
export async function fileSources(
  tx: Tx,
  connector: string,
  messages: readonly UnreadMessage[],
): Promise<Map<number, number>> {
  const filed = new Map<number, number>();
  if (messages.length === 0) return filed;
  const first = new Map<string, number>();
  for (const { id, key } of messages) if (!first.has(key)) first.set(key, id);
  const ids = messages.map(({ id }) => id);
  for (const { id: source, key } of await FILE(tx, { connector, ids })) {
    const id = first.get(key);
    if (id !== undefined) filed.set(id, source);
  }
  return filed;
}

const FILE = prepared<{ connector: string; ids: readonly number[] }>()((tx, place) =>
  tx
    .insertInto('sources')
    .columns(['connector', 'key', 'name', 'reply', 'first_seen_at', 'completed_at'])
    .expression((select) =>
      select
        .selectFrom('unread_messages')
        .select(['connector', 'key', 'name', 'reply', 'received_at', 'received_at as completed_at'])
        .where('connector', '=', place('connector'))
        .where('id', 'in', place('ids'))
        .orderBy('id'),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'key']),
);

/** Stores that these messages are read. Sets those aside that could not be read. */
export async function endReading(
  context: IntakeContext,
  { read, failed }: { read: readonly UnreadMessage[]; failed: readonly UnreadMessage[] },
): Promise<void> {
  const { tx, connector } = context;
  await setAside(context, failed, UNREADABLE);
  if (read.length > 0) await FORGET(tx, { ids: read.map(({ id }) => id) });
  await END(tx, { connector });
}

const FORGET = prepared<{ ids: readonly number[] }>()((tx, place) =>
  tx.deleteFrom('unread_messages').where('id', 'in', place('ids')),
);

const END = prepared<{ connector: string }>()((tx, place) =>
  tx.deleteFrom('messages_being_read').where('connector', '=', place('connector')),
);

/**
 * Sets an unread message aside because the database fails whenever eligd stores what it says.
 * Returns it.
 */
export async function setAsideUnstored(context: IntakeContext, id: number): Promise<Unread[]> {
  const rows = await context.tx
    .selectFrom('unread_messages')
    .select(['id', 'key', 'name', OCTETS.as('bytes')])
    .where('id', '=', id)
    .where('failed_at', 'is', null)
    .execute();
  await setAside(context, rows, UNSTORED);
  return rows;
}

/** Puts messages on the attention list (G2). Their texts stay, so that they can be read again. */
async function setAside(
  context: IntakeContext,
  messages: readonly Pick<UnreadMessage, 'id' | 'key' | 'name'>[],
  item: Rejected,
): Promise<void> {
  const { tx, now } = context;
  for (const { id, key, name } of messages) {
    await tx.updateTable('unread_messages').set({ failed_at: now }).where('id', '=', id).execute();
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
    .selectFrom('unread_messages')
    .select((select) => [
      'connector',
      select.fn.countAll<number>().as('count'),
      select.fn.min('received_at').as('since'),
    ])
    .where('failed_at', 'is', null)
    .groupBy('connector'),
);
