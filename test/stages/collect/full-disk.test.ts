/** The disk is full when eligd makes a record of an answer. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { install, send } from '../installation.ts';
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
