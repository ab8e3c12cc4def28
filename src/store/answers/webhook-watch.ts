/**
 * Tracks whether webhook events are reliable: which answers events announced, and which only
 * polling found.
 */
import { sql } from 'kysely';
import { forgetLearned, readLearned, writeLearned } from '../bookkeeping/learned-settings.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';

const SETTING = 'webhook';
const CONTENT = 'webhook_content';

/** The subject of attention items about webhook events. */
export const WEBHOOK_SUBJECT = 'webhook';

/**
 * `unproven`: no event has arrived yet. `heard`: events arrive and agree with the replies.
 * `silent`: polling found an answer that no event had announced.
 */
type WebhookState = { state: 'unproven' | 'heard' | 'silent'; since: number };

export async function webhookState(db: Db | Tx): Promise<WebhookState> {
  const setting = await readLearned(db, SETTING);
  if (setting === null) return { state: 'unproven', since: 0 };
  return { state: setting.value === 'heard' ? 'heard' : 'silent', since: setting.updated_at };
}

/** Returns whether eligd can poll less often because webhook events arrive. */
export async function isWebhookDriven(db: Db | Tx): Promise<boolean> {
  return (await webhookState(db)).state === 'heard';
}

export async function noteWebhook(tx: Tx, state: 'heard' | 'silent', now: number): Promise<void> {
  await writeLearned(tx, SETTING, state, now);
}

/** Forgets whether events arrive. */
export async function forgetState(tx: Tx): Promise<void> {
  await forgetLearned(tx, SETTING);
}

/** Forgets everything about events: no webhook endpoint is configured, so eligd only polls. */
export async function forgetWebhook(tx: Tx): Promise<void> {
  await forgetState(tx);
  await forgetLearned(tx, CONTENT);
}

/**
 * Returns whether events agree with the replies that follow them. A difference counts only if it
 * occurred after `since`. Null: not known.
 */
export async function eventContent(tx: Tx, since: number): Promise<'agree' | 'differ' | null> {
  const setting = await readLearned(tx, CONTENT);
  if (setting === null) return null;
  if (setting.value === 'agree') return 'agree';
  return setting.updated_at > since ? 'differ' : null;
}

export async function noteEventContent(
  tx: Tx,
  what: 'agree' | 'differ',
  now: number,
): Promise<void> {
  await writeLearned(tx, CONTENT, what, now);
}

/**
 * Clears the flags of inquiries that may have ended while the webhook endpoint was closed: a
 * missing event proves nothing about them.
 */
export async function beginListening(tx: Tx): Promise<void> {
  await tx
    .updateTable('inquiries')
    .set({ is_unannounced: 0 })
    .where('is_unannounced', '=', 1)
    .execute();
}

/**
 * Clears the flag of answers that polling found before `until` and that no event announced. Returns
 * how many.
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

/** Returns when polling found the first answer that still waits for its event; null: none waits. */
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
