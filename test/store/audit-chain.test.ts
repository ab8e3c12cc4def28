/** The audit trail and the access log, against someone who can write to the database. */

import { beforeEach, expect, test } from 'vitest';
import { writeAccess } from '../../src/store/bookkeeping/access-log.ts';
import { actingAs, auditOf, writeAudit } from '../../src/store/bookkeeping/audit.ts';
import { checkChain, type Head, readHeads } from '../../src/store/bookkeeping/chain-check.ts';
import { type Log, purgeLog } from '../../src/store/bookkeeping/purge-logs.ts';
import { openSqlite, type Raw } from '../../src/store/engine/driver.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { temporaryPath, temporaryStore } from './temporary.ts';

const DAY = 86_400_000;
const APPEND_ONLY = /append-only/;

let path: string;
let store: Store;
/** Another program with the same rights on the file. */
let intruder: Raw;

const step = (at: number, id = at) => ({
  at,
  subject: `appointment:${id}`,
  from_state: null,
  to_state: 'accepted',
  reason: `said of ${id}`,
});

const visit = (id: number) => ({ connector: 'c', source_id: `A-${id}`, patient_id: `P-${id}` });

beforeEach(async () => {
  path = temporaryPath();
  store = await temporaryStore(path);
  await store.write((tx) => writeAudit(tx, [step(1), step(2)]));
  await store.write((tx) => writeAudit(actingAs(tx, 'maria'), [step(3), step(4)]));
  for (const at of [1, 2, 3, 4])
    await store.write((tx) => writeAccess(tx, { at, actor: 'maria', page: 'show' }, [visit(at)]));
  intruder = openSqlite(path);
  return () => void intruder.close();
});

const verify = async (log: Log, heads: readonly Head[] = []) =>
  await checkChain(store.db, log, heads);

test('an untouched database verifies, and names who acted', async () => {
  expect(await verify('audit')).toMatchObject({ rows: 4, since: 1, fault: null });
  expect(await verify('access_log')).toMatchObject({ rows: 4, since: 1, fault: null });
  const trail = await auditOf(store.db, ['appointment:2', 'appointment:3']);
  expect(trail.map(({ actor }) => actor)).toEqual([null, 'maria']);
});

test('a row in learned settings allows nothing: a deletion needs a chain entry', async () => {
  intruder.prepare("insert into learned_settings values ('purging', '', 0)").run();
  for (const statement of [
    'delete from audit where id = 2',
    "update audit set reason = 'nothing'",
    "update audit set reason = '', salt = null where id = 2",
    "update audit set actor = 'somebody' where id = 3",
    'delete from access_log where id = 2',
    "update access_log set actor = 'somebody' where id = 2",
  ])
    expect(() => intruder.exec(statement), statement).toThrow(APPEND_ONLY);
});

const drop = (...triggers: string[]) => triggers.map((each) => `drop trigger ${each};`).join('');
const restore = (trigger: string) =>
  intruder.prepare('select sql from sqlite_master where name = ?').pluck().get(trigger) as string;

test.each<[string, Log, string]>([
  ['a row of the trail is changed', 'audit', "update audit set to_state = 'x' where id = 2"],
  ['its words are changed', 'audit', "update audit set reason = 'x' where id = 2"],
  ['somebody else is said to have done it', 'audit', 'update audit set actor = null where id = 3'],
  ['a row of the trail is taken out', 'audit', 'delete from audit where id = 2'],
  ['its first row is taken out', 'audit', 'delete from audit where id = 1'],
  ['its words are erased', 'audit', "update audit set reason = '', salt = null where id = 2"],
  [
    'two rows change places',
    'audit',
    'update audit set id = 9 where id = 2; update audit set id = 2 where id = 3; ' +
      'update audit set id = 3 where id = 9',
  ],
  ['somebody else is said to have looked', 'access_log', "update access_log set actor = 'x'"],
  ['a look is taken out', 'access_log', 'delete from access_log where id = 2'],
  ['a look is put elsewhere', 'access_log', "update access_log set subject = 'x' where id = 4"],
])('verify finds out when %s without the triggers', async (_, log, statement) => {
  const names = ['audit_no_update', 'audit_no_delete'];
  const others = ['access_log_no_update', 'access_log_no_delete'];
  const all = [...names, ...others];
  const made = all.map(restore);
  intruder.exec(drop(...all));
  expect((await verify(log)).fault).toContain('trigger');
  intruder.exec(statement);
  // The triggers are back, as if nothing had happened.
  for (const each of made) intruder.exec(each);
  expect((await verify(log)).fault).not.toBeNull();
});

test('verify finds a forged purge that removes rows', async () => {
  const forged = () =>
    intruder
      .prepare(
        `insert into audit (at, subject, to_state, reason, words_hash, covers, start_hash, hash)
          values (9, ?, 'purged', '', x'00', 2, x'00', x'00')`,
      )
      .run('log:audit');
  forged();
  expect((await verify('audit')).fault).toContain('still exist');
  intruder.exec('delete from audit where id <= 2');
  expect((await verify('audit')).fault).toContain('broken');
});

test('verify finds a cut-off end with the entry from the journal', async () => {
  const { audit } = await readHeads(store.db);
  if (audit === null) throw new Error('There is no head.');
  await store.write((tx) => writeAudit(tx, [step(5)]));
  expect((await verify('audit', [audit])).known).toEqual([audit]);
  const made = restore('audit_no_delete');
  intruder.exec(`${drop('audit_no_delete')} delete from audit where id >= 4; ${made}`);
  expect(await verify('audit', [audit])).toMatchObject({ fault: null, known: [] });
});

test('rows that are too old go from the beginning, and the rest is still a chain', async () => {
  const heads = await readHeads(store.db);
  for (const log of ['audit', 'access_log'] as const) {
    const purged = await store.write((tx) =>
      purgeLog(tx, log, { before: 3, now: DAY, keep_from: null }),
    );
    expect(purged).toBe(2);
    expect((await verify(log)).fault).toBeNull();
  }
  expect(await verify('access_log')).toMatchObject({ rows: 2, since: 3 });
  expect((await verify('audit', [heads.audit!])).known).toEqual([heads.audit]);
  // No younger row may go with them.
  expect(() => intruder.exec('delete from audit where id = 3')).toThrow(APPEND_ONLY);
  expect(() => intruder.exec('delete from access_log where id = 3')).toThrow(APPEND_ONLY);
  // If no one has looked for years, the last entry stays, and the chain continues from it.
  await store.write((tx) =>
    purgeLog(tx, 'audit', { before: 2 * DAY, now: 2 * DAY, keep_from: null }),
  );
  await store.write((tx) =>
    purgeLog(tx, 'access_log', { before: 2 * DAY, now: 2 * DAY, keep_from: null }),
  );
  await store.write((tx) => writeAudit(tx, [step(3 * DAY)]));
  await store.write((tx) =>
    writeAccess(tx, { at: 3 * DAY, actor: 'maria', page: 'show' }, [visit(9)]),
  );
  expect((await verify('audit')).fault).toBeNull();
  expect(await verify('access_log')).toMatchObject({ fault: null, rows: 2 });
});

test('file names and practice software IDs are not in the trail', async () => {
  const subject = 'rejected:["c","Mary Smith 1980-02-01.hl7","x"]';
  await store.write((tx) => writeAudit(tx, [{ ...step(7), subject }]));
  const stored = intruder.prepare('select subject from audit order by id desc').pluck().get();
  expect(stored).toMatch(/^rejected:[0-9a-f]{12}$/);
});

test('commits of many rows by many writers are one chain', async () => {
  const other = await temporaryStore(path);
  await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      (index % 2 === 0 ? store : other).write((tx) =>
        writeAudit(
          tx,
          Array.from({ length: 1 + (index % 7) }, (__, row) => step(100 + index, row)),
        ),
      ),
    ),
  );
  expect(await verify('audit')).toMatchObject({ fault: null, rows: 4 + 238 - 4 + 0 });
});
