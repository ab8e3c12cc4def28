/**
 * The inbox of webhook messages: stored raw before they are acknowledged (G3), drained by the
 * collect stage.
 */
import { sql } from 'kysely';
import type { Clock } from '../../domain/env.ts';
import type { Db, Tx } from '../engine/database.ts';
import { GroupCommit } from '../engine/group-commit.ts';
import { prepared, preparedRows } from '../engine/prepared.ts';
import type { Store } from '../engine/store.ts';

type InboxMessage = { message_hash: string; body: Buffer; received_at: number };

/** The maximum number of rows in one commit, so that no message waits long for the others. */
const MESSAGES_PER_COMMIT_MAX = 200;
/** How long a commit waits for the messages that it expects. */
const GATHER_MS_MAX = 5;

export type Inbox = {
  /**
   * Resolves after the commit. `duplicate`: a message with this hash was already stored, and this
   * one is dropped.
   */
  accept: (message: InboxMessage) => Promise<'stored' | 'duplicate'>;
};

/** Opens the inbox. Messages that arrive at the same time share one statement and one commit. */
export function openInbox(store: Store, clock: Clock): Inbox {
  // The size of the last commit. Probably as many senders are waiting, and each sends its next
  // message after its reply. Waiting for all makes one commit of eight instead of two of four.
  let expected = 1;
  let onArrival = () => {};
  const messages = new GroupCommit<InboxMessage, 'stored' | 'duplicate'>({
    items_per_commit_max: MESSAGES_PER_COMMIT_MAX,
    gather: async (waiting) => {
      if (waiting() >= expected) return;
      const all_in = new AbortController();
      onArrival = () => {
        if (waiting() >= expected) all_in.abort();
      };
      await clock.sleep(GATHER_MS_MAX, all_in.signal).catch(() => {});
      onArrival = () => {};
    },
    commit: async (take) => {
      const { batch, stored } = await store.write(async (tx) => {
        const taken = take();
        return { batch: taken, stored: await insertMessages(tx, taken) };
      });
      expected = batch.length;
      return batch.map(({ message_hash }) => ({
        value: stored.delete(message_hash) ? ('stored' as const) : ('duplicate' as const),
      }));
    },
  });
  return {
    accept: (message) => {
      const accepted = messages.add(message);
      onArrival();
      return accepted;
    },
  };
}

/** Inserts the messages and returns the hashes of those that are new. */
async function insertMessages(tx: Tx, messages: readonly InboxMessage[]): Promise<Set<string>> {
  const rows = await ADD_MESSAGES(
    tx,
    messages.map(({ message_hash, body, received_at }) => ({ message_hash, body, received_at })),
  );
  return new Set(rows.map(({ message_hash }) => message_hash));
}

const ADD_MESSAGES = preparedRows<InboxMessage>()((tx, rows) =>
  tx
    .insertInto('inbox')
    .values(rows)
    .onConflict((conflict) => conflict.column('message_hash').doNothing())
    .returning('message_hash'),
);

/** Returns undrained messages after the row `after`, oldest first. */
export async function messagesToDrain(
  db: Db,
  after: number,
  limit: number,
): Promise<{ id: number; body: Buffer }[]> {
  const rows = await TO_DRAIN(db, { after }, limit);
  return rows.flatMap(({ id, body }) => (body === null ? [] : [{ id, body }]));
}

const TO_DRAIN = prepared<{ after: number }>()((db, place, limit: number) =>
  db
    .selectFrom('inbox')
    .select(['id', 'body'])
    .where('body', 'is not', null)
    .where('id', '>', place('after'))
    .orderBy('id')
    .limit(sql.lit(limit)),
);

/** Returns whether a message with this hash was ever stored. */
export async function isInInbox(db: Db, message_hash: string): Promise<boolean> {
  return (
    (await db
      .selectFrom('inbox')
      .select('id')
      .where('message_hash', '=', message_hash)
      .executeTakeFirst()) !== undefined
  );
}

/** Deletes the content of a processed message. Its hash stays permanently. */
export async function dropBody(tx: Tx, id: number): Promise<void> {
  await tx.updateTable('inbox').set({ body: null }).where('id', '=', id).execute();
}

/**
 * Saves the IDs of inquiries in a message that eligd does not know yet, and nothing else of them.
 */
export async function keepUnknown(
  tx: Tx,
  unknown: readonly { service_id: string; has_ended: boolean }[],
  now: number,
): Promise<void> {
  if (unknown.length === 0) return;
  await tx
    .insertInto('inbox_unknown')
    .values(
      unknown.map(({ service_id, has_ended }) => ({
        service_id,
        has_ended: has_ended ? 1 : 0,
        first_seen_at: now,
      })),
    )
    // An end stays one: events can arrive in another order than they happened.
    .onConflict((conflict) =>
      conflict
        .column('service_id')
        .doUpdateSet({ has_ended: 1 })
        .where('excluded.has_ended', '=', 1),
    )
    .execute();
}

export async function hasUnknown(db: Db): Promise<boolean> {
  return (await ONE_UNKNOWN(db, {})).length > 0;
}

const ONE_UNKNOWN = prepared()((db) =>
  db.selectFrom('inbox_unknown').select('service_id').limit(sql.lit(1)),
);

/**
 * Removes IDs that now belong to our inquiries. Returns the rows of those inquiries that the
 * service has ended.
 */
export async function takeKnown(tx: Tx): Promise<number[]> {
  const listed = await tx
    .selectFrom('inbox_unknown')
    .innerJoin('calls', 'calls.service_id', 'inbox_unknown.service_id')
    .select(['inbox_unknown.service_id', 'has_ended', 'calls.inquiry', 'calls.role'])
    .execute();
  // As a condition of the statement, SQLite would read every call.
  const known = listed.filter(({ role }) => role === 'serves');
  for (const { service_id } of known)
    await tx.deleteFrom('inbox_unknown').where('service_id', '=', service_id).execute();
  return known.flatMap(({ inquiry, has_ended }) =>
    has_ended === 1 && inquiry !== null ? [inquiry] : [],
  );
}

/**
 * Deletes the remaining IDs, unless the ID of an inquiry in flight is still unknown. Returns how
 * many were not ours.
 */
export async function forgetUnknown(tx: Tx): Promise<number> {
  const unsettled = await tx
    .selectFrom('inquiries')
    .select('id')
    .where('state', 'in', ['sending', 'uncertain'])
    .limit(sql.lit(1))
    .executeTakeFirst();
  if (unsettled !== undefined) return 0;
  const deleted = await tx.deleteFrom('inbox_unknown').returning('service_id').execute();
  return deleted.length;
}
