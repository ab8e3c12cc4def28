/** Migration 0047: holds that a call which was taken back had, and releases of vanished visits. */
import { expect, test } from 'vitest';
import { databaseBefore } from './database-before.ts';
import { temporaryPath, temporaryStore } from './temporary.ts';

/** A database from before the migration, and how to put rows into it. */
async function oldDatabase() {
  const path = temporaryPath();
  const raw = await databaseBefore(path, '0047');
  const visit = raw.prepare(
    `insert into appointments (id, kind, connector, source_id, content, starts_at, patient_key,
       missing_since, created_at, updated_at)
     values (@id, @kind, 'c', @source_id, '{}', 0, @patient_key, @missing_since, 0, 0)`,
  );
  const inquiry = raw.prepare(
    `insert into inquiries (id, connector, need_base, benefit_year, attempt, retry, specialty,
       patient_key, external_id, match_key, draft, state, due_at, visit_at, hold_reason,
       created_at, updated_at)
     values (@id, 'c', 'c|P-1||X|' || @member || '|T|Q', 2026, @attempt, 0, 'dental', 'c|P-1|',
       @external_id, 'm', '{}', @state, 0, 0, @hold_reason, 0, 0)`,
  );
  const link = raw.prepare(
    `insert into inquiry_appointments (inquiry, appointment, coverage_rank, draft, created_at)
     values (?, ?, 1, '{}', 0)`,
  );
  const release = raw.prepare(
    `insert into audit (at, subject, from_state, to_state, reason, words_hash, hash)
     values (?, ?, 'planned', 'released', 'Requested by the operator.', x'', x'')`,
  );
  const patient_key = 'c|P-1|';
  return {
    visit: (given: object) =>
      visit.run({ kind: 'appointment', patient_key, missing_since: null, ...given }),
    inquiry: (given: object) =>
      inquiry.run({ member: 'W1', attempt: 1, state: 'planned', hold_reason: null, ...given }),
    link: (id: number, appointment: number) => link.run(id, appointment),
    release: (at: number, id: number) => release.run(at, `inquiry:${id}`),
    upgrade: async () => {
      raw.close();
      return (await temporaryStore(path)).db;
    },
  };
}

const HELD = { state: 'withdrawn', hold_reason: 'operator' };

type Old = Awaited<ReturnType<typeof oldDatabase>>;
const KEPT: [string, (old: Old) => void, { appointment: number; inquiry: number }[]][] = [
  [
    'of the visit whose label the call has',
    ({ visit, inquiry }) => {
      visit({ id: 1, source_id: '12' });
      visit({ id: 2, source_id: '1234' });
      visit({ id: 3, source_id: '1234', kind: 'claim' });
      inquiry({ ...HELD, id: 1, external_id: 'c-1234' });
    },
    [{ appointment: 2, inquiry: 1 }],
  ],
  [
    'of a visit that the call still serves',
    ({ visit, inquiry, link }) => {
      visit({ id: 1, source_id: 'B-1', patient_key: 'c|P-2|' });
      inquiry({ ...HELD, id: 1, external_id: 'c-A-9' });
      link(1, 1);
    },
    [{ appointment: 1, inquiry: 1 }],
  ],
  [
    'unless another call has followed',
    ({ visit, inquiry }) => {
      visit({ id: 1, source_id: 'A-1' });
      inquiry({ ...HELD, id: 1, external_id: 'A-1' });
      inquiry({ id: 2, attempt: 2, state: 'answered', external_id: 'A-1' });
    },
    [],
  ],
];
test.each(KEPT)('an upgrade keeps the hold %s', async (_, fill, kept) => {
  const old = await oldDatabase();
  fill(old);
  const db = await old.upgrade();
  expect(await db.selectFrom('kept_holds').selectAll().execute()).toEqual(kept);
});

test('an upgrade knows the vanished visits whose calls the office has released', async () => {
  const { visit, inquiry, link, release, upgrade } = await oldDatabase();
  visit({ id: 1, source_id: 'A-1', missing_since: 50 });
  visit({ id: 2, source_id: 'A-2', missing_since: 150 });
  visit({ id: 3, source_id: 'A-3' });
  inquiry({ id: 1, external_id: 'A-1' });
  for (const appointment of [1, 2, 3]) link(1, appointment);
  release(100, 1);
  const db = await upgrade();
  const rows = await db.selectFrom('appointments').select(['id', 'is_confirmed']).execute();
  expect(rows.filter(({ is_confirmed }) => is_confirmed === 1).map(({ id }) => id)).toEqual([1]);
});
