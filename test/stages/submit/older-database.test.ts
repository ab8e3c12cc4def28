/** An older database was put back; the service shows some of the calls that it lacks, or none. */
import { describe, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { newSubmitMemory } from '../../../src/stages/submit/deps.ts';
import { demandReconciliation, ensureReconciled } from '../../../src/stages/submit/index.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { endHalt } from '../../../src/store/calls/halts.ts';
import { AWAY, type Installation, install, reconcile, SETTLE_MS, send } from '../installation.ts';
import { CUT_OFF, cutLists, watchLabels } from './cut-lists.ts';
import {
  about,
  advance,
  anOldCall,
  haltsOf,
  hideCalls,
  labelsOf,
  loseCreates,
  TWINS,
  twin,
  withholdTimes,
} from './lost-calls.ts';

/** The list has a marked end, and nothing filters it. */
const UNFILTERED = { list_paging: 'limit_offset', list_page_size: 10, list_filter: 'ignored' };

async function callFor(clinic: Installation, labels: readonly string[]): Promise<void> {
  for (const label of labels) await send(clinic, clinic.visit(label, about(label)));
}

/** A new process whose database lacks the call of A-1. */
async function lose(clinic: Installation): Promise<void> {
  await anOldCall(clinic, 'A-1');
  clinic.submit.sends.write(clinic.submit.sends.read() + 5);
  clinic.submit.memory = newSubmitMemory();
}

/** The list shows one call, and nothing filters it. */
async function cutOff(): Promise<Installation> {
  const clinic = await install();
  await clinic.service.behave({ list_paging: 'none', list_truncate: 1, list_filter: 'refused' });
  return clinic;
}

function setClockWrong(clinic: Installation, days: number): void {
  const skew_ms = clinic.submit.clockSkew() ?? 0;
  clinic.pass(days * DAY_MS - skew_ms);
  clinic.submit.clockSkew = () => days * DAY_MS;
}

test.each([-400, 8])('a loss counts although the clock was %s days off (G1)', async (days) => {
  const clinic = await cutOff();
  await send(clinic, clinic.visit('B-1', about('W9')));
  await lose(clinic);
  setClockWrong(clinic, days);
  await ensureReconciled(clinic.submit, 'dental');
  setClockWrong(clinic, 0);
  demandReconciliation(clinic.submit);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await haltsOf(clinic)).toEqual(['calls_lost']);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1']);
});

test('the entry names the last call by the service’s clock', async () => {
  const clinic = await cutOff();
  setClockWrong(clinic, 3);
  await send(clinic, clinic.visit('B-1', about('W9')));
  setClockWrong(clinic, 0);
  await lose(clinic);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  const [entry] = await openAttention(clinic.store.db);
  expect(entry?.next).toContain(`since ${new Date(clinic.now()).toISOString().slice(0, 10)}`);
});

test.each(['external_id', 'ignored', 'refused'])(
  'a lost call that is listed a settle time after the start serves (list_filter: %s)',
  async (list_filter) => {
    const clinic = await install();
    await clinic.service.behave({ list_paging: 'limit_offset', list_page_size: 10, list_filter });
    await send(clinic, clinic.visit('B-1', about('W9')));
    await lose(clinic);
    const { show } = hideCalls(clinic);
    await show(0);
    await ensureReconciled(clinic.submit, 'dental');
    await send(clinic, clinic.visit('C-1', about('W8')));
    clinic.pass(6 * MINUTE_MS);
    await show(1);
    await show(2);
    await send(clinic, clinic.visit('A-1', twin('Ada')));
    expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1', 'C-1']);
  },
);

test('a call that is listed after an empty list serves, with an older database', async () => {
  const clinic = await install();
  await clinic.service.behave({ list_paging: 'limit_offset', list_page_size: 10 });
  await clinic.submitNow();
  await lose(clinic);
  const { show } = hideCalls(clinic);
  await ensureReconciled(clinic.submit, 'dental');
  clinic.pass(6 * MINUTE_MS);
  await show(0);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test.each([
  ['ignored', MINUTE_MS],
  ['refused', 2 * SETTLE_MS],
])(
  'a call that was just made and is not listed yet stops nothing (list_filter: %s, %s ms)',
  async (list_filter, duration_ms) => {
    const clinic = await install();
    await clinic.service.behave({ list_paging: 'limit_offset', list_page_size: 10, list_filter });
    await send(clinic, clinic.visit('B-1', about('W9')));
    await lose(clinic);
    const { show } = hideCalls(clinic);
    await show(0);
    await show(1);
    await send(clinic, clinic.visit('C-1', about('W8')));
    await clinic.collectAll();
    clinic.pass(duration_ms);
    await send(clinic, clinic.visit('D-1', about('W7')));
    expect(await haltsOf(clinic)).toEqual([]);
    expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1', 'C-1', 'D-1']);
  },
);

test('a filter that does nothing costs two lists for each batch, however many calls', async () => {
  const clinic = await install();
  await clinic.service.behave(UNFILTERED);
  await send(clinic, clinic.visit('B-1', about('W9')));
  await lose(clinic);
  await ensureReconciled(clinic.submit, 'dental');
  let lists = 0;
  const { list } = clinic.client;
  clinic.client.list = async (...given) => {
    lists += 1;
    return await list(...given);
  };
  const labels = ['C-1', 'D-1', 'E-1', 'F-1'];
  for (const label of labels) await clinic.read(clinic.visit(label, about(label)));
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1', ...labels]);
  expect(lists).toBe(2);
});

test('a filter that works costs no whole list', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('B-1', about('W9')));
  await lose(clinic);
  await ensureReconciled(clinic.submit, 'dental');
  const listed = vi.spyOn(clinic.client, 'list');
  await send(clinic, clinic.visit('C-1', about('C-1')));
  const filters = listed.mock.calls.map(([, filter]) => filter);
  expect(filters).toContainEqual({ external_id: 'C-1' });
  expect(filters).not.toContainEqual({});
});

test('the whole list is not read in place of a label’s if it is cut off itself', async () => {
  const clinic = await install();
  await clinic.service.behave({ ...UNFILTERED, list_paging: 'none' });
  await send(clinic, clinic.visit('B-1', about('W9')));
  await lose(clinic);
  await ensureReconciled(clinic.submit, 'dental');
  let whole = 0;
  const { list } = clinic.client;
  clinic.client.list = async (specialty, filter, options) => {
    if (filter.external_id === undefined) whole += 1;
    const result = await list(specialty, filter, options);
    return result.ok ? { ok: true, value: { ...result.value, ...CUT_OFF } } : result;
  };
  await send(clinic, clinic.visit('C-1', about('W8')));
  expect(whole).toBe(0);
  expect(await haltsOf(clinic)).toEqual(['calls_lost']);
});

test('a whole list that fails in place of a label’s delays the call alone', async () => {
  const clinic = await install();
  await clinic.service.behave(UNFILTERED);
  await send(clinic, clinic.visit('B-1', about('W9')));
  await lose(clinic);
  await ensureReconciled(clinic.submit, 'dental');
  const { list } = clinic.client;
  clinic.client.list = async (specialty, filter, options) =>
    filter.external_id === undefined ? AWAY : await list(specialty, filter, options);
  await send(clinic, clinic.visit('C-1', about('W8')));
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1']);
  expect(await haltsOf(clinic)).toEqual([]);
  clinic.client.list = list;
  clinic.pass(10 * MINUTE_MS);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1', 'C-1']);
});

test('eligd stops when a list with a marked end omits calls made since the loss', async () => {
  const clinic = await install();
  await clinic.service.behave(UNFILTERED);
  await clinic.submitNow();
  for (const label of ['A-1', 'A-2', 'A-3']) await anOldCall(clinic, label);
  await lose(clinic);
  const { show } = hideCalls(clinic);
  await show(0);
  await ensureReconciled(clinic.submit, 'dental');
  for (const [index, label] of ['B-1', 'B-2', 'B-3'].entries()) {
    clinic.pass(15 * MINUTE_MS);
    await send(clinic, clinic.visit(label, about(label), 3 + index));
    await clinic.collectAll();
  }
  // None of these calls is listed, although each is older than two settle times.
  expect(await haltsOf(clinic)).toEqual(['calls_lost']);
});

test('a call that was made minutes before the loss must be listed', async () => {
  const clinic = await install();
  await clinic.service.behave(UNFILTERED);
  await send(clinic, clinic.visit('B-1', about('W9')));
  await clinic.collectAll();
  clinic.pass(3 * MINUTE_MS);
  await lose(clinic);
  hideCalls(clinic);
  await send(clinic, clinic.visit('C-1', about('W8')));
  expect(await haltsOf(clinic)).toEqual(['calls_lost']);
});

test('a call that was made by a clock that was ahead must be listed', async () => {
  const clinic = await install();
  await clinic.service.behave(UNFILTERED);
  setClockWrong(clinic, 3);
  await send(clinic, clinic.visit('B-1', about('W9'), 6));
  await clinic.collectAll();
  setClockWrong(clinic, 0);
  clinic.pass(HOUR_MS);
  await lose(clinic);
  hideCalls(clinic);
  await send(clinic, clinic.visit('C-1', about('W8')));
  expect(await haltsOf(clinic)).toEqual(['calls_lost']);
});

test('a comparison soon after a call does not stop, days after a loss', async () => {
  const clinic = await install();
  await clinic.service.behave(UNFILTERED);
  await send(clinic, clinic.visit('B-1', about('W9')));
  await lose(clinic);
  const { show } = hideCalls(clinic);
  await show(0);
  await show(1);
  await ensureReconciled(clinic.submit, 'dental');
  clinic.pass(2 * DAY_MS);
  await send(clinic, clinic.visit('C-1', about('W8'), 5));
  await clinic.collectAll();
  clinic.pass(MINUTE_MS);
  demandReconciliation(clinic.submit);
  await send(clinic, clinic.visit('D-1', about('W7'), 5));
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1', 'C-1', 'D-1']);
});

test.each(['Z-1', 'C-1'])(
  'a call of another installation stops submission, also if a label brings it (%s)',
  async (external_id) => {
    const clinic = await install();
    await clinic.service.behave(UNFILTERED);
    await send(clinic, clinic.visit('B-1', about('W9')));
    await lose(clinic);
    await ensureReconciled(clinic.submit, 'dental');
    await advance(clinic, HOUR_MS);
    await clinic.service.createBeside({ ...TWINS, patient_name: 'Zed Example', external_id });
    await send(clinic, clinic.visit('C-1', about('W8')));
    expect(await haltsOf(clinic)).toEqual(['foreign']);
    expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1', external_id]);
    // After the release, the next comparison knows it.
    await clinic.store.write((tx) => endHalt(tx, 'foreign', clinic.now()));
    await advance(clinic, DAY_MS);
    await send(clinic, clinic.visit('D-1', about('W7')));
    expect(await haltsOf(clinic)).toEqual([]);
  },
);

test('nothing is sent in the step that brings another installation’s call', async () => {
  const clinic = await install();
  await clinic.service.behave(UNFILTERED);
  await send(clinic, clinic.visit('B-1', about('W9')));
  await loseCreates(clinic, 1, 'before');
  await send(clinic, clinic.visit('C-1', about('W8')));
  clinic.pass(SETTLE_MS + 6_000);
  await clinic.submitNow();
  clinic.pass(SETTLE_MS + 1);
  await clinic.service.advance({ seconds: 3600 });
  await clinic.service.createBeside({ ...TWINS, patient_name: 'Zed Example', external_id: 'Z-1' });
  // C-1 proves absent, so its label is queried; D-1 needs no query.
  await clinic.read(clinic.visit('D-1', about('W7'), 5));
  await clinic.planNow();
  await clinic.submitNow();
  await clinic.submitNow();
  expect(await haltsOf(clinic)).toEqual(['foreign']);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'Z-1']);
});

describe.each(['external_id', 'ignored', 'refused'])(
  'a lost call that is listed late is no other installation’s (list_filter: %s)',
  (list_filter) => {
    const usual = { is_counted: true, has_times: true, ahead_ms: 0, settle_ms: SETTLE_MS };
    test.each([
      ['the lock file has counted it', usual, 6],
      ['the machine was rolled back', { ...usual, is_counted: false }, 6],
      ['it is listed after the settle times', usual, 12],
      ['the list has no times', { ...usual, has_times: false }, 6],
      ['nor is the clock right', { ...usual, has_times: false, ahead_ms: HOUR_MS }, 6],
      ['the settle time is long', { ...usual, has_times: false, settle_ms: 20 * MINUTE_MS }, 15],
    ])('%s', async (_, { is_counted, has_times, ahead_ms, settle_ms }, minutes) => {
      const clinic = await install({ settings: { settle_ms } });
      await clinic.service.behave({ ...UNFILTERED, list_filter });
      clinic.pass(ahead_ms);
      clinic.submit.clockSkew = () => ahead_ms;
      // The machine has not slept.
      clinic.env.boot = () => ({ id: 'boot', awake_ms: is_counted ? clinic.now() : 0 });
      await send(clinic, clinic.visit('B-1', about('W9')));
      await advance(clinic, HOUR_MS);
      await anOldCall(clinic, 'A-1');
      if (is_counted) clinic.submit.sends.write(clinic.submit.sends.read() + 5);
      clinic.submit.memory = newSubmitMemory();
      if (!has_times) withholdTimes(clinic);
      const { show } = hideCalls(clinic);
      await show(0);
      clinic.pass(3 * MINUTE_MS);
      await ensureReconciled(clinic.submit, 'dental');
      clinic.pass(minutes * MINUTE_MS);
      await show(1);
      await send(clinic, clinic.visit('C-1', about('W8')));
      await show(2);
      clinic.pass(MINUTE_MS);
      demandReconciliation(clinic.submit);
      await send(clinic, clinic.visit('A-1', twin('Ada')));
      expect(await haltsOf(clinic)).toEqual([]);
      expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1', 'C-1']);
    });
  },
);

test.each([
  ['whose request was on its way', { later_ms: 20_000 }],
  ['with the clock five minutes behind, if the service states none', { behind_ms: 5 * MINUTE_MS }],
  ['by a service whose times are two minutes ahead', { ahead_ms: 2 * MINUTE_MS }],
])('a lost call %s is no other installation’s', async (_, given) => {
  const { later_ms = 0, behind_ms = 0, ahead_ms = 0 } = given as Record<string, number>;
  const clinic = await install({ settings: { timeout_ms: 60_000 } });
  await clinic.service.behave({ ...UNFILTERED, list_filter: 'external_id' });
  clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
  await send(clinic, clinic.visit('B-1', about('W9')));
  await advance(clinic, HOUR_MS);
  if (behind_ms > 0) {
    clinic.submit.clockSkew = () => null;
    clinic.pass(-behind_ms);
  }
  if (ahead_ms > 0) await clinic.service.advance({ seconds: ahead_ms / 1000 });
  clinic.submit.sends.write(clinic.submit.sends.read() + 5);
  clinic.submit.memory = newSubmitMemory();
  const { show } = hideCalls(clinic);
  await show(0);
  await ensureReconciled(clinic.submit, 'dental');
  if (later_ms > 0) await advance(clinic, later_ms);
  await anOldCall(clinic, 'A-1');
  await advance(clinic, 6 * MINUTE_MS);
  await show(1);
  await advance(clinic, 5 * MINUTE_MS);
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual([]);
});

test('a clock that was ahead while nobody knew the service’s hides no other one', async () => {
  const clinic = await install();
  const began_at = clinic.now();
  let ahead_ms = 0;
  clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() - ahead_ms - began_at });
  await send(clinic, clinic.visit('B-1', about('W9')));
  ahead_ms = 400 * DAY_MS;
  clinic.pass(ahead_ms);
  clinic.submit.clockSkew = () => null;
  await reconcile(clinic);
  clinic.pass(-ahead_ms);
  ahead_ms = 0;
  clinic.submit.clockSkew = () => 0;
  await reconcile(clinic);
  await advance(clinic, HOUR_MS);
  await clinic.service.createBeside({ ...TWINS, patient_name: 'Zed Example', external_id: 'Z-1' });
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual(['foreign']);
});

test.each([0, 400])(
  'after the entry about lost calls, late ones stop nothing, and others do (%s days ahead)',
  async (days) => {
    const clinic = await install();
    clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
    await clinic.service.behave({ ...UNFILTERED, list_paging: 'none' });
    await send(clinic, clinic.visit('B-1', about('W9')));
    await clinic.collectAll();
    await lose(clinic);
    const { list } = clinic.client;
    cutLists(clinic, [], CUT_OFF);
    setClockWrong(clinic, days);
    await send(clinic, clinic.visit('A-1', twin('Ada')));
    expect(await haltsOf(clinic)).toEqual(['calls_lost']);
    await clinic.store.write((tx) => endHalt(tx, 'calls_lost', clinic.now()));
    setClockWrong(clinic, 0);
    clinic.client.list = list;
    await reconcile(clinic);
    expect(await haltsOf(clinic)).toEqual([]);
    await advance(clinic, DAY_MS);
    await clinic.service.createBeside({
      ...{ ...TWINS, member_id: 'W77', patient_name: 'Zed Example', external_id: 'Z-1' },
    });
    await reconcile(clinic);
    expect(await haltsOf(clinic)).toEqual(['foreign']);
  },
);

test('a clock that is set back hides no other installation', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('B-1', about('W9')));
  await advance(clinic, HOUR_MS);
  await reconcile(clinic);
  clinic.pass(-2 * HOUR_MS);
  clinic.submit.clockSkew = () => -2 * HOUR_MS;
  await advance(clinic, HOUR_MS);
  await clinic.service.createBeside({ ...TWINS, patient_name: 'Zed Example', external_id: 'Z-1' });
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual(['foreign']);
});

test('a filter that matches the beginnings of labels stops nothing', async () => {
  const clinic = await install();
  await clinic.service.behave({ list_paging: 'limit_offset', list_page_size: 10 });
  await callFor(clinic, ['B-10', 'B-11', 'C-1']);
  await clinic.collectAll();
  await lose(clinic);
  const { list } = clinic.client;
  clinic.client.list = async (specialty, filter, options) => {
    const result = await list(specialty, {}, options);
    if (!result.ok) return result;
    // The whole list omits known calls, whatever its end. B-10 begins as the label does.
    const some =
      filter.external_id === undefined
        ? { inquiries: result.value.inquiries.slice(-2), total_count: 2 }
        : { inquiries: [], total_count: 1, filter: 'ignored' as const };
    return { ok: true, value: { ...result.value, ...some } };
  };
  clinic.pass(15 * MINUTE_MS);
  await send(clinic, clinic.visit('B-1', about('W8')));
  expect(await haltsOf(clinic)).toEqual([]);
  expect((await labelsOf(clinic)).at(-1)).toBe('B-1');
});

test('a loss of more than a week ago stops nothing', async () => {
  const clinic = await cutOff();
  await send(clinic, clinic.visit('B-1', about('W9')));
  await lose(clinic);
  await ensureReconciled(clinic.submit, 'dental');
  cutLists(clinic, [], CUT_OFF);
  clinic.pass(8 * DAY_MS);
  const labels = watchLabels(clinic);
  await send(clinic, clinic.visit('A-2', about('W8'), 3));
  expect(labels).toContain('A-2');
  expect(await haltsOf(clinic)).toEqual([]);
  expect((await labelsOf(clinic)).at(-1)).toBe('A-2');
});

test('after the release, a comparison before any call does not stop again', async () => {
  const clinic = await cutOff();
  await anOldCall(clinic, 'A-1');
  await clinic.service.createBeside({ ...TWINS, patient_name: 'Zed Example', external_id: 'Z-1' });
  await send(clinic, clinic.visit('C-1', about('W8')));
  expect(await haltsOf(clinic)).toEqual(['calls_lost']);
  await clinic.store.write((tx) => endHalt(tx, 'calls_lost', clinic.now()));
  await clinic.read(clinic.visit('C-1', { ...about('W8'), status: 'cancelled' }));
  await clinic.planNow();
  await reconcile(clinic);
  await send(clinic, clinic.visit('D-1', about('W7')));
  expect(await haltsOf(clinic)).toEqual([]);
});

test('a lock file that lost its last counts does not mean that calls are lost', async () => {
  const clinic = await cutOff();
  await callFor(clinic, ['B-1', 'B-2', 'B-3', 'B-4']);
  clinic.submit.sends.write(clinic.submit.sends.read() - 2);
  await reconcile(clinic);
  await send(clinic, clinic.visit('C-1', about('W8')));
  expect(await haltsOf(clinic)).toEqual([]);
});

test('after a comparison, a count that the lock file lost costs no other list', async () => {
  const clinic = await install();
  clinic.submit.env.boot = () => ({ id: 'boot', awake_ms: HOUR_MS + clinic.now() });
  await callFor(clinic, ['B-1', 'B-2', 'B-3']);
  clinic.submit.sends.write(clinic.submit.sends.read() - 1);
  await reconcile(clinic);
  clinic.submit.memory = newSubmitMemory();
  const listed = vi.spyOn(clinic.client, 'list');
  expect(await ensureReconciled(clinic.submit, 'dental')).toBe(true);
  expect(listed).not.toHaveBeenCalled();
});

test('a list that was compared more than a day ago is compared again before a call', async () => {
  const clinic = await install();
  await ensureReconciled(clinic.submit, 'dental');
  clinic.pass(DAY_MS + HOUR_MS);
  const listed = vi.spyOn(clinic.client, 'list');
  await send(clinic, clinic.visit('C-1', about('C-1')));
  expect(listed.mock.calls.map(([, filter]) => filter)).toContainEqual({});
});

test('the log says that a list could not be read in full', async () => {
  const clinic = await install();
  await callFor(clinic, ['B-1']);
  await reconcile(clinic);
  expect(clinic.events).not.toContain('reconciliation_incomplete');
  cutLists(clinic, [], CUT_OFF);
  await reconcile(clinic);
  expect(clinic.events).toContain('reconciliation_incomplete');
});

test('a new installation has lost no calls, so it queries no label', async () => {
  const clinic = await install();
  clinic.submit.sends.write(1);
  const labels = watchLabels(clinic);
  await send(clinic, clinic.visit('B-1', about('W8')));
  expect(labels).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['B-1']);
});

test('a new lock file beside a database with two calls may have lost calls', async () => {
  const clinic = await cutOff();
  await callFor(clinic, ['B-1', 'B-2']);
  await clinic.collectAll();
  clinic.submit.sends.write(1);
  await reconcile(clinic);
  await send(clinic, clinic.visit('C-1', about('W8')));
  expect(await haltsOf(clinic)).toEqual(['calls_lost']);
});

test('the calls of others on a shared account are not lost ones', async () => {
  const clinic = await cutOff();
  clinic.submit.settings.is_shared_account = true;
  await anOldCall(clinic, 'A-1');
  await send(clinic, clinic.visit('C-1', about('W8')));
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'C-1']);
});

test('an uncertain call does not explain a new lock file beside many calls', async () => {
  const clinic = await cutOff();
  await callFor(clinic, ['B-1', 'B-2', 'B-3', 'B-4']);
  await loseCreates(clinic, 1, 'before');
  await send(clinic, clinic.visit('B-5', about('B-5')));
  clinic.submit.sends.write(1);
  await reconcile(clinic);
  await send(clinic, clinic.visit('C-1', about('W8')));
  expect(await haltsOf(clinic)).toEqual(['calls_lost']);
});

test.each([
  ['then gets none', { is_complete: true, is_end_proven: false }],
  ['has one that nobody can read', { is_complete: false, is_end_proven: true }],
])('eligd stops if a label gets a marked end, and the whole list %s', async (_, end) => {
  const clinic = await install();
  const ways = { list_paging: 'limit_offset', list_page_size: 10, list_filter: 'refused' };
  await clinic.service.behave(ways);
  await send(clinic, clinic.visit('B-1', about('W9')));
  await lose(clinic);
  await ensureReconciled(clinic.submit, 'dental');
  cutLists(clinic, [(await clinic.service.ledger())[0]?.id], end);
  await send(clinic, clinic.visit('C-1', about('W8')));
  expect(await haltsOf(clinic)).toEqual(['calls_lost']);
});

test.each([
  ['cannot be read in full', { is_complete: false, is_end_proven: true }],
  ['has no certain end', { is_complete: true, is_end_proven: false }],
])('a shorter list of a label that %s may still ignore the label (G1)', async (_, end) => {
  const clinic = await install();
  await clinic.service.behave(UNFILTERED);
  await callFor(clinic, ['B-1', 'B-2']);
  await lose(clinic);
  const lost = (await clinic.service.ledger()).at(-1)?.id;
  const { list } = clinic.client;
  clinic.client.list = async (specialty, filter, options) => {
    const result = await list(specialty, {}, options);
    if (!result.ok) return result;
    const inquiries = result.value.inquiries.filter(({ id }) => id !== lost);
    const shown =
      filter.external_id === undefined
        ? { inquiries, total_count: 2 }
        : { inquiries: inquiries.slice(1), total_count: 1, filter: 'ignored' as const, ...end };
    return { ok: true, value: { ...result.value, ...shown } };
  };
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await haltsOf(clinic)).toEqual(['calls_lost']);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'B-2', 'A-1']);
});
