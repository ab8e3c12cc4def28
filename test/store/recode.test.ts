import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DatabaseKey } from '../../src/domain/database-key.ts';
import { backupName, beforeUpgradeName, writeBackup } from '../../src/store/engine/backup.ts';
import { openKeyed, openSqlite } from '../../src/store/engine/driver.ts';
import { databaseKeys, useDatabaseKeys } from '../../src/store/engine/keys.ts';
import { clearRecodings, recodeDatabase } from '../../src/store/engine/recode.ts';
import { openStore } from '../../src/store/engine/store.ts';

const NEEDLE = 'Needle, Jane 1980-02-03';
const ROWS = 30;
const OLD = new DatabaseKey(Buffer.alloc(32, 1));
const NEW = new DatabaseKey(Buffer.alloc(32, 2));
const ENGINE = resolve(import.meta.dirname, '../../src/store/engine');

const MODES = {
  encrypt: { from: null, to: NEW },
  rekey: { from: OLD, to: NEW },
  decrypt: { from: NEW, to: null },
} as const;
type Mode = keyof typeof MODES;
const ALL = Object.keys(MODES) as Mode[];

const given = databaseKeys();
const folder = mkdtempSync(join(tmpdir(), 'eligd-recode-'));
afterAll(() => {
  useDatabaseKeys(() => given);
  rmSync(folder, { recursive: true });
});

/** A state folder as a killed daemon leaves it: with a WAL, a backup, and a replaced database. */
async function fill(state: string, key: DatabaseKey | null): Promise<void> {
  useDatabaseKeys(() => (key === null ? [] : [key]));
  const live = `${state}.live`;
  const store = await openStore(join(live, 'eligd.db'));
  for (let row = 0; row < ROWS; row += 1)
    await store.write((tx) =>
      tx
        .insertInto('learned_settings')
        .values({ name: `fact ${row}`, value: NEEDLE, updated_at: 1 })
        .execute(),
    );
  mkdirSync(join(state, 'backups'), { recursive: true, mode: 0o700 });
  for (const end of ['', '-wal'])
    for (const name of ['eligd.db', 'eligd.db.replaced-20261121T033000Z'])
      cpSync(join(live, `eligd.db${end}`), join(state, name + end));
  writeBackup(join(live, 'eligd.db'), join(state, 'backups', backupName(1)), 1);
  // A backup that died in the middle.
  writeFileSync(join(state, 'backups', `.${backupName(2)}.part`), NEEDLE);
  await store.close();
  rmSync(live, { recursive: true });
}

/** The databases of a state folder. */
function databases(state: string): string[] {
  return [state, join(state, 'backups')].flatMap((each) =>
    readdirSync(each)
      .filter((name) => /\.db$|\.replaced-\w+$/.test(name))
      .map((name) => join(each, name)),
  );
}

function filesWithNeedle(state: string): string[] {
  return readdirSync(state, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name))
    .filter((file) => readFileSync(file).includes(NEEDLE));
}

/** The key that opens a file; also finds every row of it. */
function keyOf(file: string): string | null {
  useDatabaseKeys(() => [NEW, OLD]);
  const { raw, key } = openKeyed(file, { fileMustExist: true });
  try {
    const found = raw
      .prepare('select count(*) from learned_settings where value = ?')
      .pluck()
      .get(NEEDLE);
    expect(found, file).toBe(ROWS);
    expect(raw.pragma('integrity_check', { simple: true })).toBe('ok');
    return key?.id ?? null;
  } finally {
    raw.close();
  }
}

function change(state: string, to: DatabaseKey | null) {
  useDatabaseKeys(() => [NEW, OLD]);
  return recodeDatabase(join(state, 'eligd.db'), join(state, 'backups'), to);
}

/** The same in a process that is watched or killed. */
function changeAside(state: string, mode: Mode, environment: Record<string, string>) {
  const to = MODES[mode].to === null ? 'null' : 'NEW';
  const program = `
    import { DatabaseKey } from '${resolve(ENGINE, '../../domain/database-key.ts')}';
    import { useDatabaseKeys } from '${ENGINE}/keys.ts';
    import { recodeDatabase } from '${ENGINE}/recode.ts';
    const [OLD, NEW] = [1, 2].map((byte) => new DatabaseKey(Buffer.alloc(32, byte)));
    useDatabaseKeys(() => [NEW, OLD]);
    recodeDatabase('${state}/eligd.db', '${state}/backups', ${to});
  `;
  return spawnSync(
    process.execPath,
    ['--import', join(import.meta.dirname, 'points.ts'), '--input-type=module', '--eval', program],
    {
      env: { ...process.env, NODE_OPTIONS: '', POINT_FOLDER: state, ...environment },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
}

/** The state of every file after the next start. */
function expectWhole(state: string, mode: Mode): void {
  const { from, to } = MODES[mode];
  clearRecodings(state);
  clearRecodings(join(state, 'backups'));
  const files = databases(state);
  expect(files).toHaveLength(3);
  for (const file of files) expect([from?.id ?? null, to?.id ?? null]).toContain(keyOf(file));
  const others = readdirSync(state, { recursive: true }).map(String);
  expect(others.filter((name) => name.includes('recoding'))).toEqual([]);
}

/** The state of every file after the command has run again to its end. */
function expectDone(state: string, mode: Mode): void {
  const { to } = MODES[mode];
  expect(change(state, to).left).toEqual([]);
  for (const file of databases(state)) expect(keyOf(file)).toBe(to?.id ?? null);
  if (to !== null) expect(filesWithNeedle(state)).toEqual([]);
}

describe.each(ALL)('%s', (mode) => {
  const filled = join(folder, mode);
  let state: string;
  beforeAll(() => fill(filled, MODES[mode].from));
  beforeEach(() => {
    state = mkdtempSync(join(folder, 'state-'));
    cpSync(filled, state, { recursive: true, preserveTimestamps: true });
  });

  test('the command changes the database and its copies, and keeps rows and ages', () => {
    const backup = join(state, 'backups', backupName(1));
    utimesSync(backup, 1_000, 2_000);
    const { changed, left } = change(state, MODES[mode].to);
    expect(changed.toSorted()).toEqual(databases(state).toSorted());
    expect(left).toEqual([]);
    expect(statSync(backup).mtimeMs).toBe(2_000_000);
    for (const file of changed) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(state).toSorted()).toEqual([
      'backups',
      'eligd.db',
      'eligd.db.replaced-20261121T033000Z',
    ]);
    expectDone(state, mode);
    expect(change(state, MODES[mode].to).changed).toEqual([]);
  });

  test('if the command dies at any point, each file is the old or the new one', () => {
    const images = join(state, '..', `${mode}-images`);
    mkdirSync(images);
    expect(changeAside(state, mode, { POINT_IMAGES: images }).status).toBe(0);
    const points = readdirSync(images);
    expect(points.length).toBeGreaterThan(20);
    for (const [index, each] of points.entries()) {
      const image = join(images, each);
      expectWhole(image, mode);
      if (index % 3 === 0) expectDone(image, mode);
    }
    rmSync(images, { recursive: true });
  });

  test.each([10, 45, 80, 100])('the command is killed at point %i and run again', (at) => {
    expect(changeAside(state, mode, { POINT_KILL: String(at) }).signal).toBe('SIGKILL');
    expectWhole(state, mode);
    expectDone(state, mode);
  });

  test('the command refuses while another process has the database open', () => {
    useDatabaseKeys(() => [NEW, OLD]);
    const reader = openSqlite(join(state, 'eligd.db'), { readonly: true });
    reader.prepare('select count(*) from learned_settings').get();
    try {
      expect(() => change(state, MODES[mode].to)).toThrow('eligd.db is in use');
    } finally {
      reader.close();
    }
    expectWhole(state, mode);
    expect(keyOf(join(state, 'eligd.db'))).toBe(MODES[mode].from?.id ?? null);
  });
});

test('a copy that cannot be read is named and kept, and the others are changed', async () => {
  const state = join(folder, 'with-damage');
  await fill(state, null);
  const name = join(state, 'backups', beforeUpgradeName('0.1.0', 1));
  cpSync(resolve(import.meta.dirname, 'recode.test.ts'), name);
  const { changed, left } = change(state, NEW);
  expect(changed).toHaveLength(3);
  expect(left).toEqual([{ file: name, why: expect.stringContaining('is damaged') }]);
  expect(readFileSync(name)).toEqual(readFileSync(resolve(import.meta.dirname, 'recode.test.ts')));
});
