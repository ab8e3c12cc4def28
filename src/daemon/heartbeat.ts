/**
 * Publishes the daemon's state about once a minute: in the database for commands that run at the
 * same time, and in a file next to the results for people and monitoring programs.
 */

import { errorCode } from '../domain/errors.ts';
import type { Heartbeat } from '../domain/health.ts';
import { MINUTE_MS } from '../domain/time.ts';
import { healthSettings, heartbeatText } from '../ops/health-text.ts';
import { readHeartbeat, writeHeartbeat } from '../store/bookkeeping/heartbeat.ts';
import type { Db } from '../store/engine/database.ts';
import type { Store } from '../store/engine/store.ts';
import { type HealthReport, readHealth } from '../store/views/health.ts';
import type { DaemonOptions, Parts, Pulse } from './parts.ts';

const BEAT_MS = MINUTE_MS;
/** Time for a busy computer before a heartbeat counts as missing. */
const SLACK_MS = 3 * MINUTE_MS;

/** Returns the daemon's current health, for `/readyz` and `/metrics`. */
export async function liveHealth(parts: Parts, db: Db): Promise<HealthReport> {
  const { config, env } = parts.options;
  const settings = healthSettings(config, parts.payers);
  const report = await readHealth(db, settings, env.clock.now(), currentHeartbeat(parts));
  return { ...report, alerts: parts.pulse.alerts?.() ?? report.alerts };
}

export function currentHeartbeat(parts: Parts, stopped_at: number | null = null): Heartbeat {
  const { options, pulse, contact, clock_watch, connectors } = parts;
  const at = options.env.clock.now();
  const hanging = parts.hangingStages();
  return {
    at,
    overdue_at: at + Math.max(BEAT_MS, options.idle_ms ?? 0) + SLACK_MS,
    started_at: pulse.started_at,
    stopped_at,
    pid: process.pid,
    version: options.version,
    hanging: pulse.write_error === null ? hanging : [...hanging, `database (${pulse.write_error})`],
    skew_ms: clock_watch.skewMs(),
    contact: { calls: contact.calls.current(), answers: contact.answers.current() },
    connectors: connectors.map(({ id, state: { read_at, write_at } }) => ({
      id,
      read_at,
      write_at,
    })),
  };
}

/**
 * Returns when and why this daemon was restarted; null unless the previous one hung or crashed.
 * That one did not record a shutdown, and the computer has been running since then.
 */
export async function restartOf(
  { env, booted_at }: DaemonOptions,
  store: Store,
): Promise<Pulse['restarted']> {
  const before = await readHeartbeat(store.db);
  if (before === null || before.stopped_at !== null) return null;
  if (booted_at !== undefined && booted_at > before.at) return null;
  const why =
    before.hanging.length > 0
      ? `It made no progress: ${before.hanging.join(', ')}.`
      : 'It ended unexpectedly.';
  return { at: env.clock.now(), why };
}

/** Runs until `signal` is aborted, and then records that the daemon shut down normally. */
export async function keepPulse(parts: Parts, signal: AbortSignal): Promise<void> {
  const { options, store, pulse, connectors } = parts;
  const { env } = options;
  // What worked before a restart still counts as having worked.
  const before = await readHeartbeat(store.db).catch(() => null);
  for (const { id, state } of connectors) {
    const known = before?.connectors.find((each) => each.id === id);
    state.read_at ??= known?.read_at ?? null;
    state.write_at ??= known?.write_at ?? null;
  }
  while (!signal.aborted) {
    await beat(parts);
    await pulse.waker.wait(env, Math.max(BEAT_MS, options.idle_ms ?? 0), signal);
  }
  await store
    .write((tx) => writeHeartbeat(tx, currentHeartbeat(parts, env.clock.now())))
    .catch(() => {});
}

async function beat(parts: Parts): Promise<void> {
  const { store, pulse } = parts;
  try {
    await store.write((tx) => writeHeartbeat(tx, currentHeartbeat(parts)));
    pulse.write_error = null;
  } catch (error) {
    pulse.write_error = errorCode(error) ?? 'failed';
  }
  try {
    await publish(parts);
  } catch (error) {
    // The database cannot be read either. The age of the heartbeat file shows that there is a
    // problem.
    pulse.write_error ??= errorCode(error) ?? 'failed';
  }
}

/** Starts writing without waiting: a share that hangs must not stop the heartbeat (G7). */
async function publish(parts: Parts): Promise<void> {
  const { options, store, pulse, connectors } = parts;
  const { env, config } = options;
  const listed = connectors.filter(({ connector }) => connector.publishHeartbeat !== undefined);
  if (listed.length === 0) return;
  const report = await liveHealth(parts, store.db);
  const text = heartbeatText(report, { now: env.clock.now(), time_zone: config.clinic.time_zone });
  for (const { id, connector } of listed) {
    if (pulse.publishing.has(id)) continue;
    pulse.publishing.add(id);
    const stop = new AbortController();
    void (connector.publishHeartbeat?.(text, stop.signal) ?? Promise.resolve())
      // The connector reports failures of its writes itself.
      .catch(() => {})
      .finally(() => pulse.publishing.delete(id));
  }
}
