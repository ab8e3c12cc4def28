import type { Heartbeat } from '../../domain/health.ts';
import type { Db, Tx } from '../engine/database.ts';
import { readFact, writeFact } from './facts.ts';

const HEARTBEAT = 'heartbeat';
/** When a daemon first ran on this database (epoch milliseconds). */
export const FIRST_STARTED_AT = 'first_started_at';

/** Stores what the daemon knows of itself, for commands that run next to it. */
export async function writeHeartbeat(tx: Tx, heartbeat: Heartbeat): Promise<void> {
  await writeFact(tx, HEARTBEAT, JSON.stringify(heartbeat), heartbeat.at);
  if ((await readFact(tx, FIRST_STARTED_AT)) === null)
    await writeFact(tx, FIRST_STARTED_AT, String(heartbeat.started_at), heartbeat.at);
}

export async function readHeartbeat(db: Db | Tx): Promise<Heartbeat | null> {
  const fact = await readFact(db, HEARTBEAT);
  return fact === null ? null : (JSON.parse(fact.value) as Heartbeat);
}
