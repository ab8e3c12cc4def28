/**
 * Runs jobs at fixed times of the clinic's clock. Each job stores when it last succeeded. A job
 * that was due while the computer was off or asleep runs as soon as the computer is back: once, no
 * matter how often it was missed.
 */
import type { IncidentReason } from '../domain/attention.ts';
import { backoffMs } from '../domain/backoff.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../domain/time.ts';
import { logStageFailure } from '../stages/loop.ts';
import { closeOldVisits } from '../stages/plan/index.ts';
import { demandReconciliation } from '../stages/submit/index.ts';
import { setIncidents } from '../store/bookkeeping/incidents.ts';
import { jobSuccesses, noteJob } from '../store/bookkeeping/jobs.ts';
import { nextDueAt } from './due-time.ts';
import { backUp, logSummary } from './operations.ts';
import type { Parts } from './parts.ts';
import { purgeDaily } from './purge.ts';

type Job = {
  name: string;
  /** A cron line of five fields, in the clinic's time zone. */
  cron: string;
  work: () => Promise<void>;
  /** The job deletes or closes by time, so it waits until the clock is known to be right. */
  needs_clock?: boolean;
  /** The incident to raise when the job has not succeeded for two days. */
  missing?: { reason: IncidentReason; what: string; next: string };
};

/** A job without success for this long is an incident. */
const MISSING_AFTER_MS = 2 * DAY_MS;
const RETRY_LIMITS = { first_ms: 15 * MINUTE_MS, max_ms: 6 * HOUR_MS };

export class Jobs {
  readonly #parts: Parts;
  readonly #jobs: Job[];
  /** Failures since the last success in this process. */
  readonly #failures = new Map<string, { count: number; retry_at: number }>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#jobs = jobsOf(parts);
  }

  /**
   * Runs the jobs that are due, one after the other, and returns when the next job is due (epoch
   * milliseconds).
   */
  async runDue(signal: AbortSignal): Promise<number> {
    const { env, config } = this.#parts.options;
    const done = await jobSuccesses(this.#parts.store, this.#names(), env.clock.now());
    let next_at = env.clock.now() + DAY_MS;
    for (const job of this.#jobs) {
      if (signal.aborted) break;
      const now = env.clock.now();
      // A clock that was set back must not delay a job.
      const done_at = Math.min(done.get(job.name) ?? now, now);
      const due_at = this.#dueAt(job, done_at, config.clinic.time_zone);
      if (due_at <= now) await this.#run(job);
      next_at = Math.min(
        next_at,
        this.#dueAt(job, Math.max(done_at, now), config.clinic.time_zone),
      );
    }
    await this.#judgeMissing();
    return next_at;
  }

  #names(): string[] {
    return this.#jobs.map(({ name }) => name);
  }

  #dueAt({ name, cron }: Job, done_at: number, time_zone: string): number {
    const due_at = nextDueAt(cron, time_zone, done_at);
    return Math.max(due_at, this.#failures.get(name)?.retry_at ?? 0);
  }

  async #run(job: Job): Promise<void> {
    const { options, store, clock_watch } = this.#parts;
    const { env } = options;
    if (job.needs_clock === true && !clock_watch.isTrusted()) return;
    try {
      await job.work();
      await store.write((tx) => noteJob(tx, job.name, env.clock.now()));
      this.#failures.delete(job.name);
    } catch (error) {
      const count = (this.#failures.get(job.name)?.count ?? 0) + 1;
      const wait_ms = backoffMs(count, RETRY_LIMITS, env.random());
      this.#failures.set(job.name, { count, retry_at: env.clock.now() + wait_ms });
      logStageFailure(env, job.name, error, wait_ms);
    }
  }

  async #judgeMissing(): Promise<void> {
    const { options, store, clock_watch } = this.#parts;
    // By a clock that is known to be wrong, every job is late.
    if (clock_watch.skewMs() !== null && !clock_watch.isTrusted()) return;
    const now = options.env.clock.now();
    const done = await jobSuccesses(store, this.#names(), now);
    const states = this.#jobs.flatMap(({ name, missing }) => {
      if (missing === undefined) return [];
      const is_missing = now - (done.get(name) ?? now) > MISSING_AFTER_MS;
      return { reason: missing.reason, connector: null, entry: is_missing ? missing : null };
    });
    await setIncidents(store, states, now);
  }
}

function jobsOf(parts: Parts): Job[] {
  const { options, store, plan, submit, wakers } = parts;
  const { config } = options;
  const daily = config.schedule.reconciliation_cron;
  const jobs: Job[] = [
    {
      name: 'reconciliation',
      cron: daily,
      work: async () => {
        demandReconciliation(submit);
        wakers.submit.wake();
      },
    },
    {
      name: 'old_visits',
      cron: daily,
      needs_clock: true,
      work: () => closeOldVisits(plan, config.policy.give_up_after_days),
    },
  ];
  if (Object.values(config.retention).some((days) => days !== null))
    jobs.push({
      name: 'purge',
      cron: daily,
      needs_clock: true,
      work: () => purgeDaily(parts),
      missing: {
        reason: 'purge_missing',
        what: 'eligd has not deleted old data for more than two days (retention:).',
        next: 'Read "journalctl -u eligd -p warning", then run "eligd purge".',
      },
    });
  jobs.push({ name: 'summary', cron: daily, work: () => logSummary(parts) });
  if (config.backup.cron !== null)
    jobs.push({
      name: 'backup',
      cron: config.backup.cron,
      work: () => backUp(options, store),
      missing: {
        reason: 'backup_missing',
        what: 'eligd has made no backup for more than two days.',
        next: 'Check the free space and the permissions of backup.folder, then run "eligd backup".',
      },
    });
  return jobs;
}
