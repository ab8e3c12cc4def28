import type { Env } from '../domain/env.ts';
import type { Progress } from './progress.ts';
import type { Notifier } from './systemd.ts';

/** How often `systemctl status` gets a new line, at most. */
const STATUS_INTERVAL_MS = 60_000;
/** Without systemd only the log hears of a stage that hangs. */
const UNHEARD_INTERVAL_MS = 60_000;

export type Supervision = {
  env: Env;
  progress: Progress;
  notifier: Notifier;
  /**
   * A step may be silent for this long, whatever the watchdog says: the longest timeout of a
   * single request, with room.
   */
  patience_ms: number;
  /** How long the daemon's loops rest; without systemd nobody looks more often than they do. */
  idle_ms?: number | undefined;
  /** One line without patient data for `systemctl status`. */
  statusLine: () => Promise<string>;
  signal: AbortSignal;
};

/**
 * Tells systemd that the daemon is up, how it stands, and that it gets on. The last is said only
 * while no step of a stage has been silent for too long: a stage that hangs ends the feed, and
 * systemd restarts the daemon. Rows are the only hand-off, so nothing is lost by that. Waiting
 * for work is no silence.
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

/**
 * Where the appointments are, for `systemctl status`: what is open first, and what needs you
 * always.
 */
export function statusWords(counts: Counted): string {
  const { waiting, planned, asking, answered, delivered, attention } = counts;
  return (
    `${asking} being asked, ${waiting + planned} before the call, ${answered} to write back, ` +
    `${delivered} delivered; ${attention} need attention.`
  );
}

async function status({ notifier, statusLine }: Supervision): Promise<string> {
  if (!notifier.is_heard) return '';
  // A database that cannot be read at the moment is the stages' affair; the line says only what is
  // known.
  const line = await statusLine().catch(() => 'The database cannot be read; see the log.');
  return `STATUS=${line}`;
}
