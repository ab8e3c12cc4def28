/** Says when a file of the database changes, so that the daemon need not look every second. */
import { type FSWatcher, watch } from 'node:fs';

type FileWatch = { is_watched: boolean; end: () => void };

export const NOT_WATCHED: FileWatch = { is_watched: false, end: () => {} };

/**
 * Calls `onChange` once, at the next change: somebody wrote into the file, replaced, or deleted it.
 * Returns whether the system watches the file, and a function that ends the wait. If it does not,
 * look from time to time.
 */
export function onNextChange(path: string, onChange: () => void): FileWatch {
  let watcher: FSWatcher | null = null;
  const end = () => {
    watcher?.close();
    watcher = null;
  };
  try {
    watcher = watch(path, { persistent: false }, () => {
      end();
      onChange();
    });
    watcher.on('error', end);
  } catch {
    return NOT_WATCHED; // A network share, or the system's limit of watched files.
  }
  return { is_watched: true, end };
}
