import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { systemDatabaseKey } from '../../src/cli/init/database-key.ts';
import { DatabaseKey } from '../../src/domain/database-key.ts';
import { formOf } from '../../src/store/engine/driver.ts';
import { lockInstance } from '../../src/store/engine/instance-lock.ts';
import { useDatabaseKeys } from '../../src/store/engine/keys.ts';
import { openStore } from '../../src/store/engine/store.ts';
import { type Installation, install } from './installation.ts';

const NEEDLE = 'Needle, Jane 1980-02-03';
const DAMAGE = /eligd\.db is damaged|no sound copy/;
const ONE = new DatabaseKey(Buffer.alloc(32, 1));
const OTHER = new DatabaseKey(Buffer.alloc(32, 2));
const keyed = (key: DatabaseKey) => ({ ELIGD_DATABASE_KEY: key.reveal().join(' ') });
const before = (key: DatabaseKey) => ({ ELIGD_DATABASE_KEY_PREVIOUS: key.reveal().join(' ') });

afterAll(() => useDatabaseKeys(() => []));

/** An installation whose plain-text database contains a name. */
async function installed(): Promise<Installation> {
  const eligd = install('http://127.0.0.1:9');
  useDatabaseKeys(() => []);
  const store = await openStore(eligd.database);
  await store.write((tx) =>
    tx.insertInto('learned_settings').values({ name: 'a', value: NEEDLE, updated_at: 1 }).execute(),
  );
  await store.close();
  return eligd;
}

function filesWithNeedle({ folder }: Installation): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name))
    .filter((file) => readFileSync(file).includes(NEEDLE));
}

describe('eligd database', () => {
  test('database key prints a new key each time, and --current the one in use', async () => {
    const eligd = install('http://127.0.0.1:9');
    const [first, second] = [
      await eligd.run(['database', 'key']),
      await eligd.run(['database', 'key']),
    ];
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout.trim().split('\n')).toHaveLength(4);
    expect(first.stdout).not.toBe(second.stdout);
    const current = await eligd.run(['database', 'key', '--current'], keyed(ONE));
    expect(current.stdout).toBe(`${ONE.reveal().join('\n')}\n`);
    expect(await eligd.run(['database', 'key', '--current'])).toMatchObject({ code: 78 });
  });

  test('database encrypts, changes the key, and decrypts, with the backups', async () => {
    const eligd = await installed();
    expect(await eligd.run(['backup'])).toMatchObject({ code: 0 });
    expect(filesWithNeedle(eligd)).toHaveLength(2);
    expect(await eligd.run(['database', 'encrypt'])).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('eligd was given no database key'),
    });
    const encrypted = await eligd.run(['database', 'encrypt'], keyed(ONE));
    expect(encrypted).toMatchObject({ code: 0 });
    expect(encrypted.stdout).toContain(`${eligd.database} is encrypted.`);
    expect(filesWithNeedle(eligd)).toEqual([]);
    expect(await eligd.run(['list'], keyed(ONE))).toMatchObject({ code: 0 });
    const again = await eligd.run(['database', 'encrypt'], keyed(ONE));
    expect(again).toMatchObject({ code: 0, stdout: `${eligd.database} is encrypted.\n` });

    await eligd.run(['database', 'key', '--current'], keyed(ONE));
    const trail = (await eligd.run(['audit', 'show'], keyed(ONE))).stdout;
    expect(trail).toMatch(/ encrypted +database$/m);
    expect(trail).toMatch(/ key_shown +database$/m);
    expect(await eligd.run(['audit', 'verify'], keyed(ONE))).toMatchObject({ code: 0 });

    const both = { ...keyed(OTHER), ...before(ONE) };
    expect(await eligd.run(['list'], both)).toMatchObject({ code: 0 });
    expect((await eligd.run(['check'], both)).stdout).toContain('run "eligd database rekey"');
    expect(await eligd.run(['database', 'encrypt'], both)).toMatchObject({ code: 1 });
    expect(await eligd.run(['database', 'rekey'], both)).toMatchObject({ code: 0 });
    expect((await eligd.run(['check'], keyed(OTHER))).stdout).toContain('sound and encrypted.');
    expect(await eligd.run(['list'], keyed(ONE))).toMatchObject({ code: 78 });

    expect(await eligd.run(['database', 'decrypt'], keyed(OTHER))).toMatchObject({ code: 0 });
    expect(await eligd.run(['list'])).toMatchObject({ code: 0 });
    expect(filesWithNeedle(eligd)).toHaveLength(2);
    expect(await eligd.run(['once'], keyed(OTHER))).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('is not encrypted, but eligd has a database key'),
    });
    expect(await eligd.run(['database', 'rekey'], keyed(OTHER))).toMatchObject({ code: 1 });
  });

  test('database refuses while the daemon runs, and changes nothing', async () => {
    const eligd = await installed();
    const lock = lockInstance(eligd.database);
    try {
      const refused = await eligd.run(['database', 'encrypt'], keyed(ONE));
      expect(refused).toMatchObject({
        code: 75,
        stderr: expect.stringContaining('Another eligd is running on this database.'),
      });
    } finally {
      lock.release();
    }
    expect(formOf(eligd.database)).toBe('plain');
  });

  test.each([
    ['no key', {}, 'is encrypted, but eligd has no key.'],
    ['another key', keyed(OTHER), 'is encrypted with a different key than eligd'],
  ])('every command says that it has %s, and none calls it damage', async (_name, env, said) => {
    const eligd = await installed();
    await eligd.run(['database', 'encrypt'], keyed(ONE));
    for (const command of ['once', 'status', 'list', 'backup', 'purge']) {
      const { code, stdout, stderr } = await eligd.run([command], env);
      expect(code, command).toBe(78);
      expect(stderr, command).toContain(said);
      expect(stdout + stderr, command).not.toMatch(DAMAGE);
    }
    const checked = await eligd.run(['check'], env);
    expect(checked.code).not.toBe(0);
    expect(checked.stdout).toContain(said);
    expect(checked.stdout).not.toMatch(DAMAGE);
  });

  test('a typing error in the key is reported without the key', async () => {
    const eligd = await installed();
    const [first = '', ...rest] = ONE.reveal();
    const typed = [first.replace(/.$/, (last) => (last === '7' ? '8' : '7')), ...rest].join(' ');
    const { code, stderr } = await eligd.run(['list'], { ELIGD_DATABASE_KEY: typed });
    expect(code).toBe(78);
    expect(stderr).toContain('There is a typing error in line 1');
    expect(stderr).not.toContain(rest[0]);
  });
});

describe('a backup on a new machine', () => {
  let backup: string;
  beforeEach(async () => {
    const eligd = await installed();
    await eligd.run(['database', 'encrypt'], keyed(ONE));
    await eligd.run(['backup', join(eligd.folder, 'copy.db')], keyed(ONE));
    backup = join(eligd.folder, 'copy.db');
  });

  test('a backup is restored with the recovery key, and gets the new machine’s key', async () => {
    const eligd = install('http://127.0.0.1:9');
    const paper = join(eligd.folder, 'paper.txt');
    writeFileSync(paper, ONE.reveal().join('\n').toLowerCase(), { mode: 0o600 });
    const refused = await eligd.run(['restore', backup], keyed(OTHER));
    expect(refused).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('--recovery-key-file FILE'),
    });
    const restored = await eligd.run(
      ['restore', backup, '--recovery-key-file', paper],
      keyed(OTHER),
    );
    expect(restored).toMatchObject({ code: 0 });
    expect(formOf(eligd.database)).toEqual({ key_id: OTHER.id });
    expect(await eligd.run(['list'], keyed(OTHER))).toMatchObject({ code: 0 });
    expect(filesWithNeedle(eligd)).toEqual([]);
  });

  test('without a key of the machine, a restored backup stays encrypted', async () => {
    const eligd = install('http://127.0.0.1:9');
    const paper = join(eligd.folder, 'paper.txt');
    writeFileSync(paper, ONE.reveal().join('\n'), { mode: 0o600 });
    const restored = await eligd.run(['restore', backup, '--recovery-key-file', paper]);
    expect(restored).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('this installation has no key yet'),
    });
    expect(formOf(eligd.database)).toEqual({ key_id: ONE.id });
    expect(await eligd.run(['list'], keyed(ONE))).toMatchObject({ code: 0 });
  });

  test('a recovery key that others can read is refused', async () => {
    const eligd = install('http://127.0.0.1:9');
    const paper = join(eligd.folder, 'paper.txt');
    writeFileSync(paper, ONE.reveal().join('\n'), { mode: 0o644 });
    expect(await eligd.run(['restore', backup, '--recovery-key-file', paper])).toMatchObject({
      code: 78,
      stderr: expect.stringContaining(`chmod 600 ${paper}`),
    });
    expect(readdirSync(eligd.folder)).not.toContain('state');
  });

  test('another recovery key is refused, and nothing changes', async () => {
    const eligd = install('http://127.0.0.1:9');
    const paper = join(eligd.folder, 'paper.txt');
    for (const [text, said] of [
      [OTHER.reveal().join('\n'), 'is encrypted with a different key'],
      [ONE.reveal().join('\n').slice(1), 'It has 63 characters instead of 64.'],
    ] as const) {
      writeFileSync(paper, text, { mode: 0o600 });
      const refused = await eligd.run(['restore', backup, '--recovery-key-file', paper]);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain(said);
    }
    expect(readdirSync(eligd.folder)).not.toContain('state');
  });
});

describe('the key of an installed service', () => {
  const none = { given: undefined, kept: undefined, has_database: false };

  test('init makes the key and shows it once, for paper', () => {
    const { secrets, said } = systemDatabaseKey(none);
    const [, value = ''] = secrets[0] ?? [];
    for (const line of value.split(' ')) expect(said).toContain(`    ${line}\n`);
    expect(systemDatabaseKey(none).secrets).not.toEqual(secrets);
  });

  test('init keeps an existing key, and makes none for a plain-text database', () => {
    const kept = ONE.reveal().join(' ');
    const found = [['ELIGD_DATABASE_KEY', kept]];
    expect(systemDatabaseKey({ ...none, kept, has_database: true }).secrets).toEqual(found);
    expect(systemDatabaseKey({ ...none, given: kept, kept: 'x' }).secrets).toEqual(found);
    expect(systemDatabaseKey({ ...none, has_database: true }).secrets).toEqual([]);
    expect(() => systemDatabaseKey({ ...none, given: 'x' })).toThrow('is not valid');
  });
});
