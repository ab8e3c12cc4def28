import { randomUUID } from 'node:crypto';
import { clockSkew, isSmallSkew } from '../../domain/clock-watch.ts';
import type { Env } from '../../domain/env.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { Config } from '../../ops/config.ts';
import type { SecretSource } from '../../ops/secrets.ts';
import type { RequestGate } from '../../service/api.ts';
import { accessAnswer, askForAccess } from '../../store/bookkeeping/access-check.ts';
import { readHeartbeat } from '../../store/bookkeeping/heartbeat.ts';
import { currentHalts } from '../../store/calls/halts.ts';
import { inspectDatabase } from '../../store/engine/database.ts';
import { openStore, type Store } from '../../store/engine/store.ts';
import { createCommandClient, createCommandGate, unwrap } from '../service.ts';
import { bad, type CheckedLine, checked, fine, skipped } from './line.ts';
import { checkSubscription } from './webhook.ts';

/** How long the daemon has for one request, and how often the check looks for the result. */
const DAEMON_PATIENCE_MS = 10_000;
const DAEMON_LOOK_MS = 200;

type Parts = { config: Config; secrets: SecretSource; env: Env };

/** Logs in to the service with one cheap read, and compares its clock with this machine's. */
export async function checkService({ config, secrets, env }: Parts): Promise<CheckedLine[]> {
  let skew_ms: number | null = null;
  const login = await checked('service', async () => {
    const { gate, close } = await openGate(config, env);
    try {
      const client = createCommandClient({
        config,
        secrets,
        env,
        gate,
        onServiceDate: (seen) => {
          skew_ms = clockSkew(seen);
        },
      });
      try {
        unwrap(
          await client.login({ priority: 'urgent' }),
          { what: 'The login to the service failed.' },
          config,
        );
        const accepted = fine(
          'service',
          `${config.service.base_url} accepts the credentials (${config.service.auth}).`,
        );
        return [
          accepted,
          ...(await checkDaemon(config, env)),
          ...(await checkSubscription(client, config.webhook)),
        ];
      } finally {
        await client.close();
      }
    } finally {
      await close();
    }
  });
  return [...login, checkClock(skew_ms)];
}

/**
 * Checks the login of the running daemon. Only the daemon has its token, so the check asks it to
 * send a request. If the daemon is not running, the database shows whether the service rejected it.
 */
async function checkDaemon({ state }: Config, env: Env): Promise<CheckedLine[]> {
  if (!isUsable(state.path)) return [];
  const store = await openStore(state.path);
  try {
    const heartbeat = await readHeartbeat(store.db);
    const now = env.clock.now();
    const runs = heartbeat !== null && heartbeat.stopped_at === null && now < heartbeat.overdue_at;
    const line = runs ? await askDaemon(store, env) : null;
    if (line !== null && line.state !== 'skipped') return [line];
    const account = (await currentHalts(store.db)).find(({ reason }) => reason === 'account');
    if (account !== undefined) return [rejectedLine(account.detail, account.next_try_at)];
    return line === null ? [] : [line];
  } finally {
    await store.close();
  }
}

async function askDaemon(store: Store, env: Env): Promise<CheckedLine> {
  const question = randomUUID();
  await store.write((tx) => askForAccess(tx, question, env.clock.now()));
  for (let waited_ms = 0; waited_ms < DAEMON_PATIENCE_MS; waited_ms += DAEMON_LOOK_MS) {
    await env.clock.sleep(DAEMON_LOOK_MS);
    const answer = await accessAnswer(store.db);
    if (answer?.asked !== question) continue;
    if (answer.is_accepted) return fine('service', 'The running eligd is logged in, too.');
    const said = answer.status === null ? 'It got no reply.' : `HTTP ${answer.status}.`;
    return rejectedLine(said, await nextTry(store));
  }
  const seconds = Math.round(DAEMON_PATIENCE_MS / 1_000);
  return skipped(
    'service',
    `The running eligd did not say within ${seconds} seconds whether ` +
      'the service accepts its own token.',
  );
}

async function nextTry(store: Store): Promise<number | null> {
  const halts = await currentHalts(store.db);
  return halts.find(({ reason }) => reason === 'account')?.next_try_at ?? null;
}

function rejectedLine(detail: string, next_try_at: number | null): CheckedLine {
  const at = next_try_at === null ? '' : ` (${new Date(next_try_at).toISOString()})`;
  return bad(
    'service',
    'temporary',
    'The credentials work here, but the service rejects the requests of the running eligd: ' +
      detail,
    `eligd logs in again at its next try${at}. To try now, run "eligd release submission". If it ` +
      'persists, ask the calling service about the account.',
  );
}

/**
 * Opens the rate limit of the database, which counts every request (G5). If the database is missing
 * or needs a migration, no daemon of this version is using it. A check neither creates nor migrates
 * it, so it sends its requests without a limit.
 */
async function openGate(
  config: Config,
  env: Env,
): Promise<{ gate: RequestGate; close: () => Promise<void> }> {
  if (!isUsable(config.state.path)) {
    const gate: RequestGate = {
      enter: async () => ({ leave: async () => {} }),
      pause: async () => {},
    };
    return { gate, close: async () => {} };
  }
  const store = await openStore(config.state.path);
  return { gate: createCommandGate(store, config, env), close: () => store.close() };
}

/**
 * Returns false for a database that cannot be used: a separate line reports it, and the check tries
 * the login anyway.
 */
function isUsable(path: string): boolean {
  try {
    return inspectDatabase(path) === 'current';
  } catch {
    return false;
  }
}

function checkClock(skew_ms: number | null): CheckedLine {
  if (skew_ms === null)
    return skipped('clock', 'Not compared, because the service did not say what time it is.');
  const minutes = Math.round(Math.abs(skew_ms) / MINUTE_MS);
  if (isSmallSkew(skew_ms))
    return fine('clock', 'The clock of this machine agrees with the service’s.');
  const direction = skew_ms > 0 ? 'ahead of' : 'behind';
  const what =
    `The clock of this machine is ${minutes} minutes ${direction} the service’s, so eligd ` +
    'treats no visit as past.';
  return bad(
    'clock',
    'failed',
    what,
    'Set the clock. It is best to turn on time synchronization ("timedatectl set-ntp true").',
  );
}

/** Returns the lines that replace the service's when there are no credentials to try. */
export function serviceSkipped(): CheckedLine[] {
  return [
    skipped('service', 'Not asked, because secrets are missing.'),
    skipped('clock', 'Not compared, because the service was not asked.'),
  ];
}
