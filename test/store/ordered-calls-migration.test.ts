/** Migration 0044 finds the calls that the office has ordered and that may not be sent yet. */
import { expect, test } from 'vitest';
import { databaseBefore } from './database-before.ts';
import { temporaryPath, temporaryStore } from './temporary.ts';

test('an upgrade knows the calls that were ordered before', async () => {
  const path = temporaryPath();
  const raw = await databaseBefore(path, '0044');
  const inquiry = raw.prepare(
    `insert into inquiries (id, connector, need_base, benefit_year, attempt, retry, patient_key,
       specialty, state, external_id, match_key, draft, due_at, visit_at, reason, created_at,
       updated_at)
     values (@id, 'pms', 'need', 2030, @id, 0, 'patient', 'dental', @state, 'A-' || @id, 'm', '{}',
       1, 1, @reason, 1, 1)`,
  );
  const planned = raw.prepare(
    `insert into audit (at, subject, from_state, to_state, reason, words_hash, hash)
     values (1, ?, null, 'planned', ?, x'00', x'00')`,
  );
  const ordered = 'Requested by root at the command line. It is another call about the same visit.';
  for (const [index, [state, why, reason]] of [
    ['answered', 'The visit is within the look-ahead window.', null],
    ['planned', ordered, 'Proven unsent (rate_limited, status 429).'],
    ['rejected', ordered, null],
    ['planned', 'The last answer is too old for this visit.', null],
    ['withdrawn', ordered, 'No appointment needs it any longer.'],
    ['withdrawn', ordered, 'Requested by maria.'],
  ].entries()) {
    inquiry.run({ id: index + 1, state, reason });
    planned.run(`inquiry:${index + 1}`, why);
  }
  raw.close();
  const { db } = await temporaryStore(path);
  const ids = await db.selectFrom('inquiries').select('id').where('is_ordered', '=', 1).execute();
  expect(ids.map(({ id }) => id)).toEqual([2, 3, 5]);
});
