/** A visit asks another question for a while, and then the former one again. */
import { expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { hold, withdraw } from '../../../src/store/bookkeeping/operator.ts';
import { aCoverage } from '../../domain/examples.ts';
import { connector, type Installation, install, send } from '../installation.ts';
import { labelsOf, lookUp, loseCreates } from '../submit/lost-calls.ts';
import { ADA, COVERAGES, ends, finish, OTHER_ADA, visit, written } from '../submit/merges.ts';

/** Planning looks at the visit until nothing changes anymore. */
async function readAndPlan(clinic: Installation, each: ReturnType<typeof visit>): Promise<void> {
  await clinic.read(each);
  for (let time = 0; time < 3; time += 1) {
    await clinic.planNow();
    clinic.pass(2 * MINUTE_MS);
  }
}

/** In ten minutes, everything due is planned and sent. */
async function sendAll(clinic: Installation): Promise<void> {
  for (let minute = 0; minute < 10; minute += 1) {
    await clinic.planNow();
    await clinic.submitNow();
    clinic.pass(MINUTE_MS);
  }
}

test('a visit that moves to another record and back gets one call', async () => {
  const clinic = await install();
  await clinic.submitNow();
  const booked = visit(clinic, 'A-1');
  await readAndPlan(clinic, booked);
  await readAndPlan(clinic, { ...booked, patient: OTHER_ADA });
  await readAndPlan(clinic, booked);
  await sendAll(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('no answer about a former coverage is written while another one goes back (G8)', async () => {
  const clinic = await install();
  await clinic.planNow();
  const booked = visit(clinic, 'A-1');
  await send(clinic, booked);
  await finish(clinic);
  const second = aCoverage({ member_id: 'S1' });
  const elsewhere = { ...second, payor_id: 'OTHER', carrier: 'Other' };
  await readAndPlan(clinic, { ...booked, coverages: [...COVERAGES, second] });
  await readAndPlan(clinic, { ...booked, coverages: [...COVERAGES, elsewhere] });
  await clinic.read({ ...booked, coverages: [aCoverage({ member_id: 'W3' }), second] });
  await clinic.planNow();
  expect(await written(clinic)).toEqual({});
});

test('a call that the service may have is awaited before one for a former record', async () => {
  const clinic = await install();
  await clinic.submitNow();
  const booked = visit(clinic, 'A-1');
  await readAndPlan(clinic, booked);
  await readAndPlan(clinic, { ...booked, patient: OTHER_ADA });
  const { create } = clinic.client;
  clinic.client.create = async (...given) => {
    await create(...given);
    const why = { class: 'ambiguous', cause: 'timeout', status: null } as const;
    return { ok: false, failure: { ...why, retry_after_ms: null, accepted: false } };
  };
  await clinic.submitNow();
  clinic.client.create = create;
  await readAndPlan(clinic, booked);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(clinic.events).not.toContain('stage_failed');
});

/** The practice has the claim for this patient. */
async function planClaim(clinic: Installation, patient: typeof ADA, number?: string) {
  const { coverage, claim_number = '', ...rest } = claim(1);
  const about = {
    coverage: { ...coverage, member_id: 'ACTIVE0' },
    claim_number: number ?? claim_number,
    patient,
  };
  await clinic.readClaims({ ...rest, date_of_service: '2037-12-10', ...about });
  await clinic.planNow();
}

test('a claim that goes back to a former record while a call is lost waits for it', async () => {
  const clinic = await install();
  await clinic.submitNow();
  await planClaim(clinic, OTHER_ADA);
  await planClaim(clinic, ADA);
  await loseCreates(clinic, 1, 'before');
  await clinic.submitNow();
  await planClaim(clinic, OTHER_ADA);
  expect(await clinic.attention()).toEqual([]);
  expect(clinic.events).not.toContain('stage_failed');
  const rows = clinic.store.db.selectFrom('appointments').select('plan_wait');
  expect(await rows.execute()).toEqual([{ plan_wait: 'other_inquiry_first' }]);
});

test.each([['N1', 'N2'], ['N2']])(
  'a claim of another record whose number becomes that of a lost call waits for it',
  async (...numbers) => {
    const clinic = await install();
    await clinic.submitNow();
    if (numbers.length === 1) await planClaim(clinic, OTHER_ADA, 'N1');
    await planClaim(clinic, ADA, 'N2');
    await loseCreates(clinic, 1, 'before');
    await clinic.submitNow();
    for (const number of numbers) await planClaim(clinic, OTHER_ADA, number);
    expect(await clinic.attention()).toEqual([]);
    expect(clinic.events).not.toContain('stage_failed');
    await lookUp(clinic);
    await sendAll(clinic);
    const asked = (await clinic.service.ledger()).map(({ request }) => request.claim_number);
    expect(asked).toEqual(['N2']);
  },
);

test('a visit whose specialty goes back while its call is lost waits for that', async () => {
  const clinic = await install();
  await clinic.planNow();
  const booked = { ...visit(clinic, 'A-1'), procedure_codes: [] };
  await readAndPlan(clinic, { ...booked, specialty: 'medical' });
  await readAndPlan(clinic, booked);
  await loseCreates(clinic, 1, 'before');
  await clinic.submitNow();
  await readAndPlan(clinic, { ...booked, specialty: 'medical' });
  expect(await clinic.attention()).toEqual([]);
  expect(clinic.events).not.toContain('stage_failed');
});

test('a visit that leaves its call with the label of a lost one waits for that', async () => {
  const clinic = await install();
  await clinic.planNow();
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'A-2', OTHER_ADA));
  await clinic.read(visit(clinic, 'A-1'));
  await clinic.planNow();
  await clinic.read(visit(clinic, 'A-2'));
  await clinic.planNow();
  await clinic.read({ ...visit(clinic, 'A-1'), status: 'cancelled' });
  await clinic.planNow();
  expect(await clinic.attention()).toEqual([]);
  expect(clinic.events).not.toContain('stage_failed');
});

test('a withdrawn visit whose coverages were swapped has no entry about the answer', async () => {
  const clinic = await install({ collecting: { attempts: 1 } });
  await clinic.planNow();
  const coverages = [...COVERAGES, aCoverage({ member_id: 'ACTIVE7' })];
  const booked = { ...visit(clinic, 'A-1'), coverages };
  await send(clinic, booked);
  await ends(clinic, { 'A-1': 'UNSUCCESSFUL' });
  await clinic.collectAll();
  await clinic.planNow();
  expect(await clinic.attention()).toContain('unsuccessful');
  await clinic.read({ ...booked, coverages: coverages.toReversed() });
  await clinic.store.write((tx) => withdraw(tx, { kind: 'appointment', id: 1 }, clinic.now()));
  await clinic.planNow();
  expect(await clinic.attention()).toEqual([]);
});

test('a withdrawn visit’s answer is written for the present place of its coverage', async () => {
  const clinic = await install();
  await clinic.planNow();
  const coverages = [...COVERAGES, aCoverage({ member_id: 'ACTIVE7' })];
  const booked = { ...visit(clinic, 'A-1'), coverages };
  await send(clinic, booked);
  await finish(clinic);
  await clinic.read({ ...booked, coverages: coverages.toReversed() });
  await clinic.store.write((tx) => withdraw(tx, { kind: 'appointment', id: 1 }, clinic.now()));
  await clinic.planNow();
  const ledger = await clinic.service.ledger();
  const ranks: Record<string, number> = {};
  await clinic.deliverNow(
    connector(({ appointment, record }) => {
      const call = ledger.find(({ id }) => id === record.inquiry_id);
      ranks[call?.request.member_id ?? ''] = appointment.coverage_rank;
    }),
  );
  expect(ranks).toEqual({ ACTIVE7: 1, ACTIVE0: 2 });
});

test('a visit does not wait for another record’s held call under a former label', async () => {
  const clinic = await install();
  await clinic.planNow();
  await readAndPlan(clinic, visit(clinic, 'A-3'));
  await readAndPlan(clinic, visit(clinic, 'A-3', OTHER_ADA));
  await clinic.store.write((tx) => hold(tx, { kind: 'appointment', id: 1 }, clinic.now()));
  await clinic.read(visit(clinic, 'A-2'));
  await sendAll(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-2']);
});

test('the office hears of a visit whose former call cannot take another label (G2)', async () => {
  const clinic = await install();
  await clinic.planNow();
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'A-2', OTHER_ADA));
  const why = { class: 'ambiguous', cause: 'timeout', status: null } as const;
  clinic.client.list = async () => ({
    ok: false,
    failure: { ...why, retry_after_ms: null, accepted: false },
  });
  const booked = clinic.visit('A-1', { patient: ADA, coverages: COVERAGES }, 3);
  await clinic.read(booked);
  await clinic.planNow();
  await clinic.read(visit(clinic, 'A-2'));
  await clinic.planNow();
  await clinic.read({ ...booked, coverages: [aCoverage({ member_id: 'ACTIVE5' })] });
  // Its own call waits for the budget.
  const { budget } = clinic.submit.settings;
  clinic.submit.settings.budget = { ...budget, limits: { ...budget.limits, calls_per_month: 1 } };
  for (let hour = 0; hour < 71; hour += 1) {
    await clinic.planNow();
    await clinic.submitNow();
    clinic.pass(HOUR_MS);
  }
  expect(clinic.events).not.toContain('stage_failed');
  const listed = await openAttention(clinic.store.db);
  expect(listed.map(({ appointment }) => appointment)).toContain(2);
});

const underPayers = (clinic: Installation, id: string, ...payor_ids: string[]) => ({
  ...visit(clinic, id),
  coverages: payor_ids.map((payor_id) =>
    aCoverage({ member_id: 'ACTIVE0', carrier: payor_id, payor_id }),
  ),
});

test.each([
  ['a new call', ['22222']],
  ['its former call', ['33333', '22222']],
])('a visit with %s does not wait for a held call under its label', async (...of) => {
  const clinic = await install();
  await clinic.planNow();
  await loseCreates(clinic, 1, 'before');
  await send(clinic, underPayers(clinic, 'A-2', '11111'));
  for (const payor_id of of[1]) await readAndPlan(clinic, underPayers(clinic, 'A-1', payor_id));
  await clinic.read(underPayers(clinic, 'A-2', '22222'));
  await clinic.planNow();
  await clinic.read(underPayers(clinic, 'A-1', '33333'));
  await clinic.planNow();
  await clinic.store.write((tx) => hold(tx, { kind: 'appointment', id: 1 }, clinic.now()));
  await lookUp(clinic);
  await sendAll(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a held call gives up a label although its first visit has a held one, too', async () => {
  const clinic = await install();
  await clinic.planNow();
  await readAndPlan(clinic, underPayers(clinic, 'A-1', '22222'));
  await readAndPlan(clinic, underPayers(clinic, 'A-2', '11111', '22222'));
  await readAndPlan(clinic, underPayers(clinic, 'A-3', '22222'));
  await readAndPlan(clinic, underPayers(clinic, 'A-1', '33333'));
  await clinic.store.write((tx) => hold(tx, { kind: 'appointment', id: 2 }, clinic.now()));
  await sendAll(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});
