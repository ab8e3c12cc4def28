/** Calls of ours on the list of a service that states no time of its own in its replies (G1). */
import { expect, test } from 'vitest';
import { HOUR_MS } from '../../../src/domain/time.ts';
import { type Installation, install, reconcile, send } from '../installation.ts';
import {
  callsEnd,
  callTwice,
  haltsOf,
  hideCalls,
  labelsOf,
  lookUp,
  loseCreates,
  TWINS,
  twin,
  withhold,
} from './lost-calls.ts';
import { finish, goOn, pass, visit } from './merges.ts';

/** eligd does not know the service's clock. Its own is ahead by these hours, or behind. */
async function installUnknown(ahead_hours: number): Promise<Installation> {
  const clinic = await install();
  clinic.submit.clockSkew = () => null;
  if (ahead_hours > 0) clinic.pass(ahead_hours * HOUR_MS);
  if (ahead_hours < 0) await clinic.service.advance({ hours: -ahead_hours });
  return clinic;
}

/** The reply to the call of A-1 is lost, and the list shows it without these fields. */
async function loseAndWithhold(clinic: Installation, ...fields: string[]): Promise<void> {
  await send(clinic, clinic.visit('A-0'));
  await loseCreates(clinic, 1);
  const [other] = await clinic.service.ledger();
  withhold(clinic, ...fields).not_of = other!.id;
  await send(clinic, clinic.visit('A-1', twin('Ada')));
}

test.each([1, 0, -1])(
  'a call that may be ours is not made again: clock %s h ahead',
  async (ahead) => {
    const clinic = await installUnknown(ahead);
    await loseAndWithhold(clinic, 'dob', 'external_id');
    await lookUp(clinic);
    expect(await labelsOf(clinic)).toEqual(['A-0', 'A-1']);
  },
);

test.each([1, 0, -1])('a call that may be ours stops nothing: clock %s h ahead', async (ahead) => {
  const clinic = await installUnknown(ahead);
  await loseAndWithhold(clinic, 'external_id');
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual([]);
  await lookUp(clinic);
  expect(await haltsOf(clinic)).toEqual([]);
});

test.each([1, 0])('a call that is listed late is reported: clock %s h ahead', async (ahead) => {
  const clinic = await installUnknown(ahead);
  const { show } = await callTwice(clinic);
  await show(1);
  await reconcile(clinic);
  await show(0);
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
});

/**
 * The first call of A-1 never arrived, and the second one brought an answer. A day later, the
 * records ask for a further call about another code; its reply is lost, and no list shows it.
 */
async function loseFurtherCall(skew_ms: number | null, ahead_ms: number) {
  const clinic = await install({ policy: { new_codes: 'call' } });
  clinic.submit.clockSkew = () => skew_ms;
  const { show } = hideCalls(clinic);
  await send(clinic, clinic.visit('B-1'));
  await show(0);
  await answerAfterAbsence(clinic);
  await show(1);
  clinic.pass(ahead_ms);
  await loseCreates(clinic, 1, 'after');
  await send(clinic, { ...visit(clinic, 'A-1'), procedure_codes: ['D1110', 'D0120'] });
  return { clinic, show };
}

async function answerAfterAbsence(clinic: Installation): Promise<void> {
  await loseCreates(clinic, 1, 'before');
  await send(clinic, { ...visit(clinic, 'A-1'), procedure_codes: ['D1110'] });
  await lookUp(clinic);
  callsEnd(clinic, () => 'SUCCESS');
  await finish(clinic);
  await pass(clinic, 1);
}

test.each([null, 0])('a further call is not made again if listed late: skew %s', async (skew) => {
  const { clinic, show } = await loseFurtherCall(skew, 0);
  clinic.submit.settings.is_observing = true;
  await lookUp(clinic);
  clinic.submit.settings.is_observing = false;
  await show(2);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1', 'A-1']);
});

test.each([null, HOUR_MS])('a further call is found with a wrong clock: skew %s', async (skew) => {
  const { clinic, show } = await loseFurtherCall(skew, HOUR_MS);
  await show(2);
  await lookUp(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1', 'A-1']);
});

test.each([null, 0])('another installation’s call prevents a second one: skew %s', async (skew) => {
  const clinic = await install({ policy: { new_codes: 'call' } });
  clinic.submit.clockSkew = () => skew;
  const { show } = hideCalls(clinic);
  await send(clinic, clinic.visit('B-1'));
  await show(0);
  await answerAfterAbsence(clinic);
  await show(1);
  const ada = { patient_name: 'Ada Example', dob: '01-02-1980', member_id: 'ACTIVE0' };
  await clinic.service.createBeside({ ...TWINS, ...ada, external_id: 'A-1' });
  await show(2);
  await pass(clinic, 0.1);
  await reconcile(clinic);
  await send(clinic, { ...visit(clinic, 'A-1'), procedure_codes: ['D1110', 'D0120'] });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1', 'A-1']);
});

test('a call that was sent at an unknown time gets the time that the list states', async () => {
  const clinic = await installUnknown(0);
  await loseCreates(clinic, 1);
  await send(clinic, clinic.visit('A-1'));
  await lookUp(clinic);
  const [entry] = await clinic.service.ledger();
  const calls = await clinic.store.db.selectFrom('calls').selectAll().execute();
  const sent_service_at = Math.floor(Date.parse(entry!.accepted_at) / 1000) * 1000;
  expect(calls).toMatchObject([{ service_id: entry!.id, role: 'serves' }]);
  expect(Math.floor(calls[0]!.sent_service_at! / 1000) * 1000).toBe(sent_service_at);
});
