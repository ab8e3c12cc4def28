/** Migration 0047: holds that a call which was taken back had, and releases of vanished visits. */
import { expect, test } from 'vitest';
import { databaseBefore } from './database-before.ts';
import { temporaryPath, temporaryStore } from './temporary.ts';

test('an upgrade keeps holds of visits that are away, and releases of vanished ones', async () => {
  const path = temporaryPath();
  const raw = await databaseBefore(path, '0047');
  const visit = raw.prepare(
    `insert into appointments (id, connector, source_id, content, starts_at, patient_key,
       missing_since, created_at, updated_at)
     values (@id, 'c', @source_id, '{}', 0, @patient_key, @missing_since, 0, 0)`,
  );
  const row = { patient_key: 'c|P-1|', missing_since: null };
  visit.run({ ...row, id: 1, source_id: 'A-1' });
  visit.run({ ...row, id: 2, source_id: 'A-2' });
  visit.run({ ...row, id: 3, source_id: 'A-3', missing_since: 50 });
  visit.run({ ...row, id: 4, source_id: 'A-4', missing_since: 150 });
  visit.run({ ...row, id: 5, source_id: 'B-1', patient_key: 'c|P-2|' });
  const inquiry = raw.prepare(
    `insert into inquiries (id, connector, need_base, benefit_year, attempt, retry, specialty,
       patient_key, external_id, match_key, draft, state, due_at, visit_at, hold_reason,
       created_at, updated_at)
     values (@id, 'c', @need_base, 2026, 1, 0, 'dental', 'c|P-1|', @external_id, 'm',
       '{}', @state, 0, 0, @hold_reason, 0, 0)`,
  );
  const held = { need_base: 'c|P-1||X|W1|T|Q', state: 'withdrawn', hold_reason: 'operator' };
  inquiry.run({ ...held, id: 1, external_id: 'c-A-1' });
  inquiry.run({ ...held, id: 2, external_id: 'c-A-9', need_base: 'c|P-1||X|W2|T|Q' });
  const free = { ...held, state: 'planned', hold_reason: null };
  inquiry.run({ ...free, id: 3, external_id: 'c-A-3', need_base: 'c|P-1||X|W3|T|Q' });
  const link = raw.prepare(
    `insert into inquiry_appointments (inquiry, appointment, coverage_rank, draft, created_at)
     values (?, ?, 1, '{}', 0)`,
  );
  link.run(2, 5);
  link.run(3, 3);
  link.run(3, 4);
  raw
    .prepare(
      `insert into audit (at, subject, from_state, to_state, reason, words_hash, hash)
       values (100, 'inquiry:3', 'planned', 'released', 'Requested by the operator.', x'', x'')`,
    )
    .run();
  raw.close();
  const { db } = await temporaryStore(path);
  const kept = await db.selectFrom('kept_holds').selectAll().orderBy('appointment').execute();
  expect(kept).toEqual([
    { appointment: 1, inquiry: 1 },
    { appointment: 5, inquiry: 2 },
  ]);
  const rows = await db.selectFrom('appointments').select(['id', 'is_confirmed']).execute();
  expect(rows.filter(({ is_confirmed }) => is_confirmed === 1).map(({ id }) => id)).toEqual([3]);
});
