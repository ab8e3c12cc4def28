/** The keys of this process's installation. Separate from the driver, which loads SQLite. */
import type { DatabaseKey } from '../../domain/database-key.ts';

let findKeys: () => readonly DatabaseKey[] = () => [];
let known_keys: readonly DatabaseKey[] | null = null;

/**
 * Sets how this process obtains the keys of its installation: the current one, then those for
 * reading older data. Called when the first database is opened.
 */
export function useDatabaseKeys(find: () => readonly DatabaseKey[]): void {
  findKeys = find;
  known_keys = null;
}

/** Returns the current key, then those for reading; empty: no encryption. */
export function databaseKeys(): readonly DatabaseKey[] {
  known_keys ??= findKeys();
  return known_keys;
}

/** Adds another key for reading, such as the recovery key of a backup. */
export function addDatabaseKey(key: DatabaseKey): void {
  const keys = [...databaseKeys(), key];
  known_keys = keys;
}
