/** A failed call is no answer while the next attempt may follow: the visit gets that one (G2). */
import { expect, test } from 'vitest';
import { dueLimits } from '../../../src/domain/due-times.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { hold, release } from '../../../src/store/bookkeeping/operator.ts';
import { correctDueTimes } from '../../../src/store/calls/clock-set.ts';
import { type Installation, install, send } from '../installation.ts';
import { callsEnd, labelsOf } from '../submit/lost-calls.ts';
import {
  ADA,
  COVERAGES,
  ends,
  finish,
  goOn,
  merge,
  OTHER_ADA,
  pass,
  readAgain,
  takeBack,
  visit,
} from '../submit/merges.ts';
import { plan } from './shared-visits.ts';

const RECORDS = [
  { role: 'stands', from: [ADA], into: OTHER_ADA },
  { role: 'is moved', from: [OTHER_ADA], into: ADA },
];

const canceled = <Visit>(given: Visit) => ({ ...given, status: 'cancelled' as const });

/**
 * After an old answer, a planned call was withdrawn; a call for the other record has failed, when
 * the clock was ahead by so many days.
 */
async function installWithFailedCall(
  attempt_pause_ms = HOUR_MS,
  ahead_days = 0,
): Promise<Installation> {
  const clinic = await install({
    policy: { reverify_after_days: 3 },
    collecting: { attempt_pause_ms },
  });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await ends(clinic, { 'A-1': 'SUCCESS' });
  await finish(clinic);
  await pass(clinic, 4);
  await plan(clinic, visit(clinic, 'A-2'));
  await plan(clinic, canceled(visit(clinic, 'A-2')));
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  const first = (await clinic.service.ledger())[0]?.id;
  callsEnd(clinic, ({ id }) => (id === first ? 'SUCCESS' : 'UNSUCCESSFUL'));
  clinic.pass(ahead_days * DAY_MS);
  await finish(clinic);
  if (ahead_days > 0) {
    clinic.pass(-ahead_days * DAY_MS);
    await clinic.store.write((tx) => correctDueTimes(tx, dueLimits(5 * MINUTE_MS, clinic.now())));
  }
  return clinic;
}

test.each(RECORDS)(
  'a failed call does not replace one for an old answer if it $role in a merge',
  async (records) => {
    const clinic = await installWithFailedCall();
    await merge(clinic, records);
    await goOn(clinic);
    expect(await labelsOf(clinic)).toHaveLength(3);
    expect((await labelsOf(clinic)).slice(0, 2)).toEqual(['A-1', 'B-1']);
  },
);

test.each(RECORDS)(
  'the next attempt follows the last failed call of a record that $role in a merge',
  async (records) => {
    const clinic = await installWithFailedCall();
    await merge(clinic, records);
    for (let step = 0; step < 3; step += 1) {
      await goOn(clinic);
      await finish(clinic);
    }
    // Two attempts are allowed for the question.
    expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1', 'B-1']);
  },
);

test.each(RECORDS)(
  'the next attempt waits for its pause if the failed call’s record $role in a merge',
  async (records) => {
    const clinic = await installWithFailedCall(6 * HOUR_MS);
    await merge(clinic, records);
    await clinic.planNow();
    await clinic.submitNow();
    expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
    await pass(clinic, 0.3);
    await clinic.submitNow();
    expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1', 'B-1']);
  },
);

/** The service changes the words of an answer. */
async function revise(clinic: Installation, id: number, summary: string): Promise<void> {
  const { read } = clinic.client;
  clinic.client.read = async (...given) => {
    const result = await read(...given);
    return result.ok && result.value !== null
      ? { ok: true, value: { ...result.value, summary } }
      : result;
  };
  await readAgain(clinic, id);
  clinic.client.read = read;
}

test.each(RECORDS)(
  'a failure that is revised does not begin the pause again if its record $role in a merge',
  async (records) => {
    const clinic = await installWithFailedCall(6 * HOUR_MS);
    await pass(clinic, 5 / 24);
    await revise(clinic, 3, 'Nobody answered.');
    await merge(clinic, records);
    await clinic.planNow();
    await clinic.submitNow();
    expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
    await pass(clinic, 2 / 24);
    await clinic.submitNow();
    expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1', 'B-1']);
  },
);

test('after an answer that became a failure, the pause counts from the failure', async () => {
  const clinic = await install({ collecting: { attempt_pause_ms: 6 * HOUR_MS } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await ends(clinic, { 'A-1': 'SUCCESS' });
  await finish(clinic);
  await pass(clinic, 1);
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await readAgain(clinic, 1);
  await pass(clinic, 4 / 24);
  await revise(clinic, 1, 'Nobody answered.');
  await plan(clinic, canceled(visit(clinic, 'A-1')));
  await send(clinic, visit(clinic, 'A-1'));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  await pass(clinic, 3 / 24);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-1']);
});

test('after the service took a failure back, the pause counts from the next failure', async () => {
  const clinic = await install({ collecting: { attempt_pause_ms: 6 * HOUR_MS } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await finish(clinic);
  await plan(clinic, canceled(visit(clinic, 'A-1')));
  await takeBack(clinic, 'A-1', 1);
  await pass(clinic, 20 / 24);
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await revise(clinic, 1, 'Nobody answered.');
  await pass(clinic, 4 / 24);
  await send(clinic, visit(clinic, 'A-1'));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  await pass(clinic, 3 / 24);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-1']);
});

test('the next attempt comes in time if the clock was ahead when the call failed', async () => {
  const clinic = await installWithFailedCall(6 * HOUR_MS, 3);
  await merge(clinic);
  await goOn(clinic);
  expect(await clinic.attention()).not.toContain('too_late_to_call');
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1', 'B-1']);
});

test.each(RECORDS)(
  'the office hears that no attempt comes before the visit if a record $role in a merge',
  async (records) => {
    const clinic = await installWithFailedCall(48 * HOUR_MS);
    await merge(clinic, records);
    await send(clinic, clinic.visit('C-1', { patient: records.into, coverages: COVERAGES }, 0.9));
    expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
    const listed = await openAttention(clinic.store.db);
    const told = listed.find(({ source_id }) => source_id === 'C-1');
    expect(told?.what).toMatch(/^The last call was unsuccessful/);
  },
);

test('the next attempt follows an answer that the service took back', async () => {
  const clinic = await install({ policy: { new_codes: 'call' } });
  const withCode = (id: string, code: string) => ({
    ...visit(clinic, id),
    procedure_codes: [code],
  });
  await clinic.planNow();
  await send(clinic, withCode('A-1', 'D1110'));
  await ends(clinic, { 'A-1': 'SUCCESS' });
  await finish(clinic);
  await plan(clinic, withCode('A-2', 'D2740'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await readAgain(clinic, 1);
  await plan(clinic, canceled(withCode('A-2', 'D2740')));
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-1']);
});

test('a call that the office releases is made after a merged record’s failed one', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await finish(clinic);
  await plan(clinic, visit(clinic, 'B-1', OTHER_ADA));
  const held = { kind: 'appointment' as const, id: 1 };
  await clinic.store.write((tx) => hold(tx, held, clinic.now()));
  await merge(clinic, { from: [ADA], into: OTHER_ADA });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  await clinic.store.write((tx) => release(tx, { kind: 'appointment', id: 2 }, clinic.now()));
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(2);
});
