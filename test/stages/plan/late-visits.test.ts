/** Visits that are too near for a call: eligd makes none, and the office calls. */
import { expect, test } from 'vitest';
import { WAITS_FOR_PAYER } from '../../../src/domain/payer-silence.ts';
import { DAY_MS, HOUR_MS, localDate } from '../../../src/domain/time.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { NATIONAL, NO_BUDGET } from '../../domain/examples.ts';
import { type Installation, install, send } from '../installation.ts';

const RULES = { late_visits: 'call_yourself', payer_hours: NATIONAL };

/** Sets the clock to 21:03 in Chicago on a Saturday, 11 days ahead: no holiday follows. */
function onSaturday(clinic: Installation): { saturday: string; until: (hours: number) => void } {
  const saturday = localDate(clinic.now() + 11 * 24 * HOUR_MS, 'America/Chicago');
  const at = Date.parse(`${saturday}T21:03:00-06:00`);
  clinic.pass(at - clinic.now());
  return { saturday, until: (hours) => clinic.pass(at + hours * HOUR_MS - clinic.now()) };
}

async function listed(clinic: Installation) {
  return (await openAttention(clinic.store.db)).map(({ reason, what, next }) => ({
    reason,
    text: `${what} ${next}`,
  }));
}

test('on Saturday at 21:03, eligd lists Monday’s 08:00 visit and makes no call', async () => {
  const clinic = await install({ policy: RULES });
  const { until } = onSaturday(clinic);
  const starts_at = new Date(clinic.now() + 35 * HOUR_MS - 3 * 60_000).toISOString();
  await clinic.read(clinic.visit('MONDAY', { starts_at }));
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toEqual([]);
  expect(await listed(clinic)).toEqual([
    { reason: 'too_late_to_call', text: expect.stringContaining('(1) Is the plan active on') },
  ]);
  // On Monday, the visit is over, and eligd has made no call.
  until(36);
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toEqual([]);
  expect(await clinic.attention()).toEqual([]);
});

test('with four payer hours left, the office is asked to call; later, time is short', async () => {
  const clinic = await install({ policy: RULES });
  onSaturday(clinic);
  // Tuesday at 09:00 in Chicago; the payer answers on Monday for twelve hours.
  clinic.pass(37 * HOUR_MS);
  const starts_at = new Date(clinic.now() + 23 * HOUR_MS - 3 * 60_000).toISOString();
  clinic.pass(2 * HOUR_MS);
  await clinic.read(clinic.visit('TUESDAY', { starts_at }));
  await clinic.planNow();
  expect(await listed(clinic)).toEqual([
    { reason: 'too_late_to_call', text: expect.stringContaining('There is still time to ask.') },
  ]);
  clinic.pass(13 * HOUR_MS);
  await clinic.planNow();
  expect(await listed(clinic)).toEqual([
    { reason: 'too_late_to_call', text: expect.stringContaining('There is little time left') },
  ]);
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toEqual([]);
});

test('a visit known before the cutoff gets its call, and one known later does not', async () => {
  const clinic = await install({ policy: RULES });
  const { until } = onSaturday(clinic);
  const starts_at = new Date(clinic.now() + 59 * HOUR_MS).toISOString();
  // Monday, 10:30 and 11:30 in Chicago; noon in New York is between them.
  until(37.5);
  await clinic.read(clinic.visit('EARLY', { starts_at }));
  await clinic.planNow();
  await clinic.submitNow();
  until(38.5);
  const patient = { id: 'P-2', first_name: 'Bo', last_name: 'Example', birth_date: '1990-01-02' };
  await clinic.read(clinic.visit('LATE', { starts_at, patient }));
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.service.ledger()).map(({ external_id }) => external_id)).toEqual(['EARLY']);
  expect(await clinic.attention()).toEqual(['too_late_to_call']);
});

test('eligd withdraws an unsent call that has waited too long', async () => {
  const clinic = await install({
    policy: RULES,
    settings: { budget: { ...NO_BUDGET, limits: { ...NO_BUDGET.limits, calls_per_day: 0 } } },
  });
  const { until } = onSaturday(clinic);
  const starts_at = new Date(clinic.now() + 59 * HOUR_MS).toISOString();
  until(37.5);
  await clinic.read(clinic.visit('WAITS', { starts_at }));
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual([]);
  until(38.5);
  await clinic.planNow();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['withdrawn']);
  expect(await clinic.attention()).toEqual(['too_late_to_call']);
});

/** Lets the service say that each call was unsuccessful. */
function failCalls({ client }: Installation): void {
  const { read } = client;
  client.read = async (specialty, id, options) => {
    const result = await read(specialty, id, options);
    return result.ok && result.value !== null
      ? { ok: true, value: { ...result.value, status: 'UNSUCCESSFUL' } }
      : result;
  };
}

test('the office hears at once of a visit for which the next attempt is too late', async () => {
  const pause_ms = 20 * HOUR_MS;
  const clinic = await install({ collecting: { attempt_pause_ms: pause_ms } });
  // The payer must get the call four hours before the visit.
  await send(clinic, clinic.visit('NEAR', {}, 1), clinic.visit('LATER', {}, 3));
  expect((await clinic.service.ledger()).length).toBe(1);
  failCalls(clinic);
  clinic.pass(6 * HOUR_MS);
  await clinic.collectAll();
  await clinic.planNow();
  const entry = {
    reason: 'too_late_to_call',
    text: expect.stringMatching(/^The last call was unsuccessful, and(?!.*eligd must get)/),
  };
  expect(await listed(clinic)).toEqual([entry]);
  const follows = 'This call was unsuccessful; attempt 2 of 2 follows.';
  const notes = await clinic.store.db
    .selectFrom('deliveries')
    .innerJoin('appointments', 'appointments.id', 'deliveries.appointment')
    .select(['source_id', 'notes'])
    .orderBy('source_id')
    .execute();
  expect(notes.map((each) => [each.source_id, each.notes.includes(follows)])).toEqual([
    ['LATER', true],
    ['NEAR', false],
  ]);
  // It stays on the list until the visit, or until another call is under way.
  await clinic.read(clinic.visit('NEAR', {}, 0.74));
  await clinic.planNow();
  expect(await listed(clinic)).toEqual([entry]);
  clinic.pass(pause_ms);
  await clinic.submitNow();
  expect((await clinic.service.ledger()).map(({ external_id }) => external_id)).toEqual([
    'NEAR',
    'LATER',
  ]);
});

test('a next attempt that waits for its payer is not too late while it may be made', async () => {
  const clinic = await install({ collecting: { attempt_pause_ms: HOUR_MS } });
  await send(clinic, clinic.visit('A-1', {}, 1));
  failCalls(clinic);
  clinic.pass(HOUR_MS);
  await clinic.collectAll();
  const next = { due_at: clinic.now() + 22 * HOUR_MS, reason: WAITS_FOR_PAYER };
  await clinic.store.db.updateTable('inquiries').set(next).where('id', '=', 2).execute();
  await clinic.read(clinic.visit('A-1', {}, 0.95));
  await clinic.planNow();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['answered', 'planned']);
  expect(await clinic.attention()).toEqual([]);
});

test('an old answer of a second attempt is no unsuccessful call', async () => {
  const clinic = await install({ policy: { late_visits: 'call_yourself' } });
  const { read } = clinic.client;
  await send(clinic, clinic.visit('A-1', {}, 6));
  failCalls(clinic);
  clinic.pass(HOUR_MS);
  await clinic.collectAll();
  clinic.client.read = read;
  clinic.pass(2 * HOUR_MS);
  await clinic.submitNow();
  clinic.pass(3 * DAY_MS);
  await clinic.service.advance({ days: 3 });
  await clinic.collectAll();
  clinic.pass(40 * DAY_MS);
  await clinic.read(clinic.visit('A-2', {}, 0.1));
  await clinic.planNow();
  const late = (await listed(clinic)).filter(({ reason }) => reason === 'too_late_to_call');
  expect(late).toMatchObject([{ text: expect.stringMatching(/^eligd made no call/) }]);
});

test('a call that was planned while the clock was ahead is in time once it is right', async () => {
  const clinic = await install({ policy: { late_visits: 'call_yourself' } });
  clinic.pass(2 * DAY_MS);
  const visit = clinic.visit('A-1', {}, 3);
  await clinic.read(visit);
  await clinic.planNow();
  await clinic.read({ ...visit, status: 'cancelled' });
  await clinic.planNow();
  clinic.pass(-2 * DAY_MS);
  await clinic.read(clinic.visit('A-1', {}, 2.2));
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual([]);
  expect(await clinic.service.ledger()).toHaveLength(1);
});

test('a next attempt waits for its pause although its visit was away for a moment', async () => {
  const clinic = await install({ collecting: { attempt_pause_ms: 20 * HOUR_MS } });
  const booked = clinic.visit('A-1', {}, 3);
  await send(clinic, booked);
  failCalls(clinic);
  clinic.pass(6 * HOUR_MS);
  await clinic.collectAll();
  await send(clinic, { ...booked, status: 'cancelled' });
  await send(clinic, booked);
  expect(await clinic.service.ledger()).toHaveLength(1);
  clinic.pass(21 * HOUR_MS);
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toHaveLength(2);
});

test('a next attempt that was withdrawn while the clock was ahead comes in time', async () => {
  const clinic = await install({ collecting: { attempt_pause_ms: 6 * HOUR_MS } });
  const booked = clinic.visit('A-1', {}, 6.5);
  await send(clinic, booked);
  failCalls(clinic);
  clinic.pass(3 * DAY_MS);
  await clinic.collectAll();
  await send(clinic, { ...booked, status: 'cancelled' });
  clinic.pass(-3 * DAY_MS);
  await send(clinic, booked);
  clinic.pass(7 * HOUR_MS);
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.attention()).not.toContain('too_late_to_call');
  expect(await clinic.service.ledger()).toHaveLength(2);
});

test('a withdrawn next attempt that had waited for its payer is made after the pause', async () => {
  const clinic = await install({ collecting: { attempt_pause_ms: HOUR_MS } });
  const booked = clinic.visit('A-1', {}, 3);
  await send(clinic, booked);
  failCalls(clinic);
  clinic.pass(HOUR_MS);
  await clinic.collectAll();
  const next = { due_at: clinic.now() + 22 * HOUR_MS, reason: WAITS_FOR_PAYER };
  await clinic.store.db.updateTable('inquiries').set(next).where('id', '=', 2).execute();
  await send(clinic, { ...booked, status: 'cancelled' });
  clinic.pass(HOUR_MS);
  await send(clinic, booked);
  expect(await clinic.service.ledger()).toHaveLength(2);
});

test('a next attempt that is withdrawn and needed again does not skip its pause', async () => {
  const clinic = await install({ collecting: { attempt_pause_ms: 20 * HOUR_MS } });
  const [near, later] = [clinic.visit('NEAR', {}, 1), clinic.visit('LATER', {}, 3)];
  await send(clinic, near, later);
  failCalls(clinic);
  clinic.pass(6 * HOUR_MS);
  await clinic.collectAll();
  await clinic.planNow();
  await clinic.read({ ...later, status: 'cancelled' });
  await clinic.planNow();
  await clinic.read(clinic.visit('NEAR', {}, 0.74));
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toHaveLength(1);
  expect(await clinic.attention()).toEqual(['too_late_to_call']);
});
