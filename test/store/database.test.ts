import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Kysely, SqliteDialect } from 'kysely';
import { describe, expect, test } from 'vitest';
import { up as addOutcome } from '../../migrations/0018-outcome.ts';
import { EligdError } from '../../src/domain/errors.ts';
import { writeAudit } from '../../src/store/bookkeeping/audit.ts';
import { inspectDatabase } from '../../src/store/engine/database.ts';
import { openMemory, openSqlite } from '../../src/store/engine/driver.ts';
import { isInstanceRunning, lockInstance } from '../../src/store/engine/instance-lock.ts';
import { openStore } from '../../src/store/engine/store.ts';
import { temporaryPath, temporaryStore } from './temporary.ts';

const SOURCE = resolve(import.meta.dirname, '../../src/store/engine');

async function refusal(work: () => unknown): Promise<EligdError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof EligdError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

function startScript(script: string) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { child, exit: once(child, 'exit') };
}

/** A process that holds the lock of `path` until it is killed. */
async function lockHolder(path: string) {
  const { child, exit } = startScript(`
    import { lockInstance } from '${SOURCE}/instance-lock.ts';
    globalThis.lock = lockInstance(${JSON.stringify(path)});
    console.log('locked');
    setInterval(() => {}, 1000);`);
  await once(child.stdout, 'data');
  return {
    kill: async () => {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

describe('a database', () => {
  test('a new database gets its folder, and no other user can read it', async () => {
    const path = join(temporaryPath(), 'deeper', 'eligd.db');
    await temporaryStore(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
  });

  test('a database keeps its data when it is opened again', async () => {
    const path = temporaryPath();
    const store = await temporaryStore(path);
    await store.write((tx) =>
      tx.insertInto('learned_settings').values({ name: 'a', value: '1', updated_at: 0 }).execute(),
    );
    await store.close();
    const again = await temporaryStore(path);
    expect(await again.db.selectFrom('learned_settings').select('value').execute()).toEqual([
      { value: '1' },
    ]);
  });

  test('a commit reaches the disk before the outside effect, and keeps references', async () => {
    const { db } = await temporaryStore();
    // On the same connection, because these are settings of a connection, not of the file.
    const { sql } = await import('kysely');
    expect((await sql`pragma journal_mode`.execute(db)).rows).toEqual([{ journal_mode: 'wal' }]);
    expect((await sql`pragma synchronous`.execute(db)).rows).toEqual([{ synchronous: 2 }]);
    expect((await sql`pragma foreign_keys`.execute(db)).rows).toEqual([{ foreign_keys: 1 }]);
  });

  test('a database that a newer eligd wrote is refused and not changed', async () => {
    const path = temporaryPath();
    await (await temporaryStore(path)).close();
    const raw = openSqlite(path);
    raw
      .prepare(`insert into kysely_migration (name, timestamp) values ('9999-future', '2099')`)
      .run();
    raw.close();
    for (const work of [() => openStore(path), () => inspectDatabase(path)]) {
      const error = await refusal(work);
      expect(error).toMatchObject({
        kind: 'configuration',
        what: `The database ${path} was written by a newer eligd.`,
      });
      expect(error.next).toContain('Install the newer version again');
    }
  });

  test.each([
    ['no SQLite file', (bytes: Buffer) => bytes.fill(0x55, 0, 4096)],
    ['damaged inside', (bytes: Buffer) => bytes.fill(0x55, 4096, bytes.length)],
    ['cut off', (bytes: Buffer) => bytes.subarray(0, Math.floor(bytes.length / 2 / 4096) * 4096)],
  ])('a database that is %s is refused and not changed', async (_, damage) => {
    const path = temporaryPath();
    await (await temporaryStore(path)).close();
    const damaged = damage(readFileSync(path));
    writeFileSync(path, damaged);
    for (const work of [() => openStore(path), () => inspectDatabase(path)]) {
      const error = await refusal(work);
      expect(error.kind).toBe('configuration');
      expect(error.what).toBe(`The database ${path} is damaged.`);
      expect(error.next).toContain('"eligd restore"');
    }
    expect(readFileSync(path).equals(damaged)).toBe(true);
  });

  test('a database whose folder cannot be created is refused', async () => {
    const file = temporaryPath();
    writeFileSync(file, '');
    const error = await refusal(() => openStore(join(file, 'eligd.db')));
    expect(error).toMatchObject({
      kind: 'configuration',
      why: expect.stringMatching(/ENOTDIR|EEXIST/),
    });
    expect(error.next).toContain('state.path');
  });

  test('several processes that start at the same time migrate the database once', async () => {
    for (let round = 0; round < 3; round += 1) {
      const path = temporaryPath();
      const at = Date.now() + 600;
      const script = `
        import { openStore } from '${SOURCE}/store.ts';
        while (Date.now() < ${at});
        const store = await openStore(${JSON.stringify(path)});
        await store.write((tx) =>
          tx.insertInto('rate_slots').values({ taken_at: 1, ended_at: null }).execute());
        await store.close();
        console.log('done');`;
      const starts = [1, 2, 3].map(() =>
        promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]).then(
          ({ stdout }) => stdout.trim(),
        ),
      );
      expect(await Promise.all(starts)).toEqual(['done', 'done', 'done']);
      const store = await temporaryStore(path);
      expect(await store.db.selectFrom('rate_slots').selectAll().execute()).toHaveLength(3);
    }
  });

  test('a crash in the middle leaves no half migration', async () => {
    const path = temporaryPath();
    // A table with the same name makes the migration fail halfway.
    const raw = openSqlite(path);
    raw.exec('create table facts (anything)');
    raw.close();
    chmodSync(path, 0o600);
    expect((await refusal(() => openStore(path))).what).toContain('cannot be opened');
    const after = openSqlite(path);
    const tables = after
      .prepare(`select name from sqlite_master where type = 'table'`)
      .pluck()
      .all();
    after.exec('drop table facts');
    after.close();
    expect(tables).toEqual(['facts']);
    await temporaryStore(path);
  });
});

describe('patient data on the disk', () => {
  test('a file that others can read is refused, with the command that fixes it', async () => {
    const path = temporaryPath();
    await (await openStore(path)).close();
    chmodSync(path, 0o640);
    for (const use of [() => openStore(path), async () => inspectDatabase(path)]) {
      const { kind, next } = await refusal(use);
      expect(kind).toBe('configuration');
      expect(next).toBe(`Run "chmod 600 ${path}".`);
    }
    chmodSync(path, 0o600);
    await temporaryStore(path);
  });

  test('a folder that others can read is refused, and no remedy changes it', async () => {
    const path = temporaryPath();
    await (await openStore(path)).close();
    chmodSync(dirname(path), 0o755);
    for (const use of [() => openStore(path), async () => inspectDatabase(path)]) {
      const { kind, next } = await refusal(use);
      expect(kind).toBe('configuration');
      expect(next).not.toMatch(/chmod|chown/);
      const [, better = ''] = /set state\.path: (\S+)\. /.exec(next) ?? [];
      expect(dirname(dirname(better))).toBe(dirname(path));
      await (await openStore(better)).close();
    }
    chmodSync(dirname(path), 0o700);
  });

  test('a database in /tmp is refused, without a command that changes /tmp', async () => {
    const { next } = await refusal(() => openStore('/tmp/eligd-test-of-advice.db'));
    expect(next).toContain('set state.path: ./state/eligd-test-of-advice.db');
    expect(next).not.toMatch(/chmod|chown/);
  });
});

describe('reading a database', () => {
  test('a read creates nothing', () => {
    const path = temporaryPath();
    expect(inspectDatabase(path)).toBe('absent');
    expect(isInstanceRunning(path)).toBe(false);
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  test('a read migrates nothing', async () => {
    const path = temporaryPath();
    openSqlite(path).exec('create table anything (a)').close();
    chmodSync(path, 0o600);
    const before = readFileSync(path);
    expect(inspectDatabase(path)).toBe('behind');
    expect(readFileSync(path).equals(before)).toBe(true);
    await temporaryStore(path);
    expect(inspectDatabase(path)).toBe('current');
  });
});

describe('the lock of the instance', () => {
  test('one process at a time holds the lock, and a release frees it', async () => {
    const path = temporaryPath();
    const lock = lockInstance(path);
    const error = await refusal(() => lockInstance(path));
    expect(error).toMatchObject({
      kind: 'temporary',
      what: 'Another eligd is running on this database.',
    });
    expect(error.why).toContain(`${path}.lock`);
    expect(error.next).toContain('systemctl stop eligd');
    expect(isInstanceRunning(path)).toBe(true);
    lock.release();
    expect(isInstanceRunning(path)).toBe(false);
    lockInstance(path).release();
  });

  test('the lock of a killed process is free', async () => {
    const path = temporaryPath();
    const holder = await lockHolder(path);
    expect(isInstanceRunning(path)).toBe(true);
    expect((await refusal(() => lockInstance(path))).kind).toBe('temporary');
    await holder.kill();
    expect(isInstanceRunning(path)).toBe(false);
    lockInstance(path).release();
  });

  test('the lock keeps no command from the database', async () => {
    const path = temporaryPath();
    const lock = lockInstance(path);
    const store = await temporaryStore(path);
    await store.write((tx) =>
      tx.insertInto('learned_settings').values({ name: 'a', value: '1', updated_at: 0 }).execute(),
    );
    lock.release();
    expect(existsSync(path)).toBe(true);
  });

  test('two databases in one folder have separate locks', () => {
    const path = temporaryPath();
    const locks = [lockInstance(path), lockInstance(join(dirname(path), 'other.db'))];
    for (const lock of locks) lock.release();
  });
});

describe('the audit trail', () => {
  test('the audit trail takes entries, and refuses changes and deletions', async () => {
    const store = await temporaryStore();
    const entry = {
      at: 1,
      subject: 'appointment:1',
      from_state: null,
      to_state: 'accepted',
      reason: 'r',
    };
    await store.write((tx) => writeAudit(tx, [entry]));
    const append_only = 'the audit trail is append-only';
    await expect(
      store.write((tx) => tx.updateTable('audit').set({ reason: 'x' }).execute()),
    ).rejects.toThrow(append_only);
    await expect(store.write((tx) => tx.deleteFrom('audit').execute())).rejects.toThrow(
      append_only,
    );
    expect(await store.db.selectFrom('audit').select('reason').execute()).toEqual([
      { reason: 'r' },
    ]);
  });
});

test('records from before outcomes existed get theirs from the service’s word', async () => {
  const raw = openMemory();
  raw.exec('create table records (id integer primary key, record text not null)');
  const insert = raw.prepare('insert into records (record) values (?)');
  for (const status of ['SUCCESS', 'success', 'UNSUCCESSFUL', 'Cancelled', 'ODD'])
    insert.run(JSON.stringify({ schema: 'eligd.eligibility/1', status }));
  const db = new Kysely({ dialect: new SqliteDialect({ database: raw }) });
  await addOutcome(db);
  await addOutcome(db);
  const outcomes = raw.prepare(`select json_extract(record, '$.outcome') from records`);
  expect(outcomes.pluck().all()).toEqual([
    'successful',
    'successful',
    'unsuccessful',
    'cancelled',
    'unknown',
  ]);
  await db.destroy();
});
