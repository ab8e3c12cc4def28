import type { Alert } from '../../domain/alerts/book.ts';
import type { CallBudget } from '../../domain/call-budget.ts';
import { type Health, type HealthFacts, type Heartbeat, judgeHealth } from '../../domain/health.ts';
import { openAlerts } from '../bookkeeping/alerts.ts';
import { FIRST_STARTED_AT, readHeartbeat } from '../bookkeeping/heartbeat.ts';
import { type CountedIncident, openIncidents } from '../bookkeeping/incidents.ts';
import { readLearnedAll } from '../bookkeeping/learned-settings.ts';
import { type BudgetRules, readBudget } from '../calls/budget.ts';
import { currentHalts } from '../calls/halts.ts';
import { PAUSE_FACT } from '../calls/rate-limit.ts';
import { lastBackup } from '../engine/backup.ts';
import type { Db } from '../engine/database.ts';
import { isInstanceRunning } from '../engine/instance-lock.ts';
import { lastReads } from './overview.ts';

/** What of the configuration the answers depend on. */
export type HealthSettings = {
  state_path: string;
  backup: { folder: string; is_scheduled: boolean };
  budget: BudgetRules;
};

export type HealthReport = {
  health: Health;
  incidents: CountedIncident[];
  alerts: Alert[];
  budget: CallBudget;
};

/** What the answers and the alerts are made of. */
export type GatheredFacts = {
  facts: HealthFacts;
  incidents: CountedIncident[];
  budget: CallBudget;
};

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
  const { facts, ...more } = await readHealthFacts(db, settings, now, heartbeat);
  return { health: judgeHealth(facts), ...more, alerts: await openAlerts(db) };
}

/** What the answers and the alerts are made of. */
export async function readHealthFacts(
  db: Db,
  settings: HealthSettings,
  now: number,
  heartbeat?: Heartbeat,
): Promise<GatheredFacts> {
  const incidents = await openIncidents(db);
  const budget = await readBudget(db, settings.budget, now);
  const known = await readLearnedAll(db, [PAUSE_FACT, FIRST_STARTED_AT]);
  const number = (name: string) => {
    const fact = known.get(name);
    return fact === undefined ? null : Number(fact.value);
  };
  const facts: HealthFacts = {
    now,
    is_locked: heartbeat !== undefined || isInstanceRunning(settings.state_path),
    heartbeat: heartbeat ?? (await readHeartbeat(db)),
    halts: await currentHalts(db),
    paused_until: number(PAUSE_FACT),
    budget: budget.used_up,
    incidents,
    last_reads: await lastReads(db),
    backup: {
      ...lastBackup(settings.backup.folder),
      is_scheduled: settings.backup.is_scheduled,
      first_started_at: number(FIRST_STARTED_AT),
    },
  };
  return { facts, incidents, budget };
}
