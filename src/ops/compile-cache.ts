import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { MODULE_ENDING, PROJECT_ROOT } from './project.ts';
import { distrusted } from './trusted-files.ts';

/**
 * Returns the folder for Node's compiled code; null: none. Node runs the content of its cache
 * without checking who owns it. So the cache is either in the packages of a working copy that
 * belongs to this process's user and that no other user can change, or in `compiled` of the
 * installed program, which only root can change and compile-ahead.ts fills. Root has no cache.
 * Node's default is a folder that all users share.
 */
export function ownCacheFolder(root = PROJECT_ROOT): string | null {
  if (process.geteuid?.() === 0) return null;
  if (MODULE_ENDING === '.js') {
    const installed = join(root, 'compiled');
    if (!existsSync(installed)) return null;
    // It contains one folder for each Node version and user, with the compiled code.
    const folders = [installed, ...readdirSync(installed).map((name) => join(installed, name))];
    return folders.every((each) => distrusted(each, { role: 'cache' }).length === 0)
      ? installed
      : null;
  }
  const folder = join(root, 'node_modules', '.cache', 'compiled');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    return null; // Only the owner of the working copy can create it.
  }
  return distrusted(folder, { role: 'cache', is_secret: true }).length === 0 ? folder : null;
}
