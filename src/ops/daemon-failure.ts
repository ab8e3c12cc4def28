/**
 * Records that the daemon cannot run, for "eligd alert failed". A file next to the database (or in
 * the service's folder under /run if that cannot be written) stores since when, and whether a
 * message was sent, so that only one is sent. When the daemon runs again, it reports the end.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from './config-schema.ts';

type Environment = Readonly<Record<string, string | undefined>>;

type DaemonFailure = { first_at: number | null; told_at: number | null };

function places(state_path: string, { RUNTIME_DIRECTORY }: Environment): string[] {
  const folders = [dirname(state_path), ...(RUNTIME_DIRECTORY ? [RUNTIME_DIRECTORY] : [])];
  return folders.map((folder) => join(folder, 'alert-failed.json'));
}

export function readFailure(state_path: string, environment: Environment): DaemonFailure {
  for (const file of places(state_path, environment)) {
    const found = readJson(file);
    if (found !== null) return found as DaemonFailure;
  }
  return { first_at: null, told_at: null };
}

/**
 * Writes the record. If it cannot be written, the message may be sent twice, which is better than
 * never.
 */
export function writeFailure(
  state_path: string,
  environment: Environment,
  failure: DaemonFailure,
): void {
  for (const file of places(state_path, environment))
    if (wasWritten(file, JSON.stringify(failure))) return;
}

export function forgetFailure(state_path: string, environment: Environment): void {
  for (const file of places(state_path, environment)) {
    try {
      rmSync(file, { force: true });
    } catch {
      // It cannot be deleted where it could not have been written.
    }
  }
}

/** The data that "eligd alert failed" needs, even if the configuration has an error by then. */
export type AlertPlace = {
  clinic: { name: string; time_zone: string };
  state_path: string;
  folder: string;
  alerts: Config['alerts'];
};

export function alertPlace({ clinic, state, folder, alerts }: Config): AlertPlace {
  const { name, time_zone } = clinic;
  return { clinic: { name, time_zone }, state_path: state.path, folder, alerts };
}

const LAST_GOOD = 'alert-targets.json';

/** Saves the last valid alert configuration next to the database. */
export function keepForFailure(config: Config): void {
  const file = join(dirname(config.state.path), LAST_GOOD);
  wasWritten(file, JSON.stringify(alertPlace(config)));
}

/** Reads it. `folder`: the database's, as systemd names it in $STATE_DIRECTORY. */
export function lastGoodPlace(folder: string): AlertPlace | null {
  return readJson(join(folder, LAST_GOOD)) as AlertPlace | null;
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

function wasWritten(file: string, content: string): boolean {
  try {
    writeFileSync(file, content, { mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}
