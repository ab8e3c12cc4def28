/** Shared by the tests in which the database is lost, or an older one is put back. */
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clinic } from '../support/clinic.ts';

/** Replaces the database, as an administrator does by hand, so eligd cannot know that it did. */
export function putBack({ state }: Clinic, copy: string): void {
  const database = join(state, 'eligd.db');
  for (const end of ['-wal', '-shm']) rmSync(database + end, { force: true });
  copyFileSync(copy, database);
}

/** Returns the path of a copy of the database as it is now. */
export async function backUp(clinic: Clinic, name: string): Promise<string> {
  const copy = join(clinic.folder, name);
  await clinic.run('backup', copy);
  return copy;
}

/** Why submission is stopped. */
export async function haltsOf(clinic: Clinic): Promise<{ reason: string }[]> {
  return JSON.parse((await clinic.run('status', '--json')).stdout).halts;
}

/** The labels of calls, or the IDs of visits, sorted; a duplicate is a second call. */
export function labelsOf(
  of: readonly { external_id?: string | null; appointment_id?: string }[],
): string[] {
  return of.map(({ external_id, appointment_id }) => external_id ?? appointment_id ?? '').sort();
}
