/** The service no longer knows a call, and its list shows another one of the same inquiry. */
import { expect, test } from 'vitest';
import { HOUR_MS } from '../../../src/domain/time.ts';
import { retry, withdraw } from '../../../src/store/bookkeeping/operator.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, reconcile, send } from '../installation.ts';
import {
  about,
  advance,
  callsBringNothing,
  callTwice,
  duplicates,
  forgetCall,
  haltsOf,
  hideCalls,
  labelsOf,
  lookUp,
  loseCreates,
  twin,
  withhold,
  withholdTimes,
} from './lost-calls.ts';

const INQUIRY = { kind: 'inquiry', id: 1 } as const;

/** The inquiry has an ID that the service forgets, and a call that the list does not show yet. */
async function forgetSecondCall() {
  const clinic = await install();
  const { show } = await callTwice(clinic);
  const { read } = clinic.client;
  clinic.client.read = async () => ({ ok: true, value: null });
  for (let hour = 0; hour < 6; hour += 1) await passHour(clinic, clinic.collectAll);
  expect(await clinic.attention()).toEqual(['lost_at_service']);
  clinic.client.read = read;
  return { clinic, show };
}

async function passHour(clinic: Installation, work: () => Promise<unknown>): Promise<void> {
  clinic.pass(HOUR_MS);
  await clinic.service.advance({ hours: 1 });
  await work();
}

const states = async (clinic: Installation) => (await clinic.inquiries()).map(({ state }) => state);

test.each([
  ['the reconciliation', reconcile],
  ['a lookup', lookUp],
] as const)(
  'after "eligd retry", %s finds the call that the service still has',
  async (_, find) => {
    const { clinic, show } = await forgetSecondCall();
    const forgotten = (await clinic.inquiries())[0]?.service_id;
    await clinic.store.write((tx) => retry(tx, INQUIRY, clinic.now()));
    expect(await states(clinic)).toEqual(['uncertain']);
    await show(0);
    await find(clinic);
    expect(await states(clinic)).toEqual(['open']);
    // The office must ask for its money back if the service lists the other one again.
    await show(1);
    await reconcile(clinic);
    expect(await duplicates(clinic)).toEqual([forgotten]);
    expect(await clinic.attention()).toEqual(['duplicate_call']);
  },
);

test('a visit that is needed again after its call was forgotten gets the other call', async () => {
  const { clinic, show } = await forgetSecondCall();
  await clinic.store.write((tx) => withdraw(tx, INQUIRY, clinic.now()));
  await clinic.read(clinic.visit('A-1', {}, 4));
  await clinic.planNow();
  expect(await states(clinic)).toEqual(['uncertain']);
  await show(0);
  await lookUp(clinic);
  expect(await states(clinic)).toEqual(['open']);
});

test('no other attempt follows while the forgotten call may still be made (G1)', async () => {
  const { clinic, show } = await forgetSecondCall();
  await clinic.store.write((tx) => retry(tx, INQUIRY, clinic.now()));
  await show(0);
  await lookUp(clinic);
  callsBringNothing(clinic);
  await clinic.collectAll();
  expect(await clinic.attention()).toEqual(['unsuccessful']);
  for (let hour = 0; hour < 6; hour += 1) await passHour(clinic, clinic.submitNow);
  expect(await clinic.service.ledger()).toHaveLength(2);
});

test('calls of other patients are sent meanwhile (G7)', async () => {
  const { clinic, show } = await forgetSecondCall();
  await clinic.store.write((tx) => retry(tx, INQUIRY, clinic.now()));
  await show(0);
  const patient = { id: 'P-9', first_name: 'Zoe', last_name: 'Example', birth_date: '2018-01-02' };
  await clinic.read(clinic.visit('B-1', { patient }));
  await clinic.planNow();
  for (let hour = 0; hour < 6; hour += 1) await passHour(clinic, clinic.submitNow);
  const ledger = await clinic.service.ledger();
  expect(ledger.map(({ external_id }) => external_id)).toEqual(['A-1', 'A-1', 'B-1']);
});

test('a lost call is found although a withdrawn one of another record looks like it', async () => {
  const clinic = await install();
  await clinic.submitNow();
  const coverages = [aCoverage({ member_id: 'W9' })];
  await send(clinic, clinic.visit('A-0', { ...twin('Cy'), coverages }));
  await clinic.collectAll();
  const { create } = clinic.client;
  clinic.client.create = async () => {
    clinic.client.create = create;
    const failure = { cause: 'no_id', status: 200, accepted: true, retry_after_ms: null };
    return { ok: false, failure: { class: 'ambiguous', ...failure } } as never;
  };
  const visit = (record: string) =>
    clinic.visit('A-1', { patient: { ...twin('Ada').patient, id: record } }, 4);
  await send(clinic, visit('P-1'));
  await lookUp(clinic);
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 2 }, clinic.now()));
  await loseCreates(clinic, 1);
  await send(clinic, visit('P-2'));
  for (let hour = 0; hour < 3; hour += 1) await lookUp(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-0', 'A-1']);
  expect((await states(clinic)).at(-1)).toBe('open');
});

test('a withdrawn call that is listed at last serves the patient’s other record (G1)', async () => {
  const clinic = await install();
  await clinic.submitNow();
  const { create } = clinic.client;
  clinic.client.create = async (...given) => {
    clinic.client.create = create;
    await create(...given);
    const failure = { cause: 'no_id', status: 200, accepted: true, retry_after_ms: null };
    return { ok: false, failure: { class: 'ambiguous', ...failure } } as never;
  };
  const { show } = hideCalls(clinic);
  const visit = (id: string, record: string) =>
    clinic.visit(id, { patient: { ...twin('Ada').patient, id: record } }, 4);
  await send(clinic, visit('A-1', 'P-1'));
  await lookUp(clinic);
  expect(await clinic.attention()).toEqual(['undecidable']);
  await clinic.store.write((tx) => withdraw(tx, INQUIRY, clinic.now()));
  await show(0);
  await send(clinic, visit('A-2', 'P-2'));
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(await states(clinic)).toEqual(['withdrawn', 'open']);
});

test('after "eligd retry", a forgotten call that the list shows again serves (G1)', async () => {
  const { clinic, show } = await forgetSecondCall();
  const forgotten = (await clinic.inquiries())[0]?.service_id;
  await clinic.store.write((tx) => retry(tx, INQUIRY, clinic.now()));
  await show(1);
  await lookUp(clinic);
  expect(await clinic.inquiries()).toMatchObject([{ state: 'open', service_id: forgotten }]);
});

test('the other call serves if the list shows it before the visit is needed again', async () => {
  const { clinic, show } = await forgetSecondCall();
  await clinic.store.write((tx) => withdraw(tx, INQUIRY, clinic.now()));
  await show(0);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
  await clinic.read(clinic.visit('A-1', {}, 4));
  await clinic.planNow();
  await lookUp(clinic);
  expect(await states(clinic)).toEqual(['open']);
  expect(await clinic.attention()).toEqual([]);
});

test('without "eligd retry", another listed call of the inquiry is a duplicate', async () => {
  const { clinic, show } = await forgetSecondCall();
  await show(0);
  await reconcile(clinic);
  expect(await states(clinic)).toEqual(['undecidable']);
  expect(await duplicates(clinic)).toHaveLength(1);
});

test.each(['with', 'without'])(
  'a call listed under another ID and without its label stops nothing (%s times)',
  async (times) => {
    const clinic = await install();
    clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
    await send(clinic, clinic.visit('B-1', about('W9')));
    await advance(clinic, HOUR_MS);
    await send(clinic, clinic.visit('A-1'));
    const { list } = clinic.client;
    await forgetCall(clinic, 'A-1');
    const forgotten = (await clinic.service.ledger())[1]?.id;
    clinic.client.list = async (...given) => {
      const result = await list(...given);
      if (!result.ok) return result;
      const inquiries = result.value.inquiries.map((each) =>
        each.id === forgotten ? { ...each, id: 'ANOTHER' as typeof each.id } : each,
      );
      return { ok: true, value: { ...result.value, inquiries } };
    };
    withhold(clinic, 'external_id');
    if (times === 'without') withholdTimes(clinic);
    await reconcile(clinic);
    expect(await haltsOf(clinic)).toEqual([]);
    expect(await clinic.attention()).toEqual(['lost_at_service']);
  },
);
