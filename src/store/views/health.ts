import type { Alert } from '../../domain/alerts/book.ts';
import type { CallBudget } from '../../domain/call-budget.ts';
import { type Health, type HealthFacts, type Heartbeat, judgeHealth } from '../../domain/health.ts';
import { openAlerts } from '../bookkeeping/alerts.ts';
import { FIRST_STARTED_AT, readHeartbeat } from '../bookkeeping/heartbeat.ts';
import { type CountedIncident, openIncidents } from '../bookkeeping/incidents.ts';
import { readLearnedAll } from '../bookkeeping/learned-settings.ts';
import { type BudgetRules, readBudget } from '../calls/budget.ts';
import { currentHalts } from '../calls/halts.ts';
import { PAUSE_SETTING } from '../calls/rate-limit.ts';
import { lastBackup } from '../engine/backup.ts';
import type { Db } from '../engine/database.ts';
import { isInstanceRunning } from '../engine/instance-lock.ts';
import { lastReads } from './overview.ts';

/** The settings that the health report depends on. */
type HealthSettings = {
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

/** The facts from which health and alerts are derived. */
type GatheredFacts = {
  facts: HealthFacts;
  incidents: CountedIncident[];
  budget: CallBudget;
};

/**
 * Returns whether eligd works, judged by the database, the lock and the backup folder. `heartbeat`:
 * passed inside the daemon, where it is newer than the stored one.
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

/** Returns the facts from which health and alerts are derived. */
export async function readHealthFacts(
  db: Db,
  settings: HealthSettings,
  now: number,
  heartbeat?: Heartbeat,
): Promise<GatheredFacts> {
  const incidents = await openIncidents(db);
  const budget = await readBudget(db, settings.budget, now);
  const known = await readLearnedAll(db, [PAUSE_SETTING, FIRST_STARTED_AT]);
  const number = (name: string) => {
    const setting = known.get(name);
    return setting === undefined ? null : Number(setting.value);
  };
  const facts: HealthFacts = {
    now,
    is_locked: heartbeat !== undefined || isInstanceRunning(settings.state_path),
    heartbeat: heartbeat ?? (await readHeartbeat(db)),
    halts: await currentHalts(db),
    paused_until: number(PAUSE_SETTING),
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
