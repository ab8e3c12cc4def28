/**
 * The service takes an answer back and works on the call again: of one of two records of a patient
 * that are merged, or of an earlier attempt (G1, G2).
 */
import { expect, test } from 'vitest';
import { HOUR_MS } from '../../../src/domain/time.ts';
import { quoteOf } from '../../../src/store/bookkeeping/ask-again.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { install, send } from '../installation.ts';
import { callsEnd, labelsOf } from './lost-calls.ts';
import {
  ends,
  finish,
  goOn,
  installWithOldAnswer,
  merge,
  OTHER_ADA,
  order,
  pass,
  readAgain,
  rulesOf,
  takeBack,
  visit,
  written,
} from './merges.ts';

test('an old answer leads to no call while a later one was taken back (G1)', async () => {
  const clinic = await installWithOldAnswer();
  await finish(clinic);
  await takeBack(clinic, 'B-1', 2);
  await merge(clinic);
  await pass(clinic, 1);
  await send(clinic, visit(clinic, 'C-1'));
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
  await ends(clinic, {});
  await readAgain(clinic, 2);
  await clinic.planNow();
  expect((await written(clinic))['C-1']).toEqual(['B-1']);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
});

test('an old answer leads to no call while one to an earlier call was taken back', async () => {
  const clinic = await install({ policy: { reverify_after_days: 3 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await send(clinic, visit(clinic, 'A-1'));
  await ends(clinic, { 'B-1': 'IN_PROGRESS' });
  await pass(clinic, 2.1);
  await clinic.collectAll();
  await pass(clinic, 2);
  await ends(clinic, {});
  await clinic.collectAll();
  await takeBack(clinic, 'B-1', 1);
  await merge(clinic);
  await pass(clinic, 1.5);
  await send(clinic, visit(clinic, 'C-1'));
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1']);
});

test('no further attempt is made while the merged record’s answer was taken back', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'), visit(clinic, 'B-1', OTHER_ADA));
  await merge(clinic);
  await ends(clinic, { 'A-1': 'IN_PROGRESS' });
  await finish(clinic);
  clinic.pass(HOUR_MS);
  await ends(clinic, { 'A-1': 'IN_PROGRESS', 'B-1': 'IN_PROGRESS' });
  await readAgain(clinic, 2);
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL', 'B-1': 'IN_PROGRESS' });
  await clinic.collectAll();
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
});

test('an answer that was taken back and given again replaces a failed one (G2)', async () => {
  const clinic = await install({ collecting: { attempts: 1 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await finish(clinic);
  await pass(clinic, 1);
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await finish(clinic);
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL', 'B-1': 'IN_PROGRESS' });
  await readAgain(clinic, 2);
  await merge(clinic);
  await send(clinic, visit(clinic, 'C-1'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
  expect((await written(clinic))['C-1']).toEqual(['B-1']);
  expect(await clinic.attention()).toEqual([]);
});

test('the operator orders no call while a later answer was taken back', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await finish(clinic);
  await pass(clinic, 1);
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await finish(clinic);
  await takeBack(clinic, 'B-1', 2);
  await send(clinic, visit(clinic, 'A-1'));
  await merge(clinic);
  expect(await quoteOf(clinic.store.db, rulesOf(clinic), { id: 1, now: clinic.now() })).toBe(null);
  expect(await order(clinic)).toBe(false);
});

test.each([
  ['is under way', false],
  ['was taken back', true],
])('two attempts are all, also if the call of a merged record %s', async (_, is_taken_back) => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await finish(clinic);
  clinic.pass(2 * HOUR_MS);
  await clinic.service.advance({ seconds: 7200 });
  // The second attempt, and the other record's first.
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await merge(clinic);
  const [first, second, other] = (await clinic.service.ledger()).map(({ id }) => id);
  const rows = await clinic.inquiries();
  const [second_row, other_row] = [second, other].map(
    (id) => rows.find(({ service_id }) => service_id === id)?.id ?? 0,
  );
  const say = (of_second: string, of_other: string) =>
    callsEnd(clinic, ({ id }) =>
      id === first ? 'UNSUCCESSFUL' : id === second ? of_second : of_other,
    );
  say('IN_PROGRESS', is_taken_back ? 'SUCCESS' : 'IN_PROGRESS');
  await finish(clinic);
  say('UNSUCCESSFUL', 'IN_PROGRESS');
  await readAgain(clinic, other_row ?? 0);
  await readAgain(clinic, second_row ?? 0);
  await clinic.planNow();
  clinic.pass(HOUR_MS);
  say('UNSUCCESSFUL', 'UNSUCCESSFUL');
  await readAgain(clinic, other_row ?? 0);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(3);
});

test.each([2, 3])(
  'an attempt that was taken back takes no later one’s place (%s)',
  async (attempts) => {
    const clinic = await install({ collecting: { attempts }, policy: { attempts } });
    await clinic.planNow();
    await send(clinic, visit(clinic, 'A-1'));
    callsEnd(clinic, () => 'UNSUCCESSFUL');
    await finish(clinic);
    clinic.pass(2 * HOUR_MS);
    await clinic.service.advance({ hours: 2 });
    await clinic.planNow();
    await clinic.submitNow();
    expect(await labelsOf(clinic)).toHaveLength(2);
    const [first] = await clinic.service.ledger();
    callsEnd(clinic, () => 'IN_PROGRESS');
    await readAgain(clinic, 1);
    callsEnd(clinic, ({ id }) => (id === first?.id ? 'IN_PROGRESS' : 'UNSUCCESSFUL'));
    await finish(clinic);
    await goOn(clinic);
    callsEnd(clinic, () => 'UNSUCCESSFUL');
    await readAgain(clinic, 1);
    for (let step = 0; step < 3; step += 1) await goOn(clinic);
    expect(await labelsOf(clinic)).toHaveLength(attempts);
    const [entry] = await openAttention(clinic.store.db);
    expect(entry?.what).toContain(`(${attempts} calls)`);
  },
);

test('a failed call gives way to no earlier failure that was taken back (G2)', async () => {
  const clinic = await install({ policy: { reverify_after_days: 3 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  callsEnd(clinic, () => 'UNSUCCESSFUL');
  await finish(clinic);
  for (let step = 0; step < 4; step += 1) await goOn(clinic);
  await send(clinic, visit(clinic, 'C-1'));
  expect(await labelsOf(clinic)).toHaveLength(3);
  const [, second] = await clinic.service.ledger();
  callsEnd(clinic, () => 'IN_PROGRESS');
  await readAgain(clinic, 2);
  callsEnd(clinic, ({ id }) => (id === second?.id ? 'IN_PROGRESS' : 'UNSUCCESSFUL'));
  await finish(clinic);
  await clinic.planNow();
  callsEnd(clinic, () => 'UNSUCCESSFUL');
  await readAgain(clinic, 2);
  for (let step = 0; step < 2; step += 1) await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(4);
});

test('a first attempt of the merged record that failed takes no attempt away (G2)', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA), visit(clinic, 'A-1'));
  await merge(clinic);
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL', 'B-1': 'UNSUCCESSFUL' });
  await finish(clinic);
  callsEnd(clinic, () => 'SUCCESS');
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(3);
});
