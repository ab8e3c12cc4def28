import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { openStore, type Store } from '../../src/store/engine/store.ts';

const folders: string[] = [];
const stores: Store[] = [];

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A path for a database in its own folder, deleted after the test. */
export function temporaryPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-store-'));
  folders.push(folder);
  return join(folder, 'eligd.db');
}

/**
 * A store that is closed after the test; the test may close it earlier. Without `path`, it is new.
 */
export async function temporaryStore(path?: string): Promise<Store> {
  const store = await (path === undefined ? openNewStore(temporaryPath()) : openStore(path));
  stores.push(store);
  return store;
}

let migrated: Buffer | undefined;

/**
 * Opens a new store. Migrating an empty database takes longer than many a test, so each process
 * does it once; the other databases are copies of that one.
 */
export async function openNewStore(path: string): Promise<Store> {
  if (migrated === undefined) {
    const first = temporaryPath();
    await (await openStore(first)).close();
    migrated = readFileSync(first);
  }
  writeFileSync(path, migrated, { mode: 0o600, flag: 'wx' });
  return await openStore(path);
}
