/** The daemon's time-driven checks: due jobs, exports, the database file, and the clock. */
import { MINUTE_MS } from '../domain/time.ts';
import { logStageFailure, Waker } from '../stages/loop.ts';
import { demandReconciliation } from '../stages/submit/index.ts';
import { NOT_WATCHED, onNextChange } from '../store/engine/file-changes.ts';
import { rescueDatabase } from '../store/engine/identity.ts';
import { watchExports } from './export-watch.ts';
import { Jobs } from './jobs.ts';
import type { Parts } from './parts.ts';
import { UNREAD_MS_MAX, watchUnread } from './unread.ts';

/**
 * A clock that jumps by more than this causes a reconciliation (docs/design.md "Reconciliation").
 */
const CLOCK_JUMP_MS = 5 * MINUTE_MS;
const CLOCK_CHECK_MS = MINUTE_MS;
/** How often to look at the database file if the system does not say that it changed. */
const FILE_CHECK_MS = 30_000;
/** With a pace of its own, nothing is watched, so that a simulated clock decides alone. */
const PACED_CHECK_MS = 1_000;

/**
 * Runs jobs when they are due by the clinic's clock. It checks often, because timers stop while a
 * computer sleeps.
 */
export async function runJobs(parts: Parts, signal: AbortSignal): Promise<void> {
  const { env } = parts.options;
  const jobs = new Jobs(parts);
  const rest_ms = parts.options.idle_ms ?? CLOCK_CHECK_MS;
  while (!signal.aborted) {
    let wait_ms = rest_ms;
    const guarded = (work: () => Promise<void>) =>
      work().catch((error: unknown) => logStageFailure(env, 'jobs', error, wait_ms));
    await guarded(async () => {
      const next_at = await parts.progress.step('jobs', () => jobs.runDue(signal));
      wait_ms = Math.min(rest_ms, Math.max(1_000, next_at - env.clock.now()));
    });
    await guarded(() => watchExports(parts));
    const { started_at, previous_started_at } = parts.pulse;
    const is_starting = env.clock.now() - started_at < UNREAD_MS_MAX;
    const excused_from = is_starting ? (previous_started_at ?? 0) : null;
    await guarded(() => watchUnread(parts, { excused_from }));
    await env.clock.sleep(wait_ms, signal).catch(() => {});
  }
}

/**
 * Stops the daemon when the database file was deleted or replaced, and saves the content of the
 * open file.
 */
export async function watchDatabase(
  { options, store, identity }: Parts,
  lost: AbortController,
  signal: AbortSignal,
): Promise<void> {
  const { env, config, idle_ms } = options;
  const changed = new Waker();
  const watched = () => onNextChange(config.state.path, () => changed.wake());
  const rest_ms = idle_ms === undefined ? FILE_CHECK_MS : Math.max(PACED_CHECK_MS, idle_ms);
  while (!signal.aborted) {
    // Watches before it looks, so that no change falls between the two.
    const watch = idle_ms === undefined ? watched() : NOT_WATCHED;
    try {
      identity.check();
      await changed.wait(env, rest_ms, signal);
    } catch {
      env.log('database_gone', { path: config.state.path });
      await rescueDatabase(store.db, config.state.path).catch(() => {});
      lost.abort();
    } finally {
      watch.end();
    }
  }
}

/** After the clock was set or the computer slept, demands a reconciliation before the next send. */
export async function watchClock({ options, submit }: Parts, signal: AbortSignal): Promise<void> {
  const { clock } = options.env;
  let wall = clock.now();
  let monotonic = clock.elapsed();
  while (!signal.aborted) {
    await clock.sleep(Math.max(CLOCK_CHECK_MS, options.idle_ms ?? 0), signal).catch(() => {});
    const jumped = clock.now() - wall - (clock.elapsed() - monotonic);
    if (Math.abs(jumped) > CLOCK_JUMP_MS) demandReconciliation(submit);
    wall = clock.now();
    monotonic = clock.elapsed();
  }
}
