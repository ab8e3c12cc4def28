import { expect, test } from 'vitest';
import { dueLimits } from '../../../src/domain/due-times.ts';
import { DAY_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { openAttention, resolveAttention } from '../../../src/store/bookkeeping/attention.ts';
import { inquirySubject } from '../../../src/store/bookkeeping/audit.ts';
import { correctDueTimes } from '../../../src/store/calls/clock-set.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, SETTLE_MS, send } from '../installation.ts';
import { refuseNextCall } from '../submit/lost-calls.ts';

test('an appointment whose ID now belongs to another one leaves the attention list', async () => {
  const clinic = await install();
  const patient = { id: 'P-1', first_name: 'Ada', last_name: 'Example', birth_date: null };
  await clinic.read(clinic.visit('A-1', { patient, coverages: [aCoverage({ member_id: '' })] }));
  await clinic.planNow();
  expect(await clinic.attention()).toEqual(['field_missing']);
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  expect(await clinic.attention()).toEqual([]);
});

test('a visit’s planning entry is removed after the visit, even during a call', async () => {
  const clinic = await install();
  await send(
    clinic,
    clinic.visit('A-1', { coverages: [aCoverage(), aCoverage({ member_id: '' })] }),
  );
  expect(await clinic.attention()).toEqual(['field_missing']);
  clinic.pass(4 * DAY_MS);
  await clinic.planNow();
  expect(await clinic.attention()).toEqual([]);
});

test('a coverage named twice in the export is one call, written for the first', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1', { coverages: [aCoverage(), aCoverage()] }));
  await clinic.planNow();
  const links = await clinic.store.db
    .selectFrom('inquiry_appointments')
    .select('coverage_rank')
    .execute();
  expect(links).toEqual([{ coverage_rank: 1 }]);
});

test.each([
  ['keeps the answer of the appointment that it replaces, however old', 'A-1', 1],
  ['that replaces none has the payer asked again when the answer is too old', undefined, 2],
])('a new appointment %s', async (_, replaces, calls) => {
  const clinic = await install({ policy: { reverify_after_days: 0 } });
  await send(clinic, clinic.visit('A-1'));
  await clinic.service.advance({ days: 14 });
  await clinic.collectAll();
  clinic.pass(MINUTE_MS);
  const next = clinic.visit('A-2', replaces === undefined ? {} : { replaces });
  await clinic.read(clinic.visit('A-1', { status: 'cancelled' }), next);
  await clinic.planNow();
  expect(await clinic.inquiries()).toHaveLength(calls);
  // eligd writes the existing answer to both, or only to the first.
  expect(await clinic.deliveries()).toHaveLength(3 - calls);
});

test('an appointment that cannot be planned is listed, and others are planned', async () => {
  const clinic = await install();
  await clinic.read(
    clinic.visit('bad'),
    clinic.visit('good', { coverages: [aCoverage({ member_id: 'W9' })] }),
  );
  const broken = { content: JSON.stringify({ ...clinic.visit('bad'), coverages: null }) };
  const { content } = await clinic.store.db
    .selectFrom('appointments')
    .select('content')
    .where('source_id', '=', 'bad')
    .executeTakeFirstOrThrow();
  await clinic.store.write((tx) =>
    tx.updateTable('appointments').set(broken).where('source_id', '=', 'bad').execute(),
  );
  await clinic.planNow();
  expect(await clinic.attention()).toEqual(['planning_failed']);
  expect((await clinic.inquiries()).map(({ external_id }) => external_id)).toEqual(['good']);
  await clinic.store.write((tx) =>
    tx.updateTable('appointments').set({ content }).where('source_id', '=', 'bad').execute(),
  );
  clinic.pass(61_000);
  await clinic.planNow();
  expect(await clinic.attention()).toEqual([]);
});

test('a call that is needed again asks about the codes of the new visit', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  await clinic.read(clinic.visit('A-1', { status: 'cancelled' }));
  await clinic.planNow();
  await clinic.read(clinic.visit('A-2', { procedure_codes: ['D2740'] }));
  await clinic.planNow();
  expect(await clinic.attention()).toEqual([]);
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toMatchObject([
    { external_id: 'A-2', request: { benefits_codes: ['D2740'] } },
  ]);
});

test('entries leave the list two weeks after the visit, and the visit is closed', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  await refuseNextCall(clinic);
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual(['refused']);
  clinic.pass(10 * DAY_MS);
  await clinic.closeOld();
  expect(await clinic.attention()).toEqual(['refused']);
  clinic.pass(8 * DAY_MS);
  await clinic.closeOld();
  expect(await clinic.attention()).toEqual([]);
  const rows = await clinic.store.db.selectFrom('appointments').select('closed_reason').execute();
  expect(rows).toEqual([{ closed_reason: 'past' }]);
});

type Read = Installation['client']['read'];

/** From now on, the service says this about the first inquiry. */
async function replyOnTheFirst(
  clinic: Installation,
  reply: (read: () => ReturnType<Read>) => ReturnType<Read>,
): Promise<void> {
  const { read } = clinic.client;
  const [first] = await clinic.inquiries();
  clinic.client.read = async (...given) =>
    given[1] === first?.service_id ? await reply(() => read(...given)) : await read(...given);
}

/** The service no longer knows the first inquiry, although it had accepted it. */
async function forget(clinic: Installation): Promise<void> {
  await replyOnTheFirst(clinic, async () => ({ ok: true, value: null }));
  for (const _ of ['first', 'second', 'third']) {
    clinic.pass(SETTLE_MS);
    await clinic.collectAll();
  }
}

/** The service does not answer the first inquiry, and eligd gives up. */
async function giveUp(clinic: Installation): Promise<void> {
  await replyOnTheFirst(clinic, async (read) => {
    const reply = await read();
    return reply.ok && reply.value !== null
      ? { ok: true, value: { ...reply.value, status: 'SCHEDULED' } }
      : reply;
  });
  clinic.pass(18 * DAY_MS);
  await clinic.collectAll();
}

test.each([
  ['no longer knows', forget, 'lost_at_service'],
  ['has not answered', giveUp, 'no_answer'],
])('a change does not open a visit for good whose inquiry the service %s', async (...given) => {
  const [, end, reason] = given;
  const clinic = await install();
  const visit = clinic.visit('A-1', { coverages: [aCoverage(), aCoverage({ member_id: 'W2' })] });
  await send(clinic, visit);
  await clinic.service.advance({ days: 2 });
  await end(clinic);
  expect(await clinic.attention()).toContain(reason);
  clinic.pass(18 * DAY_MS);
  await clinic.closeOld();
  expect(await clinic.attention()).toEqual([]);
  await clinic.read({ ...visit, procedure_codes: ['D2740'] });
  await clinic.planNow();
  const rows = await clinic.store.db.selectFrom('appointments').select('closed_reason').execute();
  expect(rows).toEqual([{ closed_reason: 'past' }]);
});

test('a change does not close a visit that has its answer, which may be revised', async () => {
  const clinic = await install();
  const visit = clinic.visit('A-1');
  await send(clinic, visit);
  await clinic.service.advance({ days: 2 });
  clinic.pass(2 * DAY_MS);
  await clinic.collectAll();
  expect(await clinic.deliveries()).toHaveLength(1);
  clinic.pass(18 * DAY_MS);
  await clinic.read({ ...visit, procedure_codes: ['D2740'] });
  await clinic.planNow();
  const rows = await clinic.store.db.selectFrom('appointments').select('closed_reason').execute();
  expect(rows).toEqual([{ closed_reason: null }]);
});

test('an answer that waited for weeks while the computer was off is written', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-1'));
  await clinic.service.advance({ days: 18 });
  clinic.pass(18 * DAY_MS);
  await clinic.planNow();
  await clinic.collectNow();
  expect(await clinic.deliveries()).toHaveLength(1);
});

test.each([
  ['is too early to give up on', { days: 10, is_clock_trusted: true, is_listed: false }],
  [
    'is long over by a clock that may be wrong',
    { days: 18, is_clock_trusted: false, is_listed: false },
  ],
  ['has an open entry', { days: 18, is_clock_trusted: true, is_listed: true }],
])('a change does not close a visit that %s', async (_, { days, is_clock_trusted, is_listed }) => {
  const clinic = await install();
  const visit = clinic.visit('A-1');
  await send(clinic, visit);
  await forget(clinic);
  const id = (await clinic.inquiries())[0]?.id ?? 0;
  if (!is_listed)
    await clinic.store.write((tx) => resolveAttention(tx, inquirySubject(id), clinic.now()));
  clinic.pass(days * DAY_MS);
  const { facts } = clinic.plan;
  clinic.plan.facts = () => ({ ...facts(), is_clock_trusted });
  await clinic.read({ ...visit, status: 'completed', procedure_codes: ['D2740'] });
  await clinic.planNow();
  const rows = await clinic.store.db.selectFrom('appointments').select('closed_reason').execute();
  expect(rows).toEqual([{ closed_reason: null }]);
});

test('an entry about an inquiry stays while the inquiry serves a later visit', async () => {
  const clinic = await install({ policy: { look_ahead_days: 60 } });
  await clinic.read(clinic.visit('A-1', {}, 3), clinic.visit('A-2', {}, 30));
  await clinic.planNow();
  await refuseNextCall(clinic);
  await clinic.submitNow();
  clinic.pass(18 * DAY_MS);
  await clinic.closeOld();
  expect(await clinic.attention()).toEqual(['refused']);
  clinic.pass(30 * DAY_MS);
  await clinic.closeOld();
  expect(await clinic.attention()).toEqual([]);
  const rows = await clinic.store.db.selectFrom('appointments').select('closed_reason').execute();
  expect(rows).toEqual([{ closed_reason: 'past' }, { closed_reason: 'past' }]);
});

test('an entry shows its inquiry’s next visit when the first is over or reassigned', async () => {
  const clinic = await install({ policy: { look_ahead_days: 60 } });
  const shown = async () =>
    (await openAttention(clinic.store.db)).map(({ source_id }) => source_id);
  await clinic.read(
    clinic.visit('A-1', {}, 3),
    clinic.visit('A-2', {}, 5),
    clinic.visit('A-3', {}, 30),
  );
  await clinic.planNow();
  await refuseNextCall(clinic);
  await clinic.submitNow();
  expect(await shown()).toEqual(['A-1']);
  const other = {
    patient: {
      id: 'P-OTHER',
      first_name: 'Ruth',
      last_name: 'Example',
      birth_date: '1970-05-05',
    },
  };
  await clinic.read(
    clinic.visit('A-1', { ...other, coverages: [aCoverage({ member_id: 'W-OTHER' })] }, 3),
  );
  await clinic.planNow();
  expect(await shown()).toEqual(['A-2']);
  clinic.pass(6 * DAY_MS);
  await clinic.planNow();
  expect(await shown()).toEqual(['A-3']);
});

test('of two coverages with one label, the second is called a minute later', async () => {
  const clinic = await install();
  const visit = clinic.visit('A-1', {
    coverages: [aCoverage({ payor_id: '11111' }), aCoverage({ payor_id: '22222' })],
  });
  await clinic.read(visit);
  for (let minute = 0; minute < 5; minute += 1) {
    await clinic.planNow();
    clinic.pass(MINUTE_MS + 1);
  }
  // eligd checks it every minute, and logs once what serves it.
  expect(clinic.events.filter((event) => event === 'appointment_planned')).toHaveLength(1);
  await clinic.planNow();
  await clinic.submitNow();
  clinic.pass(MINUTE_MS + 1);
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open', 'open']);
});

test('eligd logs what serves an appointment once, however often it plans it', async () => {
  const clinic = await install();
  const told = () => clinic.events.filter((event) => event === 'appointment_planned').length;
  await send(clinic, clinic.visit('A-1'));
  expect(told()).toBe(1);
  await clinic.read(clinic.visit('A-1', { procedure_codes: ['D0120'] }));
  await clinic.planNow();
  await clinic.read(clinic.visit('A-1'), clinic.visit('A-2'));
  await clinic.planNow();
  expect(told()).toBe(2);
});

test('an answer is dated by the service’s clock when ours was days behind (G1)', async () => {
  const clinic = await install({ policy: { reverify_after_days: 3 } });
  await send(clinic, clinic.visit('A-1'));
  clinic.collect.clockSkew = () => -2 * DAY_MS;
  await clinic.service.advance({ days: 2 });
  await clinic.collectAll();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['answered']);
  // Leaves out the call of the record, because some services do not state it.
  await clinic.store.write((tx) =>
    tx.updateTable('calls').set({ sent_at: 0, sent_service_at: 0 }).execute(),
  );
  await clinic.store.write((tx) => tx.updateTable('records').set({ record: '{}' }).execute());
  clinic.pass(4 * DAY_MS);
  clinic.collect.clockSkew = () => 0;
  await send(clinic, clinic.visit('A-2'));
  expect(await clinic.service.ledger()).toHaveLength(1);
});

test('an answer withdrawn and repeated goes to a visit that it has come to serve', async () => {
  const clinic = await install();
  const visit = clinic.visit('A-1');
  await send(clinic, visit);
  await clinic.service.advance({ days: 2 });
  await clinic.collectAll();
  expect((await clinic.deliveries()).map(({ state }) => state)).toEqual(['pending']);
  await clinic.read({ ...visit, coverages: [aCoverage({ member_id: 'W-OTHER' })] });
  await clinic.planNow();
  expect((await clinic.deliveries()).map(({ state }) => state)).toEqual(['parked']);
  const taken_back = { state: 'open' as const, poll_at: clinic.now() };
  await clinic.store.write((tx) =>
    tx.updateTable('inquiries').set(taken_back).where('id', '=', 1).execute(),
  );
  await clinic.read(visit);
  await clinic.planNow();
  await clinic.collectAll();
  await clinic.planNow();
  expect((await clinic.deliveries()).map(({ state }) => state)).toEqual(['pending']);
});

test('a refused inquiry’s later visit is listed when the first is long over', async () => {
  const clinic = await install({ policy: { look_ahead_days: 60 } });
  await clinic.read(clinic.visit('A-1', {}, 3));
  await clinic.planNow();
  await refuseNextCall(clinic);
  await clinic.submitNow();
  await clinic.read(clinic.visit('A-2', {}, 40));
  clinic.pass(18 * DAY_MS);
  await clinic.store.write((tx) => resolveAttention(tx, 'inquiry:1', clinic.now()));
  await clinic.planNow();
  expect(await clinic.attention()).toEqual(['refused']);
});

test('when a visit’s coverages change their order, the answer follows its coverage', async () => {
  const clinic = await install();
  const [one, other] = [aCoverage(), aCoverage({ member_id: 'W-OTHER' })];
  await send(clinic, clinic.visit('A-1', { coverages: [one, other] }));
  await clinic.read(clinic.visit('A-1', { coverages: [other, one] }, 30));
  await clinic.planNow();
  const links = await clinic.store.db
    .selectFrom('inquiry_appointments')
    .innerJoin('inquiries', 'inquiries.id', 'inquiry_appointments.inquiry')
    .select(['match_key', 'coverage_rank'])
    .orderBy('coverage_rank')
    .execute();
  expect(links.map(({ match_key }) => match_key.includes('WOTHER'))).toEqual([true, false]);
});

test('an answer dated by the service is not bought again because our clock was wrong', async () => {
  const clinic = await install({ policy: { reverify_after_days: 2 } });
  await send(clinic, clinic.visit('A-1'));
  await clinic.collectAll();
  const years_ago = clinic.now() - 700 * DAY_MS;
  await clinic.store.write(async (tx) => {
    const answered = { answered_at: years_ago, answered_service_at: null };
    await tx.updateTable('inquiries').set(answered).execute();
    await tx.updateTable('calls').set({ sent_at: years_ago, sent_service_at: null }).execute();
  });
  await clinic.read(clinic.visit('A-2'));
  await clinic.planNow();
  expect(await clinic.inquiries()).toHaveLength(1);
});

test('a clock that may be wrong makes no answer too old and causes no call (G1)', async () => {
  const clinic = await install({ policy: { reverify_after_days: 2 } });
  await send(clinic, clinic.visit('A-1'));
  await clinic.service.advance({ days: 3 });
  await clinic.collectAll();
  const { facts } = clinic.plan;
  clinic.plan.facts = () => ({ ...facts(), is_clock_trusted: false });
  clinic.pass(5 * DAY_MS);
  await clinic.read(clinic.visit('A-2'));
  await clinic.planNow();
  expect(await clinic.inquiries()).toHaveLength(1);
  clinic.plan.facts = facts;
  clinic.pass(10 * MINUTE_MS);
  await clinic.planNow();
  expect(await clinic.inquiries()).toHaveLength(2);
});

test('entries of a visit that only a fast clock ends stay until the clock is right', async () => {
  const clinic = await install();
  await send(
    clinic,
    clinic.visit('A-1', { coverages: [aCoverage({ member_id: '' })] }),
    clinic.visit('A-2'),
  );
  expect(await clinic.attention()).toEqual(['field_missing']);
  const { facts } = clinic.plan;
  clinic.plan.facts = () => ({ ...facts(), is_clock_trusted: false });
  clinic.pass(5 * DAY_MS);
  await clinic.planNow();
  expect(await clinic.attention()).toEqual(['field_missing']);
  clinic.plan.facts = facts;
  clinic.pass(-5 * DAY_MS);
  await clinic.store.write((tx) => correctDueTimes(tx, dueLimits(SETTLE_MS, clinic.now())));
  const waiting = clinic.store.db
    .selectFrom('appointments')
    .select('source_id')
    .where('plan_due_at', '<=', clinic.now());
  expect(await waiting.execute()).toEqual([{ source_id: 'A-1' }, { source_id: 'A-2' }]);
});

test('an earlier attempt follows its coverage, so a revision reaches the right one', async () => {
  const clinic = await install();
  const [one, other] = [aCoverage(), aCoverage({ member_id: 'W-OTHER' })];
  await send(clinic, clinic.visit('A-1', { coverages: [one, other] }));
  const { read } = clinic.client;
  clinic.client.read = async (specialty, id, options) => {
    const result = await read(specialty, id, options);
    return result.ok && result.value !== null
      ? { ok: true, value: { ...result.value, status: 'UNSUCCESSFUL' } }
      : result;
  };
  await clinic.collectAll();
  await clinic.read(clinic.visit('A-1', { coverages: [other, one] }));
  await clinic.planNow();
  const links = await clinic.store.db
    .selectFrom('inquiry_appointments')
    .innerJoin('inquiries', 'inquiries.id', 'inquiry_appointments.inquiry')
    .select(['attempt', 'match_key', 'coverage_rank'])
    .execute();
  expect(
    links
      .map(({ attempt, match_key, coverage_rank }) => [
        match_key.includes('WOTHER'),
        attempt,
        coverage_rank,
      ])
      .sort(),
  ).toEqual([
    [false, 1, 2],
    [false, 2, 2],
    [true, 1, 1],
    [true, 2, 1],
  ]);
});

test('a visit that is served by an unsuccessful call is also on the attention list', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-1', {}, 1));
  const { read } = clinic.client;
  clinic.client.read = async (specialty, id, options) => {
    const result = await read(specialty, id, options);
    return result.ok && result.value !== null
      ? { ok: true, value: { ...result.value, status: 'CANCELLED' } }
      : result;
  };
  await clinic.collectAll();
  clinic.pass(16 * DAY_MS);
  await clinic.closeOld();
  expect(await clinic.attention()).toEqual([]);
  await clinic.read(clinic.visit('A-2'));
  await clinic.planNow();
  expect(await clinic.attention()).toEqual(['cancelled_by_service']);
  expect((await clinic.deliveries()).length).toBe(2);
  expect((await clinic.service.ledger()).length).toBe(1);
});
