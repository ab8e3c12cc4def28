/** The keys of this process's installation. Apart from the driver, which loads SQLite. */
import type { DatabaseKey } from '../../domain/database-key.ts';

let findKeys: () => readonly DatabaseKey[] = () => [];
let known_keys: readonly DatabaseKey[] | null = null;

/**
 * Says where this process finds the keys of its installation: the one that is in use, and after it
 * those that only read what was written earlier. Asked when the first database is opened.
 */
export function useDatabaseKeys(find: () => readonly DatabaseKey[]): void {
  findKeys = find;
  known_keys = null;
}

/** The key in use, then those for reading; empty: nothing is encrypted here. */
export function databaseKeys(): readonly DatabaseKey[] {
  known_keys ??= findKeys();
  return known_keys;
}

/** One more key for reading, such as the recovery key of a backup. */
export function addDatabaseKey(key: DatabaseKey): void {
  const keys = [...databaseKeys(), key];
  known_keys = keys;
}
