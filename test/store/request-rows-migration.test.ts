/** Migration 0045: no inquiry of an older database counts as listed before a request of ours. */
import { expect, test } from 'vitest';
import { databaseBefore } from './database-before.ts';
import { temporaryPath, temporaryStore } from './temporary.ts';

test('an upgrade puts requests without an ID before all listed inquiries', async () => {
  const path = temporaryPath();
  const raw = await databaseBefore(path, '0045');
  const call = raw.prepare(
    `insert into calls (id, specialty, external_id, match_key, given_name, fate, service_id,
       service_status)
     values (@id, 'dental', @label, 'm', '', @fate, @service_id, '')`,
  );
  for (const [index, [fate, service_id]] of [
    ['accepted', 'S-1'],
    ['absent', null],
    ['accepted', 'S-3'],
    ['lost', null],
  ].entries())
    call.run({ id: index + 1, label: `A-${index + 1}`, fate, service_id });
  raw.close();
  const { db } = await temporaryStore(path);
  const rows = await db.selectFrom('calls').select('external_id').orderBy('id').execute();
  expect(rows.map(({ external_id }) => external_id)).toEqual(['A-2', 'A-4', 'A-1', 'A-3']);
});
