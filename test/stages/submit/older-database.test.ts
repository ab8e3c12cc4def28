/** An older database was put back; the service shows some of the calls that it lacks, or none. */
import { expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { newSubmitMemory } from '../../../src/stages/submit/deps.ts';
import { demandReconciliation, ensureReconciled } from '../../../src/stages/submit/index.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { currentHalts } from '../../../src/store/calls/halts.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, send } from '../installation.ts';
import { anOldCall, hideCalls, labelsOf, twin } from './lost-calls.ts';

const about = (member_id: string) => ({ coverages: [aCoverage({ member_id })] });

/** A new process whose database lacks the call of A-1. */
async function lose(clinic: Installation): Promise<void> {
  await anOldCall(clinic, 'A-1');
  clinic.submit.sends.write(clinic.submit.sends.read() + 5);
  clinic.submit.memory = newSubmitMemory();
}

const haltsOf = async ({ store }: Installation) =>
  (await currentHalts(store.db)).map(({ reason }) => reason);

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

test.each(['ignored', 'refused'])(
  'a call that was just made and is not listed yet stops nothing (list_filter: %s)',
  async (list_filter) => {
    const clinic = await install();
    await clinic.service.behave({ list_paging: 'limit_offset', list_page_size: 10, list_filter });
    await send(clinic, clinic.visit('B-1', about('W9')));
    await lose(clinic);
    const { show } = hideCalls(clinic);
    await show(0);
    await show(1);
    await send(clinic, clinic.visit('C-1', about('W8')));
    await clinic.collectAll();
    clinic.pass(MINUTE_MS);
    await send(clinic, clinic.visit('D-1', about('W7')));
    expect(await haltsOf(clinic)).toEqual([]);
    expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1', 'C-1', 'D-1']);
  },
);

test('a filter that does nothing costs whole lists only at first', async () => {
  const clinic = await install();
  const ways = { list_paging: 'limit_offset', list_page_size: 10, list_filter: 'ignored' };
  await clinic.service.behave(ways);
  await send(clinic, clinic.visit('B-1', about('W9')));
  await lose(clinic);
  const queried: (string | undefined)[] = [];
  const { list } = clinic.client;
  clinic.client.list = async (specialty, filter, options) => {
    queried.push(filter.external_id);
    return await list(specialty, filter, options);
  };
  await send(clinic, clinic.visit('C-1', about('W8')));
  clinic.pass(15 * MINUTE_MS);
  await send(clinic, clinic.visit('D-1', about('W7')));
  queried.length = 0;
  for (const label of ['E-1', 'F-1', 'G-1']) await send(clinic, clinic.visit(label, about(label)));
  expect(queried).toEqual([]);
});

test('a filter that matches the beginnings of labels stops nothing', async () => {
  const clinic = await install();
  await clinic.service.behave({ list_paging: 'limit_offset', list_page_size: 10 });
  for (const label of ['B-10', 'B-11', 'C-1'])
    await send(clinic, clinic.visit(label, about(label)));
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
  clinic.pass(8 * DAY_MS);
  await send(clinic, clinic.visit('A-2', about('W8'), 12));
  expect(await haltsOf(clinic)).toEqual([]);
});
