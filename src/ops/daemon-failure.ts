/**
 * When the daemon cannot run, "eligd alert failed" tells of it. A file next to the database (in the
 * service's folder of /run where that cannot be written) says since when, and whether people were
 * told, so that they are told once; the daemon, when it runs again, tells of the end.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from './config-schema.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export type DaemonFailure = { first_at: number | null; told_at: number | null };

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

/** Where nothing can be written people may be told once more, which is better than never. */
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

/** What "eligd alert failed" needs, also when the configuration has an error by then. */
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

/** Keeps the last configuration of alerts that was in order next to the database. */
export function keepForFailure(config: Config): void {
  const file = join(dirname(config.state.path), LAST_GOOD);
  wasWritten(file, JSON.stringify(alertPlace(config)));
}

/** `folder`: that of the database, as systemd names it in $STATE_DIRECTORY. */
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
