/** Finds files that connectors have kept for too long, and deletes them. */
import { lstat, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeptFiles } from '../../connectors/contract.ts';
import { errorCode } from '../domain/errors.ts';

export type OldFile = { path: string; at: number };

/**
 * Returns the files of `kept` that were written and moved before `before` (epoch milliseconds). An
 * export may be older than its arrival here, so the later time counts. Ignores links.
 */
export async function oldFiles({ folder, names }: KeptFiles, before: number): Promise<OldFile[]> {
  const found: OldFile[] = [];
  for (const name of await listed(folder)) {
    if (!names.test(name)) continue;
    const path = join(folder, name);
    const file = await lstat(path).catch(ignoreMissing);
    if (file?.isFile() !== true) continue;
    const at = Math.max(file.mtimeMs, file.ctimeMs);
    if (at < before) found.push({ path, at: Math.floor(at) });
  }
  return found;
}

/** Deletes the files; returns how many are gone and how many remain. */
export async function deleteFiles(
  files: readonly OldFile[],
): Promise<{ deleted: number; left: number }> {
  let left = 0;
  for (const { path } of files) {
    await unlink(path).catch(() => undefined);
    const still_there = await lstat(path).catch(ignoreMissing);
    if (still_there !== null) left += 1;
  }
  return { deleted: files.length - left, left };
}

async function listed(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(ignoreMissing)) ?? [];
}

function ignoreMissing(error: unknown): null {
  if (errorCode(error) === 'ENOENT') return null;
  throw error;
}
