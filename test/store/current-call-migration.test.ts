/** Migrations 0041 and 0042 move what describes a call from `inquiries` to `calls`. */
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/store/engine/database.ts';
import { openSqlite, type Raw } from '../../src/store/engine/driver.ts';
import { databaseBefore } from './database-before.ts';
import { temporaryPath } from './temporary.ts';

const SENT = { sent_at: 100, sent_service_at: 90, price_cents: 400, free_outcomes: 'cancelled' };

function insert(raw: Raw, table: string, row: Record<string, unknown>): void {
  const names = Object.keys(row);
  const values = names.map((name) => `@${name}`);
  raw.prepare(`insert into ${table} (${names.join(', ')}) values (${values.join(', ')})`).run(row);
}

function addInquiry(raw: Raw, id: number, state: string, more: Record<string, unknown> = {}): void {
  insert(raw, 'inquiries', {
    ...{ id, state, connector: 'c', need_base: `need-${id}`, benefit_year: 2026, attempt: 1 },
    ...{ retry: 0, patient_key: `p-${id}`, specialty: 'dental', external_id: ` a-${id} ` },
    ...{ match_key: `key-${id}`, draft: '{}', due_at: 1, visit_at: 2, created_at: 3 },
    ...{ updated_at: 4, ...more },
  });
}

function addCall(raw: Raw, inquiry: number | null, fate: string, more = {}): void {
  insert(raw, 'calls', {
    ...{ inquiry, fate, specialty: 'dental', external_id: `A-${inquiry}`, given_name: 'ADA' },
    ...{ match_key: `key-${inquiry}`, service_status: '', sent_service_at: 90, ...more },
  });
}

const out = { body: '{}', sent_at: 100 };
const serving = (service_id: string) => ({ service_id, role: 'serves' });

/** An inquiry in each state, with the calls that the version before has for it. */
function fill(raw: Raw): void {
  addInquiry(raw, 1, 'planned');
  addCall(raw, 1, 'absent', out);
  addInquiry(raw, 2, 'sending', SENT);
  addCall(raw, 2, 'out', out);
  addInquiry(raw, 3, 'uncertain', { ...SENT, was_accepted: 1 });
  addCall(raw, 3, 'absent', { ...out, sent_at: 50, sent_service_at: 40 });
  addCall(raw, 3, 'lost', out);
  addInquiry(raw, 4, 'open', { ...SENT, service_id: 'S4', was_accepted: 1 });
  addCall(raw, 4, 'accepted', { ...out, ...serving('S4') });
  addInquiry(raw, 5, 'answered', {
    ...{ ...SENT, service_id: 'S5', was_accepted: 1, charge_cents: 0 },
  });
  addCall(raw, 5, 'accepted', { ...out, ...serving('S5') });
  addCall(raw, 5, 'accepted', { service_id: 'S51', role: 'duplicate', sent_service_at: 95 });
  addInquiry(raw, 6, 'rejected');
  addCall(raw, 6, 'unsent', out);
  // The service had a call that a lost database made, or did not say when it was made.
  addInquiry(raw, 7, 'open', { sent_at: 80, service_id: 'S7', was_accepted: 1 });
  addCall(raw, 7, 'accepted', { ...serving('S7'), sent_service_at: 80 });
  addInquiry(raw, 8, 'open', { ...SENT, service_id: 'S8', was_accepted: 1 });
  addCall(raw, 8, 'accepted', { ...serving('S8'), sent_service_at: null });
  // The service no longer knows it.
  addInquiry(raw, 9, 'undecidable', { ...SENT, service_id: 'S9', was_accepted: 1 });
  addCall(raw, 9, 'accepted', { ...out, ...serving('S9') });
  addInquiry(raw, 10, 'withdrawn', { ...SENT, was_accepted: 1 });
  addCall(raw, 10, 'lost', out);
  // The office entered the answer.
  addInquiry(raw, 11, 'answered', { entered_by: 'ann' });
  // An early version kept no row of a call that nobody needed anymore.
  addInquiry(raw, 12, 'withdrawn', SENT);
  // What no version should leave: two calls without an ID, and one of an inquiry that has its ID.
  addInquiry(raw, 13, 'uncertain', SENT);
  addCall(raw, 13, 'lost', { ...out, sent_at: 60 });
  addCall(raw, 13, 'lost', out);
  addInquiry(raw, 14, 'open', { ...SENT, service_id: 'S14', was_accepted: 1 });
  addCall(raw, 14, 'lost', out);
  addCall(raw, 14, 'accepted', serving('S14'));
  addCall(raw, null, 'accepted', { service_id: 'S99', role: 'unclaimed' });
  // The service forgot S15, and another call serves.
  addInquiry(raw, 15, 'open', { ...SENT, service_id: 'S152', was_accepted: 1 });
  addCall(raw, 15, 'accepted', { ...out, ...serving('S15'), sent_at: 60 });
  addCall(raw, 15, 'accepted', serving('S152'));
  // An early version planned an inquiry again and left its times and its ID in place.
  addInquiry(raw, 16, 'planned', { ...SENT, service_id: 'S16', was_accepted: 1 });
  addCall(raw, 16, 'accepted', { ...out, ...serving('S16') });
  // The list showed the call before the inquiry had its ID.
  addInquiry(raw, 17, 'open', { ...SENT, service_id: 'S17', was_accepted: 1 });
  addCall(raw, null, 'accepted', { service_id: 'S17', role: 'unclaimed' });
}

/** `id, state, service_id, sent_at, sent_service_at, was_accepted, price, charge, free` */
const INQUIRIES = [
  [1, 'planned', null, null, null, null, null, null, null],
  [2, 'sending', null, 100, 90, 0, 400, null, 'cancelled'],
  [3, 'uncertain', null, 100, 90, 1, 400, null, 'cancelled'],
  [4, 'open', 'S4', 100, 90, 1, 400, null, 'cancelled'],
  [5, 'answered', 'S5', 100, 90, 1, 400, 0, 'cancelled'],
  [6, 'rejected', null, null, null, null, null, null, null],
  [7, 'open', 'S7', 80, 80, 1, null, null, null],
  [8, 'open', 'S8', 100, 90, 1, 400, null, 'cancelled'],
  [9, 'undecidable', 'S9', 100, 90, 1, 400, null, 'cancelled'],
  [10, 'withdrawn', null, 100, 90, 1, 400, null, 'cancelled'],
  [11, 'answered', null, null, null, null, null, null, null],
  [12, 'withdrawn', null, 100, 90, 0, 400, null, 'cancelled'],
  [13, 'uncertain', null, 100, 90, 0, 400, null, 'cancelled'],
  [14, 'open', 'S14', 100, 90, 1, 400, null, 'cancelled'],
  [15, 'open', 'S152', 100, 90, 1, 400, null, 'cancelled'],
  [16, 'planned', null, null, null, null, null, null, null],
  [17, 'open', 'S17', 100, 90, 1, 400, null, 'cancelled'],
];

test('every inquiry of the version before keeps the facts about its call', async () => {
  const path = temporaryPath();
  const before = await databaseBefore(path, '0041');
  fill(before);
  const calls = before.prepare('select count(*) from calls').pluck();
  const count = calls.get() as number;
  before.close();
  await (await openDatabase(path)).destroy();
  const after = openSqlite(path, { readonly: true });
  const all = <Row>(text: string) => after.prepare(text).raw().all() as Row[];
  const facts = 'service_id, sent_at, sent_service_at, was_accepted, price_cents, charge_cents';
  expect(
    all(`select id, state, ${facts}, free_outcomes from inquiries_with_call order by id`),
  ).toEqual(INQUIRIES);
  // Each request is still there, and a late one can still be told from the others (G1).
  expect(after.prepare('select count(*) from calls').pluck().get()).toBe(count + 1);
  expect(
    all(
      `select inquiry, sent_at, fate from calls where inquiry in (1, 3, 13, 14, 15)
       order by inquiry, sent_at, fate`,
    ),
  ).toEqual([
    [1, 100, 'absent'],
    [3, 50, 'absent'],
    [3, 100, 'lost'],
    [13, 60, 'absent'],
    [13, 100, 'lost'],
    [14, 100, 'absent'],
    [14, 100, 'accepted'],
    [15, 60, 'absent'],
    [15, 100, 'accepted'],
  ]);
  const others = after.prepare('select min(was_accepted) from calls where service_id is not null');
  expect(others.pluck().get()).toBe(1);
  expect(after.pragma('foreign_key_check')).toEqual([]);
  after.close();
});

test('an ID that was in doubt before stays in doubt with the others of its reply', async () => {
  const path = temporaryPath();
  const before = await databaseBefore(path, '0042');
  const accepted = (id: number, more: Record<string, unknown>, call = {}) => {
    addInquiry(before, id, 'open', more);
    addCall(before, id, 'accepted', { ...out, ...serving(`S${id}`), ...call });
  };
  accepted(1, { is_verified: 0, reply_group: 'bulk:1' });
  accepted(2, { is_verified: 0, reply_group: 'bulk:1' });
  accepted(3, { is_verified: 1, reply_group: 'bulk:1' });
  accepted(4, { is_verified: 0, reply_group: null });
  addCall(before, 4, 'accepted', { service_id: 'S41', role: 'duplicate' });
  addInquiry(before, 5, 'uncertain', { is_verified: 0, reply_group: null });
  addCall(before, 5, 'lost', out);
  addInquiry(before, 6, 'planned');
  addCall(before, null, 'accepted', { service_id: 'S99', role: 'unclaimed' });
  before.close();
  await (await openDatabase(path)).destroy();
  const after = openSqlite(path, { readonly: true });
  const all = (text: string) => after.prepare(text).raw().all();
  const doubted = 'reply_group from inquiries_with_call order by id';
  expect(all(`select id, service_id, ${doubted}`)).toEqual([
    [1, 'S1', 'bulk:1'],
    [2, 'S2', 'bulk:1'],
    [3, 'S3', null],
    [4, 'S4', 'inquiry:4'],
    [5, null, null],
    [6, null, null],
  ]);
  expect(
    all("select service_id from calls where role <> 'serves' and reply_group is null"),
  ).toEqual([['S41'], ['S99']]);
  after.close();
});
