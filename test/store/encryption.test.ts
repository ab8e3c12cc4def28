import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DatabaseKey } from '../../src/domain/database-key.ts';
import { inspectCopy, writeBackup } from '../../src/store/engine/backup.ts';
import { writeBackupAside } from '../../src/store/engine/backup-thread.ts';
import { DamagedDatabase } from '../../src/store/engine/damage.ts';
import { inspectDatabase } from '../../src/store/engine/database.ts';
import { openSqlite, WrongKey } from '../../src/store/engine/driver.ts';
import { databaseKeys, useDatabaseKeys } from '../../src/store/engine/keys.ts';
import { readDatabase } from '../../src/store/engine/read-only.ts';
import { restoreDatabase } from '../../src/store/engine/restore.ts';
import { openScratch } from '../../src/store/engine/scratch.ts';
import { openStore } from '../../src/store/engine/store.ts';

const NEEDLE = 'Needle, Jane 1980-02-03';
const ONE = new DatabaseKey(Buffer.alloc(32, 1));
const OTHER = new DatabaseKey(Buffer.alloc(32, 2));

const given = databaseKeys();
let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eligd-encrypted-'));
  path = join(folder, 'eligd.db');
});
afterEach(() => rmSync(folder, { recursive: true }));
afterAll(() => useDatabaseKeys(() => given));

function use(...keys: DatabaseKey[]): void {
  useDatabaseKeys(() => keys);
}

/** A database with a patient's name in it, in the file and in the WAL. */
async function fill({ close = true } = {}): Promise<() => Promise<void>> {
  const store = await openStore(path);
  const add = (name: string) =>
    store.write((tx) =>
      tx.insertInto('learned_settings').values({ name, value: NEEDLE, updated_at: 1 }).execute(),
    );
  for (let at = 0; at < 50; at += 1) await add(`fact ${at}`);
  if (close) await store.close();
  return store.close;
}

function filesWithNeedle(): string[] {
  return readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(NEEDLE));
}

function factsIn(file: string): unknown {
  const raw = openSqlite(file, { readonly: true });
  try {
    return raw.prepare(`select count(*) from learned_settings where value = ?`).pluck().get(NEEDLE);
  } finally {
    raw.close();
  }
}

async function refusal(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('It was not refused.');
}

/** Every way in which a command or the daemon opens a database. */
const WAYS: [string, () => unknown][] = [
  ['the daemon', () => openStore(path)],
  ['check', () => inspectDatabase(path)],
  [
    'status',
    () => readDatabase(path, (db) => db.selectFrom('learned_settings').selectAll().execute()),
  ],
  ['backup', () => writeBackup(path, join(folder, 'copy.db'), 1)],
  ['backup in a thread', () => writeBackupAside(path, join(folder, 'copy.db'), 1)],
  ['restore', () => inspectCopy(path)],
];

describe('a database with a key', () => {
  test('an encrypted database has no plain text in its file, WAL, and backups', async () => {
    use(ONE);
    const close = await fill({ close: false });
    expect(readdirSync(folder)).toContain('eligd.db-wal');
    await writeBackupAside(path, join(folder, 'aside.db'), 5);
    expect(filesWithNeedle()).toEqual([]);
    await close();
    writeBackup(path, join(folder, 'copy.db'), 5);
    expect(filesWithNeedle()).toEqual([]);
    for (const file of ['eligd.db', 'aside.db', 'copy.db'])
      expect(factsIn(join(folder, file))).toBe(50);
    use();
    await fillPlain();
    expect(filesWithNeedle()).toEqual(['plain.db']);
  });

  test('migrations are tried in memory, and an encrypted backup is restored', async () => {
    use(ONE);
    await fill();
    const scratch = await openScratch(path);
    expect(await scratch.db.selectFrom('learned_settings').selectAll().execute()).toHaveLength(50);
    await scratch.close();
    writeBackup(path, join(folder, 'copy.db'), 5);
    const { content } = restoreDatabase(path, join(folder, 'copy.db'), 6, 0);
    expect(content.backed_up_at).toBe(5);
    expect(factsIn(path)).toBe(50);
    expect(filesWithNeedle()).toEqual([]);
  });

  test.each([
    ['without a key', () => use(), 'is encrypted, but eligd has no key.'],
    ['with another key', () => use(OTHER), 'is encrypted with a different key than'],
  ])('eligd says %s, and does not call it damage', async (_name, change, what) => {
    use(ONE);
    await fill();
    change();
    for (const [name, way] of WAYS) {
      const error = await refusal(way);
      expect(error, name).toBeInstanceOf(name === 'backup in a thread' ? Error : WrongKey);
      expect(error, name).not.toBeInstanceOf(DamagedDatabase);
      expect(error, name).toMatchObject({
        kind: 'configuration',
        what: `${path} ${what}${what.endsWith('.') ? '' : ' eligd has.'}`,
        why: expect.stringContaining(`It needs the key ${ONE.id}`),
        next: expect.stringContaining('Nothing is damaged.'),
      });
    }
    use(ONE);
    expect(factsIn(path)).toBe(50);
  });

  test('a damaged file is called damaged, with the right key', async () => {
    use(ONE);
    await fill();
    const sound = readFileSync(path);
    for (const [from, to] of [
      [0, 4096],
      [200, 300],
      [4096, sound.length],
    ]) {
      writeFileSync(path, Buffer.from(sound).fill(0x55, from, to));
      for (const [, way] of WAYS.slice(0, 2))
        expect(await refusal(way)).toBeInstanceOf(DamagedDatabase);
    }
  });

  test('eligd reads with the previous key, and writes with it until it is changed', async () => {
    use(ONE);
    await fill();
    use(OTHER, ONE);
    const store = await openStore(path);
    await store.close();
    writeBackup(path, join(folder, 'copy.db'), 5);
    use(OTHER);
    expect(factsIn(join(folder, 'copy.db'))).toBe(50);
    expect(await refusal(() => openStore(path))).toBeInstanceOf(WrongKey);
  });

  test('with a key, a plain database is refused, and its backups are encrypted', async () => {
    use();
    await fill();
    use(ONE);
    for (const way of [() => openStore(path), () => inspectDatabase(path)])
      expect(await refusal(way)).toMatchObject({
        kind: 'configuration',
        what: `The database ${path} is not encrypted, but eligd has a database key.`,
      });
    writeBackup(path, join(folder, 'copy.db'), 5);
    expect(filesWithNeedle()).toEqual(['eligd.db']);
    expect(schemaOf(join(folder, 'copy.db'))).toEqual(schemaOf(path));
    expect(factsIn(join(folder, 'copy.db'))).toBe(50);
  });
});

async function fillPlain(): Promise<void> {
  path = join(dirname(path), 'plain.db');
  await fill();
}

function schemaOf(file: string): unknown {
  const raw = openSqlite(file, { readonly: true });
  const found = raw.prepare('select type, name, sql from sqlite_master order by 1, 2').all();
  raw.close();
  return found;
}
