/** Says when a file of the database changes, so that the daemon need not look every second. */
import { type FSWatcher, watch } from 'node:fs';

/**
 * Calls `onChange` once, at the next change: somebody wrote into the file, replaced, or deleted it.
 * Returns a function that ends the wait. Where the system cannot watch files, it never calls, so
 * look from time to time, too.
 */
export function onNextChange(path: string, onChange: () => void): () => void {
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
    // A network share, or the system's limit of watched files.
  }
  return end;
}
