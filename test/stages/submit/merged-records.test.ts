/**
 * Two records of one patient that are merged while calls for both are under way (G1, G2); and calls
 * for one record that only look alike.
 */
import { expect, test } from 'vitest';
import type { Policy } from '../../../src/domain/policy.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { quoteOf } from '../../../src/store/bookkeeping/ask-again.ts';
import { hold, release, retry, withdraw } from '../../../src/store/bookkeeping/operator.ts';
import { aCoverage } from '../../domain/examples.ts';
import {
  connector,
  type Installation,
  install,
  reconcile,
  SETTLE_MS,
  send,
} from '../installation.ts';
import {
  acceptAndHide,
  acceptUnlisted,
  callsEnd,
  forgetCall,
  labelsOf,
  lookUp,
  loseAndHide,
  loseCreates,
  refuseCreates,
} from './lost-calls.ts';
import {
  ADA,
  COVERAGES,
  ends,
  enter,
  finish,
  goOn,
  installWithOldAnswer,
  merge,
  OTHER_ADA,
  order,
  pass,
  rulesOf,
  visit,
  written,
} from './merges.ts';

/** The first call brings an answer, all others fail. */
async function laterCallsFail(clinic: Installation): Promise<void> {
  const [first] = await clinic.service.ledger();
  callsEnd(clinic, ({ id }) => (id === first?.id ? 'SUCCESS' : 'UNSUCCESSFUL'));
}

/** The service changes the words of an answer. */
async function revise(clinic: Installation, id: number): Promise<void> {
  const { read } = clinic.client;
  clinic.client.read = async (...given) => {
    const result = await read(...given);
    if (!result.ok || result.value === null) return result;
    return { ok: true, value: { ...result.value, summary: 'Other words.' } };
  };
  await clinic.store.db
    .updateTable('inquiries')
    .set({ poll_at: clinic.now() })
    .where('id', '=', id)
    .execute();
  await clinic.collectNow();
  clinic.client.read = read;
}

/** A visit was answered, and one for the patient's other record was called for. Then they merge. */
async function oneAnswered(): Promise<Installation> {
  const clinic = await install({ policy: { reverify_after_days: 3 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await pass(clinic, 2);
  await clinic.collectAll();
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await merge(clinic);
  return clinic;
}

/** The service refuses the next call. `meanwhile` happens before its reply arrives. */
function refuseNext(clinic: Installation, meanwhile = async (): Promise<void> => {}): void {
  const { create } = clinic.client;
  clinic.client.create = async () => {
    clinic.client.create = create;
    await meanwhile();
    return { ok: false, failure: { class: 'refused', status: 422, errors: [] } };
  };
}

const sendUndecidable = (clinic: Installation, id: string) =>
  acceptUnlisted(clinic, () => send(clinic, visit(clinic, id, OTHER_ADA)));

test('no further attempt is made if the other record’s call succeeded in the end', async () => {
  const clinic = await install({ collecting: { attempts: 2 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'), visit(clinic, 'B-1', OTHER_ADA));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL', 'B-1': 'UNSUCCESSFUL' });
  await finish(clinic);
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL', 'B-1': 'SUCCESS' });
  await revise(clinic, 2);
  await merge(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
  expect((await written(clinic))['A-1']?.at(-1)).toBe('B-1');
});

test('a visit whose unsent call a merge makes unnecessary gets the other answer (G2)', async () => {
  const clinic = await install();
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await finish(clinic);
  expect(await written(clinic)).toEqual({ 'B-1': ['B-1'] });
  await clinic.read(visit(clinic, 'A-1'));
  await clinic.planNow();
  await merge(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1']);
  expect((await written(clinic))['A-1']).toEqual(['B-1']);
});

test.each([
  ['stands', OTHER_ADA, ADA],
  ['is moved', ADA, OTHER_ADA],
])('the next attempt is made, and no more, if its record %s in a merge (G2)', async (...at) => {
  const [, from, into] = at;
  const clinic = await install({ collecting: { attempts: 2 } });
  callsEnd(clinic, () => 'UNSUCCESSFUL');
  await send(clinic, visit(clinic, 'A-1'));
  await clinic.collectAll();
  await clinic.read(visit(clinic, 'B-1', OTHER_ADA));
  await clinic.planNow();
  await merge(clinic, { from: [from], into });
  for (let day = 0; day < 3; day += 1) {
    await goOn(clinic);
    await pass(clinic, 1);
    await clinic.collectAll();
  }
  expect(await labelsOf(clinic)).toHaveLength(2);
});

test('a call under way serves in place of a call that has failed', async () => {
  const clinic = await install({ collecting: { attempts: 1 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await clinic.collectAll();
  expect(await clinic.attention()).toEqual(['unsuccessful']);
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await merge(clinic);
  expect(await clinic.attention()).toEqual([]);
  await pass(clinic, 2);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
  expect(await written(clinic)).toEqual({
    'A-1': ['A-1', 'B-1'],
    'B-1': ['B-1'],
  });
});

test('after a failed call, a lost call for the merged record is not made again', async () => {
  const clinic = await install({ collecting: { attempts: 1 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await clinic.collectAll();
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await merge(clinic);
  await lookUp(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(await clinic.attention()).toEqual(['unsuccessful']);
});

test('after a failed call, a lost call serves if the service has it', async () => {
  const clinic = await install({ collecting: { attempts: 1 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await clinic.collectAll();
  await loseCreates(clinic, 1, 'after');
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await merge(clinic);
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL', 'B-1': 'IN_PROGRESS' });
  await lookUp(clinic);
  clinic.pass(15 * MINUTE_MS);
  await clinic.planNow();
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await finish(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
  expect((await written(clinic))['B-1']).toEqual(['A-1', 'B-1']);
});

test('a failed call is tried again if the merged record’s call was not made', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await merge(clinic);
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await clinic.collectAll();
  await lookUp(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(2);
});

test('a lost call about the codes of a visit serves it if the service has it', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, { ...visit(clinic, 'A-1'), procedure_codes: ['D1110'] });
  await finish(clinic);
  await loseCreates(clinic, 1, 'after');
  await send(clinic, { ...visit(clinic, 'B-1', OTHER_ADA), procedure_codes: ['D2740'] });
  await merge(clinic);
  await lookUp(clinic);
  clinic.pass(15 * MINUTE_MS);
  await clinic.planNow();
  await finish(clinic);
  expect((await written(clinic))['B-1']).toEqual(['A-1', 'B-1']);
});

test.each([
  ['lost', 'reset'],
  ['on its way', 'none'],
])('an old answer leads to no call while the merged record’s call is %s', async (_, fault) => {
  const clinic = await install({ policy: { reverify_after_days: 2 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await finish(clinic);
  await pass(clinic, 3);
  if (fault === 'reset') await loseCreates(clinic, 1, 'after');
  const { create } = clinic.client;
  clinic.client.create = async (...given) => {
    if (fault === 'none') await mergeAndVisit();
    return await create(...given);
  };
  const mergeAndVisit = async () => {
    await clinic.read(visit(clinic, 'C-1'));
    await merge(clinic);
  };
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  clinic.client.create = create;
  if (fault === 'reset') await mergeAndVisit();
  await clinic.submitNow();
  await lookUp(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
});

test('a visit that has its answer also gets that of a call under way', async () => {
  const clinic = await install();
  await clinic.planNow();
  const first = visit(clinic, 'A-1');
  await send(clinic, { ...first, procedure_codes: ['D1110'] });
  await finish(clinic);
  await send(clinic, { ...visit(clinic, 'B-1', OTHER_ADA), procedure_codes: ['D2740'] });
  await merge(clinic);
  await send(clinic, { ...first, procedure_codes: ['D1110'], location: 'West' });
  await finish(clinic);
  expect((await written(clinic))['A-1']).toEqual(['A-1', 'B-1']);
});

test('a revised answer of a failed call still names the next attempt', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await clinic.collectAll();
  clinic.pass(HOUR_MS + 1000);
  await clinic.submitNow();
  await revise(clinic, 1);
  const said: string[] = [];
  await clinic.deliverNow(connector(({ notes }) => said.push(...notes)));
  const next = 'This call was unsuccessful; attempt 2 of 2 follows.';
  expect(said.filter((note) => note.startsWith('This call'))).toEqual([next, next]);
});

test('an ordered call is made, also if the answer before it is taken back', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await finish(clinic);
  expect(await order(clinic)).toBe(true);
  await ends(clinic, { 'A-1': 'IN_PROGRESS' });
  await clinic.store.db.updateTable('inquiries').set({ poll_at: 0 }).where('id', '=', 1).execute();
  await clinic.collectNow();
  expect((await clinic.inquiries())[0]?.state).toBe('open');
  refuseCreates(clinic, 1);
  await clinic.submitNow();
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-1']);
});

test('the attempts of a merged record stay together when its call serves', async () => {
  const clinic = await install({ policy: { reverify_after_days: 2 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await finish(clinic);
  await pass(clinic, 3);
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await ends(clinic, { 'B-1': 'UNSUCCESSFUL' });
  await clinic.collectAll();
  clinic.pass(HOUR_MS + 1000);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1', 'B-1']);
  await merge(clinic);
  expect((await clinic.inquiries()).map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
});

test('no further attempt is made while the merged record’s call is under way', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await merge(clinic);
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL', 'B-1': 'IN_PROGRESS' });
  await clinic.collectAll();
  await goOn(clinic);
  await ends(clinic, { 'B-1': 'SUCCESS' });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
  expect(await written(clinic)).toEqual({ 'A-1': ['A-1', 'B-1'], 'B-1': ['A-1', 'B-1'] });
});

test('no further attempt is made if the merged record’s call was answered before', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'), visit(clinic, 'B-1', OTHER_ADA));
  await merge(clinic);
  await ends(clinic, { 'A-1': 'IN_PROGRESS', 'B-1': 'SUCCESS' });
  await finish(clinic);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open', 'answered']);
  clinic.pass(HOUR_MS);
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL', 'B-1': 'SUCCESS' });
  await clinic.collectAll();
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
  const answers = await written(clinic);
  expect([answers['A-1']?.at(-1), answers['B-1']?.at(-1)]).toEqual(['B-1', 'B-1']);
  expect(await clinic.attention()).toEqual([]);
});

test.each([
  ['an answer', true],
  ['another call', false],
])('a call under way serves if %s leaves out the codes of its visit', async (_, is_answered) => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, { ...visit(clinic, 'A-1'), procedure_codes: ['D1110'] });
  if (is_answered) await finish(clinic);
  await send(clinic, { ...visit(clinic, 'B-1', OTHER_ADA), procedure_codes: ['D2740'] });
  await merge(clinic);
  await finish(clinic);
  await clinic.planNow();
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
  expect(await written(clinic)).toEqual({ 'A-1': ['A-1'], 'B-1': ['B-1'] });
  expect(await clinic.attention()).toEqual([]);
});

test('a visit keeps the answer about its codes when two records are merged', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, { ...visit(clinic, 'A-1'), procedure_codes: ['D1110'] });
  await send(clinic, { ...visit(clinic, 'B-1', OTHER_ADA), procedure_codes: ['D2740'] });
  await finish(clinic);
  expect(await written(clinic)).toEqual({ 'A-1': ['A-1'], 'B-1': ['B-1'] });
  await merge(clinic, { from: [ADA], into: OTHER_ADA });
  expect(await written(clinic)).toEqual({});
  expect(await clinic.attention()).toEqual([]);
});

test('after a merge, a code that no call asked about still leads to a call', async () => {
  const clinic = await install({ policy: { new_codes: 'call' } });
  await clinic.planNow();
  const visits = [visit(clinic, 'A-1'), visit(clinic, 'B-1', OTHER_ADA)] as const;
  await send(clinic, { ...visits[0], procedure_codes: ['D1110'] });
  await send(clinic, { ...visits[1], procedure_codes: ['D2740'] });
  await finish(clinic);
  await merge(clinic, { from: [ADA], into: OTHER_ADA });
  await send(clinic, { ...visits[0], patient: OTHER_ADA, procedure_codes: ['D1110', 'D0274'] });
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1', 'A-1']);
});

test('a visit whose call has failed gets the answer of the merged record', async () => {
  const clinic = await install({ collecting: { attempts: 1 } });
  await clinic.planNow();
  await send(clinic, { ...visit(clinic, 'A-1'), procedure_codes: ['D1110'] });
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await clinic.collectAll();
  await send(clinic, { ...visit(clinic, 'B-1', OTHER_ADA), procedure_codes: ['D2740'] });
  await finish(clinic);
  await merge(clinic, { from: [ADA], into: OTHER_ADA });
  expect(await written(clinic)).toEqual({ 'A-1': ['A-1', 'B-1'], 'B-1': ['B-1'] });
});

test('the later of two answers decides whether a new visit gets a call', async () => {
  const clinic = await installWithOldAnswer();
  await merge(clinic);
  await finish(clinic);
  await pass(clinic, 1);
  await send(clinic, visit(clinic, 'C-1'));
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
  expect((await written(clinic))['C-1']).toEqual(['B-1']);
  await pass(clinic, 3);
  await send(clinic, visit(clinic, 'D-1'));
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1', 'D-1']);
});

test('the later of two answers serves after an order that the office withdrew', async () => {
  const clinic = await installWithOldAnswer();
  await merge(clinic);
  await finish(clinic);
  await send(clinic, visit(clinic, 'C-1'));
  expect(await order(clinic, 3)).toBe(true);
  const third = { kind: 'inquiry' as const, id: 3 };
  await clinic.store.write((tx) => withdraw(tx, third, clinic.now()));
  await pass(clinic, 1);
  await send(clinic, visit(clinic, 'D-1'));
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
  expect((await written(clinic))['D-1']).toEqual(['B-1']);
});

test.each([
  ['right', 0],
  ['ahead when the other answer arrived', 5 * DAY_MS],
])('the later of two answers decides if its call was made first: clock %s', async (_, ahead_ms) => {
  const clinic = await install({ policy: { reverify_after_days: 3 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await send(clinic, visit(clinic, 'A-1'));
  await ends(clinic, { 'B-1': 'IN_PROGRESS' });
  await pass(clinic, 1);
  clinic.pass(ahead_ms);
  clinic.collect.clockSkew = () => ahead_ms;
  await clinic.collectAll();
  clinic.collect.clockSkew = () => 0;
  clinic.pass(-ahead_ms);
  await pass(clinic, 2);
  await merge(clinic);
  await ends(clinic, {});
  await clinic.collectAll();
  await pass(clinic, 1.5);
  await send(clinic, visit(clinic, 'C-1'));
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1']);
});

test('an old answer leads to a call after the call of the merged record has failed', async () => {
  const clinic = await installWithOldAnswer();
  await merge(clinic);
  await ends(clinic, { 'B-1': 'UNSUCCESSFUL' });
  await clinic.collectAll();
  await pass(clinic, 2);
  await send(clinic, visit(clinic, 'C-1'));
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1', 'C-1']);
});

test('an old answer leads to no call if the merged record’s attempts are used up', async () => {
  const clinic = await installWithOldAnswer();
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    await ends(clinic, { 'B-1': 'UNSUCCESSFUL' });
    await clinic.collectAll();
    clinic.pass(HOUR_MS + 1000);
    await clinic.submitNow();
  }
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1', 'B-1']);
  await pass(clinic, 1);
  await merge(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1', 'B-1']);
  expect(await clinic.attention()).toEqual(['unsuccessful']);
});

test('an old answer leads to a call that counts the merged record’s failed one', async () => {
  const clinic = await installWithOldAnswer();
  await laterCallsFail(clinic);
  await clinic.collectAll();
  await pass(clinic, 1.5);
  await merge(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(3);
  expect(await clinic.attention()).toEqual(['unsuccessful']);
});

test('an old answer leads to no call after the merged record’s was canceled', async () => {
  const clinic = await installWithOldAnswer();
  await ends(clinic, { 'B-1': 'CANCELLED' });
  await clinic.collectAll();
  await pass(clinic, 1.5);
  await merge(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
  expect(await clinic.attention()).toEqual(['cancelled_by_service']);
});

test('used-up attempts of one merged record count although another has one left', async () => {
  const third = { ...ADA, id: 'P-3' };
  const clinic = await installWithOldAnswer();
  await laterCallsFail(clinic);
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    await clinic.collectAll();
    clinic.pass(HOUR_MS + 1000);
    await clinic.submitNow();
  }
  await send(clinic, visit(clinic, 'C-1', third));
  await clinic.collectAll();
  await pass(clinic, 1);
  await merge(clinic, { from: [third, OTHER_ADA] });
  const before = await labelsOf(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(before);
});

test('an old answer leads to a call also if the answer before it was revised', async () => {
  const clinic = await install({ policy: { reverify_after_days: 2 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await finish(clinic);
  await pass(clinic, 3);
  await send(clinic, visit(clinic, 'B-1'));
  await finish(clinic);
  await pass(clinic, 1.5);
  await revise(clinic, 1);
  await pass(clinic, 1);
  await send(clinic, visit(clinic, 'C-1'));
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1', 'C-1']);
});

test('an old answer leads to no call while the merged record’s call is undecidable', async () => {
  const clinic = await install({ policy: { reverify_after_days: 2 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await pass(clinic, 2);
  await clinic.collectAll();
  await pass(clinic, 3);
  await sendUndecidable(clinic, 'B-1');
  await merge(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(await clinic.attention()).toContain('undecidable');
});

test('a lost call is not made again while the merged record’s call is undecidable', async () => {
  const clinic = await install();
  await clinic.planNow();
  await sendUndecidable(clinic, 'B-1');
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'A-1'));
  await merge(clinic);
  await lookUp(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
  // Its visits wait for the lost one, of which the office hears.
  expect(await clinic.attention()).toEqual(['unconfirmed']);
});

test.each([
  ['the other one is planned', 0],
  ['the other one has an old answer', 5],
])('a call on hold stays on hold after a merge: %s', async (_, days) => {
  const clinic = await install({ policy: { reverify_after_days: 2 } });
  await clinic.planNow();
  await clinic.read(visit(clinic, 'A-1'));
  await clinic.planNow();
  if (days > 0) {
    await clinic.submitNow();
    await finish(clinic);
    await pass(clinic, days);
  }
  await clinic.read(visit(clinic, 'B-1', OTHER_ADA));
  await clinic.planNow();
  const before = await labelsOf(clinic);
  const on_hold = { kind: 'appointment' as const, id: 2 };
  await clinic.store.write((tx) => hold(tx, on_hold, clinic.now()));
  await merge(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(before);
  await clinic.store.write((tx) => release(tx, on_hold, clinic.now()));
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(before.length + 1);
});

test('the operator orders no call while the merged record’s call is under way', async () => {
  const clinic = await oneAnswered();
  const quote = { id: 1, now: clinic.now() };
  expect(await quoteOf(clinic.store.db, rulesOf(clinic), quote)).toBeNull();
  expect(await order(clinic)).toBe(false);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
});

test('a lost call counts as the attempt after that of the merged record', async () => {
  const clinic = await install();
  await clinic.planNow();
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'A-1'));
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await merge(clinic, { from: [ADA], into: OTHER_ADA });
  await ends(clinic, { 'B-1': 'UNSUCCESSFUL' });
  await clinic.collectAll();
  await clinic.planNow();
  await lookUp(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(2);
});

test('a call that the office overtook with its own answer is tried again if it fails', async () => {
  const clinic = await install({ policy: { reverify_after_days: 3 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await enter(clinic, 'A-1');
  await clinic.planNow();
  await ends(clinic, { 'A-1': 'IN_PROGRESS' });
  await pass(clinic, 3.5);
  await send(clinic, visit(clinic, 'C-1'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await clinic.collectAll();
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(2);
});

test('an ordered call is made, also if the answer before it is revised', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await pass(clinic, 2);
  await clinic.collectAll();
  expect(await order(clinic)).toBe(true);
  clinic.pass(1000);
  await revise(clinic, 1);
  refuseCreates(clinic, 1);
  await clinic.submitNow();
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-1']);
});

test('a call that cannot leave is not tried at once again after the clock was ahead', async () => {
  const clinic = await install({ policy: { reverify_after_days: 1 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await clinic.service.advance({ days: 2 });
  clinic.pass(4 * DAY_MS);
  clinic.collect.clockSkew = () => 2 * DAY_MS;
  await clinic.collectAll();
  clinic.collect.clockSkew = () => 0;
  clinic.pass(-2 * DAY_MS);
  await pass(clinic, 1.5);
  const seen = refuseCreates(clinic, 1000);
  await clinic.read(visit(clinic, 'B-1'));
  for (let step = 0; step < 10; step += 1) {
    await clinic.planNow();
    await clinic.submitNow();
  }
  expect(seen.tries).toBeLessThanOrEqual(2);
});

test('a call that was not made is not made if the merged record’s was answered', async () => {
  const clinic = await install();
  await clinic.planNow();
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'A-1'));
  await loseCreates(clinic, 1);
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await merge(clinic);
  clinic.pass(SETTLE_MS + 1);
  await clinic.submitNow();
  await finish(clinic);
  await lookUp(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1']);
  expect(await written(clinic)).toMatchObject({ 'A-1': ['B-1'], 'B-1': ['B-1'] });
});

test('a withdrawn call that is listed late is reported if eligd called again', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  await send(clinic, visit(clinic, 'A-1'));
  const { create } = clinic.client;
  refuseCreates(clinic, 1);
  await clinic.service.advance({ seconds: 60 });
  await lookUp(clinic);
  clinic.client.create = create;
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await merge(clinic);
  expect(await clinic.attention()).toEqual([]);
  await show(0);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
});

/** A visit has an answer that gets too old; the other record's call, withdrawn, may exist. */
async function withdrawnAndMerged() {
  const clinic = await install({ policy: { reverify_after_days: 3 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await finish(clinic);
  const { show } = await acceptAndHide(clinic, () => send(clinic, visit(clinic, 'A-1')));
  await merge(clinic);
  await clinic.planNow();
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 2 }, clinic.now()));
  await pass(clinic, 4);
  return { clinic, show };
}

test('a merged record’s withdrawn call is looked up once its answer is old (G1)', async () => {
  const { clinic, show } = await withdrawnAndMerged();
  await clinic.read(visit(clinic, 'A-2'));
  await goOn(clinic);
  expect(await clinic.attention()).toEqual(['undecidable']);
  await show(1);
  await reconcile(clinic);
  await finish(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1']);
  expect(await written(clinic)).toMatchObject({ 'A-2': ['A-1'] });
});

test('a merged record’s withdrawn call is not looked up by an unsure clock', async () => {
  const { clinic } = await withdrawnAndMerged();
  const { facts } = clinic.plan;
  clinic.plan.facts = () => ({ ...facts(), is_clock_trusted: false });
  await clinic.read(visit(clinic, 'A-2'));
  await goOn(clinic);
  expect(await clinic.attention()).toEqual([]);
  clinic.plan.facts = facts;
  await goOn(clinic);
  expect(await clinic.attention()).toEqual(['undecidable']);
});

test('a merged record’s withdrawn call takes no valid answer away from new visits', async () => {
  const clinic = await install({ policy: { new_codes: 'call' } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await finish(clinic);
  await acceptAndHide(clinic, () => send(clinic, visit(clinic, 'A-1')));
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 2 }, clinic.now()));
  await merge(clinic);
  await clinic.read({ ...visit(clinic, 'A-2'), procedure_codes: ['D2740'] }, visit(clinic, 'A-3'));
  await goOn(clinic);
  await finish(clinic);
  await clinic.planNow();
  expect(await clinic.attention()).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1', 'A-2']);
  expect(await written(clinic)).toMatchObject({ 'A-2': ['A-2'], 'A-3': [expect.anything()] });
});

test('a merged record’s withdrawn call that is older than the answer does not count', async () => {
  const clinic = await install({ policy: { reverify_after_days: 3 } });
  await clinic.planNow();
  await acceptUnlisted(clinic, () => send(clinic, visit(clinic, 'A-1')));
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  await pass(clinic, 10);
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await finish(clinic);
  await merge(clinic);
  await pass(clinic, 4);
  await clinic.read(visit(clinic, 'A-2'));
  await goOn(clinic);
  await finish(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-2']);
  expect(await written(clinic)).toMatchObject({ 'A-2': ['A-2'] });
});

test('a visit whose call failed gets the withdrawn call’s answer if it is found (G2)', async () => {
  const clinic = await install({
    policy: { reverify_after_days: 3, attempts: 1 },
    collecting: { attempts: 1 },
  });
  const third = { ...ADA, id: 'P-3' };
  await clinic.planNow();
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await finish(clinic);
  await pass(clinic, 2);
  await send(clinic, visit(clinic, 'C-1', third));
  await ends(clinic, { 'C-1': 'UNSUCCESSFUL' });
  await finish(clinic);
  const { show } = await acceptAndHide(clinic, () => send(clinic, visit(clinic, 'A-1')));
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 3 }, clinic.now()));
  await merge(clinic, { from: [third] });
  await merge(clinic);
  await clinic.planNow();
  const { facts } = clinic.plan;
  clinic.plan.facts = () => ({ ...facts(), policy: { ...facts().policy, attempts: 2 } });
  await pass(clinic, 1.5);
  await clinic.read(visit(clinic, 'A-2'));
  await goOn(clinic);
  await show(2);
  await reconcile(clinic);
  await finish(clinic);
  await clinic.planNow();
  expect(await labelsOf(clinic)).toEqual(['B-1', 'C-1', 'A-1']);
  expect(await clinic.attention()).toEqual([]);
  expect(await written(clinic)).toMatchObject({ 'A-2': ['A-1'], 'C-1': ['C-1', 'A-1'] });
});

test('a merged record’s withdrawn call about the codes of a visit is looked up (G1)', async () => {
  const clinic = await install({ policy: { new_codes: 'call' } });
  const withCode = (id: string) => ({ ...visit(clinic, id), procedure_codes: ['D2740'] });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await finish(clinic);
  await acceptAndHide(clinic, () => send(clinic, withCode('A-1')));
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 2 }, clinic.now()));
  await merge(clinic);
  await clinic.read(withCode('A-2'));
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1']);
  expect(await clinic.attention()).toContain('undecidable');
});

test('a merged record’s next attempt that the office withdrew is looked up (G1)', async () => {
  const clinic = await install({
    policy: { reverify_after_days: 3, attempts: 2 },
    collecting: { attempts: 2 },
  });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await finish(clinic);
  await pass(clinic, 2);
  await send(clinic, visit(clinic, 'A-1'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await finish(clinic);
  await pass(clinic, 0.5);
  await acceptAndHide(clinic, () => clinic.planNow().then(() => clinic.submitNow()));
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 3 }, clinic.now()));
  await merge(clinic);
  await clinic.planNow();
  await pass(clinic, 1);
  await clinic.read(visit(clinic, 'A-2'));
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1', 'A-1']);
  expect(await clinic.attention()).toEqual(['undecidable']);
});

test('a visit too late for a call takes no answer away from others after a merge', async () => {
  const { clinic } = await withdrawnAndMerged();
  await clinic.read(clinic.visit('A-2', { patient: ADA, coverages: COVERAGES }, 0.01));
  await clinic.planNow();
  expect(await clinic.attention()).toEqual(['too_late_to_call']);
  await clinic.read(visit(clinic, 'B-1'));
  await goOn(clinic);
  expect(await clinic.attention()).not.toContain('undecidable');
  expect(await written(clinic)).toMatchObject({ 'B-1': ['B-1'] });
});

test('a call under way serves in place of a further attempt that the office withdrew', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await clinic.collectAll();
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 2 }, clinic.now()));
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await merge(clinic);
  await clinic.read(visit(clinic, 'B-2'));
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
});

/** While a call for B-1 is lost, the records are merged, and the service refuses that for A-1. */
async function rejectedWhileOtherLost(
  clinic: Installation,
  when: 'before' | 'after',
): Promise<void> {
  await clinic.planNow();
  await loseCreates(clinic, 1, when);
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  refuseNext(clinic, () => merge(clinic));
  await send(clinic, visit(clinic, 'A-1'));
}

test.each(['before', 'after'] as const)(
  'a call lost %s it was accepted serves all visits in place of a refused one (G2)',
  async (when) => {
    const clinic = await install();
    await rejectedWhileOtherLost(clinic, when);
    if (when === 'after') await lookUp(clinic);
    await clinic.read({ ...visit(clinic, 'C-1'), procedure_codes: ['D2740'] });
    await clinic.planNow();
    await lookUp(clinic);
    await goOn(clinic);
    await finish(clinic);
    await goOn(clinic);
    expect(await labelsOf(clinic)).toHaveLength(1);
    const answers = await written(clinic);
    for (const id of ['A-1', 'B-1', 'C-1']) expect(answers[id]).toHaveLength(1);
  },
);

test('planning is woken for the visit of a refused call that another call serves', async () => {
  const clinic = await install();
  await clinic.planNow();
  await loseCreates(clinic, 1, 'after');
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  let woken = 0;
  clinic.store.onPlanDue(() => {
    woken += 1;
  });
  refuseNext(clinic, async () => {
    await merge(clinic);
    woken = 0;
  });
  await send(clinic, visit(clinic, 'A-1'));
  expect(woken).toBeGreaterThan(0);
});

test('visits of a refused call get the answer of the other record’s call (G2)', async () => {
  const clinic = await install();
  await rejectedWhileOtherLost(clinic, 'after');
  await lookUp(clinic);
  await goOn(clinic);
  await finish(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1']);
  expect(await written(clinic)).toEqual({ 'A-1': ['B-1'], 'B-1': ['B-1'] });
  expect(await clinic.attention()).toEqual([]);
});

test('"eligd retry" of a refused call makes none while a merged record’s is sought', async () => {
  const clinic = await install();
  await rejectedWhileOtherLost(clinic, 'after');
  const refused = { kind: 'inquiry' as const, id: 2 };
  const done = await clinic.store.write((tx) => retry(tx, refused, clinic.now()));
  expect(done.map(({ did, what }) => [did, what])).toEqual([
    [false, expect.stringContaining('Inquiry 2 is not sent again: eligd plans its appointments')],
  ]);
  await goOn(clinic);
  await finish(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1']);
  expect(await written(clinic)).toEqual({ 'A-1': ['B-1'], 'B-1': ['B-1'] });
  expect(await clinic.attention()).toEqual([]);
});

test.each([
  ['before', 'A-1', 'B-1'],
  ['after', 'B-1', 'A-1'],
] as const)(
  'a call made %s one for the other record was refused serves after a merge (G2)',
  async (_when, first, second) => {
    const clinic = await install();
    await clinic.planNow();
    const { create } = clinic.client;
    clinic.client.create = async (...given) =>
      given[1].external_id === 'A-1'
        ? { ok: false, failure: { class: 'refused', status: 422, errors: [] } }
        : await create(...given);
    for (const id of [first, second])
      await send(clinic, visit(clinic, id, id === 'A-1' ? ADA : OTHER_ADA));
    expect(await clinic.attention()).toEqual(['refused']);
    await merge(clinic);
    await goOn(clinic);
    await finish(clinic);
    await goOn(clinic);
    expect(await labelsOf(clinic)).toEqual(['B-1']);
    expect(await written(clinic)).toEqual({ 'A-1': ['B-1'], 'B-1': ['B-1'] });
    expect(await clinic.attention()).toEqual([]);
  },
);

test.each([
  ['moved', OTHER_ADA, ADA],
  ['surviving', ADA, OTHER_ADA],
])(
  'the %s record’s visit with an undecidable call gets the other call’s answer (G2)',
  async (_which, from, into) => {
    const clinic = await install();
    await clinic.planNow();
    await sendUndecidable(clinic, 'B-1');
    await send(clinic, visit(clinic, 'A-1'));
    await merge(clinic, { from: [from], into });
    await goOn(clinic);
    await finish(clinic);
    await goOn(clinic);
    expect(await labelsOf(clinic)).toEqual(['A-1']);
    expect(await written(clinic)).toEqual({ 'A-1': ['A-1'], 'B-1': ['A-1'] });
    expect(await clinic.attention()).toEqual([]);
    // Nor does a retry tell the office to ask for an answer that nobody needs.
    await clinic.store.write((tx) => retry(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
    await lookUp(clinic);
    expect(await clinic.attention()).toEqual([]);
  },
);

test('"eligd retry" of a visit does not speak of another inquiry while calls go on', async () => {
  const clinic = await install({ collecting: { attempts: 2 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await clinic.collectAll();
  const done = await clinic.store.write((tx) =>
    retry(tx, { kind: 'appointment', id: 1 }, clinic.now()),
  );
  expect(done.map(({ what }) => what).join(' ')).not.toContain('another inquiry');
  expect(done.map(({ what }) => what).join(' ')).toContain('Inquiry 1 ended as unsuccessful');
});

test.each(['undecidable', 'refused'])(
  'an answer entered for one of two visits serves both if their call is %s (G2)',
  async (how) => {
    const clinic = await install();
    await clinic.planNow();
    if (how === 'undecidable') await sendUndecidable(clinic, 'B-1');
    else {
      refuseNext(clinic);
      await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
    }
    await clinic.read(visit(clinic, 'B-2', OTHER_ADA));
    await clinic.planNow();
    expect(await clinic.attention()).toEqual([how]);
    await enter(clinic, 'B-1');
    await goOn(clinic);
    expect(Object.keys(await written(clinic)).toSorted()).toEqual(['B-1', 'B-2']);
    expect(await labelsOf(clinic)).toEqual([]);
    expect(await clinic.attention()).toEqual([]);
  },
);

const otherMember = (clinic: Installation, id: string) => {
  const coverages = [aCoverage({ member_id: 'ACTIVE5' })];
  return clinic.visit(id, { patient: OTHER_ADA, coverages }, 7);
};

test('a call that is refused after its visit got another member ID is not made again', async () => {
  const clinic = await install();
  await clinic.planNow();
  refuseNext(clinic, async () => {
    await clinic.read(otherMember(clinic, 'B-1'));
    await clinic.planNow();
  });
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await goOn(clinic);
  await finish(clinic);
  expect(await clinic.attention()).toEqual([]);
  await clinic.store.write((tx) => retry(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1']);
});

test('the entry about an undecidable call ends if only a canceled visit is left', async () => {
  const clinic = await install();
  await clinic.planNow();
  await sendUndecidable(clinic, 'B-1');
  await send(clinic, visit(clinic, 'B-2', OTHER_ADA));
  await send(clinic, { ...visit(clinic, 'B-1', OTHER_ADA), status: 'cancelled' });
  await send(clinic, otherMember(clinic, 'B-2'));
  expect(await clinic.attention()).toEqual([]);
});

test.each([
  ['without an ID', 'moves', OTHER_ADA, ADA],
  ['without an ID', 'stays', ADA, OTHER_ADA],
  ['and then forgotten', 'moves', OTHER_ADA, ADA],
  ['and then forgotten', 'stays', ADA, OTHER_ADA],
])(
  'after a merge, the visit of a call accepted %s whose record %s gets the other answer (G2)',
  async (how, _where, from, into) => {
    const clinic = await install();
    await clinic.planNow();
    await send(clinic, clinic.visit('Z-1'));
    const { create } = clinic.client;
    if (how === 'without an ID') {
      const lost = {
        cause: 'truncated',
        status: 200,
        retry_after_ms: null,
        accepted: true,
      } as const;
      clinic.client.create = async () => ({ ok: false, failure: { class: 'ambiguous', ...lost } });
    }
    await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
    clinic.client.create = create;
    await send(clinic, visit(clinic, 'A-1'));
    await merge(clinic, { from: [from], into });
    if (how === 'without an ID') await lookUp(clinic);
    else await forgetCall(clinic, 'B-1');
    expect((await clinic.inquiries())[1]?.state).toBe('undecidable');
    await goOn(clinic);
    await finish(clinic);
    await goOn(clinic);
    expect(await written(clinic)).toMatchObject({ 'A-1': ['A-1'], 'B-1': ['A-1'] });
    expect(await clinic.attention()).toEqual([]);
  },
);

test('a forgotten call whose answer was taken back gives way to no older answer (G1)', async () => {
  const clinic = await install({ policy: { reverify_after_days: 3 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await merge(clinic);
  await ends(clinic, { 'A-1': 'IN_PROGRESS', 'B-1': 'SUCCESS' });
  await clinic.collectAll();
  await pass(clinic, 4);
  await ends(clinic, { 'A-1': 'SUCCESS', 'B-1': 'SUCCESS' });
  await clinic.collectAll();
  await ends(clinic, { 'A-1': 'IN_PROGRESS', 'B-1': 'SUCCESS' });
  await clinic.store.db.updateTable('inquiries').set({ poll_at: clinic.now() }).execute();
  await clinic.collectNow();
  await forgetCall(clinic, 'A-1');
  const states = (await clinic.inquiries()).map(({ state, answered_at }) => [state, answered_at]);
  expect(states).toEqual([
    ['undecidable', expect.any(Number)],
    ['answered', expect.any(Number)],
  ]);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
  expect(await clinic.attention()).toContain('lost_at_service');
});

test('a lost call on hold after a merge is released while eligd looks for it (G2)', async () => {
  const clinic = await install();
  await clinic.planNow();
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'A-1'));
  await clinic.read(visit(clinic, 'B-1', OTHER_ADA));
  await clinic.planNow();
  const on_hold = { kind: 'appointment' as const, id: 2 };
  await clinic.store.write((tx) => hold(tx, on_hold, clinic.now()));
  await merge(clinic);
  const lost = { kind: 'inquiry' as const, id: 1 };
  const [done] = await clinic.store.write((tx) => release(tx, lost, clinic.now()));
  expect(done?.what).toBe(
    'Inquiry 1 is sent when it is due, if a visit still needs it and the service does not have it.',
  );
  await lookUp(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

const HELD = { kind: 'appointment' as const, id: 1 };

/** The office holds the call for B-1. The next request is on its way while the records merge. */
async function heldUntilMerge(policy: Partial<Policy> = {}): Promise<Installation> {
  const clinic = await install({ policy });
  await clinic.planNow();
  await clinic.read(visit(clinic, 'B-1', OTHER_ADA));
  await clinic.planNow();
  await clinic.store.write((tx) => hold(tx, HELD, clinic.now()));
  const { create } = clinic.client;
  clinic.client.create = async (...given) => {
    clinic.client.create = create;
    await merge(clinic);
    return await create(...given);
  };
  return clinic;
}

test('a merge while a request is out keeps the office’s hold if the request is lost', async () => {
  const clinic = await heldUntilMerge();
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'A-1'));
  await lookUp(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
  await clinic.store.write((tx) => release(tx, HELD, clinic.now()));
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(1);
});

test('a call accepted during a merge is not on hold, nor is the one after it', async () => {
  const clinic = await heldUntilMerge({ new_codes: 'call' });
  await send(clinic, visit(clinic, 'A-1'));
  await finish(clinic);
  expect(await labelsOf(clinic)).toHaveLength(1);
  await send(clinic, { ...visit(clinic, 'A-1'), procedure_codes: ['D2740'] });
  expect(await labelsOf(clinic)).toHaveLength(2);
});

test('a lost call that the service does not have stays on hold after a merge', async () => {
  const clinic = await install();
  await clinic.planNow();
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await clinic.read(visit(clinic, 'A-1'));
  await clinic.planNow();
  const on_hold = { kind: 'appointment' as const, id: 2 };
  await clinic.store.write((tx) => hold(tx, on_hold, clinic.now()));
  await merge(clinic);
  await lookUp(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
  await clinic.store.write((tx) => release(tx, on_hold, clinic.now()));
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1']);
});

test.each(['undecidable', 'refused'])(
  '"eligd retry" of a call that is %s names the one that comes first',
  async (how) => {
    const clinic = await install();
    await clinic.planNow();
    if (how === 'undecidable') await sendUndecidable(clinic, 'B-1');
    else {
      refuseNext(clinic);
      await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
    }
    await clinic.read(visit(clinic, 'B-2', OTHER_ADA));
    await clinic.planNow();
    await loseCreates(clinic, 1, 'before');
    await send(clinic, visit(clinic, 'B-1'));
    const first = { kind: 'inquiry' as const, id: 1 };
    const done = await clinic.store.write((tx) => retry(tx, first, clinic.now()));
    expect(done).toEqual([{ did: false, what: expect.stringContaining('from inquiry 2, which') }]);
  },
);

test('the entry about a lost call ends if its visit gets another answer (G2)', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  const lost = { cause: 'timeout', status: null, retry_after_ms: null, accepted: false } as const;
  clinic.client.list = async () => ({ ok: false, failure: { class: 'ambiguous', ...lost } });
  clinic.pass(2 * HOUR_MS);
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual(['unconfirmed']);
  await merge(clinic);
  expect(await clinic.attention()).toEqual([]);
  clinic.pass(2 * HOUR_MS);
  await clinic.submitNow();
  await finish(clinic);
  expect(Object.keys(await written(clinic)).toSorted()).toEqual(['A-1', 'B-1']);
  expect(await clinic.attention()).toEqual([]);
});

test('a closed visit of the merged record does not say who the patient is (G1)', async () => {
  const clinic = await install();
  await send(clinic, visit(clinic, 'A-1'));
  clinic.pass(HOUR_MS);
  const wrong = { ...OTHER_ADA, birth_date: '1980-02-01' };
  await clinic.read({ ...visit(clinic, 'B-1', wrong), status: 'cancelled' });
  await clinic.planNow();
  await merge(clinic);
  // The scheduling module still sends the merged ID.
  await send(clinic, visit(clinic, 'B-2', wrong));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a call about codes that the other record’s call asked about is not made (G1)', async () => {
  const clinic = await install({ policy: { new_codes: 'call' } });
  const about = (id: string, patient: typeof ADA, ...procedure_codes: string[]) => ({
    ...visit(clinic, id, patient),
    procedure_codes,
  });
  await clinic.planNow();
  await send(clinic, about('A-1', ADA, 'D1110'), about('B-1', OTHER_ADA, 'D0120'));
  await finish(clinic);
  await clinic.read(about('A-2', ADA, 'D1110', 'D0120'), about('B-2', OTHER_ADA, 'D1110', 'D0120'));
  await clinic.planNow();
  await merge(clinic);
  await goOn(clinic);
  await clinic.planNow();
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
  expect(Object.keys(await written(clinic)).toSorted()).toEqual(['A-1', 'A-2', 'B-1', 'B-2']);
});

test.each([
  ['into the one with an answer', { from: [OTHER_ADA], into: ADA }],
  ['into the one with the failed call', { from: [ADA], into: OTHER_ADA }],
])('after a merge %s, neither planned call is made: all codes were asked', async (_, records) => {
  const clinic = await install({ policy: { new_codes: 'call' }, collecting: { attempts: 1 } });
  const about = (id: string, patient: typeof ADA, ...procedure_codes: string[]) => ({
    ...visit(clinic, id, patient),
    procedure_codes,
  });
  await clinic.planNow();
  await send(clinic, about('A-1', ADA, 'D1110'), about('B-1', OTHER_ADA, 'D0120'));
  await ends(clinic, { 'A-1': 'SUCCESS', 'B-1': 'UNSUCCESSFUL' });
  await finish(clinic);
  await clinic.read(about('A-2', ADA, 'D0120'), about('B-2', OTHER_ADA, 'D1110', 'D0120'));
  await clinic.planNow();
  await merge(clinic, records);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
  const answers = await written(clinic);
  for (const id of ['A-1', 'A-2', 'B-1', 'B-2']) expect(answers[id]?.at(-1)).toBe('A-1');
  // Nobody has an answer about D0120.
  expect(await clinic.attention()).toEqual(['unsuccessful']);
});
