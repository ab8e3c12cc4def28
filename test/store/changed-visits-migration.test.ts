/** Migration 0046: whatever may have changed since planning saw it is planned again. */
import { expect, test } from 'vitest';
import { databaseBefore } from './database-before.ts';
import { temporaryPath, temporaryStore } from './temporary.ts';

test('an upgrade has everything planned again that waits for planning', async () => {
  const path = temporaryPath();
  const raw = await databaseBefore(path, '0046');
  const add = raw.prepare(
    `insert into appointments (connector, source_id, content, starts_at, patient_key, last_source,
       plan_due_at, created_at, updated_at)
     values ('c', @source_id, '{}', 0, 'p', null, @plan_due_at, 0, 100)`,
  );
  for (const [source_id, plan_due_at] of Object.entries({
    changed: 100,
    waiting: 9e12,
    done: null,
  }))
    add.run({ source_id, plan_due_at });
  raw.close();
  const { db } = await temporaryStore(path);
  const rows = await db.selectFrom('appointments').select(['source_id', 'plan_due_at']).execute();
  expect(Object.fromEntries(rows.map((row) => [row.source_id, row.plan_due_at]))).toEqual({
    changed: 0,
    waiting: 0,
    done: null,
  });
});
