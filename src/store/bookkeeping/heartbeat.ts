import type { Heartbeat } from '../../domain/health.ts';
import type { Db, Tx } from '../engine/database.ts';
import { readLearned, writeLearned } from './learned-settings.ts';

const HEARTBEAT = 'heartbeat';
/** When a daemon first ran on this database (epoch milliseconds). */
export const FIRST_STARTED_AT = 'first_started_at';

/** Stores the daemon's own state for commands that run next to it. */
export async function writeHeartbeat(tx: Tx, heartbeat: Heartbeat): Promise<void> {
  await writeLearned(tx, HEARTBEAT, JSON.stringify(heartbeat), heartbeat.at);
  if ((await readLearned(tx, FIRST_STARTED_AT)) === null)
    await writeLearned(tx, FIRST_STARTED_AT, String(heartbeat.started_at), heartbeat.at);
}

export async function readHeartbeat(db: Db | Tx): Promise<Heartbeat | null> {
  const setting = await readLearned(db, HEARTBEAT);
  return setting === null ? null : (JSON.parse(setting.value) as Heartbeat);
}
