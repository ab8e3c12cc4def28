/** Migration 0034 renames terms of the glossary, and keeps the stored data. */
import { expect, test } from 'vitest';
import { readLearned } from '../../src/store/bookkeeping/learned-settings.ts';
import { inspectCopy, writeBackup } from '../../src/store/engine/backup.ts';
import { restoreDatabase } from '../../src/store/engine/restore.ts';
import { databaseBefore } from './database-before.ts';
import { temporaryPath, temporaryStore } from './temporary.ts';

const PAUSED = 'requests_paused_until';

/** A database from before the names changed, with one entry of each kind. */
async function olderDatabase(): Promise<string> {
  const path = temporaryPath();
  const raw = await databaseBefore(path, '0034');
  raw.exec(`insert into facts values ('token_limit', '7', 5)`);
  raw.exec(`insert into attention (subject, reason, what, next, since)
    values ('inquiry:1', 'extra_call', 'Two calls.', 'Read both.', 3)`);
  raw.close();
  return path;
}

test('an upgrade keeps learned settings and entries about duplicate calls', async () => {
  const store = await temporaryStore(await olderDatabase());
  expect(await readLearned(store.db, 'token_limit')).toEqual({ value: '7', updated_at: 5 });
  const entries = await store.db.selectFrom('attention').select(['reason', 'since']).execute();
  expect(entries).toEqual([{ reason: 'duplicate_call', since: 3 }]);
});

test('a backup from before the upgrade can be restored, and requests wait', async () => {
  const [backup, path] = [await olderDatabase(), temporaryPath()];
  restoreDatabase(path, backup, 1_000, 60_000);
  const store = await temporaryStore(path);
  expect(await readLearned(store.db, PAUSED)).toEqual({ value: '61000', updated_at: 1_000 });
  expect(await readLearned(store.db, 'token_limit')).toMatchObject({ value: '7' });
});

test('an upgrade can back up the database of the version before', async () => {
  const [path, copy] = [await olderDatabase(), temporaryPath()];
  writeBackup(path, copy, 7_000);
  expect(inspectCopy(copy).backed_up_at).toBe(7_000);
});
