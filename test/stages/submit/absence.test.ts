import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { newSubmitMemory } from '../../../src/stages/submit/index.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { retry } from '../../../src/store/bookkeeping/operator.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, reconcile, SETTLE_MS, send } from '../installation.ts';
import { CUT_OFF, cutLists, failLabels, watchLabels } from './cut-lists.ts';
import {
  anOldCall,
  hideCalls,
  labelsOf,
  lookUp,
  loseAndHide,
  loseCreates,
  twin,
  withhold,
} from './lost-calls.ts';

/** The operator retries the second inquiry. */
const retryNow = (clinic: Installation) =>
  clinic.store.write((tx) => retry(tx, { kind: 'inquiry', id: 2 }, clinic.now()));

test('a lost call that the operator retries at once is not made again (G1)', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  await send(clinic, clinic.visit('A-1'));
  const [{ id } = { id: 0 }] = await clinic.inquiries();
  for (let tries = 0; tries < 3; tries += 1) {
    clinic.pass(1_000);
    const now = clinic.now();
    await clinic.store.write((tx) => retry(tx, { kind: 'inquiry', id }, now));
    await clinic.submitNow();
    await clinic.submitNow();
  }
  expect(await clinic.service.ledger()).toHaveLength(1);
  clinic.pass(1.5 * SETTLE_MS);
  await clinic.submitNow();
  await show(0);
  clinic.pass(SETTLE_MS + 1);
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toHaveLength(1);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open']);
});

test('a call whose ID proved wrong may be listed as late as any other', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-1'));
  const [first] = await clinic.service.ledger();
  const { show } = hideCalls(clinic);
  await show(0);
  const { create, read } = clinic.client;
  clinic.client.create = async (...call) => {
    const result = await create(...call);
    return result.ok ? { ok: true, value: { inquiry_id: 'other' as never } } : result;
  };
  clinic.client.read = async (specialty, id, ...rest) =>
    await read(specialty, id === 'other' ? (first!.id as never) : id, ...rest);
  await send(clinic, clinic.visit('A-2', { coverages: [aCoverage({ member_id: 'W2' })] }));
  clinic.pass(2 * MINUTE_MS);
  await clinic.collectAll();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open', 'uncertain']);
  await clinic.submitNow();
  clinic.pass(SETTLE_MS + 1);
  await clinic.submitNow();
  await show(1);
  clinic.pass(SETTLE_MS + 1);
  await clinic.submitNow();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open', 'open']);
  expect(await clinic.attention()).toEqual([]);
});

test.each(['A-1', 'a-1'])(
  'a lost call whose listed request cannot be read is not made again (label %s, G1)',
  async (label) => {
    const clinic = await install();
    await send(clinic, clinic.visit('A-0'));
    await loseCreates(clinic, 1);
    withhold(clinic, 'dob');
    await send(clinic, clinic.visit(label, twin('Ada')));
    for (let round = 0; round < 5; round += 1) await lookUp(clinic);
    expect(await labelsOf(clinic)).toEqual(['A-0', label]);
  },
);

test('a lost call that was unreadable when first listed is found once readable (G1)', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-0'));
  await loseCreates(clinic, 1);
  const withheld = withhold(clinic, 'dob');
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await reconcile(clinic);
  withheld.on = false;
  await lookUp(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-0', 'A-1']);
});

test.each([[['external_id']], [['external_id', 'patient_name']], [['external_id', 'dob']]])(
  'a lost call that was first listed without %s is found once the list shows it all (G1)',
  async (fields) => {
    const clinic = await install();
    await send(clinic, clinic.visit('A-0'));
    await loseCreates(clinic, 1);
    const withheld = withhold(clinic, ...fields);
    withheld.not_of = (await clinic.service.ledger())[0]!.id;
    clinic.submit.settings.is_shared_account = true;
    await send(clinic, clinic.visit('A-1', twin('Ada')));
    await reconcile(clinic);
    withheld.on = false;
    await lookUp(clinic);
    expect(await labelsOf(clinic)).toEqual(['A-0', 'A-1']);
    expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open', 'open']);
  },
);

test('an unreadable call from before the request does not keep the row uncertain', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-0'));
  await anOldCall(clinic, 'A-1');
  withhold(clinic, 'dob');
  clinic.submit.settings.is_shared_account = true;
  await reconcile(clinic);
  clinic.pass(400 * DAY_MS);
  await clinic.service.advance({ seconds: 400 * 86_400 });
  await loseCreates(clinic, 1, 'before');
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  for (let day = 0; day < 15; day += 1) {
    clinic.pass(DAY_MS);
    await clinic.submitNow();
  }
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open', 'open']);
});

test('retry of an undecidable row looks up soon after the clock was set back', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-0'));
  clinic.pass(30 * DAY_MS);
  const { create } = clinic.client;
  clinic.client.create = async (...call) => {
    await create(...call);
    return {
      ok: false,
      failure: { class: 'ambiguous', cause: 'no_id', status: 200, accepted: true },
    } as never;
  };
  await hideCalls(clinic).show(0);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await lookUp(clinic);
  expect((await clinic.inquiries())[1]?.state).toBe('undecidable');
  clinic.pass(-30 * DAY_MS);
  await clinic.submitNow();
  await retryNow(clinic);
  for (let hour = 0; hour < 24; hour += 1) {
    await clinic.submitNow();
    clinic.pass(HOUR_MS);
  }
  expect(await clinic.attention()).toEqual(['undecidable']);
  expect(await labelsOf(clinic)).toEqual(['A-0', 'A-1']);
});

test('a retry before the start does not keep a due time that lies a month ahead', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-0'));
  clinic.pass(30 * DAY_MS);
  const { show } = await loseAndHide(clinic, 1);
  await show(0);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  clinic.pass(-30 * DAY_MS);
  await retryNow(clinic);
  clinic.submit.memory = newSubmitMemory();
  clinic.submit.clockSkew = () => null;
  await clinic.submitNow();
  const [, row] = await clinic.inquiries();
  expect((row?.lookup_at ?? 0) - clinic.now()).toBeLessThan(HOUR_MS);
});

test('an unreadable listed call without a label is no proof of absence (G1)', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-0'));
  await loseCreates(clinic, 1);
  const withheld = withhold(clinic, 'dob', 'external_id');
  withheld.not_of = (await clinic.service.ledger())[0]!.id;
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await lookUp(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-0', 'A-1']);
});

/** The service no longer knows any call. */
async function forgetCalls({ client, pass, collectAll }: Installation): Promise<void> {
  client.read = async () => ({ ok: true, value: null });
  for (let hour = 0; hour < 6; hour += 1) {
    pass(HOUR_MS);
    await collectAll();
  }
}

const lost = async ({ store }: Installation) =>
  (await openAttention(store.db)).map(({ reason, source_id }) => [reason, source_id]);

test('a call lost while every visit was canceled is an entry of the next visit only', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await clinic.read({ ...clinic.visit('A-1', twin('Ada')), status: 'cancelled' });
  await clinic.planNow();
  await forgetCalls(clinic);
  expect(await lost(clinic)).toEqual([]);
  await send(clinic, clinic.visit('A-2', twin('Ada'), 2));
  expect(await lost(clinic)).toEqual([['lost_at_service', 'A-2']]);
});

test('the entry about a lost call ends with its canceled visit and returns with it', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await forgetCalls(clinic);
  expect(await lost(clinic)).toEqual([['lost_at_service', 'A-1']]);
  await send(clinic, { ...clinic.visit('A-1', twin('Ada')), status: 'cancelled' });
  expect(await lost(clinic)).toEqual([]);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await lost(clinic)).toEqual([['lost_at_service', 'A-1']]);
});

test('of two visits, a past one keeps the entry although the other is canceled (G2)', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-1', twin('Ada')), clinic.visit('A-2', twin('Ada'), 4));
  await forgetCalls(clinic);
  await send(clinic, { ...clinic.visit('A-1', twin('Ada'), -1), status: 'completed' });
  await send(clinic, { ...clinic.visit('A-2', twin('Ada'), 4), status: 'cancelled' });
  expect(await clinic.attention()).toEqual(['lost_at_service']);
});

async function hoursPass(clinic: Installation, hours: number): Promise<void> {
  for (let half_hour = 0; half_hour < 2 * hours; half_hour += 1) {
    clinic.pass(HOUR_MS / 2);
    await clinic.submitNow();
  }
}

test('a call that no list shows is looked up six times a day, and found within hours', async () => {
  const clinic = await install();
  const { list } = clinic.client;
  const { show } = await loseAndHide(clinic, 1);
  cutLists(clinic, [], CUT_OFF);
  const queried = watchLabels(clinic);
  await send(clinic, clinic.visit('A-1'));
  await hoursPass(clinic, 2 * 24);
  expect(await clinic.attention()).toEqual(['unconfirmed']);
  queried.length = 0;
  clinic.events.length = 0;
  await hoursPass(clinic, 5 * 24);
  expect(queried.length).toBeGreaterThanOrEqual(5 * 5);
  expect(queried.length).toBeLessThanOrEqual(5 * 6);
  expect(clinic.events.filter((event) => event === 'lookup_inconclusive')).toHaveLength(
    queried.length,
  );
  clinic.client.list = list;
  await show(0);
  await hoursPass(clinic, 4.5);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open']);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a call whose list fails for days is found within an hour after the outage', async () => {
  const clinic = await install();
  const { list } = clinic.client;
  await loseCreates(clinic, 1);
  await send(clinic, clinic.visit('A-1'));
  failLabels(clinic, ['A-1'], 503);
  await hoursPass(clinic, 2 * 24);
  expect(await clinic.attention()).toContain('unconfirmed');
  clinic.client.list = list;
  await hoursPass(clinic, 1.5);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open']);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});
