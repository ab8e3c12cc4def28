/** The disk is full, or a page of the database is damaged, when eligd makes records of answers. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { damagePage } from '../../support/damage.ts';
import { type Installation, install, send } from '../installation.ts';
import { about } from '../submit/lost-calls.ts';
import { finish, written } from '../submit/merges.ts';

const TABLES = ['records', 'attention'] as const;

test('an answer is written once the disk has room again, without a restart (G2)', async () => {
  const clinic = await install();
  const { db } = clinic.store;
  await clinic.planNow();
  await send(clinic, clinic.visit('A-1'));
  for (const table of TABLES)
    await sql`create trigger ${sql.id(`full_${table}`)} before insert on ${sql.table(table)}
      begin select raise(abort, 'full'); end`.execute(db);
  await finish(clinic).catch(() => {});
  for (let time = 0; time < 4; time += 1) await clinic.collectAll().catch(() => {});
  expect(await db.selectFrom('answers').select('id').execute()).toHaveLength(1);
  expect(await db.selectFrom('records').select('id').execute()).toEqual([]);
  for (const table of TABLES) await sql`drop trigger ${sql.id(`full_${table}`)}`.execute(db);
  await clinic.collectAll();
  expect(Object.keys(await written(clinic))).toEqual(['A-1']);
});

/** These visits have answers, which are stored; there are no records yet. */
async function installAnswered(count: number): Promise<Installation> {
  const clinic = await install();
  const { db } = clinic.store;
  await clinic.planNow();
  const visits = Array.from({ length: count }, (_, index) =>
    clinic.visit(`A-${index + 1}`, about(`ACTIVE${index}`)),
  );
  await send(clinic, ...visits);
  for (let step = 0; step < count / 10; step += 1) await clinic.submitNow();
  await sql`create trigger later before insert on records
    begin select raise(abort, 'later'); end`.execute(db);
  await finish(clinic).catch(() => {});
  await sql`drop trigger later`.execute(db);
  expect(await db.selectFrom('answers').select('id').execute()).toHaveLength(count);
  expect(await db.selectFrom('records').select('id').execute()).toEqual([]);
  // As after a restart.
  await db.deleteFrom('attention').execute();
  clinic.collect.memory.unusable.clear();
  await sql`pragma wal_checkpoint(truncate)`.execute(db);
  return clinic;
}

test('a full disk that has room for an entry does not count against the answers (G2)', async () => {
  const clinic = await installAnswered(2);
  const { db } = clinic.store;
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db);
  await sql`pragma max_page_count = ${sql.lit(rows[0]!.page_count)}`.execute(db);
  for (let time = 0; time < 4; time += 1)
    await expect(clinic.collectAll()).rejects.toMatchObject({ code: 'SQLITE_FULL' });
  expect(await clinic.attention()).toEqual([]);
  await sql`pragma max_page_count = 1000000`.execute(db);
  await clinic.collectAll();
  expect(Object.keys(await written(clinic))).toEqual(['A-1', 'A-2']);
});

test('where visits cannot be read, other answers are written; the office hears (G7)', async () => {
  const clinic = await installAnswered(105);
  const { db } = clinic.store;
  await db
    .updateTable('appointments')
    .set({ content: sql`json_set(content, '$.location', 'DAMAGED50')` })
    .where('id', '=', 50)
    .execute();
  await sql`pragma wal_checkpoint(truncate)`.execute(db);
  const { rows } = await sql<{ file: string }>`pragma database_list`.execute(db);
  damagePage(rows[0]!.file, 'DAMAGED50');
  await sql`pragma shrink_memory`.execute(db);
  for (let step = 0; step < 3; step += 1) await clinic.collectNow();
  const records = await db.selectFrom('records').select('id').execute();
  expect(records.length).toBeGreaterThan(95);
  const unusable = (await clinic.attention()).filter((reason) => reason === 'answer_unusable');
  expect(unusable).toHaveLength(105 - records.length);
});
