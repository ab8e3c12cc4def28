import { mkdtempSync, rmSync } from 'node:fs';
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

/** A store that is closed after the test; the test may close it earlier. */
export async function temporaryStore(path = temporaryPath()): Promise<Store> {
  const store = await openStore(path);
  stores.push(store);
  return store;
}
