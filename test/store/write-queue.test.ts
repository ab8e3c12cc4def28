import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { actingAs } from '../../src/store/bookkeeping/audit.ts';
import { readLearned, writeLearned } from '../../src/store/bookkeeping/learned-settings.ts';
import { planAgain } from '../../src/store/calls/plan-due.ts';
import type { Tx } from '../../src/store/engine/database.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { temporaryPath, temporaryStore } from './temporary.ts';

const note = (name: string) => (tx: Tx) => writeLearned(tx, name, name, 0);

async function names(store: Store): Promise<string[]> {
  const rows = await store.db
    .selectFrom('learned_settings')
    .select('name')
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
}

/** How often others committed to the database, as one connection sees it. */
async function dataVersion(store: Store): Promise<number> {
  const { rows } = await sql<{ data_version: number }>`pragma data_version`.execute(store.db);
  return rows[0]!.data_version;
}

describe('the write queue', () => {
  test('work that fails does not fail other work (G7)', async () => {
    const store = await temporaryStore();
    const outcomes = await Promise.allSettled([
      store.write(note('a')),
      store.write(async (tx) => {
        await note('half')(tx);
        throw new Error('broken');
      }),
      store.write(async (tx) => {
        await note('other half')(tx);
        await sql`insert into learned_settings (name) values ('no value')`.execute(tx);
      }),
      store.write(note('b')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
    expect(outcomes[1]).toMatchObject({ reason: new Error('broken') });
    expect(await names(store)).toEqual(['a', 'b']);
  });

  test('planning is woken after the commit of what made a visit due, and only then', async () => {
    const store = await temporaryStore();
    const seen: string[][] = [];
    store.onPlanDue(() => void names(store).then((committed) => seen.push(committed)));
    await Promise.allSettled([
      store.write(note('a')),
      store.write(async (tx) => {
        await note('due')(tx);
        await planAgain(actingAs(tx, 'somebody'), [1]);
      }),
      store.write(async (tx) => {
        await planAgain(tx, [1]);
        throw new Error('broken');
      }),
    ]);
    await names(store);
    expect(seen).toEqual([['a', 'due']]);
  });

  test('statements of work that has ended are refused and not committed', async () => {
    const store = await temporaryStore();
    const after = await store.write(async (tx) => actingAs(tx, 'somebody'));
    await expect(note('after')(after)).rejects.toThrow('had ended');
    let late: Promise<unknown> | undefined;
    const outcomes = await Promise.allSettled([
      store.write(async (tx) => {
        late = expect(turn().then(() => note('late')(tx))).rejects.toThrow('had ended');
        throw new Error('broken');
      }),
      store.write(async (tx) => {
        await turn();
        await turn();
        await note('next')(tx);
      }),
    ]);
    await late;
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await names(store)).toEqual(['next']);
  });

  test('work runs in the order of arrival, and sees the writes before it', async () => {
    const store = await temporaryStore();
    const seen = await Promise.all(
      Array.from({ length: 450 }, (_, index) =>
        store.write(async (tx) => {
          const { count } = await tx
            .selectFrom('learned_settings')
            .select((select) => select.fn.countAll<number>().as('count'))
            .executeTakeFirstOrThrow();
          await note(String(index))(tx);
          return count;
        }),
      ),
    );
    expect(seen).toEqual(Array.from({ length: 450 }, (_, index) => index));
  });

  test('work that waits at the same time shares one commit', async () => {
    const path = temporaryPath();
    const [store, watcher] = [await temporaryStore(path), await temporaryStore(path)];
    const before = await dataVersion(watcher);
    const halfway: string[][] = [];
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => index).map((index) =>
        store.write(async (tx) => {
          await note(String(index))(tx);
          if (index % 33 === 32) halfway.push(await names(watcher));
        }),
      ),
    );
    // No part of it was visible from outside until all of it was.
    expect(halfway).toEqual([[], [], []]);
    expect(await dataVersion(watcher)).not.toBe(before);
    expect(await names(watcher)).toHaveLength(100);
  });

  test('work resolves after the commit, so another process sees the write (G3)', async () => {
    const path = temporaryPath();
    const [store, watcher] = [await temporaryStore(path), await temporaryStore(path)];
    for (const name of ['a', 'b', 'c']) {
      await store.write(note(name));
      expect(await names(watcher)).toContain(name);
    }
  });

  test('callbacks run after the commit, and never for work that fails', async () => {
    const path = temporaryPath();
    const [store, watcher] = [await temporaryStore(path), await temporaryStore(path)];
    const log: string[] = [];
    const noted = (name: string, fails = false) =>
      store.write(async (tx) => {
        tx.after(() => log.push(`${name} is noted`));
        await note(name)(tx);
        if (fails) throw new Error('broken');
        const seen = await names(watcher);
        tx.after(() => log.push(`others saw ${seen.join()}`));
      });
    const together = [noted('a'), noted('b', true), noted('c')];
    await Promise.allSettled(together);
    expect(log).toEqual(['a is noted', 'others saw ', 'c is noted', 'others saw ']);
    await Promise.allSettled([noted('alone', true)]);
    const broken = store.write(async (tx) => {
      await sql`rollback`.execute(tx);
      tx.after(() => log.push('the commit failed'));
    });
    await Promise.allSettled([noted('d'), broken, noted('e')]);
    expect(log).toHaveLength(4);
    expect(await names(store)).toEqual(['a', 'c']);
  });

  test('an error in a callback fails only its own work', async () => {
    const store = await temporaryStore();
    const thrower = store.write(async (tx) => {
      await note('a')(tx);
      tx.after(() => {
        throw new Error('a bug');
      });
    });
    const outcomes = await Promise.allSettled([thrower, store.write(note('b'))]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await names(store)).toEqual(['a', 'b']);
  });

  test('the queue continues after all work of a commit has failed', async () => {
    const store = await temporaryStore();
    await expect(store.write(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await store.write(note('a'));
    expect(await names(store)).toEqual(['a']);
  });

  test('work that fails alone in its commit leaves nothing behind', async () => {
    const store = await temporaryStore();
    const half = async (tx: Tx) => {
      await note('half')(tx);
      throw new Error('broken');
    };
    await expect(store.write(half)).rejects.toThrow('broken');
    await expect(store.write((tx) => sql`rollback`.execute(tx))).rejects.toThrow(
      'no transaction is active',
    );
    const { page_count } = (await sql<{ page_count: number }>`pragma page_count`.execute(store.db))
      .rows[0]!;
    await sql.raw(`pragma max_page_count = ${page_count + 1}`).execute(store.db);
    const large = store.write(async (tx) => {
      await note('small')(tx);
      await writeLearned(tx, 'large', 'x'.repeat(200_000), 1);
    });
    await expect(large).rejects.toMatchObject({ code: 'SQLITE_FULL' });
    expect(await names(store)).toEqual([]);
  });

  test('if the commit fails, all waiting work fails with the reason', async () => {
    const store = await temporaryStore();
    const broken = (tx: Tx) => sql`rollback`.execute(tx);
    const outcomes = await Promise.allSettled([
      store.write(note('a')),
      store.write(broken),
      store.write(note('b')),
    ]);
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    expect(await names(store)).toEqual([]);
  });

  test('a full disk fails all work of the commit, and the queue resumes with room', async () => {
    const store = await temporaryStore();
    const { page_count } = (await sql<{ page_count: number }>`pragma page_count`.execute(store.db))
      .rows[0]!;
    await sql.raw(`pragma max_page_count = ${page_count + 1}`).execute(store.db);
    const work = ['a', 'x'.repeat(200_000), 'b'].map((value, index) =>
      store.write((tx) => writeLearned(tx, `fact ${index}`, value, 1)),
    );
    const outcomes = await Promise.allSettled(work);
    expect(
      outcomes.map((each) =>
        each.status === 'rejected' ? (each.reason as { code: string }).code : 'written',
      ),
    ).toEqual(Array(3).fill('SQLITE_FULL'));
    expect(
      await store.db
        .selectFrom('learned_settings')
        .selectAll()
        .where('name', 'like', 'fact %')
        .execute(),
    ).toEqual([]);
    await sql.raw('pragma max_page_count = 1000000').execute(store.db);
    await store.write((tx) => writeLearned(tx, 'fact 4', 'y'.repeat(200_000), 1));
    expect((await readLearned(store.db, 'fact 4'))?.value).toHaveLength(200_000);
  });

  test('work that reads first does not fail because another process writes', async () => {
    const path = temporaryPath();
    const store = await temporaryStore(path);
    const store_file = resolve(import.meta.dirname, '../../src/store/engine/store.ts');
    const script = `
      import { openStore } from '${store_file}';
      const store = await openStore(${JSON.stringify(path)});
      for (let round = 0; round < 100; round += 1) {
        await store.write(async (tx) => {
          await tx.selectFrom('learned_settings').selectAll().execute();
          await new Promise((resolve) => setImmediate(resolve));
          await tx.insertInto('rate_slots').values({ taken_at: 1, ended_at: null }).execute();
        });
      }
      await store.close();`;
    const other = () =>
      promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    await Promise.all([other(), other()]);
    expect(await store.db.selectFrom('rate_slots').select('id').execute()).toHaveLength(200);
  });

  test('waiting work finishes before the store is closed', async () => {
    const path = temporaryPath();
    const store = await temporaryStore(path);
    const written = store.write(note('a'));
    await store.close();
    await written;
    expect(await names(await temporaryStore(path))).toEqual(['a']);
  });
});
