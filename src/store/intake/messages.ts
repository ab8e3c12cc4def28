/**
 * Takes in messages: each is a complete source in one batch, arrives alone, must be answered
 * quickly, and may be sent again.
 */
import type { Tx } from '../engine/database.ts';
import { preparedText } from '../engine/prepared.ts';
import type { NamedAppointment } from './appointments.ts';
import { takeClaims } from './claims.ts';
import {
  type IntakeBatch,
  type IntakeCounts,
  NOTHING_COUNTED,
  takeAppointments,
  takeCancelled,
} from './intake.ts';
import { MessageTimes } from './message-times.ts';
import { takePatientUpdates } from './patients.ts';
import { reject } from './rejected.ts';
import { limited, siftLong } from './sift.ts';

/** A batch that is a complete message, with its reply. */
export type Message = Omit<IntakeBatch, 'source'> & {
  source: IntakeBatch['source'] & { reply: string; written?: { at: string; by: string } };
};

/** `reply`: the message's own, or the stored one if the message came before. */
type MessageOutcome = { reply: string } | { error: unknown };

/**
 * Stores messages that arrived close together: each completely or not at all (G3, G7), in their
 * order, and a repeated one not again. Rows of all messages are written in shared statements,
 * because once they share the disk flush, statements are the main cost.
 */
export async function acceptMessages(
  tx: Tx,
  connector: string,
  messages: readonly Message[],
  now: number,
): Promise<{ outcomes: MessageOutcome[]; counts: IntakeCounts }> {
  const together = await inSavepoint(tx, () => takeAll(tx, connector, messages.map(limited), now));
  if ('value' in together) {
    const { replies, counts } = together.value;
    return { outcomes: replies.map((reply) => ({ reply })), counts };
  }
  if (messages.length === 1) return { outcomes: [together], counts: { ...NOTHING_COUNTED } };
  const outcomes: MessageOutcome[] = [];
  const counts = { ...NOTHING_COUNTED };
  for (const message of messages) {
    const alone = await acceptMessages(tx, connector, [message], now);
    outcomes.push(...alone.outcomes);
    for (const [name, count] of Object.entries(alone.counts))
      counts[name as keyof IntakeCounts] += count;
  }
  return { outcomes, counts };
}

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
  tx: Tx,
  connector: string,
  messages: readonly Message[],
  now: number,
): Promise<{ replies: string[]; counts: IntakeCounts }> {
  const context = { tx, connector, now };
  const counts = { ...NOTHING_COUNTED };
  const { fresh, stored } = await remember(tx, connector, messages, now);
  const times = await MessageTimes.read(tx, connector, messages);
  const replies: string[] = [];
  const taken = new Set<string>();
  let run = new Map<string, NamedAppointment>();
  const finishRun = async () => {
    await takeAppointments(context, [...run.values()], counts);
    run = new Map();
  };
  for (const message of messages) {
    const { source, cancelled_ids = [] } = message;
    replies.push(stored.get(source.key) ?? source.reply);
    const row = fresh.get(source.key);
    if (row === undefined || taken.has(source.key)) continue;
    taken.add(source.key);
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
  return { replies, counts };
}

/**
 * Stores the messages. `fresh`: rows of the new ones; `stored`: replies of repeated ones, by key.
 */
async function remember(
  tx: Tx,
  connector: string,
  messages: readonly Message[],
  now: number,
): Promise<{ fresh: Map<string, number>; stored: Map<string, string> }> {
  const by_key = new Map<string, Message>();
  for (const message of messages)
    if (!by_key.has(message.source.key)) by_key.set(message.source.key, message);
  const stored = new Map<string, string>();
  for (const [key, { source }] of by_key) stored.set(key, source.reply);
  const rows = await tx
    .insertInto('sources')
    .values(
      [...by_key.values()].map(({ source: { key, name, reply } }) => ({
        connector,
        key,
        name,
        first_seen_at: now,
        completed_at: now,
        reply,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'key'])
    .execute();
  const fresh = new Map(rows.map(({ id, key }) => [key, id]));
  const repeated = [...by_key.keys()].filter((key) => !fresh.has(key));
  if (repeated.length > 0) {
    const known = await tx
      .selectFrom('sources')
      .select(['key', 'reply'])
      .where('connector', '=', connector)
      .where('key', 'in', repeated)
      .execute();
    for (const { key, reply } of known) if (reply !== null) stored.set(key, reply);
  }
  return { fresh, stored };
}
