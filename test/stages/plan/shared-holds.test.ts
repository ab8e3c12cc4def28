/** A visit that keeps the office's hold shares a call that is not on hold with another visit. */
import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../src/domain/time.ts';
import { hold, release, retry, withdraw } from '../../../src/store/bookkeeping/operator.ts';
import { planAllAgain } from '../../../src/store/calls/plan-due.ts';
import { aCoverage } from '../../domain/examples.ts';
import { AWAY, type Installation, install, send } from '../installation.ts';
import { labelsOf, lookUp, loseCreates, refuseNextCall } from '../submit/lost-calls.ts';
import { ADA, COVERAGES, finish, goOn, pass, vanish, visit } from '../submit/merges.ts';
import { CANCELED, damage, FIRST, holdFirst, installShared, plan } from './shared-visits.ts';

const releaseFirst = ({ store, now }: Installation) =>
  store.write((tx) => release(tx, FIRST, now()));

async function lookUpAndGoOn(clinic: Installation): Promise<void> {
  for (let time = 0; time < 3; time += 1) {
    await lookUp(clinic);
    await goOn(clinic);
  }
}

test('a lost call that the other visit has left is made only after the release', async () => {
  const { clinic, leave } = await installShared();
  await loseCreates(clinic, 1, 'before');
  await clinic.submitNow();
  await leave();
  const [done] = await clinic.store.write((tx) => retry(tx, FIRST, clinic.now()));
  expect(done?.what).toContain('after "eligd release"');
  await lookUpAndGoOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
  await releaseFirst(clinic);
  await lookUpAndGoOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test.each(['appointment', 'inquiry'] as const)(
  'a refused call that the other visit has left is on hold if the office retries the %s',
  async (kind) => {
    const { clinic, leave } = await installShared();
    await refuseNextCall(clinic);
    await clinic.submitNow();
    await leave();
    const [done] = await clinic.store.write((tx) => retry(tx, { kind, id: 1 }, clinic.now()));
    expect(done?.what).toContain('after "eligd release"');
    await goOn(clinic);
    expect(await labelsOf(clinic)).toEqual([]);
  },
);

test('the call is on hold once the other visit has vanished, and is made if released', async () => {
  const { clinic } = await installShared();
  await vanish(clinic, 'A-2');
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
  await releaseFirst(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(1);
});

test('a lost call that a vanished visit took is made once that is back (G2)', async () => {
  const clinic = await install({ policy: { look_ahead_days: 10 } });
  await clinic.planNow();
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'A-1'));
  const undecidable = { state: 'undecidable', lookup_at: null } as const;
  await clinic.store.db.updateTable('inquiries').set(undecidable).execute();
  await clinic.store.write((tx) => withdraw(tx, FIRST, clinic.now()));
  const far = clinic.visit('A-2', { patient: ADA, coverages: COVERAGES }, 12);
  await clinic.read(far);
  await vanish(clinic, 'A-2');
  await pass(clinic, 4);
  await clinic.planNow();
  await clinic.read(far);
  await clinic.planNow();
  await lookUpAndGoOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(1);
});

test('the hold ends once the call was made, because the other visit needed it (G2)', async () => {
  const { clinic } = await installShared();
  await clinic.submitNow();
  await finish(clinic);
  await clinic.planNow();
  const corrected = [{ ...COVERAGES[0]!, member_id: 'ACTIVE6' }];
  await clinic.read({ ...visit(clinic, 'A-1'), coverages: corrected });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-2', 'A-1']);
});

const OTHER_COVERAGE = { coverages: [aCoverage({ member_id: 'ACTIVE6' })] };

test('then the visit that replaces it is called about, if it has another coverage', async () => {
  const { clinic, first } = await installShared();
  await clinic.submitNow();
  await finish(clinic);
  await clinic.planNow();
  const instead = { ...visit(clinic, 'A-3'), ...OTHER_COVERAGE, replaces: 'A-1' };
  await plan(clinic, { ...first, ...CANCELED }, instead);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-2', 'A-3']);
});

test('a call that was made while the held visit was away does not end its hold', async () => {
  const clinic = await install();
  await clinic.planNow();
  const first = visit(clinic, 'A-1');
  await plan(clinic, first);
  await holdFirst(clinic);
  await plan(clinic, { ...first, ...CANCELED });
  await send(clinic, visit(clinic, 'A-2'));
  await finish(clinic);
  await plan(clinic, { ...first, ...OTHER_COVERAGE });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-2']);
});

test.each(['open', 'answered'])(
  'a held visit stays on hold for codes that the other visit’s call left out (%s)',
  async (state) => {
    const clinic = await install({ policy: { new_codes: 'call' } });
    await clinic.planNow();
    const of = (id: string, ...procedure_codes: string[]) =>
      clinic.visit(id, { patient: ADA, coverages: COVERAGES, procedure_codes }, 7);
    const first = of('A-1', 'D0120', 'D2740');
    await plan(clinic, first);
    await holdFirst(clinic);
    await plan(clinic, { ...first, ...CANCELED });
    await send(clinic, of('A-2', 'D0120'));
    if (state === 'answered') await finish(clinic);
    await plan(clinic, first);
    await finish(clinic);
    await goOn(clinic);
    expect(await labelsOf(clinic)).toEqual(['A-2']);
  },
);

test('a held visit that is corrected to a vanished visit’s coverage stays on hold', async () => {
  const clinic = await install();
  await clinic.planNow();
  await plan(clinic, { ...visit(clinic, 'A-1'), ...OTHER_COVERAGE });
  await holdFirst(clinic);
  await plan(clinic, visit(clinic, 'A-2'));
  await vanish(clinic, 'A-2');
  await plan(clinic, visit(clinic, 'A-1'));
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
});

test('the release of a vanished visit does not end the hold of the one that is there', async () => {
  const { clinic, leave } = await installShared();
  await vanish(clinic, 'A-2');
  await clinic.store.write((tx) => release(tx, { kind: 'appointment', id: 2 }, clinic.now()));
  await leave();
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
});

test('the release of the held visit does not say that the vanished one takes place', async () => {
  const { clinic, first } = await installShared();
  await vanish(clinic, 'A-2');
  await releaseFirst(clinic);
  await plan(clinic, { ...first, ...CANCELED });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
});

test('a lost call is on hold for the visit that is left if the other is replaced', async () => {
  const { clinic, second } = await installShared();
  await loseCreates(clinic, 1, 'before');
  await clinic.submitNow();
  const patient = { ...ADA, id: 'P-9', first_name: 'Zed', birth_date: '1970-05-05' };
  await plan(clinic, { ...second, patient, ...OTHER_COVERAGE });
  await lookUpAndGoOn(clinic);
  const ledger = await clinic.service.ledger();
  expect(ledger.map(({ request }) => request.member_id)).toEqual(['ACTIVE6']);
});

test.each([
  ['lost', {}],
  ['lost', { procedure_codes: ['D2740'] }],
  ['refused', { procedure_codes: ['D2740'] }],
])('a %s call is made for the other visit when that is back (%o) (G2)', async (end, changes) => {
  const { clinic, second, leave } = await installShared();
  if (end === 'lost') await loseCreates(clinic, 1, 'before');
  else await refuseNextCall(clinic);
  await clinic.submitNow();
  await leave();
  await plan(clinic, { ...second, ...changes });
  await lookUpAndGoOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(1);
});

test('a held visit stays on hold if the lost call proves absent while it is away', async () => {
  const { clinic, first, leave } = await installShared();
  await loseCreates(clinic, 1, 'before');
  await clinic.submitNow();
  await leave();
  await clinic.store.write((tx) => planAllAgain(tx, clinic.now()));
  await clinic.planNow();
  await plan(clinic, { ...first, ...CANCELED });
  await lookUpAndGoOn(clinic);
  await plan(clinic, first);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
});

test('the call is not made for the held visit alone while the other one is damaged', async () => {
  const { clinic } = await installShared();
  await damage(clinic, 'A-2');
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
  expect(await clinic.attention()).toEqual(['planning_failed']);
});

test('a visit that is released while the request is under way gets its call (G2)', async () => {
  const { clinic, leave } = await installShared();
  const { create } = clinic.client;
  clinic.client.create = async () => {
    clinic.client.create = create;
    await leave();
    await releaseFirst(clinic);
    return AWAY;
  };
  await clinic.submitNow();
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(1);
});

test('the number of an answered call releases no other visit that is away', async () => {
  const clinic = await install({ policy: { reverify_after_days: 1 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await finish(clinic);
  await pass(clinic, 3);
  const second = visit(clinic, 'A-2');
  await plan(clinic, second);
  await clinic.store.write((tx) => hold(tx, { kind: 'appointment', id: 2 }, clinic.now()));
  await plan(clinic, { ...second, ...CANCELED });
  await clinic.store.write((tx) => release(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  await plan(clinic, second);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a lost call that a held visit took is made for the other visit again', async () => {
  const clinic = await install();
  await clinic.planNow();
  const [first, second] = [visit(clinic, 'A-1'), visit(clinic, 'A-2')];
  await plan(clinic, first);
  await holdFirst(clinic);
  await plan(clinic, { ...first, ...CANCELED });
  await loseCreates(clinic, 1, 'before');
  await send(clinic, second);
  const undecidable = { state: 'undecidable', lookup_at: null } as const;
  await clinic.store.db.updateTable('inquiries').set(undecidable).execute();
  await clinic.store.write((tx) => withdraw(tx, { kind: 'appointment', id: 2 }, clinic.now()));
  await plan(clinic, first);
  await plan(clinic, { ...second, procedure_codes: ['D2740'] });
  await lookUpAndGoOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(1);
});

test.each([
  ['the other visit of a held one', 'A-2'],
  ['the only visit', 'A-1'],
])('a retry says that a refused call is on hold if %s has vanished', async (_, vanished) => {
  const clinic = vanished === 'A-2' ? (await installShared()).clinic : await install();
  if (vanished === 'A-1') await clinic.submitNow();
  await refuseNextCall(clinic);
  if (vanished === 'A-1') await send(clinic, visit(clinic, 'A-1'));
  else await clinic.submitNow();
  await vanish(clinic, vanished);
  const [done] = await clinic.store.write((tx) => retry(tx, FIRST, clinic.now()));
  expect(done?.what).toContain('after "eligd release"');
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
});

test('a planned call is made for the other visit when that is back (G2)', async () => {
  const { clinic, second, leave } = await installShared();
  await leave();
  await plan(clinic, second);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(1);
});

test('a hold for one coverage stops no call for another with a damaged visit', async () => {
  const clinic = await install();
  await clinic.planNow();
  const two = { coverages: [COVERAGES[0]!, aCoverage({ member_id: 'ACTIVE6' })] };
  const first = { ...visit(clinic, 'A-1'), ...two };
  await plan(clinic, first);
  await clinic.store.write((tx) => hold(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  await plan(clinic, { ...first, ...CANCELED });
  await plan(clinic, visit(clinic, 'A-2'), { ...visit(clinic, 'A-3'), ...OTHER_COVERAGE });
  await plan(clinic, first);
  await damage(clinic, 'A-3');
  await goOn(clinic);
  const ledger = await clinic.service.ledger();
  expect(ledger.map(({ request }) => request.member_id).toSorted()).toEqual(['ACTIVE0', 'ACTIVE6']);
});

test('a visit takes the hold of the one that it replaces, if that is canceled later', async () => {
  const { clinic, first, second } = await installShared();
  await plan(clinic, { ...visit(clinic, 'A-3'), replaces: 'A-1' });
  await plan(clinic, { ...first, ...CANCELED });
  await plan(clinic, { ...second, ...CANCELED });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
});

test('no call is made while one of its visits is damaged and the other has vanished', async () => {
  const clinic = await install();
  await clinic.planNow();
  await plan(clinic, visit(clinic, 'A-1'), visit(clinic, 'A-2'));
  await vanish(clinic, 'A-2');
  await damage(clinic, 'A-1');
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
  await clinic.store.write((tx) => release(tx, { kind: 'appointment', id: 2 }, clinic.now()));
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(1);
});

test.each(['before', 'after'])(
  'the hold of a visit stays if its codes leave for a while, %s the other visit’s end',
  async (when) => {
    const clinic = await install({ policy: { new_codes: 'call' } });
    await clinic.planNow();
    const codes = { procedure_codes: ['D0120', 'D2740'] };
    const first = { ...visit(clinic, 'A-1'), procedure_codes: ['D0120'] };
    const second = { ...visit(clinic, 'A-2'), ...codes };
    await send(clinic, first);
    await finish(clinic);
    await plan(clinic, { ...first, ...codes });
    await clinic.store.write((tx) => hold(tx, { kind: 'inquiry', id: 2 }, clinic.now()));
    await plan(clinic, { ...first, ...codes, ...CANCELED });
    await plan(clinic, second);
    await plan(clinic, { ...first, ...codes });
    if (when === 'before') await plan(clinic, first);
    await plan(clinic, { ...second, ...CANCELED });
    if (when === 'after') await plan(clinic, first);
    await plan(clinic, { ...first, ...codes });
    await goOn(clinic);
    expect(await labelsOf(clinic)).toHaveLength(1);
  },
);

/** The office holds a call for a new code of A-1, which has an answer about its other code. */
async function installWithNewCode() {
  const clinic = await install({ policy: { new_codes: 'call', look_ahead_days: 20 } });
  await clinic.planNow();
  const before = { ...visit(clinic, 'A-1'), procedure_codes: ['D0120'] };
  const first = { ...before, procedure_codes: ['D0120', 'D2740'] };
  await send(clinic, before);
  await finish(clinic);
  await plan(clinic, first);
  await clinic.store.write((tx) => hold(tx, { kind: 'inquiry', id: 2 }, clinic.now()));
  await plan(clinic, { ...first, ...CANCELED });
  return { clinic, before, first };
}

test('the hold of a canceled visit stays if it comes back without its codes at first', async () => {
  const { clinic, before, first } = await installWithNewCode();
  await plan(clinic, before);
  await plan(clinic, first);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  await releaseFirst(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(2);
});

test('a visit that has its answer is not too late for a held call without its codes', async () => {
  const { clinic, before, first } = await installWithNewCode();
  const later = clinic.visit('A-2', { patient: ADA, coverages: COVERAGES }, 12);
  await plan(clinic, { ...later, procedure_codes: first.procedure_codes });
  await plan(clinic, first);
  await vanish(clinic, 'A-2');
  await plan(clinic, before);
  const left_ms = Date.parse(String(before.starts_at)) - clinic.now() - 2 * HOUR_MS;
  await pass(clinic, left_ms / DAY_MS);
  await clinic.planNow();
  expect(await clinic.attention()).toEqual([]);
});
