import { type Compilable, type Insertable, sql } from 'kysely';
import { expect, test } from 'vitest';
import { prepared, preparedRows, preparedUpdate } from '../../src/store/engine/prepared.ts';
import type { Tables } from '../../src/store/engine/tables.ts';
import { temporaryStore } from './temporary.ts';

test('a prepared statement is built once, and every run has its own values', async () => {
  const store = await temporaryStore();
  let built = 0;
  const write = prepared<{ name: string; value: string | null; at: number }>()((tx, place) => {
    built += 1;
    return tx
      .insertInto('learned_settings')
      .values({
        name: place('name'),
        value: sql`coalesce(${place('value')}, 'none')`,
        updated_at: place('at'),
      })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ updated_at: place('at') }));
  });
  await store.write((tx) => write(tx, { name: 'a', value: 'one', at: 1 }));
  await store.write(async (tx) => {
    await write(tx, { name: 'b', value: null, at: 2 });
    await write(tx, { name: 'a', value: 'two', at: 3 });
  });
  const rows = await store.db.selectFrom('learned_settings').selectAll().orderBy('name').execute();
  expect(rows.filter(({ name }) => name.length === 1)).toEqual([
    { name: 'a', value: 'one', updated_at: 3 },
    { name: 'b', value: 'none', updated_at: 2 },
  ]);
  expect(built).toBe(1);
});

test('a prepared statement outlives the database of its first run', async () => {
  const read = prepared<{ name: string }>()((db, place) =>
    db.selectFrom('learned_settings').select('value').where('name', '=', place('name')),
  );
  const known = async (value: string) => {
    const store = await temporaryStore();
    await store.write((tx) =>
      tx.insertInto('learned_settings').values({ name: 'x', value, updated_at: 0 }).execute(),
    );
    const inside = await store.write((tx) => read(tx, { name: 'x' }));
    const outside = await read(store.db, { name: 'x' });
    await store.close();
    return [...inside, ...outside].map((row) => row.value);
  };
  expect(await known('first')).toEqual(['first', 'first']);
  expect(await known('second')).toEqual(['second', 'second']);
});

test('constants are in the text, and each makes its own statement', async () => {
  const store = await temporaryStore();
  const texts: string[] = [];
  const noted = <Row>(query: Compilable<Row>): Compilable<Row> => {
    texts.push(query.compile().sql);
    return query;
  };
  const some = prepared<{ from: number }>()((db, place, limit: number) =>
    noted(
      db
        .selectFrom('delivery_batches')
        .select('id')
        .where('created_at', '>=', place('from'))
        .orderBy('created_at')
        .limit(sql.lit(limit)),
    ),
  );
  await store.write((tx) =>
    tx
      .insertInto('delivery_batches')
      .values(['a', 'b', 'c'].map((id, index) => ({ id, connector: 'pms', created_at: index + 1 })))
      .execute(),
  );
  expect(await some(store.db, { from: 2 }, 5)).toEqual([{ id: 'b' }, { id: 'c' }]);
  expect(await some(store.db, { from: 1 }, 1)).toEqual([{ id: 'a' }]);
  expect(await some(store.db, { from: 3 }, 5)).toEqual([{ id: 'c' }]);
  expect(texts.map((text) => text.replace(/.* limit/, 'limit'))).toEqual(['limit 5', 'limit 1']);
});

test('a list of any length finds its rows, and lengths share statements', async () => {
  const store = await temporaryStore();
  let built = 0;
  const ids = Array.from({ length: 150 }, (_, index) => `batch-${index}`);
  await store.write((tx) => ADD_BATCHES(tx, ids.map(batchOf)));
  const those = prepared<{ ids: readonly string[]; connector: string }>()((db, place) => {
    built += 1;
    return db
      .selectFrom('delivery_batches')
      .select('id')
      .where('connector', '=', place('connector'))
      .where('id', 'in', place('ids'))
      .orderBy('created_at');
  });
  for (const count of [1, 2, 3, 5, 7, 8, 100, 150])
    expect(
      (await those(store.db, { ids: ids.slice(0, count), connector: 'pms' })).map(({ id }) => id),
    ).toEqual(ids.slice(0, count));
  expect(await those(store.db, { ids: ids.slice(0, 3), connector: 'other' })).toEqual([]);
  expect(built).toBe(6);
});

test('rows of any number are written in order, with few statements', async () => {
  const store = await temporaryStore();
  for (const count of [0, 1, 63, 64, 200]) {
    const ids = Array.from({ length: count }, (_, index) => `${count}-${index}`);
    const added = await store.write((tx) => ADD_BATCHES(tx, ids.map(batchOf)));
    expect(added.map(({ id }) => id)).toEqual(ids);
  }
  expect(built_rows).toEqual(new Set([1, 2, 4, 8, 16, 32, 64]));
});

test('lists in another order have their own statement', async () => {
  const store = await temporaryStore();
  await store.write((tx) => ADD_BATCHES(tx, ['a', 'b', 'c'].map(batchOf)));
  const those = prepared<{ ids: readonly string[]; times: readonly number[] }>()((db, place) =>
    db
      .selectFrom('delivery_batches')
      .select('id')
      .where('id', 'in', place('ids'))
      .where('created_at', 'in', place('times')),
  );
  expect(await those(store.db, { ids: ['a'], times: [0, 1] })).toEqual([{ id: 'a' }]);
  expect(await those(store.db, { times: [1], ids: ['a', 'b'] })).toEqual([{ id: 'b' }]);
});

test('rows with other columns keep all of their values, and one call has one set', async () => {
  const store = await temporaryStore();
  const add = preparedRows<Insertable<Tables['attention']>>()((tx, rows) =>
    tx.insertInto('attention').values(rows),
  );
  const item = (subject: string) => ({ subject, reason: 'r', what: 'w', next: 'n', since: 1 });
  await store.write((tx) => add(tx, [item('a')]));
  await store.write((tx) => add(tx, [{ ...item('b'), connector: 'pms' }]));
  await store.write((tx) => add(tx, [item('c')]));
  const mixed = [item('d'), { ...item('e'), connector: 'pms' }];
  await expect(store.write((tx) => add(tx, mixed))).rejects.toThrow('differ in their columns');
  const rows = await store.db.selectFrom('attention').select(['subject', 'connector']).execute();
  expect(rows.map(({ subject, connector }) => [subject, connector])).toEqual([
    ['a', null],
    ['b', 'pms'],
    ['c', null],
  ]);
});

test('a read outside a transaction does not see uncommitted rows', async () => {
  const store = await temporaryStore();
  const all = prepared()((db) => db.selectFrom('delivery_batches').select('id'));
  let outside: Promise<{ id: string }[]> | undefined;
  const failed = store.write(async (tx) => {
    await ADD_BATCHES(tx, [batchOf('x', 0)]);
    outside = all(store.db, {});
    expect(await all(tx, {})).toEqual([{ id: 'x' }]);
    throw new Error('It is rolled back.');
  });
  await expect(failed).rejects.toThrow('It is rolled back.');
  expect(await outside).toEqual([]);
});

const built_rows = new Set<number>();

const batchOf = (id: string, created_at: number) => ({ id, connector: 'pms', created_at });

const ADD_BATCHES = preparedRows<ReturnType<typeof batchOf>>()((tx, rows) => {
  built_rows.add(rows.length);
  return tx.insertInto('delivery_batches').values(rows).returning('id');
});

test('an update gives each row its own values, and skips rows that have changed', async () => {
  const store = await temporaryStore();
  const ids = Array.from({ length: 70 }, (_, index) => index + 1);
  const end = preparedUpdate<{ id: number; was: number; ended_at: number | null }>(
    'rate_slots',
    'taken_at',
  );
  const ended = await store.write(async (tx) => {
    const slots = ids.map((id) => ({ id, taken_at: 100 * id, ended_at: null }));
    await tx.insertInto('rate_slots').values(slots).execute();
    const was = (id: number) => (id % 2 === 0 ? 100 * id : 0);
    return await end(
      tx,
      ids.map((id) => ({ id, was: was(id), ended_at: id })),
    );
  });
  const even = ids.filter((id) => id % 2 === 0);
  expect(ended.map(({ id }) => id)).toEqual(even);
  const rows = await store.db.selectFrom('rate_slots').selectAll().orderBy('id').execute();
  expect(rows).toEqual(
    ids.map((id) => ({ id, taken_at: 100 * id, ended_at: even.includes(id) ? id : null })),
  );
});
