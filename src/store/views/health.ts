import type { CallBudget } from '../../domain/call-budget.ts';
import { type Health, type HealthFacts, type Heartbeat, judgeHealth } from '../../domain/health.ts';
import { readFacts } from '../bookkeeping/facts.ts';
import { FIRST_STARTED_AT, readHeartbeat } from '../bookkeeping/heartbeat.ts';
import { type CountedIncident, openIncidents } from '../bookkeeping/incidents.ts';
import { type BudgetRules, readBudget } from '../calls/budget.ts';
import { currentHalts } from '../calls/halts.ts';
import { PAUSE_FACT } from '../calls/rate-limit.ts';
import { newestBackup } from '../engine/backup.ts';
import { type Db, isInstanceRunning } from '../engine/database.ts';
import { lastReads } from './overview.ts';

/** What of the configuration the answers depend on. */
export type HealthSettings = {
  state_path: string;
  backup: { folder: string; is_scheduled: boolean };
  budget: BudgetRules;
};

export type HealthReport = { health: Health; incidents: CountedIncident[]; budget: CallBudget };

/**
 * Whether eligd works, from the database, the lock and the folder of backups. `heartbeat`: inside
 * the daemon, which knows better than what it stored last.
 */
export async function readHealth(
  db: Db,
  settings: HealthSettings,
  now: number,
  heartbeat?: Heartbeat,
): Promise<HealthReport> {
  const incidents = await openIncidents(db);
  const budget = await readBudget(db, settings.budget, now);
  const facts = await readFacts(db, [PAUSE_FACT, FIRST_STARTED_AT]);
  const number = (name: string) => {
    const fact = facts.get(name);
    return fact === undefined ? null : Number(fact.value);
  };
  const gathered: HealthFacts = {
    now,
    is_locked: heartbeat !== undefined || isInstanceRunning(settings.state_path),
    heartbeat: heartbeat ?? (await readHeartbeat(db)),
    halts: await currentHalts(db),
    paused_until: number(PAUSE_FACT),
    budget: budget.used_up,
    incidents,
    last_reads: await lastReads(db),
    backup: {
      newest_at: newestBackup(settings.backup.folder)?.at ?? null,
      is_scheduled: settings.backup.is_scheduled,
      first_started_at: number(FIRST_STARTED_AT),
    },
  };
  return { health: judgeHealth(gathered), incidents, budget };
}
