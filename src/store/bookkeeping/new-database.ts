/**
 * Detects that a new database has silently replaced a lost one. If there are signs of an earlier
 * database, eligd sends nothing until the operator confirms.
 */
import { type SqlBool, sql } from 'kysely';
import { DAY_MS } from '../../domain/time.ts';
import { halt } from '../calls/halts.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import type { Store } from '../engine/store.ts';
import { forgetLearned, readLearned, writeLearned } from './learned-settings.ts';

/** Set once eligd has searched for an older database, which it does once for each database. */
const SEARCHED = 'older_database_looked_for';
/** Since when, and up to which inquiry, eligd has searched for calls of an older database. */
const WATCHING = 'older_calls_looked_for';

/** Returns whether this database is new, so that eligd must search for an older one. */
export async function isUnexplained(db: Db): Promise<boolean> {
  if ((await readLearned(db, SEARCHED)) !== null) return false;
  const known = await db.selectFrom('sources').select('id').executeTakeFirst();
  return known === undefined;
}

/**
 * Saves the result of the search. Stops submission if there are `traces`, which are parts of a
 * sentence; otherwise starts to watch for older calls.
 */
export async function explainDatabase(
  store: Store,
  traces: readonly string[],
  now: number,
): Promise<void> {
  await store.write(async (tx) => {
    await writeLearned(tx, SEARCHED, String(traces.length), now);
    if (traces.length > 0) await stop(tx, traces, now);
    else await writeLearned(tx, WATCHING, JSON.stringify({ since: now, checked: 0 }), now);
  });
}

/**
 * Stops the watch after a restore: whoever restored the backup knows that calls were made since.
 */
export async function forgetOlderCalls(tx: Tx): Promise<void> {
  await forgetLearned(tx, WATCHING);
}

/** Returns whether this database is so new that eligd still watches for older calls. */
export async function isWatchingForOlderCalls(db: Db | Tx): Promise<boolean> {
  return (await readLearned(db, WATCHING)) !== null;
}

/**
 * Stops submission when the calling service lists a call of ours that this database did not make:
 * the same label for the same question. Checks each inquiry of the first day once. `is_compared`:
 * every relevant list has been compared. Returns whether it stopped.
 */
export async function stopForOlderCalls(
  tx: Tx,
  { is_compared, now }: { is_compared: boolean; now: number },
): Promise<boolean> {
  const setting = await readLearned(tx, WATCHING);
  if (setting === null) return false;
  const { since, checked } = JSON.parse(setting.value) as { since: number; checked: number };
  if (now - since > DAY_MS) {
    await forgetLearned(tx, WATCHING);
    return false;
  }
  const [older] = await OLDER_CALL(tx, { after: checked });
  if (older !== undefined) {
    await forgetLearned(tx, WATCHING);
    await stop(tx, ['the calling service lists calls of ours that it does not know'], now);
    return true;
  }
  const [newest] = await LAST_INQUIRY(tx, {});
  const last = newest?.id ?? 0;
  if (is_compared && last > checked)
    await writeLearned(tx, WATCHING, JSON.stringify({ since, checked: last }), now);
  return false;
}

const OLDER_CALL = prepared<{ after: number }>()((db, place) =>
  db
    .selectFrom('inquiries as i')
    .innerJoin('calls as c', 'c.match_key', 'i.match_key')
    .select('i.id')
    .where('i.id', '>', place('after'))
    .where('c.body', 'is', null)
    .whereRef('c.specialty', '=', 'i.specialty')
    .where(sql<SqlBool>`c.external_id = upper(trim(i.external_id))`)
    // The list may show a call of this database twice, or a call of an earlier attempt that this
    // database took for proven absent; neither is an older call.
    .where(
      sql<SqlBool>`not exists (
        select 1 from calls as own
        where own.match_key = c.match_key and own.external_id = c.external_id
          and own.specialty = c.specialty and own.body is not null)`,
    )
    .limit(1),
);

const LAST_INQUIRY = prepared()((db) =>
  db.selectFrom('inquiries').select((select) => select.fn.max('id').as('id')),
);

async function stop(tx: Tx, traces: readonly string[], now: number): Promise<void> {
  const detail = `The database is new, but there was one before: ${traces.join(', and ')}.`;
  await halt(
    tx,
    { reason: 'new_database', detail, next_try_at: null },
    {
      what:
        `eligd is not sending anything. ${detail} eligd does not know which calls were made ` +
        'before.',
      next:
        'Stop eligd and run "eligd restore" with the newest backup. If the old database is ' +
        'gone for good, run "eligd release submission": eligd then looks up its earlier calls ' +
        'at the calling service.',
    },
    now,
  );
}
