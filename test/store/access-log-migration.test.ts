/** Migration 0029 chains the entries of the previous version, and removes file names. */
import { expect, test } from 'vitest';
import { looksAt } from '../../src/store/bookkeeping/access-log.ts';
import { appointmentSubject, auditOf } from '../../src/store/bookkeeping/audit.ts';
import { checkChain } from '../../src/store/bookkeeping/chain-check.ts';
import { databaseBefore } from './database-before.ts';
import { temporaryPath, temporaryStore } from './temporary.ts';

const FILE = 'rejected:["c","Mary Smith 1980-02-01.hl7","Mary Smith 1980-02-01.hl7"]';

test('every entry of the previous version is in the chain, without file names', async () => {
  const path = temporaryPath();
  const raw = await databaseBefore(path, '0029');
  raw.exec('begin');
  raw.exec("insert into facts values ('log_key', 'abc', 0), ('purging', '', 0)");
  raw.exec(`insert into appointments (id, connector, source_id, content, content_hash, starts_at,
    patient_key, created_at, updated_at) values (1, 'c', 'A-1', '{}', '', 0, 'c|P|', 0, 0)`);
  const add = raw.prepare('insert into audit values (?, ?, ?, null, ?, ?)');
  // Rows of purged visits were removed, and there are more rows than eligd reads at once.
  for (let id = 3; id < 2_500; id += 1) add.run(id, id, 'appointment:1', 'accepted', `read ${id}`);
  add.run(9_000, 9_000, FILE, 'attention', 'Mary Smith 1980-02-01.hl7, row 3: dob is missing.');
  const look = raw.prepare('insert into office_views values (?, ?, ?, ?, ?)');
  look.run(1, 5, 'maria', 'visit', 'appointment:1');
  look.run(2, 6, 'maria', 'schedule', 'day:2026-11-23');
  raw.exec('commit');
  raw.close();

  const store = await temporaryStore(path);
  const trail = await auditOf(store.db, [appointmentSubject(1)]);
  expect(trail).toHaveLength(2_497);
  expect(trail.at(-1)).toMatchObject({ at: 2_499, actor: null, reason: 'read 2499' });
  expect(await checkChain(store.db, 'audit', [])).toMatchObject({ rows: 2_498, fault: null });
  expect(await checkChain(store.db, 'access_log', [])).toMatchObject({ rows: 2, fault: null });
  expect(await looksAt(store.db, { connector: 'c', source_id: 'A-1' }, 9)).toMatchObject([
    { at: 5, actor: 'office:maria', page: 'visit' },
  ]);
  const subjects = await store.db.selectFrom('audit').select('subject').distinct().execute();
  expect(subjects.filter(({ subject }) => subject.includes('Smith'))).toEqual([]);
});
