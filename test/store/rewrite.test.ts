/** Deleted data is gone from every page of a database that was rewritten. */
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/store/engine/driver.ts';
import { rewriteDatabase } from '../../src/store/engine/rewrite.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { emptyWal } from '../../src/store/engine/wal.ts';
import { temporaryPath, temporaryStore } from './temporary.ts';

const NAME = 'Quillfeather';
const ROWS = 60;

/** Stores rows that grow, so that SQLite moves some to other pages, and clears all of them. */
async function fill(store: Store): Promise<void> {
  const call = {
    specialty: 'dental' as const,
    external_id: NAME,
    match_key: NAME,
    given_name: NAME,
    fate: 'unsent' as const,
    service_status: '',
  };
  await store.write(async (tx) => {
    for (let row = 0; row < ROWS; row += 1) await tx.insertInto('calls').values(call).execute();
    for (let step = 0; step < 4 * ROWS; step += 1)
      await tx
        .updateTable('calls')
        .set({ body: NAME.repeat((step * 7) % 60) })
        .where('id', '=', 1 + ((step * 11) % ROWS))
        .execute();
    await tx
      .updateTable('calls')
      .set({ external_id: '', match_key: '', given_name: '', body: null })
      .execute();
  });
}

/** Whether the name is in a page of the database, decrypted. */
function isThere(path: string): boolean {
  const raw = openSqlite(path, { readonly: true });
  const pages = raw.serialize();
  raw.close();
  return pages.includes(NAME);
}

test('a rewritten database holds no deleted bytes', async () => {
  const path = temporaryPath();
  const store = await temporaryStore(path);
  await fill(store);
  expect(await emptyWal(store.db)).toBe(true);
  // Otherwise this test proves nothing.
  expect(isThere(path)).toBe(true);
  expect(await rewriteDatabase(store.db, path, 1)).toBe('too_large');
  expect(isThere(path)).toBe(true);
  expect(await rewriteDatabase(store.db, path, 10_000_000)).toBe('done');
  expect(await emptyWal(store.db)).toBe(true);
  expect(isThere(path)).toBe(false);
});
