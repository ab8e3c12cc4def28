import type { Env } from '../domain/env.ts';
import type { Progress } from './progress.ts';
import type { Notifier } from './systemd.ts';

/** The shortest time between two status lines for `systemctl status`. */
const STATUS_INTERVAL_MS = 60_000;
/** Without systemd, a stage that hangs is only logged. */
const UNHEARD_INTERVAL_MS = 60_000;

type Supervision = {
  env: Env;
  progress: Progress;
  notifier: Notifier;
  /**
   * How long a step may be silent, regardless of the watchdog: the longest timeout of a single
   * request, plus a margin.
   */
  patience_ms: number;
  /** The pause of the daemon's loops; without systemd, this is how often it checks. */
  idle_ms?: number | undefined;
  /** One line without patient data for `systemctl status`. */
  statusLine: () => Promise<string>;
  signal: AbortSignal;
};

/**
 * Reports to systemd that the daemon is ready, its status, and its progress. It feeds the watchdog
 * only while no step of a stage has been silent for too long: if a stage hangs, systemd restarts
 * the daemon. Rows are the only handoff, so a restart loses nothing. Waiting for work does not
 * count as silence.
 */
export async function supervise(options: Supervision): Promise<void> {
  const { env, progress, notifier, signal } = options;
  const { watchdog_ms } = notifier;
  const heard_ms = Math.min(STATUS_INTERVAL_MS, (watchdog_ms ?? Number.POSITIVE_INFINITY) / 4);
  const interval_ms = notifier.is_heard
    ? heard_ms
    : Math.max(UNHEARD_INTERVAL_MS, options.idle_ms ?? 0);
  const limit_ms = Math.max(watchdog_ms ?? 0, options.patience_ms);
  const reported = new Set<string>();
  await notifier.tell('READY=1', await status(options));
  while (!signal.aborted) {
    await env.clock.sleep(interval_ms, signal).catch(() => {});
    if (signal.aborted) break;
    const stuck = progress.stuck(limit_ms);
    for (const { stage, still_ms } of stuck) {
      if (!reported.has(stage))
        env.log('stage_hangs', { stage, duration_ms: Math.round(still_ms) });
    }
    reported.clear();
    for (const { stage } of stuck) reported.add(stage);
    const [first] = stuck;
    if (first === undefined) await notifier.tell('WATCHDOG=1', await status(options));
    else
      await notifier.tell(
        `STATUS=The stage ${first.stage} has made no progress for ` +
          `${Math.round(first.still_ms / 1000)} s.`,
      );
  }
  await notifier.tell('STOPPING=1', 'STATUS=Stopping: each stage finishes its current step.');
}

type Counted = Record<
  'waiting' | 'planned' | 'asking' | 'answered' | 'delivered' | 'attention',
  number
>;

/** Counts appointments for `systemctl status`: open ones first, and always how many need you. */
export function statusWords(counts: Counted): string {
  const { waiting, planned, asking, answered, delivered, attention } = counts;
  return (
    `${asking} being asked, ${waiting + planned} before the call, ${answered} to write back, ` +
    `${delivered} delivered; ${attention} need attention.`
  );
}

async function status({ notifier, statusLine }: Supervision): Promise<string> {
  if (!notifier.is_heard) return '';
  // The stages handle an unreadable database; the line only reports it.
  const line = await statusLine().catch(() => 'The database cannot be read; see the log.');
  return `STATUS=${line}`;
}
