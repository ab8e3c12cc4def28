/**
 * A further call for a need that is withdrawn before it is sent, because its visit is canceled or
 * loses the codes, or because the office withdraws it. The answer before it still serves.
 */
import { expect, test } from 'vitest';
import type { Policy } from '../../../src/domain/policy.ts';
import { DAY_MS } from '../../../src/domain/time.ts';
import { hold, release, withdraw } from '../../../src/store/bookkeeping/operator.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, send } from '../installation.ts';
import {
  acceptAndHide,
  callsEnd,
  labelsOf,
  lookUp,
  loseCreates,
  refuseNextCall,
} from '../submit/lost-calls.ts';
import {
  ends,
  finish,
  merge,
  OTHER_ADA,
  order,
  pass,
  readAgain,
  visit,
  written,
} from '../submit/merges.ts';

/** The call for A-1 was successful. */
async function answered(policy: Partial<Policy> = {}): Promise<Installation> {
  const clinic = await install({ policy });
  await clinic.planNow();
  await send(clinic, withCodes(clinic, 'A-1', 'D1110'));
  await finish(clinic);
  expect(await written(clinic)).toEqual({ 'A-1': ['A-1'] });
  return clinic;
}

const withCodes = (clinic: Installation, id: string, ...procedure_codes: string[]) => ({
  ...visit(clinic, id),
  procedure_codes,
});

/** Books A-2 and cancels it before eligd calls for it. */
async function bookAndCancel(clinic: Installation, ...codes: string[]): Promise<void> {
  await clinic.read(withCodes(clinic, 'A-2', ...codes));
  await clinic.planNow();
  await clinic.read({ ...withCodes(clinic, 'A-2', ...codes), status: 'cancelled' });
  await clinic.planNow();
}

const states = async (clinic: Installation) => (await clinic.inquiries()).map(({ state }) => state);

test('a canceled visit’s call about its codes is not made for others (G1)', async () => {
  const clinic = await answered({ new_codes: 'call' });
  await bookAndCancel(clinic, 'D2740');
  expect(await states(clinic)).toEqual(['answered', 'withdrawn']);
  await send(clinic, withCodes(clinic, 'A-3', 'D1110'));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(await written(clinic)).toEqual({ 'A-3': ['A-1'] });
  // The first visit now needs what the canceled one did.
  await send(clinic, withCodes(clinic, 'A-1', 'D2740'));
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-1']);
  expect(await states(clinic)).toEqual(['answered', 'open']);
});

test('a visit keeps its old answer after a canceled one needed another (G1)', async () => {
  const clinic = await answered({ reverify_after_days: 1 });
  await pass(clinic, 1.5);
  await bookAndCancel(clinic, 'D1110');
  expect(await states(clinic)).toEqual(['answered', 'withdrawn']);
  await send(clinic, withCodes(clinic, 'A-1', 'D1110', 'D0120'));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  await send(clinic, withCodes(clinic, 'A-3', 'D1110'));
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-3']);
});

test('a call that the office orders and then withdraws is not made later (G1)', async () => {
  const clinic = await answered();
  expect(await order(clinic)).toBe(true);
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 2 }, clinic.now()));
  await send(clinic, withCodes(clinic, 'A-1', 'D1110', 'D0120'));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(await states(clinic)).toEqual(['answered', 'withdrawn']);
  expect(await order(clinic)).toBe(true);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-1']);
});

test('a withdrawn call is not made because a clock that may be wrong is ahead (G1)', async () => {
  const clinic = await answered({ reverify_after_days: 1 });
  const { facts } = clinic.plan;
  await pass(clinic, 1.5);
  await bookAndCancel(clinic, 'D1110');
  clinic.plan.facts = () => ({ ...facts(), is_clock_trusted: false });
  await send(clinic, withCodes(clinic, 'A-3', 'D1110'));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  clinic.plan.facts = facts;
  await clinic.store.db.updateTable('appointments').set({ plan_due_at: 0 }).execute();
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-3']);
});

test('a call about codes that the visit no longer has is not made', async () => {
  const clinic = await answered({ new_codes: 'call' });
  await clinic.read(withCodes(clinic, 'A-1', 'D1110', 'D2740'));
  await clinic.planNow();
  expect(await states(clinic)).toEqual(['answered', 'planned']);
  await send(clinic, withCodes(clinic, 'A-1', 'D1110'));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(await clinic.attention()).toEqual([]);
  await send(clinic, withCodes(clinic, 'A-1', 'D1110', 'D2740'));
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-1']);
  expect(await states(clinic)).toEqual(['answered', 'open']);
});

test('a visit without new codes leaves the call to the visit that has them', async () => {
  const clinic = await answered({ new_codes: 'call' });
  await clinic.read(withCodes(clinic, 'A-2', 'D2740'));
  await clinic.planNow();
  await clinic.read(withCodes(clinic, 'A-1', 'D1110', 'D0120'), withCodes(clinic, 'A-3', 'D1110'));
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-2']);
  expect(await written(clinic)).toMatchObject({ 'A-3': ['A-1'] });
});

test('a call that the office ordered is made although the visit changes', async () => {
  const clinic = await answered({ new_codes: 'call' });
  expect(await order(clinic)).toBe(true);
  await send(clinic, withCodes(clinic, 'A-1', 'D1110'));
  await clinic.read({ ...withCodes(clinic, 'A-1', 'D1110'), status: 'booked' });
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-1']);
});

test('a call that the office holds is held although its codes come and go', async () => {
  const clinic = await answered({ new_codes: 'call' });
  await clinic.read(withCodes(clinic, 'A-1', 'D1110', 'D2740'));
  await clinic.planNow();
  await clinic.store.write((tx) => hold(tx, { kind: 'inquiry', id: 2 }, clinic.now()));
  await send(clinic, withCodes(clinic, 'A-1', 'D1110'));
  await send(clinic, withCodes(clinic, 'A-1', 'D1110', 'D2740'));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a held call whose visit is canceled is not made for another visit (G1)', async () => {
  const clinic = await answered({ new_codes: 'call' });
  await clinic.read(withCodes(clinic, 'A-2', 'D2740'));
  await clinic.planNow();
  await clinic.store.write((tx) => hold(tx, { kind: 'inquiry', id: 2 }, clinic.now()));
  await clinic.read({ ...withCodes(clinic, 'A-2', 'D2740'), status: 'cancelled' });
  await clinic.planNow();
  await send(clinic, withCodes(clinic, 'A-3', 'D1110'));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(await written(clinic)).toEqual({ 'A-3': ['A-1'] });
});

test('a held call whose codes went meanwhile is not made when the office releases it', async () => {
  const clinic = await answered({ new_codes: 'call' });
  await clinic.read(withCodes(clinic, 'A-1', 'D1110', 'D2740'));
  await clinic.planNow();
  const second = { kind: 'inquiry' as const, id: 2 };
  await clinic.store.write((tx) => hold(tx, second, clinic.now()));
  await send(clinic, withCodes(clinic, 'A-1', 'D1110'));
  await clinic.store.write((tx) => release(tx, second, clinic.now()));
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(await states(clinic)).toEqual(['answered', 'withdrawn']);
});

test('a visit gets the new answer that another one needs because its own is old', async () => {
  const clinic = await answered({ reverify_after_days: 1 });
  await pass(clinic, 1.5);
  await clinic.read(withCodes(clinic, 'A-2', 'D1110'));
  await clinic.planNow();
  await send(clinic, withCodes(clinic, 'A-1', 'D1110', 'D0120'));
  await finish(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-2']);
  expect(await written(clinic)).toMatchObject({ 'A-1': ['A-2'], 'A-2': ['A-2'] });
});

test('a visit keeps its old answer if the new one would come too late for it', async () => {
  const clinic = await answered({ reverify_after_days: 1 });
  await pass(clinic, 1.5);
  await clinic.read(withCodes(clinic, 'A-2', 'D1110'));
  await clinic.planNow();
  const starts_at = new Date(clinic.now() + DAY_MS / 24).toISOString();
  await send(clinic, { ...withCodes(clinic, 'A-1', 'D1110'), starts_at });
  expect(await clinic.attention()).toEqual([]);
  await finish(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-2']);
  expect(await written(clinic)).toEqual({ 'A-2': ['A-2'] });
});

test('after a call that brought nothing, codes that come and go cause no call', async () => {
  const clinic = await install({ policy: { new_codes: 'call' }, collecting: { attempts: 1 } });
  await clinic.planNow();
  await send(clinic, withCodes(clinic, 'A-1', 'D1110'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await clinic.collectAll();
  expect(await clinic.attention()).toEqual(['unsuccessful']);
  await clinic.read(withCodes(clinic, 'A-1', 'D1110', 'D2740'));
  await clinic.planNow();
  expect(await states(clinic)).toEqual(['answered', 'planned']);
  await send(clinic, withCodes(clinic, 'A-1', 'D1110'));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(await clinic.attention()).toEqual(['unsuccessful']);
});

test('the next attempt is made for a visit that is on again', async () => {
  const clinic = await install({ collecting: { attempts: 2, attempt_pause_ms: 1 } });
  await clinic.planNow();
  await send(clinic, withCodes(clinic, 'A-1', 'D1110'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await clinic.collectAll();
  await send(clinic, { ...withCodes(clinic, 'A-1', 'D1110'), status: 'cancelled' });
  expect(await states(clinic)).toEqual(['answered', 'withdrawn']);
  await send(clinic, withCodes(clinic, 'A-1', 'D1110'));
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-1']);
});

test('a planned call about new codes is not taken back by a clock that may be wrong', async () => {
  const clinic = await answered({ new_codes: 'call' });
  await clinic.read(withCodes(clinic, 'A-1', 'D1110', 'D2740'));
  await clinic.planNow();
  const { facts } = clinic.plan;
  clinic.plan.facts = () => ({ ...facts(), is_clock_trusted: false });
  await clinic.store.db.updateTable('appointments').set({ plan_due_at: 0 }).execute();
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-1']);
});

test.each([
  ['is canceled by mistake', () => ({ status: 'cancelled' as const })],
  [
    'moves out of the look-ahead window',
    ({ now }: Installation) => ({ starts_at: new Date(now() + 60 * DAY_MS).toISOString() }),
  ],
  ['lacks its member ID', () => ({ coverages: [aCoverage({ member_id: '' })] })],
])('an order stands after its visit %s for a moment', async (_, meanwhile) => {
  const clinic = await answered();
  expect(await order(clinic)).toBe(true);
  await clinic.read({ ...withCodes(clinic, 'A-1', 'D1110'), ...meanwhile(clinic) });
  await clinic.planNow();
  expect(await states(clinic)).toEqual(['answered', 'withdrawn']);
  await send(clinic, withCodes(clinic, 'A-1', 'D1110'));
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-1']);
});

test('a call that was ordered and withdrawn is planned for codes like any other', async () => {
  const clinic = await answered({ new_codes: 'call' });
  await order(clinic);
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 2 }, clinic.now()));
  await clinic.read(withCodes(clinic, 'A-1', 'D1110', 'D2740'));
  await clinic.planNow();
  expect(await states(clinic)).toEqual(['answered', 'planned']);
  await send(clinic, withCodes(clinic, 'A-1', 'D1110'));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('an order makes a call that is planned anyway, also if its codes go', async () => {
  const clinic = await answered({ new_codes: 'call' });
  await clinic.read(withCodes(clinic, 'A-1', 'D1110', 'D2740'));
  await clinic.planNow();
  expect(await order(clinic)).toBe(true);
  await send(clinic, withCodes(clinic, 'A-1', 'D1110'));
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-1']);
  expect(await order(clinic)).toBe(false);
});

test('an order has a call that is planned for another visit serve this one', async () => {
  const clinic = await answered({ new_codes: 'call' });
  await clinic.read(withCodes(clinic, 'A-2', 'D2740'));
  await clinic.planNow();
  await clinic.read(withCodes(clinic, 'A-1', 'D0120'));
  await clinic.planNow();
  expect(await order(clinic)).toBe(true);
  await clinic.planNow();
  await clinic.submitNow();
  await finish(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-2']);
  expect(await written(clinic)).toEqual({ 'A-1': ['A-2'], 'A-2': ['A-2'] });
});

test('an order opens a withdrawn visit again until the office withdraws the call', async () => {
  const clinic = await install();
  await clinic.planNow();
  await clinic.read(visit(clinic, 'A-1'), visit(clinic, 'A-2'));
  await clinic.planNow();
  const reasons = async () =>
    (await clinic.store.db.selectFrom('appointments').select('closed_reason').execute()).map(
      ({ closed_reason }) => closed_reason,
    );
  await clinic.store.write((tx) => withdraw(tx, { kind: 'appointment', id: 2 }, clinic.now()));
  expect(await reasons()).toEqual([null, 'withdrawn']);
  expect(await order(clinic, 2)).toBe(true);
  await clinic.planNow();
  expect(await reasons()).toEqual([null, null]);
  refuseNextCall(clinic);
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual(['refused']);
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  expect(await reasons()).toEqual(['withdrawn', 'withdrawn']);
  await pass(clinic, 8);
  await clinic.planNow();
  expect(await reasons()).toEqual(['withdrawn', 'withdrawn']);
  expect(await labelsOf(clinic)).toEqual([]);
});

test('an order that is refused for one coverage makes no call for that one (G1)', async () => {
  const clinic = await install();
  await clinic.planNow();
  const first = aCoverage({ member_id: 'ACTIVE0' });
  const second = aCoverage({ member_id: 'ACTIVE7' });
  await send(clinic, { ...visit(clinic, 'A-1'), coverages: [first] });
  await finish(clinic);
  await clinic.read({ ...visit(clinic, 'A-1'), coverages: [first, second] });
  await clinic.planNow();
  await clinic.store.write((tx) => withdraw(tx, { kind: 'appointment', id: 1 }, clinic.now()));
  await order(clinic);
  await clinic.planNow();
  await clinic.submitNow();
  const members = (await clinic.service.ledger()).map(({ request }) => request.member_id);
  expect(members).toEqual(['ACTIVE0', 'ACTIVE0']);
});

test('a lost call that the office ordered and withdrew is not ordered again (G1)', async () => {
  const clinic = await answered();
  await acceptAndHide(clinic, async () => {
    await order(clinic);
    await clinic.submitNow();
  });
  expect(await states(clinic)).toEqual(['answered', 'undecidable']);
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 2 }, clinic.now()));
  expect(await states(clinic)).toEqual(['answered', 'withdrawn']);
  expect(await order(clinic)).toBe(false);
});

test('a refused call about codes that the visit loses is not made', async () => {
  const clinic = await answered({ new_codes: 'call' });
  await refuseNextCall(clinic);
  await send(clinic, withCodes(clinic, 'A-1', 'D1110', 'D2740'));
  expect(await clinic.attention()).toEqual(['refused']);
  await send(clinic, withCodes(clinic, 'A-1', 'D1110'));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(await clinic.attention()).toEqual([]);
});

test('a lost call about codes that the visit loses is not made again', async () => {
  const clinic = await answered({ new_codes: 'call' });
  await loseCreates(clinic, 1, 'before');
  await send(clinic, withCodes(clinic, 'A-1', 'D1110', 'D2740'));
  await clinic.read(withCodes(clinic, 'A-1', 'D1110'));
  await clinic.planNow();
  for (let round = 0; round < 3; round += 1) {
    await lookUp(clinic);
    await clinic.planNow();
  }
  expect(await states(clinic)).toEqual(['answered', 'withdrawn']);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('the call for other codes serves a visit whose answer the service has revised', async () => {
  const clinic = await answered({ new_codes: 'call' });
  await clinic.read(withCodes(clinic, 'A-2', 'D2740'));
  await clinic.planNow();
  await clinic.read(withCodes(clinic, 'A-3', 'D1110'));
  await clinic.planNow();
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await readAgain(clinic, 1);
  await clinic.planNow();
  await clinic.submitNow();
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await finish(clinic);
  await clinic.planNow();
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-2']);
  const answers = await written(clinic);
  for (const visits of ['A-1', 'A-2', 'A-3']) expect(answers[visits]?.at(-1)).toBe('A-2');
});

test('with the clock in doubt, a call for new codes waits, and is made later (G2)', async () => {
  const clinic = await answered({ new_codes: 'call' });
  await bookAndCancel(clinic, 'D2740');
  const { facts } = clinic.plan;
  clinic.plan.facts = () => ({ ...facts(), is_clock_trusted: false });
  await send(clinic, withCodes(clinic, 'A-3', 'D2740'));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  clinic.plan.facts = facts;
  clinic.pass(DAY_MS / 2);
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-3']);
});

test('a visit keeps its call whose answer the service has taken back (G2)', async () => {
  const clinic = await answered({ new_codes: 'call' });
  await send(clinic, withCodes(clinic, 'A-1', 'D1110', 'D2740'));
  await finish(clinic);
  await clinic.read(withCodes(clinic, 'A-2', 'D0120', 'D4341'));
  await clinic.planNow();
  const [, second] = await clinic.service.ledger();
  callsEnd(clinic, ({ id }) => (id === second!.id ? 'IN_PROGRESS' : 'SUCCESS'));
  await readAgain(clinic, 2);
  expect(await states(clinic)).toEqual(['answered', 'open', 'planned']);
  const starts_at = new Date(clinic.now() + 5 * DAY_MS).toISOString();
  await send(clinic, { ...withCodes(clinic, 'A-1', 'D1110', 'D2740'), starts_at });
  callsEnd(clinic, () => 'SUCCESS');
  await finish(clinic);
  await clinic.planNow();
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-1', 'A-2']);
  expect((await written(clinic))['A-1']?.at(-1)).toBe('A-2');
});

test('a withdrawn lost call is looked up when its visit changes', async () => {
  const clinic = await answered();
  await acceptAndHide(clinic, async () => {
    await order(clinic);
    await clinic.submitNow();
  });
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 2 }, clinic.now()));
  await send(clinic, withCodes(clinic, 'A-1', 'D1110', 'D2740'));
  expect(await states(clinic)).toEqual(['answered', 'uncertain']);
});

test('an order stands when two records of the patient are merged', async () => {
  const clinic = await install({ policy: { new_codes: 'call' } });
  const other = { ...withCodes(clinic, 'B-1', 'D1110'), patient: OTHER_ADA };
  await clinic.planNow();
  await clinic.read(withCodes(clinic, 'A-1', 'D1110'), other);
  await clinic.planNow();
  await clinic.submitNow();
  await finish(clinic);
  await clinic.read(withCodes(clinic, 'A-1', 'D1110', 'D2740'));
  await clinic.planNow();
  expect(await order(clinic, 2)).toBe(true);
  await merge(clinic);
  await clinic.planNow();
  await send(clinic, withCodes(clinic, 'A-1', 'D1110'));
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toHaveLength(3);
});

test('a damaged call that is taken back leaves the attention list', async () => {
  const clinic = await answered({ new_codes: 'call' });
  await clinic.read(withCodes(clinic, 'A-1', 'D1110', 'D2740'));
  await clinic.planNow();
  await clinic.store.db.updateTable('inquiries').set({ draft: '{' }).where('id', '=', 2).execute();
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual(['inquiry_unreadable']);
  await send(clinic, withCodes(clinic, 'A-1', 'D1110'));
  expect(await clinic.attention()).toEqual([]);
});

test('the order of a canceled visit makes no call for another visit (G1)', async () => {
  const clinic = await answered();
  await send(clinic, withCodes(clinic, 'A-3', 'D1110'));
  await order(clinic);
  await clinic.read({ ...withCodes(clinic, 'A-1', 'D1110'), status: 'cancelled' });
  await clinic.planNow();
  await send(clinic, withCodes(clinic, 'A-3', 'D1110', 'D0120'));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  for (let day = 0; day < 8; day += 1) {
    clinic.pass(0.97 * DAY_MS);
    await clinic.planNow();
    expect((await clinic.attention()).filter((each) => each !== 'codes_not_asked')).toEqual([]);
  }
});

test('an attempt that waits for its pause is not ordered', async () => {
  const clinic = await install({ collecting: { attempts: 2, attempt_pause_ms: DAY_MS } });
  await clinic.planNow();
  await send(clinic, withCodes(clinic, 'A-1', 'D1110'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await finish(clinic);
  expect(await states(clinic)).toEqual(['answered', 'planned']);
  expect(await order(clinic)).toBe(false);
});

test('an order stands when its visit is rescheduled as another one', async () => {
  const clinic = await answered();
  expect(await order(clinic)).toBe(true);
  await clinic.read({ ...withCodes(clinic, 'A-1', 'D1110'), status: 'cancelled' });
  await clinic.planNow();
  await send(clinic, { ...withCodes(clinic, 'A-2', 'D1110'), replaces: 'A-1' });
  expect(await labelsOf(clinic)).toHaveLength(2);
});

test('a merge leaves a call alone that the office has withdrawn', async () => {
  const clinic = await install({});
  const other = { ...withCodes(clinic, 'B-1', 'D1110'), patient: OTHER_ADA };
  await clinic.planNow();
  await clinic.read(other, withCodes(clinic, 'A-1', 'D1110'));
  await clinic.planNow();
  for (let call = 0; call < 2; call += 1) {
    await clinic.submitNow();
    await finish(clinic);
    await clinic.planNow();
  }
  expect(await order(clinic, 2)).toBe(true);
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 3 }, clinic.now()));
  expect(await order(clinic, 1)).toBe(true);
  await merge(clinic);
  await clinic.planNow();
  await send(clinic, withCodes(clinic, 'A-1', 'D1110', 'D0120'));
  expect((await labelsOf(clinic)).filter((label) => label === 'A-1')).toHaveLength(1);
});
