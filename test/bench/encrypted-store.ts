/** A child of the bench: the cost of the same work on a database with and without a key. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseKey, KEY_BYTES } from '../../src/domain/database-key.ts';
import { writeBackup } from '../../src/store/engine/backup.ts';
import { useDatabaseKeys } from '../../src/store/engine/keys.ts';
import { openStore } from '../../src/store/engine/store.ts';
import { jobOfChild } from './measure.ts';

export type EncryptionJob = { is_encrypted: boolean };
/** In milliseconds: `passed` by the clock, `cpu` by the processor. */
export type Cost = { passed: number; cpu: number };
export type EncryptionResult = Record<keyof typeof WORK, Cost>;

const COMMITS = 2_000;
const ROWS = 40_000;
const ROWS_PER_COMMIT = 500;
/** About as long as an answer. */
const TEXT = randomBytes(1_000).toString('hex');

export const WORK = {
  single: `${COMMITS} commits of one row`,
  bulk: `${ROWS} rows of 2 KB in commits of ${ROWS_PER_COMMIT}`,
  open: 'a start: open and check all of it',
  read: 'read every row',
  backup: 'a backup, checked',
} as const;

if (process.argv[1] === import.meta.filename) {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-bench-'));
  try {
    if (jobOfChild<EncryptionJob>().is_encrypted) {
      const key = new DatabaseKey(randomBytes(KEY_BYTES));
      useDatabaseKeys(() => [key]);
    }
    process.stdout.write(JSON.stringify(await measure(join(folder, 'eligd.db'))));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measure(path: string): Promise<EncryptionResult> {
  let store = await openStore(path);
  const add = (names: readonly string[]) =>
    store.write((tx) =>
      tx
        .insertInto('learned_settings')
        .values(names.map((name) => ({ name, value: TEXT, updated_at: 1 })))
        .execute(),
    );
  const single = await cost(async () => {
    for (let at = 0; at < COMMITS; at += 1) await add([`single ${at}`]);
  });
  const bulk = await cost(async () => {
    for (let at = 0; at < ROWS; at += ROWS_PER_COMMIT)
      await add(Array.from({ length: ROWS_PER_COMMIT }, (_, row) => `bulk ${at + row}`));
  });
  await store.close();
  const open = await cost(async () => {
    store = await openStore(path);
  });
  const read = await cost(async () => {
    await store.db
      .selectFrom('learned_settings')
      .select((select) => select.fn.sum<number>(select.fn('length', ['value'])).as('length'))
      .execute();
  });
  await store.close();
  const backup = await cost(async () => {
    writeBackup(path, `${path}.copy`, 1);
  });
  return { single, bulk, open, read, backup };
}

async function cost(work: () => Promise<void>): Promise<Cost> {
  const [begun_ms, used] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(used);
  return { passed: performance.now() - begun_ms, cpu: (user + system) / 1_000 };
}
