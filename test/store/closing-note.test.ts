/** When a start leaves out the check of the whole database, by what it reads from the disk. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { countSend } from '../../src/stages/submit/earlier-comparison.ts';
import { openSqlite } from '../../src/store/engine/driver.ts';
import { lockInstance, type SendCount } from '../../src/store/engine/instance-lock.ts';
import { openStore, type Store } from '../../src/store/engine/store.ts';
import { temporaryPath } from './temporary.ts';

const TIMERS = { elapsed: () => 0, sleep: async () => {} };
const MINUTE_MS = 60_000;
const CONTENT_BYTES = 8_000_000;

/** Bytes that this thread has read so far; the start reads in it. */
function bytesRead(): number {
  return Number(/rchar: (\d+)/.exec(readFileSync('/proc/thread-self/io', 'utf8'))?.[1]);
}

/** An installation whose last process has sent an inquiry, checked the file, and ended cleanly. */
async function closedInstallation() {
  const path = temporaryPath();
  const boot = { id: 'first boot', awake_ms: 1_000_000 };
  const clock = { now: 1_900_000_000_000 };
  const env = {
    boot: () => ({ ...boot }),
    clock: { ...TIMERS, now: () => clock.now },
  };
  /** Opens the database as `eligd once` does; `work` happens before the clean end. */
  const start = async (
    work: (store: Store, sends: SendCount) => Promise<unknown> = async () => {},
  ) => {
    const lock = lockInstance(path);
    try {
      const before = bytesRead();
      const store = await openStore(path, { env, sends: lock.sends });
      const read = bytesRead() - before;
      try {
        await work(store, lock.sends);
      } finally {
        await store.close();
      }
      return { has_checked: read > CONTENT_BYTES / 2 };
    } finally {
      lock.release();
    }
  };
  /** Counts a send; the lock file may not learn of it. */
  const send = (is_in_lock = true) =>
    start(async (store, sends) => {
      const count = await store.write((tx) => countSend(tx, clock.now));
      if (is_in_lock) sends.write(count);
    });
  await start((store) => {
    const value = 'x'.repeat(CONTENT_BYTES);
    return store.write((tx) =>
      tx.insertInto('learned_settings').values({ name: 'a', value, updated_at: 0 }).execute(),
    );
  });
  await send();
  const pass = (minutes: number) => {
    clock.now += minutes * MINUTE_MS;
    boot.awake_ms += minutes * MINUTE_MS;
  };
  pass(1);
  expect(await start()).toEqual({ has_checked: false });
  return { path, boot, clock, start, send, pass };
}

type Installation = Awaited<ReturnType<typeof closedInstallation>>;

/** Overwrites a page in the middle. */
function flipBytes(path: string): void {
  const handle = openSync(path, 'r+');
  writeSync(handle, Buffer.alloc(4_096, 0xa5), 0, 4_096, 4_096 * 1_000);
  closeSync(handle);
}

test('a start soon after a clean end does not read the whole database', async () => {
  const { start, pass, send } = await closedInstallation();
  for (let runs = 0; runs < 5; runs += 1) {
    pass(10);
    expect(await start()).toEqual({ has_checked: false });
  }
  // What the process itself wrote is no reason for a check.
  await send();
  expect(await start()).toEqual({ has_checked: false });
});

test('damage that nothing shows is found within an hour of the last check', async () => {
  const { start, pass } = await closedInstallation();
  pass(58);
  expect(await start()).toEqual({ has_checked: false });
  pass(1);
  expect(await start()).toEqual({ has_checked: true });
  pass(59);
  expect(await start()).toEqual({ has_checked: false });
});

test.for<[string, (installation: Installation) => unknown]>([
  ['another boot', ({ boot }) => Object.assign(boot, { id: 'second boot' })],
  ['an unknown boot', ({ boot }) => Object.assign(boot, { id: undefined })],
  ['an hour, where the clock was set back', ({ boot }) => (boot.awake_ms += 60 * MINUTE_MS)],
  ['an hour asleep', ({ clock }) => (clock.now += 60 * MINUTE_MS)],
  ['a snapshot, which sets the boot clock back', ({ boot }) => (boot.awake_ms -= 10 * MINUTE_MS)],
  ['the clock was set back', ({ clock }) => (clock.now -= 10 * MINUTE_MS)],
  ['a send that only the database knows', ({ send }) => send(false)],
  [
    'a send that only the lock file knows',
    ({ path }) => {
      const lock = lockInstance(path);
      lock.sends.write(9);
      lock.release();
    },
  ],
  ['the loss of the note', ({ path }) => rmSync(`${path}.closed`)],
  ['a note that is cut off', ({ path }) => truncateSync(`${path}.closed`, 20)],
  ['a note without content', ({ path }) => writeFileSync(`${path}.closed`, '{}')],
  [
    'a change by another program',
    ({ path }) => {
      const raw = openSqlite(path);
      raw.exec(`update learned_settings set updated_at = 1 where name = 'sends'`);
      raw.close();
    },
  ],
  [
    'a process that was killed',
    async ({ path, boot, clock }) => {
      const lock = lockInstance(path);
      const env = { boot: () => boot, clock: { ...TIMERS, now: () => clock.now } };
      const store = await openStore(path, { env, sends: lock.sends });
      lock.release();
      // Its end without a close: only the connection goes.
      await store.db.destroy();
    },
  ],
  [
    'a process with an error of the disk or the file',
    ({ start }) =>
      start(async (store) => {
        const { sql } = await import('kysely');
        await expect(sql`select * from no_table`.execute(store.db)).rejects.toThrow('no such');
      }),
  ],
  [
    'a copy with the same size and time',
    ({ path }) => {
      const { atime, mtime } = statSync(path);
      copyFileSync(path, `${path}.copy`);
      utimesSync(`${path}.copy`, atime, mtime);
      renameSync(`${path}.copy`, path);
    },
  ],
])('after %s, a start reads the whole database', async ([, happen]) => {
  const installation = await closedInstallation();
  await happen(installation);
  expect(await installation.start()).toEqual({ has_checked: true });
});

test.for<[string, (path: string) => unknown]>([
  ['flipped bytes are', flipBytes],
  [
    'flipped bytes under the old time are',
    (path) => {
      const { atime, mtime } = statSync(path);
      flipBytes(path);
      utimesSync(path, atime, mtime);
    },
  ],
  ['a file that was cut off is', (path) => truncateSync(path, 4_096 * 1_000)],
  [
    'a damaged backup in its place is',
    (path) => {
      copyFileSync(path, `${path}.copy`);
      flipBytes(`${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
  [
    'a damaged backup that was written into the file is',
    (path) => {
      copyFileSync(path, `${path}.copy`);
      flipBytes(`${path}.copy`);
      copyFileSync(`${path}.copy`, path);
    },
  ],
])('%s found at the next start, however soon it is', async ([, damage]) => {
  const { path, start } = await closedInstallation();
  damage(path);
  await expect(start()).rejects.toMatchObject({ what: `The database ${path} is damaged.` });
});

test('a database that was put in place while eligd ran is checked at the next start', async () => {
  const { path, start } = await closedInstallation();
  copyFileSync(path, `${path}.copy`);
  flipBytes(`${path}.copy`);
  await start(async () => renameSync(`${path}.copy`, path));
  await expect(start()).rejects.toMatchObject({ what: `The database ${path} is damaged.` });
});

test('a WAL that a killed process left makes the next start read everything', async () => {
  const { path, start } = await closedInstallation();
  const raw = openSqlite(path);
  raw.exec(`update learned_settings set updated_at = 1 where name = 'sends'`);
  copyFileSync(`${path}-wal`, `${path}.left`);
  raw.close();
  copyFileSync(`${path}.left`, `${path}-wal`);
  expect(await start()).toEqual({ has_checked: true });
});

test('while a process works on the database, no note says that it is sound', async () => {
  const { path, start } = await closedInstallation();
  expect(existsSync(`${path}.closed`)).toBe(true);
  await start(async () => expect(existsSync(`${path}.closed`)).toBe(false));
  expect(statSync(`${path}.closed`).mode & 0o777).toBe(0o600);
});
