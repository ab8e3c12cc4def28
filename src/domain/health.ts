/**
 * Judges whether eligd works. Everything that reports this uses these answers: `eligd status` and
 * its exit code, `eligd check`, `/readyz`, `/metrics`, the heartbeat file, and alerts. An answer is
 * "yes" only when it is known (G8).
 */
import type { BudgetPeriod } from './call-budget.ts';
import { budgetWords } from './explanation.ts';
import type { ServiceContact, ServiceTrouble } from './service-contact.ts';
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from './time.ts';

/** Every question, worded as its answer "yes". */
export const HEALTH_QUESTIONS = {
  daemon: 'eligd is running and making progress',
  calls: 'calls can go out',
  answers: 'answers can come in',
  results: 'results can be written',
  export: 'the appointment export is fresh',
  backup: 'the last backup is good',
  clock: 'the clock is right',
} as const;

export type HealthQuestion = keyof typeof HEALTH_QUESTIONS;

/** `since`: null when the time is unknown. The sentences contain no patient data (G6). */
export type HealthAnswer =
  | { is: 'yes'; why: string }
  | { is: 'no'; since: Instant | null; why: string; next: string }
  | { is: 'unknown'; why: string };

export type Health = Record<HealthQuestion, HealthAnswer>;

/** The daemon's state, which it stores about once a minute. */
export type Heartbeat = {
  at: Instant;
  /** The time after which the next heartbeat is late. */
  overdue_at: Instant;
  started_at: Instant;
  /** When the daemon shut down normally; null while it runs. */
  stopped_at: Instant | null;
  pid: number;
  version: string;
  /** Stages that make no progress. */
  hanging: string[];
  /** The difference between this clock and the service's; null until the service has answered. */
  skew_ms: number | null;
  contact: { calls: ServiceContact; answers: ServiceContact };
  /** When each connector last read and wrote without an error; null: not since the start. */
  connectors: { id: string; read_at: Instant | null; write_at: Instant | null }[];
};

/** An open attention item about the installation. */
export type OpenIncident = {
  reason: string;
  connector: string | null;
  what: string;
  next: string;
  since: Instant;
};

export type HealthFacts = {
  now: Instant;
  /** Whether an eligd process holds the lock of the database. */
  is_locked: boolean;
  heartbeat: Heartbeat | null;
  halts: { reason: string; detail: string; since: Instant; next_try_at: Instant | null }[];
  /** When a pause in sending ends (a Retry-After, or the pause after a restore); null: no pause. */
  paused_until: Instant | null;
  /** The limit that delays every planned call; null while the budget allows calls. */
  budget: BudgetPeriod | null;
  incidents: OpenIncident[];
  /** When eligd last read a source of each connector to its end. */
  last_reads: { connector: string; at: Instant }[];
  /** `unreadable`: the error code if the backup folder cannot be read. */
  backup: {
    newest_at: Instant | null;
    unreadable: string | null;
    is_scheduled: boolean;
    first_started_at: Instant | null;
  };
};

/** With only older backups, the backup counts as missing. */
const BACKUP_AGE_MS_MAX = 48 * HOUR_MS;
/** Until eligd has learned the usual times, it cannot judge an export older than this. */
const EXPORT_AGE_MS_MAX = 4 * DAY_MS;
/** Incidents that mean that eligd does not know the practice's appointments. */
const EXPORT_REASONS = [
  'connector_cannot_read',
  'connector_cannot_listen',
  'messages_unread',
  'export_missing',
  'export_empty',
  'export_small',
];
const BACKUP_REASONS = ['database_damaged', 'backup_missing'];
/** Shorter pauses are routine. */
const PAUSE_MS_MIN = MINUTE_MS;

const START = 'Start it: systemctl start eligd (or "eligd run").';

const NOT_WORKING = 'eligd is not working.';

/** Whether the answer is only that of the first question again: the daemon does not work. */
export function isForWantOfDaemon({ is, why }: HealthAnswer): boolean {
  return is === 'no' && why === NOT_WORKING;
}

export function judgeHealth(facts: HealthFacts): Health {
  const daemon = judgeDaemon(facts);
  const unless = (judge: (facts: HealthFacts, heartbeat: Heartbeat) => HealthAnswer) =>
    daemon.is === 'yes' && facts.heartbeat !== null
      ? judge(facts, facts.heartbeat)
      : withoutDaemon(daemon);
  return {
    daemon,
    calls: unless(judgeCalls),
    answers: unless(judgeAnswers),
    results: unless(judgeResults),
    export: judgeExport(facts),
    backup: judgeBackup(facts),
    clock: daemon.is === 'no' ? clockWithoutDaemon(facts) : unless(judgeClock),
  };
}

/** Returns the questions whose answer is "no", or "unknown". */
export function answersThatAre<Is extends HealthAnswer['is']>(
  health: Health,
  is: Is,
): (Extract<HealthAnswer, { is: Is }> & { question: HealthQuestion })[] {
  return (Object.entries(health) as [HealthQuestion, HealthAnswer][]).flatMap(
    ([question, answer]) =>
      answer.is === is ? [{ question, ...(answer as Extract<HealthAnswer, { is: Is }>) }] : [],
  );
}

function judgeDaemon({ now, is_locked, heartbeat }: HealthFacts): HealthAnswer {
  if (heartbeat === null) {
    return is_locked
      ? { is: 'unknown', why: 'An eligd command uses the database. The daemon has never run.' }
      : { is: 'no', since: null, why: 'The daemon has never run on this database.', next: START };
  }
  const { stopped_at, at, overdue_at, hanging } = heartbeat;
  if (!is_locked) {
    return stopped_at === null
      ? {
          is: 'no',
          since: at,
          why: 'eligd is not running, and it did not shut down normally.',
          next: `Read "journalctl -u eligd -p warning -n 50". ${START}`,
        }
      : { is: 'no', since: stopped_at, why: 'eligd was stopped.', next: START };
  }
  if (stopped_at !== null)
    return { is: 'unknown', why: 'An eligd command uses the database, or eligd is starting.' };
  if (now > overdue_at) {
    return {
      is: 'no',
      since: at,
      why: 'eligd is running, but does not respond.',
      next: 'Restart eligd: systemctl restart eligd. No data is lost.',
    };
  }
  if (hanging.length > 0) {
    return {
      is: 'no',
      since: at,
      why: `A part of eligd makes no progress: ${hanging.join(', ')}.`,
      next: 'Restart eligd: systemctl restart eligd. No data is lost.',
    };
  }
  return { is: 'yes', why: `version ${heartbeat.version}` };
}

function withoutDaemon(daemon: HealthAnswer): HealthAnswer {
  if (daemon.is !== 'no') return { is: 'unknown', why: 'eligd may or may not be running.' };
  return { ...daemon, why: NOT_WORKING };
}

function judgeCalls(facts: HealthFacts, { contact }: Heartbeat): HealthAnswer {
  const { now, halts, paused_until, budget, incidents } = facts;
  const halted = halts.find(({ reason }) => reason === 'observe') ?? halts[0];
  if (halted !== undefined) {
    const { detail, since, next_try_at } = halted;
    return {
      is: 'no',
      since,
      why: detail,
      next:
        halted.reason === 'observe'
          ? 'To make calls, set mode: live in the configuration and restart eligd.'
          : next_try_at === null
            ? 'Fix the cause, then run "eligd release submission".'
            : 'Run "eligd check". eligd tries again automatically.',
    };
  }
  if (contact.calls.trouble !== null) return inTrouble(contact.calls.trouble);
  const stopped = incidents.find(({ reason }) => reason === 'submission_stopped');
  if (stopped !== undefined) return because(stopped);
  if (paused_until !== null && paused_until - now > PAUSE_MS_MIN) {
    return {
      is: 'no',
      since: null,
      why:
        'eligd is not sending requests yet: the service asked for a pause, or a backup was ' +
        'restored.',
      next: 'Wait; calls resume automatically after the pause.',
    };
  }
  if (budget !== null)
    return {
      is: 'no',
      since: null,
      why: budgetWords(budget),
      next: 'Raise the budget in the configuration, or wait until the next period.',
    };
  if (contact.calls.ok_at === null)
    return { is: 'unknown', why: 'The calling service has not answered since eligd started.' };
  return { is: 'yes', why: '' };
}

function judgeAnswers({ incidents }: HealthFacts, { contact }: Heartbeat): HealthAnswer {
  const { calls, answers } = contact;
  // While no inquiry is open, eligd polls nothing; reading the list proves that answers can come.
  const { trouble, ok_at } = answers.ok_at === null && answers.trouble === null ? calls : answers;
  if (trouble !== null) return inTrouble(trouble);
  if (ok_at === null)
    return { is: 'unknown', why: 'The calling service has not answered since eligd started.' };
  const silent = incidents.some(({ reason }) => reason === 'webhook_silent');
  return { is: 'yes', why: silent ? 'No webhook events arrive; eligd polls instead.' : '' };
}

function judgeResults({ incidents }: HealthFacts, { connectors }: Heartbeat): HealthAnswer {
  const failing = incidents.find(({ reason }) => reason === 'connector_cannot_write');
  if (failing !== undefined) return because(failing);
  const untried = connectors.filter(({ write_at }) => write_at === null).map(({ id }) => id);
  if (untried.length > 0)
    return {
      is: 'unknown',
      why: `Nothing has been written since eligd started: ${untried.join(', ')}.`,
    };
  return { is: 'yes', why: '' };
}

function judgeExport({ now, incidents, last_reads }: HealthFacts): HealthAnswer {
  const failing = incidents.find(({ reason }) => EXPORT_REASONS.includes(reason));
  if (failing !== undefined) return because(failing);
  const read_at = Math.max(...last_reads.map(({ at }) => at));
  if (last_reads.length === 0) return { is: 'unknown', why: 'Nothing has been read yet.' };
  if (now - read_at > EXPORT_AGE_MS_MAX)
    return { is: 'unknown', why: 'The last export was read more than four days ago.' };
  return { is: 'yes', why: '' };
}

function judgeBackup({ now, incidents, backup }: HealthFacts): HealthAnswer {
  const failing = incidents.find(({ reason }) => BACKUP_REASONS.includes(reason));
  if (failing !== undefined) return because(failing);
  const { newest_at, unreadable, is_scheduled, first_started_at } = backup;
  if (unreadable !== null)
    return { is: 'unknown', why: `The backup folder cannot be read (${unreadable}).` };
  if (newest_at !== null && now - newest_at <= BACKUP_AGE_MS_MAX) return { is: 'yes', why: '' };
  if (!is_scheduled)
    return { is: 'unknown', why: 'Scheduled backups are turned off (backup.cron).' };
  if (newest_at === null && now - (first_started_at ?? now) <= BACKUP_AGE_MS_MAX)
    return { is: 'unknown', why: 'There has been no backup yet.' };
  return {
    is: 'no',
    since: newest_at ?? first_started_at,
    why: newest_at === null ? 'There is no backup.' : 'The last backup is older than 48 hours.',
    next: 'Run "eligd backup" to see what is wrong.',
  };
}

/** Nobody has compared it since the daemon stopped; what was wrong by then may still be. */
function clockWithoutDaemon({ incidents }: HealthFacts): HealthAnswer {
  const wrong = incidents.find(({ reason }) => reason === 'clock_wrong');
  return wrong === undefined ? { is: 'unknown', why: NOT_WORKING } : because(wrong);
}

function judgeClock({ incidents }: HealthFacts, { skew_ms }: Heartbeat): HealthAnswer {
  const wrong = incidents.find(({ reason }) => reason === 'clock_wrong');
  if (wrong !== undefined) return because(wrong);
  if (skew_ms === null)
    return { is: 'unknown', why: 'It has not been compared with the calling service’s clock yet.' };
  return { is: 'yes', why: '' };
}

function because({ since, what, next }: OpenIncident): HealthAnswer {
  return { is: 'no', since, why: what, next };
}

function inTrouble({ since, why, next }: ServiceTrouble): HealthAnswer {
  return { is: 'no', since, why, next };
}
