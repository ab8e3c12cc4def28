/** Stores alerts and the messages about them, so that a restart repeats no message. */
import type { Alert, AlertMessage, AlertRows } from '../../domain/alerts/book.ts';
import type { AlertName } from '../../domain/alerts/catalog.ts';
import type { Db, Tx } from '../engine/database.ts';
import { readLearned, writeLearned } from './learned-settings.ts';

const LAST_ID = 'alerts_last_id';

/** Returns open alerts, and ended ones with messages that have not been sent. */
export async function readAlerts(db: Db | Tx): Promise<AlertRows> {
  const messages = await db
    .selectFrom('alert_messages')
    .selectAll()
    .where('sent_at', 'is', null)
    .execute();
  const unreported = [...new Set(messages.map(({ alert }) => alert))];
  const ended =
    unreported.length === 0
      ? []
      : await db
          .selectFrom('alerts')
          .selectAll()
          .where('id', 'in', unreported)
          .where('ended_at', 'is not', null)
          .execute();
  return {
    alerts: [...ended.map(asAlert), ...(await openAlerts(db))],
    messages: messages as AlertMessage[],
    next_id: Number((await readLearned(db, LAST_ID))?.value ?? 0),
  };
}

/** Returns open alerts, oldest first. */
export async function openAlerts(db: Db | Tx): Promise<Alert[]> {
  const rows = await db
    .selectFrom('alerts')
    .selectAll()
    .where('ended_at', 'is', null)
    .orderBy('begun_at')
    .execute();
  return rows.map(asAlert);
}

export async function writeAlerts(tx: Tx, rows: AlertRows, now: number): Promise<void> {
  for (const { id, ...alert } of rows.alerts)
    await tx
      .insertInto('alerts')
      .values({ id, ...alert })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(alert))
      .execute();
  for (const { id, ...message } of rows.messages)
    await tx
      .insertInto('alert_messages')
      .values({ id, ...message })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(message))
      .execute();
  await writeLearned(tx, LAST_ID, String(rows.next_id), now);
}

/** Deletes alerts that ended, and messages that were sent, before `before`. */
export async function purgeAlerts(tx: Tx, before: number): Promise<void> {
  await tx.deleteFrom('alerts').where('ended_at', '<', before).execute();
  await tx.deleteFrom('alert_messages').where('sent_at', '<', before).execute();
}

function asAlert({ name, ...row }: Omit<Alert, 'name'> & { name: string }): Alert {
  return { ...row, name: name as AlertName };
}
