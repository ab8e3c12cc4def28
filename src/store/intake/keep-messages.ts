/**
 * Stores messages that must be answered at once: each arrives alone, and may be sent again. So its
 * text is stored first, which is all that an acknowledgment needs (G3), and read soon after
 * (unread-messages.ts).
 */
import { sql } from 'kysely';
import { FIELD_LENGTH_MAX } from '../../domain/field-length.ts';
import { prepared, preparedRows } from '../engine/prepared.ts';
import type { IntakeContext } from './context.ts';
import { forgetRejectedMessages } from './rejected.ts';
import { ENDED_RUNS_MAX, sizeOf, type Unread } from './unread-messages.ts';

/** The contract's KeptMessage has exactly these parts. */
export type KeptMessage = { key: string; name: string; reply: string; text: string | null };

/** `added`: what became unread. */
type Kept = { replies: string[]; added: Unread[] };

/**
 * Stores messages that are read later. A repeated one is not stored again, unless it could not be
 * read: then it becomes unread again. One that ended eligd too often is never read again, because a
 * file whose reading it interrupted would bring it again at each start (G7). Returns the reply of
 * each: its own, or the stored one if the message came before.
 *
 * `unread`: by key, the messages that may be unread; the database decides. It has no index of their
 * keys, because each acknowledgment would change a page of it. A message that is missing here and
 * comes again gets its own reply, and is not read twice either (`fileSources`).
 */
export async function keepMessages(
  { tx, connector, now }: IntakeContext,
  messages: readonly KeptMessage[],
  unread: ReadonlyMap<string, Unread>,
): Promise<Kept> {
  const first = new Map<string, KeptMessage>();
  /** Of repeated messages. */
  const replies = new Map<string, string>();
  for (const message of messages) {
    const before = first.get(message.key);
    if (before === undefined) first.set(message.key, message);
    else replies.set(message.key, before.reply);
  }
  const keys = [...first.keys()];
  const known = await KNOWN(tx, { connector, keys });
  const ids = keys.flatMap((key) => unread.get(key)?.id ?? []);
  if (ids.length > 0) known.push(...(await STILL_UNREAD(tx, { connector, ids })));
  const added: Unread[] = [];
  for (const { failed, key, reply } of known) {
    const { text = null } = first.get(key) ?? {};
    first.delete(key);
    if (reply !== null) replies.set(key, reply);
    if (failed === null || text === null) continue;
    await READ_AGAIN(tx, { id: failed, text, now });
    await forgetRejectedMessages(tx, connector, [key], now);
    added.push({ id: failed, key, bytes: sizeOf(text) });
  }
  const fresh = [...first.values()].map(({ key, name, reply, text }) => ({
    connector,
    key,
    name: name.slice(0, FIELD_LENGTH_MAX),
    reply,
    received_at: now,
    text,
  }));
  if (fresh.length > 0)
    for (const { id, key } of await ADD(tx, fresh))
      added.push({ id, key, bytes: sizeOf(first.get(key)?.text ?? null) });
  return { replies: messages.map(({ key, reply }) => replies.get(key) ?? reply), added };
}

const ADD = preparedRows<{
  connector: string;
  key: string;
  name: string;
  reply: string;
  received_at: number;
  text: string | null;
}>()((tx, rows) => tx.insertInto('unread_messages').values(rows).returning(['id', 'key']));

const MAY_BE_READ = sql<
  number | null
>`case when ended_runs < ${sql.lit(ENDED_RUNS_MAX)} then id end`;

/**
 * Messages that were read, or set aside. `failed`: the ID of one that is read again if its sender
 * sends it again.
 */
const KNOWN = prepared<{ connector: string; keys: readonly string[] }>()((tx, place) =>
  tx
    .selectFrom('sources')
    .select(['key', 'reply', sql<number | null>`null`.as('failed')])
    .where('connector', '=', place('connector'))
    .where('key', 'in', place('keys'))
    .unionAll((again) =>
      again
        .selectFrom('unread_messages')
        .select(['key', 'reply', MAY_BE_READ.as('failed')])
        .where('connector', '=', place('connector'))
        .where('key', 'in', place('keys'))
        .where('failed_at', 'is not', null),
    ),
);

const STILL_UNREAD = prepared<{ connector: string; ids: readonly number[] }>()((tx, place) =>
  tx
    .selectFrom('unread_messages')
    .select(['key', 'reply', sql<null>`null`.as('failed')])
    .where('connector', '=', place('connector'))
    .where('id', 'in', place('ids'))
    .where('failed_at', 'is', null),
);

/** With the text as it came now: a connector's key may be the sender's own ID of the message. */
const READ_AGAIN = prepared<{ id: number; text: string; now: number }>()((tx, place) =>
  tx
    .updateTable('unread_messages')
    .set({ failed_at: null, ended_runs: 0, received_at: place('now'), text: place('text') })
    .where('id', '=', place('id')),
);
