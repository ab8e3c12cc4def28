/** Migration 0028 moves a database of the previous version into the table of calls. */
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/store/engine/database.ts';
import { openSqlite, type Raw } from '../../src/store/engine/driver.ts';
import { databaseBefore } from './database-before.ts';
import { temporaryPath } from './temporary.ts';

/** An inquiry in a state; its ID is also the position of its label. */
function addInquiry(raw: Raw, id: number, given: Record<string, unknown>): void {
  const row = {
    id,
    connector: 'c',
    need_base: `need-${id}`,
    benefit_year: 2026,
    attempt: 1,
    retry: 0,
    patient_key: `p-${id}`,
    specialty: 'dental',
    external_id: ` a-${id} `,
    match_key: `key-${id}`,
    draft: '{}',
    due_at: 1,
    visit_at: 2,
    created_at: 3,
    updated_at: 4,
    ...given,
  };
  const names = Object.keys(row);
  const values = names.map((name) => `@${name}`);
  raw.prepare(`insert into inquiries (${names.join(', ')}) values (${values.join(', ')})`).run(row);
}

const sent = { body: '{"a":1}', sent_at: 100, sent_service_at: 90 };

function fill(raw: Raw): void {
  addInquiry(raw, 1, { state: 'planned' });
  addInquiry(raw, 2, { state: 'sending', ...sent });
  addInquiry(raw, 3, { state: 'uncertain', lookup_at: 5, ...sent });
  addInquiry(raw, 4, { state: 'open', service_id: 'S4', was_accepted: 1, ...sent });
  addInquiry(raw, 5, { state: 'answered', service_id: 'S5', was_accepted: 1, ...sent });
  addInquiry(raw, 6, { state: 'rejected' });
  addInquiry(raw, 7, { state: 'undecidable', was_accepted: 1, ...sent });
  addInquiry(raw, 8, { state: 'withdrawn', was_accepted: 1, ...sent });
  addInquiry(raw, 9, { state: 'withdrawn' });
  // The service accepted it once and no longer knows it.
  addInquiry(raw, 10, { state: 'undecidable', service_id: 'S10', was_accepted: 1, ...sent });
  const listed = raw.prepare(
    `insert into service_inquiries (service_id, specialty, external_id, match_key, given_name,
       service_status, created_at, inquiry, role, first_seen_at)
     values (?, 'dental', ?, ?, ?, ?, ?, ?, ?, 70)`,
  );
  listed.run('S4', 'A-4', 'key-4', 'ADA', 'SCHEDULED', 95, 4, 'main');
  listed.run('S5', 'A-5', 'key-5', 'ADA', 'SCHEDULED', null, 5, 'main');
  listed.run('S10', 'A-10', 'key-10', 'ADA', 'SCHEDULED', 95, 10, 'main');
  listed.run('S51', 'A-5', 'key-5', 'ADA', 'CANCELLED', 60, 5, 'extra');
  listed.run('S99', 'B-1', 'key-99', 'BEN', 'SUCCESS', 50, null, 'unowned');
  raw
    .prepare(
      `insert into absent_calls (inquiry, specialty, external_id, match_key, given_name, sent_at)
       values (1, 'dental', 'OLD', 'key-1', 'ADA', 40)`,
    )
    .run();
}

const CALLS = [
  // Calls with an ID, with the request that they serve.
  ['S10', 10, 'A-10', 'ADA', 'accepted', 'serves', '{"a":1}', 100, 90],
  ['S4', 4, 'A-4', 'ADA', 'accepted', 'serves', '{"a":1}', 100, 90],
  ['S5', 5, 'A-5', 'ADA', 'accepted', 'serves', '{"a":1}', 100, 90],
  ['S51', 5, 'A-5', 'ADA', 'accepted', 'duplicate', null, null, 60],
  ['S99', null, 'B-1', 'BEN', 'accepted', 'unclaimed', null, null, 50],
  // Calls without an ID.
  [null, 1, 'OLD', 'ADA', 'absent', null, null, 40, 40],
  [null, 2, 'A-2', '', 'out', null, '{"a":1}', 100, 90],
  [null, 3, 'A-3', '', 'lost', null, '{"a":1}', 100, 90],
  [null, 7, 'A-7', '', 'lost', null, '{"a":1}', 100, 90],
  [null, 8, 'A-8', '', 'lost', null, '{"a":1}', 100, 90],
];

test('every call of the previous version is a row, whatever its inquiry’s state', async () => {
  const path = temporaryPath();
  const before = await databaseBefore(path, '0028');
  fill(before);
  const states = before.prepare('select id, state, service_id from inquiries').all();
  before.close();
  const db = await openDatabase(path);
  await db.destroy();
  const after = openSqlite(path, { readonly: true });
  const calls = after
    .prepare(
      `select service_id, inquiry, external_id, given_name, fate, role, body, sent_at,
         sent_service_at
       from calls order by service_id is null, service_id, inquiry`,
    )
    .raw()
    .all();
  expect(calls).toEqual(CALLS);
  expect(
    after.prepare('select id, state, service_id from inquiries_with_call order by id').all(),
  ).toEqual(states);
  const seen = after.prepare('select service_status, seen_at from calls where service_id = ?');
  expect(seen.get('S51')).toEqual({ service_status: 'CANCELLED', seen_at: 70 });
  expect(after.pragma('foreign_key_check')).toEqual([]);
  after.close();
});
