/**
 * A database that was lost must not be replaced by a new one in silence: where something shows that
 * there was one before, nothing is sent until the operator confirms it.
 */
import { type SqlBool, sql } from 'kysely';
import { DAY_MS } from '../../domain/time.ts';
import { halt, haltSubject } from '../calls/halts.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import type { Store } from '../engine/store.ts';
import { raiseAttention } from './attention.ts';
import { forgetLearned, readLearned, writeLearned } from './learned-settings.ts';

/** Whether it was looked for an older database: once in the life of this one. */
const LOOKED = 'older_database_looked_for';
/** Since when, and up to which inquiry, calls of an older database were looked for. */
const UNPROVEN = 'older_calls_looked_for';

/** Whether this database is new, so that it has to be asked where the older one is. */
export async function isUnexplained(db: Db): Promise<boolean> {
  if ((await readLearned(db, LOOKED)) !== null) return false;
  const known = await db.selectFrom('sources').select('id').executeTakeFirst();
  return known === undefined;
}

/** Stops submission because of `traces`, which are parts of a sentence; without any, it goes on. */
export async function explainDatabase(
  store: Store,
  traces: readonly string[],
  now: number,
): Promise<void> {
  await store.write(async (tx) => {
    await writeLearned(tx, LOOKED, String(traces.length), now);
    if (traces.length > 0) await stop(tx, traces, now);
    else await writeLearned(tx, UNPROVEN, JSON.stringify({ since: now, checked: 0 }), now);
  });
}

/** Whoever restored a backup knows that there were calls since: they are nothing to stop for. */
export async function forgetOlderCalls(tx: Tx): Promise<void> {
  await forgetLearned(tx, UNPROVEN);
}

/** Whether this database is so new that older calls are still looked for. */
export async function isAboutOlderCalls(db: Db): Promise<boolean> {
  return (await readLearned(db, UNPROVEN)) !== null;
}

/**
 * Stops submission when a list of the calling service has shown a call of ours that this database
 * did not make: the same label for the same question. Looks at each inquiry of the first day once;
 * `is_compared`: after every list that matters was compared. Returns whether it stopped.
 */
export async function stopForOlderCalls(
  tx: Tx,
  { is_compared, now }: { is_compared: boolean; now: number },
): Promise<boolean> {
  const fact = await readLearned(tx, UNPROVEN);
  if (fact === null) return false;
  const { since, checked } = JSON.parse(fact.value) as { since: number; checked: number };
  if (now - since > DAY_MS) {
    await forgetLearned(tx, UNPROVEN);
    return false;
  }
  const [older] = await OLDER_CALL(tx, { after: checked });
  if (older !== undefined) {
    await forgetLearned(tx, UNPROVEN);
    await stop(tx, ['the calling service lists calls of ours that it does not know'], now);
    return true;
  }
  const [newest] = await LAST_INQUIRY(tx, {});
  const last = newest?.id ?? 0;
  if (is_compared && last > checked)
    await writeLearned(tx, UNPROVEN, JSON.stringify({ since, checked: last }), now);
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
    // What this database has sent may be listed twice.
    .where(
      sql<SqlBool>`not exists (
        select 1 from calls as own where own.inquiry = i.id and own.body is not null)`,
    )
    .limit(1),
);

const LAST_INQUIRY = prepared()((db) =>
  db.selectFrom('inquiries').select((select) => select.fn.max('id').as('id')),
);

async function stop(tx: Tx, traces: readonly string[], now: number): Promise<void> {
  const detail = `The database is new, but there was one before: ${traces.join(', and ')}.`;
  await halt(tx, { reason: 'new_database', detail, next_try_at: null }, now);
  await raiseAttention(
    tx,
    { connector: null, appointment: null, inquiry: null, subject: haltSubject('new_database') },
    {
      reason: 'submission_stopped',
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
