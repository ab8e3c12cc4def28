import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/**
 * Sends the daemon's state to systemd (sd_notify(3)). Outside a unit with Type=notify, it sends
 * nothing.
 */
export type Notifier = {
  /** Whether systemd listens. */
  is_heard: boolean;
  /**
   * Sends assignments such as `READY=1`. Never fails: a missing listener does not end the daemon.
   */
  tell: (...assignments: string[]) => Promise<void>;
  /** How long systemd waits for a watchdog message before it kills the daemon; null: forever. */
  watchdog_ms: number | null;
};

type Relay = ChildProcessByStdio<Writable, Readable, null>;

/**
 * Sends each NUL-terminated input to systemd's socket and writes a dot for it. The socket expects
 * Unix datagrams, which Node does not support.
 */
const RELAY =
  '$/ = "\\0"; $| = 1; (my $to = $ENV{NOTIFY_SOCKET}) =~ s/^@/\\0/; ' +
  'socket(my $out, AF_UNIX, SOCK_DGRAM, 0) or exit 1; ' +
  'while (<STDIN>) { chomp; send($out, $_, 0, pack_sockaddr_un($to)) or exit 1; print "."; }';

/**
 * Sends through one Perl process, which every Debian and Ubuntu has and which lives as long as the
 * daemon, so that a watchdog message does not start a process. Without Perl, it starts
 * systemd-notify for each message. Both are child processes; hence NotifyAccess=all in the unit.
 */
export function createNotifier(
  environment: Readonly<Record<string, string | undefined>>,
): Notifier {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, PATH } = environment;
  if (!NOTIFY_SOCKET) return { is_heard: false, tell: async () => {}, watchdog_ms: null };
  const watchdog_ms = Number(WATCHDOG_USEC ?? 0) / 1000;
  const env = { NOTIFY_SOCKET, PATH };
  let relay: Relay | null = null;
  return {
    is_heard: true,
    watchdog_ms: watchdog_ms > 0 ? watchdog_ms : null,
    tell: async (...assignments) => {
      relay ??= startRelay(env);
      if (!(await isRelayed(relay, assignments.join('\n')))) await tellOnce(assignments, env);
    },
  };
}

function startRelay(env: NodeJS.ProcessEnv): Relay {
  const relay = spawn('perl', ['-MSocket', '-e', RELAY], {
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  // The close event shows that it could not be started or written to.
  relay.on('error', () => {});
  relay.stdin.on('error', () => {});
  return relay;
}

/**
 * Returns whether the relay has sent the text. A relay that has ended or never started sends
 * nothing.
 */
async function isRelayed(relay: Relay, text: string): Promise<boolean> {
  if (relay.pid === undefined || relay.exitCode !== null || relay.signalCode !== null) return false;
  const over = new AbortController();
  relay.stdin.write(`${text}\0`);
  const sent = once(relay.stdout, 'data', over).then(() => true);
  const ended = once(relay, 'exit', over).then(() => false);
  return await Promise.race([sent, ended]).finally(() => over.abort());
}

function tellOnce(assignments: string[], env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn('systemd-notify', assignments, { env, stdio: 'ignore' });
    child.on('error', () => resolve());
    child.on('exit', () => resolve());
  });
}
