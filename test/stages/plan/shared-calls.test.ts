/**
 * A further call that several visits share: only those that need it keep it, so that it is not made
 * once they have left (G1), and each of them gets an answer (G2).
 */
import { expect, test } from 'vitest';
import type { Policy } from '../../../src/domain/policy.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { planStep } from '../../../src/stages/plan/index.ts';
import { release, withdraw } from '../../../src/store/bookkeeping/operator.ts';
import { type Installation, install, send } from '../installation.ts';
import { labelsOf, refuseNextCall } from '../submit/lost-calls.ts';
import {
  ADA,
  ends,
  enter,
  finish,
  goOn,
  merge,
  OTHER_ADA,
  pass,
  vanish,
  visit,
  written,
} from '../submit/merges.ts';
import { plan } from './shared-visits.ts';

const codesOf = (clinic: Installation, id: string, patient: typeof ADA, ...codes: string[]) => ({
  ...visit(clinic, id, patient),
  procedure_codes: codes,
});

/** The call for A-1 about D1110 has ended, and visits with new codes get another one. */
async function installAnswered(
  status = 'SUCCESS',
  policy: Partial<Policy> = {},
): Promise<Installation> {
  const rules = { new_codes: 'call' as const, ...policy };
  const clinic = await install({ policy: rules, collecting: { attempts: 1 } });
  await clinic.planNow();
  await send(clinic, codesOf(clinic, 'A-1', ADA, 'D1110'));
  await ends(clinic, { 'A-1': status });
  await finish(clinic);
  return clinic;
}

/** Has the computer's clock be in doubt. Returns what ends that. */
function doubt(clinic: Installation): () => void {
  const { facts } = clinic.plan;
  clinic.plan.facts = () => ({ ...facts(), is_clock_trusted: false });
  return () => {
    clinic.plan.facts = facts;
  };
}

const canceled = <Visit>(given: Visit) => ({ ...given, status: 'cancelled' as const });

test('in doubt about the clock, a visit does not join a call that it does not need', async () => {
  const clinic = await installAnswered();
  await plan(clinic, codesOf(clinic, 'A-2', ADA, 'D2740'));
  const trust = doubt(clinic);
  await plan(clinic, { ...codesOf(clinic, 'A-1', ADA, 'D1110'), location: 'West' });
  trust();
  await send(clinic, canceled(codesOf(clinic, 'A-2', ADA, 'D2740')));
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('in doubt about the clock, a visit joins the call that asks about its new codes', async () => {
  const clinic = await installAnswered();
  await plan(clinic, codesOf(clinic, 'A-2', ADA, 'D2740'));
  const trust = doubt(clinic);
  await send(clinic, codesOf(clinic, 'A-3', ADA, 'D4341'));
  trust();
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-2']);
});

test('in doubt about the clock, planned calls for new codes become one in a merge', async () => {
  const clinic = await installAnswered();
  await send(clinic, codesOf(clinic, 'B-1', OTHER_ADA, 'D1110'));
  await finish(clinic);
  await plan(
    clinic,
    codesOf(clinic, 'A-2', ADA, 'D2740'),
    codesOf(clinic, 'B-2', OTHER_ADA, 'D4341'),
  );
  const trust = doubt(clinic);
  await merge(clinic);
  await clinic.planNow();
  await clinic.submitNow();
  trust();
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(3);
});

test('in doubt about the clock, a call is taken back if its codes go', async () => {
  const clinic = await installAnswered();
  await plan(clinic, codesOf(clinic, 'A-1', ADA, 'D1110', 'D2740'));
  doubt(clinic);
  await send(clinic, codesOf(clinic, 'A-1', ADA, 'D1110'));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('in doubt about the clock, a call in place of an old answer is not taken back', async () => {
  const clinic = await install({ policy: { reverify_after_days: 1 } });
  await clinic.planNow();
  await send(clinic, codesOf(clinic, 'A-1', ADA, 'D1110'));
  await finish(clinic);
  await pass(clinic, 1.5);
  await plan(clinic, codesOf(clinic, 'A-2', ADA, 'D1110'));
  doubt(clinic);
  await send(clinic, { ...codesOf(clinic, 'A-2', ADA, 'D1110'), location: 'West' });
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-2']);
});

test.each([
  ['new codes', ['D1110', 'D0120']],
  ['no new codes', ['D1110']],
])('in doubt about the clock, a visit with %s keeps its old answer', async (_, codes) => {
  const clinic = await install({ policy: { reverify_after_days: 1, new_codes: 'note' } });
  await clinic.planNow();
  await send(clinic, codesOf(clinic, 'A-1', ADA, 'D1110'));
  await finish(clinic);
  await pass(clinic, 1.5);
  await plan(clinic, codesOf(clinic, 'A-2', ADA, 'D1110'));
  const trust = doubt(clinic);
  await plan(clinic, { ...codesOf(clinic, 'A-1', ADA, ...codes), location: 'West' });
  await plan(clinic, canceled(codesOf(clinic, 'A-2', ADA, 'D1110')));
  trust();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('planning does not return every few minutes to a visit whose codes are too late', async () => {
  const clinic = await installAnswered();
  const starts_at = new Date(clinic.now() + HOUR_MS).toISOString();
  await clinic.read({ ...codesOf(clinic, 'A-1', ADA, 'D1110', 'D2740'), starts_at });
  await clinic.planNow();
  expect(await clinic.attention()).toContain('codes_not_asked');
  const { next_at } = await planStep(clinic.plan);
  expect(next_at).toBeGreaterThan(clinic.now() + 45 * MINUTE_MS);
});

test.each([
  ['another visit with new codes has come', ['D1110'], false],
  ['another visit with new codes comes', ['D1110'], true],
  ['its own new codes go', ['D1110', 'D2740'], false],
])(
  'in doubt about the clock, a visit keeps the call for its old answer: %s',
  async (_, codes, in_doubt) => {
    const clinic = await installAnswered('SUCCESS', { reverify_after_days: 1 });
    await pass(clinic, 1.5);
    await plan(clinic, codesOf(clinic, 'A-2', ADA, ...codes));
    if (in_doubt) doubt(clinic);
    const other = codesOf(clinic, 'A-3', ADA, 'D1110', 'D2740');
    await plan(clinic, other);
    if (!in_doubt) doubt(clinic);
    await plan(clinic, { ...codesOf(clinic, 'A-2', ADA, 'D1110'), location: 'West' });
    await plan(clinic, canceled(other));
    await goOn(clinic);
    expect(await labelsOf(clinic)).toEqual(['A-1', 'A-2']);
  },
);

test('in doubt about the clock, a visit whose answer seems old joins no call (G1)', async () => {
  const clinic = await installAnswered('SUCCESS', { reverify_after_days: 1 });
  await pass(clinic, 1.5);
  const other = codesOf(clinic, 'A-2', ADA, 'D1110');
  await plan(clinic, other);
  const trust = doubt(clinic);
  await plan(clinic, codesOf(clinic, 'A-3', ADA, 'D1110'));
  await send(clinic, canceled(other));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  trust();
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(2);
});

test('what planning decides in doubt about the clock is looked at again', async () => {
  const clinic = await install({
    policy: { reverify_after_days: 1 },
    collecting: { attempts: 1 },
  });
  await clinic.planNow();
  await send(clinic, codesOf(clinic, 'A-1', ADA, 'D1110'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await finish(clinic);
  await pass(clinic, 1.5);
  await plan(clinic, codesOf(clinic, 'A-2', ADA, 'D1110'));
  const trust = doubt(clinic);
  await plan(clinic, { ...codesOf(clinic, 'A-1', ADA, 'D1110'), location: 'West' });
  trust();
  await goOn(clinic);
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL', 'A-2': 'SUCCESS' });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-2']);
  expect((await written(clinic))['A-1']).toEqual(['A-1', 'A-2']);
});

test('after a failed call, a visit leaves the call that another one no longer needs', async () => {
  const clinic = await installAnswered('UNSUCCESSFUL');
  await plan(clinic, codesOf(clinic, 'A-2', ADA, 'D2740'));
  await plan(clinic, codesOf(clinic, 'A-3', ADA, 'D1110'));
  await plan(clinic, canceled(codesOf(clinic, 'A-2', ADA, 'D2740')));
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['answered', 'withdrawn']);
});

test('after a failed call, a visit leaves the call of one that the office withdraws', async () => {
  const clinic = await installAnswered('UNSUCCESSFUL');
  await plan(clinic, codesOf(clinic, 'A-2', ADA, 'D2740'));
  await plan(clinic, codesOf(clinic, 'A-3', ADA, 'D1110'));
  await clinic.store.write((tx) => withdraw(tx, { kind: 'appointment', id: 2 }, clinic.now()));
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('the office releases the call for a visit that the exports leave out', async () => {
  const clinic = await install();
  await clinic.planNow();
  await plan(clinic, visit(clinic, 'A-1'));
  await vanish(clinic, 'A-1');
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual([]);
  await clinic.store.write((tx) => release(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('after two failed calls and a merge, neither visit keeps a call for the other', async () => {
  const clinic = await installAnswered('UNSUCCESSFUL');
  await send(clinic, codesOf(clinic, 'B-1', OTHER_ADA, 'D0120'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL', 'B-1': 'UNSUCCESSFUL' });
  await finish(clinic);
  await plan(
    clinic,
    codesOf(clinic, 'A-2', ADA, 'D0120'),
    codesOf(clinic, 'B-2', OTHER_ADA, 'D1110'),
  );
  await merge(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
});

test.each([
  ['into the one with the refused call', { from: [OTHER_ADA], into: ADA }],
  ['into the other one', { from: [ADA], into: OTHER_ADA }],
])('after a merge %s, an answer from before a refused call serves', async (_, records) => {
  const clinic = await installAnswered();
  await refuseNextCall(clinic);
  await send(clinic, codesOf(clinic, 'A-2', ADA, 'D2740'));
  await plan(clinic, codesOf(clinic, 'B-1', OTHER_ADA, 'D1110'));
  await clinic.read(canceled(codesOf(clinic, 'A-2', ADA, 'D2740')));
  await merge(clinic, records);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('an answer that the office enters for one visit serves the other one, too', async () => {
  const clinic = await install();
  await clinic.planNow();
  await plan(clinic, visit(clinic, 'A-1'), visit(clinic, 'A-2'));
  await enter(clinic, 'A-2');
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
  expect(Object.keys(await written(clinic))).toEqual(expect.arrayContaining(['A-1', 'A-2']));
});
