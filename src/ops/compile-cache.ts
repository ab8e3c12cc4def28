import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { MODULE_ENDING, PROJECT_ROOT } from './project.ts';
import { distrusted } from './trusted-files.ts';

/**
 * Where Node may keep compiled code, null when nowhere. Node runs what it finds in its cache and
 * asks nobody whose it is. So the cache lies in the packages of a working copy that belongs to the
 * user of this process and that nobody else can change, or in `compiled` of the installed program,
 * which only root can change and compile-ahead.ts fills. Root has none. Node's default is a folder
 * that all users share.
 */
export function ownCacheFolder(root = PROJECT_ROOT): string | null {
  if (process.geteuid?.() === 0) return null;
  if (MODULE_ENDING === '.js') {
    const installed = join(root, 'compiled');
    if (!existsSync(installed)) return null;
    // In it lies a folder of each version of Node and user, and in that one the compiled code.
    const folders = [installed, ...readdirSync(installed).map((name) => join(installed, name))];
    return folders.every((each) => distrusted(each, { role: 'cache' }).length === 0)
      ? installed
      : null;
  }
  const folder = join(root, 'node_modules', '.cache', 'compiled');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    return null; // Only the working copy's owner can make it; without it the start takes longer.
  }
  return distrusted(folder, { role: 'cache', is_secret: true }).length === 0 ? folder : null;
}
