/** Stores what messages say: many at once, each completely or not at all. */

import type { Tx } from '../engine/database.ts';
import { isOfContent } from '../engine/error-origin.ts';
import { preparedText } from '../engine/prepared.ts';
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
import { reject } from './rejected.ts';
import { limited, siftLong } from './sift.ts';
import { endReading, fileSources, type UnreadMessage } from './unread-messages.ts';

/** What a text says; `written`: when and by whom. */
export type MessageContent = Omit<IntakeBatch, 'source'> & {
  source: IntakeBatch['source'] & { written?: { at: string; by: string } };
};

/** A message with what it says (null: nothing), or why the connector could not read it. */
export type ReadMessage = { of: UnreadMessage } & (
  | { content: MessageContent | null }
  | { error: unknown }
);

/** A message that can be stored. */
type Readable = { of: UnreadMessage; content: MessageContent | null };

/** A message whose content is stored, with the row of its source. */
type Message = MessageContent & { row: number };

/** `errors`: of the messages that are on the attention list instead. */
type Stored = { counts: IntakeCounts; errors: unknown[] };

/**
 * Stores what messages say and that they are read: each completely, or not at all and on the
 * attention list (G2, G7), in their order. Rows of all messages are written in shared statements.
 * Throws when the database is what fails: then nothing is stored, and the messages stay unread.
 */
export async function storeMessages(
  context: IntakeContext,
  messages: readonly ReadMessage[],
): Promise<Stored> {
  const { tx } = context;
  const stored: Stored = { counts: { ...NOTHING_COUNTED }, errors: [] };
  const failed: UnreadMessage[] = [];
  const fail = (of: UnreadMessage, error: unknown) => {
    failed.push(of);
    stored.errors.push(error);
  };
  const readable: Readable[] = [];
  for (const each of messages) {
    if ('error' in each) fail(each.of, each.error);
    else {
      try {
        readable.push({ of: each.of, content: each.content && namedAs(each.of, each.content) });
      } catch (error) {
        fail(each.of, error);
      }
    }
  }
  const together = await inSavepoint(tx, () => takeAll(context, readable));
  if ('value' in together) stored.counts = together.value;
  else
    for (const each of readable) {
      const alone = await inSavepoint(tx, () => takeAll(context, [each]));
      if ('error' in alone) fail(each.of, alone.error);
      else
        for (const [name, count] of Object.entries(alone.value))
          stored.counts[name as keyof IntakeCounts] += count;
    }
  const gone = new Set(failed);
  const read = messages.map(({ of }) => of).filter((of) => !gone.has(of));
  await endReading(context, { read, failed });
  return stored;
}

/** The connector's own names of the source are ignored: those of `keep` are stored. */
function namedAs({ key, name }: UnreadMessage, content: MessageContent): MessageContent {
  return limited({ ...content, source: { ...content.source, key, name } });
}

/** A name that no outer savepoint uses: SQLite rolls back to the innermost savepoint of a name. */
const BEGIN = preparedText('savepoint messages');
const END = preparedText('release messages');
const UNDO = preparedText('rollback to messages');

/**
 * Runs `work`, and undoes it if it fails by its content. When the disk is full, SQLite itself ends
 * the whole transaction; then, and after every other failure of the database, throws.
 */
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
    if (!isOfContent(error)) throw error;
    try {
      await UNDO(tx);
      await END(tx);
    } catch {
      throw error;
    }
    return { error };
  }
}

async function takeAll(
  context: IntakeContext,
  readable: readonly Readable[],
): Promise<IntakeCounts> {
  const { tx, connector, now } = context;
  const rows = await fileSources(
    tx,
    connector,
    readable.map(({ of }) => of),
  );
  const messages = readable.flatMap(({ of, content }): Message[] => {
    const row = rows.get(of.id);
    return row === undefined || content === null ? [] : [{ ...content, row }];
  });
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
