/** Updates eligd's own state after a backup has replaced the database. */
import type { Alert } from '../../domain/alerts/book.ts';
import { openSqlite, type Raw } from '../engine/driver.ts';
import type { Store } from '../engine/store.ts';
import { openAlerts, readAlerts, writeAlerts } from './alerts.ts';
import { actingAs, writeAudit } from './audit.ts';
import { readHeartbeat, writeHeartbeat } from './heartbeat.ts';
import { forgetOlderCalls } from './new-database.ts';

/**
 * Keeps open alerts open, so that their end is reported and none is reported twice. The backup was
 * made while eligd was running, so the missing stop is not treated as a crash. `replaced`: path of
 * the former database; null when there was none.
 */
export async function settleRestored(
  store: Store,
  { replaced, actor }: { replaced: string | null; actor: string },
  now: number,
): Promise<void> {
  const known = replaced === null ? [] : alertsIn(replaced);
  await store.write(async (own) => {
    const tx = actingAs(own, actor);
    const reason = 'A backup replaced the database.';
    const restored = { from_state: null, to_state: 'restored', reason };
    await writeAudit(tx, [{ at: now, subject: 'database', ...restored }]);
    await forgetOlderCalls(tx);
    const heartbeat = await readHeartbeat(tx);
    if (heartbeat !== null && heartbeat.stopped_at === null)
      await writeHeartbeat(tx, { ...heartbeat, stopped_at: heartbeat.at });
    await tx.deleteFrom('alert_messages').where('sent_at', 'is', null).execute();
    const before = await openAlerts(tx);
    const ended = before.flatMap((alert) => {
      const later = known.find((each) => isSame(each, alert));
      return later?.ended_at == null ? [] : [{ ...alert, ended_at: later.ended_at }];
    });
    let { next_id } = await readAlerts(tx);
    const still_open = known
      .filter(({ ended_at }) => ended_at === null)
      .filter((alert) => !before.some((each) => isSame(each, alert)))
      .map((alert) => ({ ...alert, id: ++next_id }));
    await writeAlerts(tx, { alerts: [...ended, ...still_open], messages: [], next_id }, now);
  });
}

function isSame(a: Alert, b: Alert): boolean {
  return a.name === b.name && a.about === b.about && a.begun_at === b.begun_at;
}

/**
 * Returns the alerts of a database file; an empty list when the file is unreadable or older than
 * the alerts table.
 */
function alertsIn(path: string): Alert[] {
  let raw: Raw | undefined;
  try {
    raw = openSqlite(path, { readonly: true });
    return raw.prepare('select * from alerts').all() as Alert[];
  } catch {
    return [];
  } finally {
    raw?.close();
  }
}
