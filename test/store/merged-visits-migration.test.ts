/** Migration 0043 gives the closed visits of merged records to the remaining patient. */
import { expect, test } from 'vitest';
import { databaseBefore } from './database-before.ts';
import { temporaryPath, temporaryStore } from './temporary.ts';

test('an upgrade finds the visits of records that were merged before', async () => {
  const path = temporaryPath();
  const raw = await databaseBefore(path, '0043');
  raw.exec(`insert into patient_aliases values ('c', 'P-9', 'P-1', 5), ('d', 'P-1', 'P-2', 5)`);
  for (const [id, key] of ['c|P-9|1980-01-02', 'c|P-90|1980-01-02', 'c|P-1|', 'd|P-9|'].entries())
    raw
      .prepare(
        `insert into appointments (id, connector, source_id, patient_key, content,
          starts_at, created_at, updated_at) values (?, ?, ?, ?, '{}', 1, 1, 1)`,
      )
      .run(id + 1, key.slice(0, 1), `A-${id}`, key);
  raw.close();
  const { db } = await temporaryStore(path);
  const visits = await db.selectFrom('appointments').select('patient_key').orderBy('id').execute();
  expect(visits.map(({ patient_key }) => patient_key)).toEqual([
    'c|P-1|1980-01-02',
    'c|P-90|1980-01-02',
    'c|P-1|',
    'd|P-9|',
  ]);
});
