/** Migration 0046: what planning has not seen since it changed is due by any clock. */
import { expect, test } from 'vitest';
import { databaseBefore } from './database-before.ts';
import { temporaryPath, temporaryStore } from './temporary.ts';

test('an upgrade makes due at once what planning has not seen since it changed', async () => {
  const path = temporaryPath();
  const raw = await databaseBefore(path, '0046');
  const add = raw.prepare(
    `insert into appointments (connector, source_id, content, starts_at, patient_key, last_source,
       plan_due_at, created_at, updated_at)
     values ('c', @source_id, '{}', 0, 'p', null, @plan_due_at, 0, 100)`,
  );
  for (const [source_id, plan_due_at] of Object.entries({ changed: 100, timed: 101, done: null }))
    add.run({ source_id, plan_due_at });
  raw.close();
  const { db } = await temporaryStore(path);
  const rows = await db.selectFrom('appointments').select(['source_id', 'plan_due_at']).execute();
  expect(Object.fromEntries(rows.map((row) => [row.source_id, row.plan_due_at]))).toEqual({
    changed: 0,
    timed: 101,
    done: null,
  });
});
