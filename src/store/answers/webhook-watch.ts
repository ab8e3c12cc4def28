/**
 * Whether the service's reports can be relied on: what was told, and what was found only by asking.
 */
import { sql } from 'kysely';
import { forgetLearned, readLearned, writeLearned } from '../bookkeeping/learned-settings.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';

const FACT = 'webhook';
const CONTENT = 'webhook_content';

/** What the attention list calls it. */
export const WEBHOOK_SUBJECT = 'webhook';

/**
 * `unproven`: nothing has come yet. `heard`: reports come and agree. `silent`: an answer was found
 * that none told of.
 */
export type WebhookState = { state: 'unproven' | 'heard' | 'silent'; since: number };

export async function webhookState(db: Db | Tx): Promise<WebhookState> {
  const fact = await readLearned(db, FACT);
  if (fact === null) return { state: 'unproven', since: 0 };
  return { state: fact.value === 'heard' ? 'heard' : 'silent', since: fact.updated_at };
}

/** Whether asking may be rare, because webhook events come. */
export async function isTold(db: Db | Tx): Promise<boolean> {
  return (await webhookState(db)).state === 'heard';
}

export async function noteWebhook(tx: Tx, state: 'heard' | 'silent', now: number): Promise<void> {
  await writeLearned(tx, FACT, state, now);
}

/** Whether events come is not known any more. */
export async function forgetState(tx: Tx): Promise<void> {
  await forgetLearned(tx, FACT);
}

/** Nobody listens: asking is the only source. */
export async function forgetWebhook(tx: Tx): Promise<void> {
  await forgetState(tx);
  await forgetLearned(tx, CONTENT);
}

/**
 * Whether reports agree with what is read right after; a difference counts since `since`. Null: not
 * known.
 */
export async function reportsKnown(tx: Tx, since: number): Promise<'agree' | 'differ' | null> {
  const fact = await readLearned(tx, CONTENT);
  if (fact === null) return null;
  if (fact.value === 'agree') return 'agree';
  return fact.updated_at > since ? 'differ' : null;
}

export async function noteReports(tx: Tx, what: 'agree' | 'differ', now: number): Promise<void> {
  await writeLearned(tx, CONTENT, what, now);
}

/** What may have ended while nobody listened is no proof of anything. */
export async function beginListening(tx: Tx): Promise<void> {
  await tx
    .updateTable('inquiries')
    .set({ is_unannounced: 0 })
    .where('is_unannounced', '=', 1)
    .execute();
}

/**
 * Takes note of the answers that were found by asking before `until` and that no report has told
 * of. Returns how many.
 */
export async function takeMissed(tx: Tx, until: number): Promise<number> {
  const missed = await tx
    .updateTable('inquiries')
    .set({ is_unannounced: 0 })
    .where('is_unannounced', '=', 1)
    .where('state', '=', 'answered')
    .where('answered_at', '<=', until)
    .returning('id')
    .execute();
  return missed.length;
}

/** When the first answer was found that waits for its report; null: none does. */
export async function firstUnannounced(db: Db): Promise<number | null> {
  const [row] = await FIRST_UNANNOUNCED(db, {});
  return row?.at ?? null;
}

const FIRST_UNANNOUNCED = prepared()((db) =>
  db
    .selectFrom('inquiries')
    .select((select) => select.fn.min('answered_at').as('at'))
    .where('is_unannounced', '=', sql.lit(1))
    .where('state', '=', sql.lit('answered'))
    .where('answered_at', 'is not', null),
);
