/** What the service holds already and no call of this database brought: taken over before any call is made (G1). */
import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/time.ts';
import { demandSweeps } from '../../src/stages/submit/index.ts';
import { aCoverage } from '../domain/examples.ts';
import { type Installation, install, look } from './installation.ts';

/** Twins have all of it in common. */
const TWINS = {
  type: 'BENEFITS',
  desired_completion_date: '12-31-2026',
  dob: '01-02-2018',
  member_id: 'W123',
  tax_id: '123456789',
  benefits_query: ['STANDARD'],
  insurance: 'DELTA_DENTAL',
  billing_npi: '1234567893',
};

const twin = (first_name: string) => ({
  patient: { id: first_name, first_name, last_name: 'Example', birth_date: '2018-01-02' },
});

/** What the service holds is listed only from when `show` is called. */
function hideCalls({ client, service }: Installation): { show: (index: number) => Promise<void> } {
  const { list } = client;
  const shown = new Set<string>();
  client.list = async (...given) => {
    const result = await list(...given);
    if (!result.ok) return result;
    return { ok: true, value: { ...result.value, inquiries: result.value.inquiries.filter(({ id }) => shown.has(id)) } };
  };
  return { show: async (index) => void shown.add((await service.ledger())[index]!.id) };
}

/** Replies to creates are lost, and what they brought is hidden. */
async function loseAndHide(clinic: Installation, times: number) {
  await clinic.service.fault({ method: 'POST', path: '/api/v0/dental/inquiries', times, when: 'after', action: 'reset' });
  return hideCalls(clinic);
}

/** The service says of every call that it was unsuccessful. */
function callsBringNothing({ client }: Installation): void {
  const { list, read } = client;
  const unsuccessful = <Form extends { status: string }>(form: Form): Form => ({ ...form, status: 'UNSUCCESSFUL' });
  client.list = async (...given) => {
    const result = await list(...given);
    return result.ok ? { ok: true, value: { ...result.value, inquiries: result.value.inquiries.map(unsuccessful) } } : result;
  };
  client.read = async (...given) => {
    const result = await read(...given);
    return result.ok && result.value !== null ? { ok: true, value: unsuccessful(result.value) } : result;
  };
}

test('the inquiry under the label of the very visit is adopted before one under another label', async () => {
  const clinic = await install();
  const ben = await clinic.service.createBeside({ ...TWINS, patient_name: 'Ben Example', external_id: 'B-1' });
  await clinic.service.advance({ seconds: 5 });
  const ada = await clinic.service.createBeside({ ...TWINS, patient_name: 'Ada Example', external_id: 'A-1' });
  await clinic.service.advance({ seconds: 60 });
  await clinic.read(clinic.visit('A-1', twin('Ada')), clinic.visit('B-1', twin('Ben')));
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.inquiries()).map(({ external_id, service_id }) => [external_id, service_id])).toEqual([
    ['A-1', ada],
    ['B-1', ben],
  ]);
});

test('what bears the label of a twin is not adopted', async () => {
  const clinic = await install();
  const ben = await clinic.service.createBeside({ ...TWINS, patient_name: 'Ben Example', external_id: 'B-1' });
  await clinic.service.advance({ seconds: 60 });
  await clinic.read(clinic.visit('A-1', twin('Ada')), clinic.visit('B-1', twin('Ben')));
  await clinic.planNow();
  await clinic.submitNow();
  const [ada, bens] = await clinic.inquiries();
  expect(bens?.service_id).toBe(ben);
  expect(ada?.service_id).not.toBe(ben);
});

test('what a lost reply may have been about is left for its look, and does not serve the visit of another year (G1)', async () => {
  const clinic = await install();
  const ahead_ms = Date.UTC(new Date(clinic.now()).getUTCFullYear(), 11, 30, 18) - clinic.now();
  clinic.pass(ahead_ms);
  await clinic.service.advance({ seconds: Math.round(ahead_ms / 1000) });
  await clinic.service.fault({ method: 'POST', path: '/api/v0/dental/inquiries', times: 1, when: 'after', action: 'reset' });
  await clinic.read(clinic.visit('NEXT-YEAR', {}, 4));
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['uncertain']);
  await clinic.service.advance({ seconds: 60 });
  await clinic.read(clinic.visit('THIS-YEAR', {}, 1));
  await clinic.planNow();
  demandSweeps(clinic.submit);
  await clinic.submitNow();
  await look(clinic);
  const ledger = await clinic.service.ledger();
  expect(ledger.map(({ external_id }) => external_id)).toEqual(['NEXT-YEAR', 'THIS-YEAR']);
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).toEqual(ledger.map(({ id }) => id));
});

test('what names a twin is not adopted, although the label was given to the other one since', async () => {
  const clinic = await install();
  const ben = await clinic.service.createBeside({ ...TWINS, patient_name: 'Ben Example', external_id: 'A-1' });
  await clinic.service.advance({ seconds: 60 });
  await clinic.read(clinic.visit('A-1', twin('Ada')), clinic.visit('B-1', twin('Ben')));
  await clinic.planNow();
  await clinic.submitNow();
  const [ada, bens] = await clinic.inquiries();
  expect(bens?.service_id).toBe(ben);
  expect(ada?.service_id).not.toBe(ben);
});

test('what names somebody else is not adopted under the label of the very visit, be there a twin or not', async () => {
  const clinic = await install();
  const ben = await clinic.service.createBeside({ ...TWINS, patient_name: 'Ben Example', external_id: 'A-1' });
  await clinic.service.advance({ seconds: 60 });
  await clinic.read(clinic.visit('A-1', twin('Ada')));
  await clinic.planNow();
  await clinic.submitNow();
  const [ada] = await clinic.inquiries();
  expect(ada?.service_id).not.toBe(ben);
  expect(ada?.state).toBe('open');
});

test('a later attempt that a restored database knows nothing of is no call too many, and serves as the next attempt', async () => {
  const clinic = await install();
  await clinic.service.fault({ method: 'POST', path: '/api/v0/dental/inquiries', times: 1, when: 'after', action: 'reset' });
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  await clinic.submitNow();
  const [lost] = await clinic.inquiries();
  await clinic.service.advance({ hours: 3 });
  const later = await clinic.service.createBeside(JSON.parse(lost?.body ?? ''));
  await clinic.service.advance({ seconds: 60 });
  callsBringNothing(clinic);
  demandSweeps(clinic.submit);
  await look(clinic);
  await clinic.collectAll();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['answered', 'planned']);
  clinic.pass(2 * 60 * MINUTE_MS);
  await clinic.submitNow();
  expect((await clinic.inquiries())[1]?.service_id).toBe(later);
  expect(await clinic.service.ledger()).toHaveLength(2);
  expect(await clinic.attention()).not.toContain('extra_call');
});

test('each of the unsuccessful calls that a lost database knew counts as an attempt, however old the first one is', async () => {
  const clinic = await install();
  const fields = { ...TWINS, patient_name: 'Ada Example', external_id: 'A-0' };
  const first = await clinic.service.createBeside(fields);
  await clinic.service.advance({ days: 2 });
  const second = await clinic.service.createBeside(fields);
  await clinic.service.advance({ days: 29 });
  clinic.pass(31 * DAY_MS);
  callsBringNothing(clinic);
  await clinic.read(clinic.visit('A-1', twin('Ada')));
  await clinic.planNow();
  for (let step = 0; step < 3; step += 1) {
    await clinic.submitNow();
    await clinic.collectAll();
    clinic.pass(2 * HOUR_MS);
  }
  expect((await clinic.inquiries()).map(({ state, service_id }) => [state, service_id])).toEqual([
    ['answered', first],
    ['answered', second],
  ]);
  expect(await clinic.service.ledger()).toHaveLength(2);
});

const SAME = { coverages: [aCoverage({ member_id: 'W1' })] };

test('a call that is listed late, under a label that its inquiry has no more, is reported and no stranger', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  const first = clinic.visit('A-1', SAME);
  await clinic.read(first, clinic.visit('A-2', SAME, 4));
  await clinic.planNow();
  await clinic.submitNow();
  await clinic.read({ ...first, status: 'cancelled' });
  await clinic.planNow();
  await clinic.read(clinic.visit('A-2', SAME, 5));
  await clinic.service.advance({ seconds: 60 });
  await look(clinic);
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.service.ledger()).map(({ external_id }) => external_id)).toEqual(['A-1', 'A-2']);
  await show(1);
  await show(0);
  demandSweeps(clinic.submit);
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual(['extra_call']);
});

test('a call that is listed under an old label while its successor is looked for is reported when that is found', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 2);
  const first = clinic.visit('A-1', SAME);
  await clinic.read(first, clinic.visit('A-2', SAME, 4));
  await clinic.planNow();
  await clinic.submitNow();
  await clinic.read({ ...first, status: 'cancelled' });
  await clinic.planNow();
  await clinic.read(clinic.visit('A-2', SAME, 5));
  await clinic.service.advance({ seconds: 60 });
  await look(clinic);
  await clinic.planNow();
  await clinic.submitNow();
  const [late, second] = await clinic.service.ledger();
  await show(0);
  demandSweeps(clinic.submit);
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual([]);
  await show(1);
  await look(clinic);
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).toEqual([second?.id]);
  expect(await clinic.attention()).toEqual(['extra_call']);
  const extra = await clinic.store.db.selectFrom('service_inquiries').select('role').where('service_id', '=', late!.id).execute();
  expect(extra).toEqual([{ role: 'extra' }]);
});

test('of two calls that no list showed, the last is reported when the first was taken over', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 2);
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  await clinic.submitNow();
  await clinic.service.advance({ hours: 1 });
  clinic.pass(HOUR_MS);
  await look(clinic);
  await clinic.read(clinic.visit('A-1', {}, 5));
  await look(clinic);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['planned']);
  await show(0);
  demandSweeps(clinic.submit);
  await clinic.planNow();
  await clinic.submitNow();
  await show(1);
  demandSweeps(clinic.submit);
  await clinic.submitNow();
  const [first, second] = (await clinic.service.ledger()).map(({ id }) => id);
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).toEqual([first]);
  expect(await clinic.attention()).toEqual(['extra_call']);
  const extras = await clinic.store.db.selectFrom('service_inquiries').select('service_id').where('role', '=', 'extra').execute();
  expect(extras.map(({ service_id }) => service_id)).toEqual([second]);
});

test('a call that a lost database made, and that is listed late, is no sign of a second installation', async () => {
  const clinic = await install();
  const { show } = hideCalls(clinic);
  await clinic.service.createBeside({ ...TWINS, member_id: 'W77', patient_name: 'Ben Example', external_id: 'B-1' });
  await clinic.service.advance({ hours: 1 });
  clinic.pass(HOUR_MS);
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  await clinic.submitNow();
  await show(0);
  demandSweeps(clinic.submit);
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual([]);
  await clinic.service.createBeside({ ...TWINS, member_id: 'W88', patient_name: 'Ben Example', external_id: 'B-2' });
  await show(2);
  demandSweeps(clinic.submit);
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual(['submission_stopped']);
});

test('a call too many serves as the next attempt: it is paid for (G1)', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 2);
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  await clinic.submitNow();
  await clinic.service.advance({ seconds: 60 });
  await look(clinic);
  const [first, second] = (await clinic.service.ledger()).map(({ id }) => id);
  await show(0);
  await show(1);
  await look(clinic);
  callsBringNothing(clinic);
  await clinic.collectAll();
  clinic.pass(2 * HOUR_MS);
  await clinic.submitNow();
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).toEqual([first, second]);
  expect(await clinic.service.ledger()).toHaveLength(2);
});

test('what was asked for a visit of the next benefit year does not serve one of this year (G1)', async () => {
  const clinic = await install();
  const ahead_ms = Date.UTC(new Date(clinic.now()).getUTCFullYear(), 11, 30, 18) - clinic.now();
  clinic.pass(ahead_ms);
  await clinic.service.advance({ seconds: Math.round(ahead_ms / 1000) });
  const desired_completion_date = `12-31-${new Date(clinic.now()).getUTCFullYear()}`;
  const fields = { ...TWINS, desired_completion_date, patient_name: 'Ada Example', external_id: 'NEXT-YEAR' };
  const asked = await clinic.service.createBeside(fields);
  await clinic.service.advance({ seconds: 60 });
  const other = { ...twin('Ada'), coverages: [aCoverage({ member_id: 'W9' })] };
  await clinic.read(clinic.visit('NEXT-YEAR', other, 5), clinic.visit('THIS-YEAR', twin('Ada'), 1));
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).not.toContain(asked);
  await clinic.read(clinic.visit('NEXT-YEAR-TOO', twin('Ada'), 6));
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.inquiries()).at(-1)?.service_id).toBe(asked);
});

test('what was asked for a visit of this benefit year serves another one, although the visit was moved to the next year', async () => {
  const clinic = await install();
  const ahead_ms = Date.UTC(new Date(clinic.now()).getUTCFullYear(), 11, 30, 18) - clinic.now();
  clinic.pass(ahead_ms);
  await clinic.service.advance({ seconds: Math.round(ahead_ms / 1000) });
  await clinic.read(clinic.visit('NEXT-YEAR', twin('Ada'), 5));
  await clinic.planNow();
  await clinic.submitNow();
  const desired_completion_date = `12-31-${new Date(clinic.now()).getUTCFullYear()}`;
  const fields = { ...TWINS, desired_completion_date, patient_name: 'Ada Example', external_id: 'MOVED' };
  const asked = await clinic.service.createBeside(fields);
  await clinic.service.advance({ seconds: 60 });
  clinic.submit.sweeps.sweeps.clear();
  await clinic.read(clinic.visit('MOVED', twin('Ada'), 6), clinic.visit('THIS-YEAR', twin('Ada'), 1));
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.inquiries()).map(({ external_id, service_id }) => [external_id, service_id]).at(-1)).toEqual([
    'MOVED',
    asked,
  ]);
  expect(await clinic.service.ledger()).toHaveLength(2);
});
