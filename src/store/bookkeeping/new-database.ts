/**
 * A database that was lost must not be replaced by a new one in silence: where something shows that
 * there was one before, nothing is sent until the operator confirms it.
 */
import { halt, haltSubject } from '../calls/halts.ts';
import type { Db } from '../engine/database.ts';
import type { Store } from '../engine/store.ts';
import { raiseAttention } from './attention.ts';
import { readFact, writeFact } from './facts.ts';

/** Whether it was looked for an older database: once in the life of this one. */
const LOOKED = 'older_database_looked_for';

/** Whether this database is new, so that it has to be asked where the older one is. */
export async function isUnexplained(db: Db): Promise<boolean> {
  if ((await readFact(db, LOOKED)) !== null) return false;
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
    await writeFact(tx, LOOKED, String(traces.length), now);
    if (traces.length === 0) return;
    const detail = `The database is new, but it is not the first one: ${traces.join(', and ')}.`;
    await halt(tx, { reason: 'new_database', detail, next_try_at: null }, now);
    await raiseAttention(
      tx,
      { connector: null, appointment: null, inquiry: null, subject: haltSubject('new_database') },
      {
        reason: 'submission_stopped',
        what: `Nothing is sent. ${detail} eligd does not know what was asked before.`,
        next:
          'Stop eligd and run "eligd restore" with the newest backup. If the old database is ' +
          'gone for good, run "eligd release submission": eligd then finds its calls at the ' +
          'calling service.',
      },
      now,
    );
  });
}
