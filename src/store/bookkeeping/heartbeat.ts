import type { Heartbeat } from '../../domain/health.ts';
import type { Db, Tx } from '../engine/database.ts';
import { readLearned, writeLearned } from './learned-settings.ts';

const HEARTBEAT = 'heartbeat';
/** When a daemon first ran on this database (epoch milliseconds). */
export const FIRST_STARTED_AT = 'first_started_at';

/** Stores what the daemon knows of itself, for commands that run next to it. */
export async function writeHeartbeat(tx: Tx, heartbeat: Heartbeat): Promise<void> {
  await writeLearned(tx, HEARTBEAT, JSON.stringify(heartbeat), heartbeat.at);
  if ((await readLearned(tx, FIRST_STARTED_AT)) === null)
    await writeLearned(tx, FIRST_STARTED_AT, String(heartbeat.started_at), heartbeat.at);
}

export async function readHeartbeat(db: Db | Tx): Promise<Heartbeat | null> {
  const fact = await readLearned(db, HEARTBEAT);
  return fact === null ? null : (JSON.parse(fact.value) as Heartbeat);
}
