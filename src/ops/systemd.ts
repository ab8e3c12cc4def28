import { spawn } from 'node:child_process';

/**
 * What systemd is told about the daemon (sd_notify(3)). Outside a unit of Type=notify nothing is
 * told to anybody.
 */
export type Notifier = {
  /** Whether somebody listens. */
  is_heard: boolean;
  /**
   * Sends assignments such as `READY=1`. Never fails: a daemon does not end because nobody listens.
   */
  tell: (...assignments: string[]) => Promise<void>;
  /**
   * How long systemd waits for the next sign of life before it kills the daemon; null: for ever.
   */
  watchdog_ms: number | null;
};

/**
 * Tells through the program systemd-notify, because Node has no datagram sockets of the Unix kind
 * and the package that adds them is not there for every processor; hence NotifyAccess=all in the
 * unit.
 */
export function createNotifier(
  environment: Readonly<Record<string, string | undefined>>,
): Notifier {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, PATH } = environment;
  if (!NOTIFY_SOCKET) return { is_heard: false, tell: async () => {}, watchdog_ms: null };
  const watchdog_ms = Number(WATCHDOG_USEC ?? 0) / 1000;
  return {
    is_heard: true,
    watchdog_ms: watchdog_ms > 0 ? watchdog_ms : null,
    tell: (...assignments) =>
      new Promise((resolve) => {
        const child = spawn('systemd-notify', assignments, {
          env: { NOTIFY_SOCKET, PATH },
          stdio: 'ignore',
        });
        child.on('error', () => resolve());
        child.on('exit', () => resolve());
      }),
  };
}
