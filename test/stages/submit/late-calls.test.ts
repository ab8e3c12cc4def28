/** Calls that two lookups did not find, and that the service lists too late. */
import { describe, expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { demandReconciliation, newSubmitMemory } from '../../../src/stages/submit/index.ts';
import { openAttention, resolveAttention } from '../../../src/store/bookkeeping/attention.ts';
import { inquirySubject } from '../../../src/store/bookkeeping/audit.ts';
import { explainDatabase } from '../../../src/store/bookkeeping/new-database.ts';
import { retry, withdraw } from '../../../src/store/bookkeeping/operator.ts';
import { aCoverage } from '../../domain/examples.ts';
import { connector, type Installation, install, reconcile, send } from '../installation.ts';
import {
  about,
  acceptAndHide,
  acceptUnlisted,
  callsBringNothing,
  callsEnd,
  callTwice,
  callTwiceForNothing,
  duplicates,
  firstBody,
  goToYearsEnd,
  hideCalls,
  labelsOf,
  lookUp,
  loseAndHide,
  loseCreates,
  refuseCreates,
  TWINS,
  twin,
  withhold,
} from './lost-calls.ts';
import { finish, visit } from './merges.ts';

const SAME = { coverages: [aCoverage({ member_id: 'W1' })] };

test('a call listed late under a former label is reported as ours', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  const first = clinic.visit('A-1', SAME);
  await send(clinic, first, clinic.visit('A-2', SAME, 4));
  await clinic.read({ ...first, status: 'cancelled' });
  await clinic.planNow();
  await clinic.read(clinic.visit('A-2', SAME, 5));
  await clinic.service.advance({ seconds: 60 });
  await lookUp(clinic);
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.service.ledger()).map(({ external_id }) => external_id)).toEqual([
    'A-1',
    'A-2',
  ]);
  await show(1);
  await show(0);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
});

test.each([
  ['its reply said so', 1],
  ['a list showed it', 2],
])(
  'a first call is reported although its second one was lost and withdrawn (%s)',
  async (_, lost) => {
    const clinic = await install();
    const { show } = await loseAndHide(clinic, lost);
    await send(clinic, clinic.visit('A-1'));
    // More than ten minutes are between both, so the first one cannot be taken for the second.
    clinic.pass(3 * MINUTE_MS);
    await clinic.service.advance({ seconds: 4 * 60 });
    await lookUp(clinic);
    await show(1);
    await lookUp(clinic);
    const { read } = clinic.client;
    clinic.client.read = async () => ({ ok: true, value: null }) as never;
    for (let hour = 0; hour < 6; hour += 1) {
      clinic.pass(HOUR_MS);
      await clinic.collectAll();
    }
    expect(await clinic.attention()).toEqual(['lost_at_service']);
    clinic.client.read = read;
    await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
    await show(0);
    await reconcile(clinic);
    expect(await clinic.service.ledger()).toHaveLength(2);
    expect(await clinic.attention()).toEqual(['duplicate_call']);
  },
);

test('a first call is reported although its withdrawn second one has no ID', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  await send(clinic, clinic.visit('A-1'));
  clinic.pass(3 * MINUTE_MS);
  await clinic.service.advance({ seconds: 4 * 60 });
  await acceptUnlisted(clinic, () => lookUp(clinic));
  expect(await clinic.attention()).toEqual(['undecidable']);
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  await show(0);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
});

test('a call that is listed before its successor can be sent serves (G1)', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  await send(clinic, clinic.visit('A-1'));
  // After both lookups, the service cannot be reached for a moment.
  const refused = refuseCreates(clinic, 1);
  await lookUp(clinic);
  expect(refused.tries).toBe(1);
  await show(0);
  clinic.pass(HOUR_MS);
  await clinic.service.advance({ hours: 1 });
  await clinic.submitNow();
  const ledger = await clinic.service.ledger();
  expect(ledger.map(({ external_id }) => external_id)).toEqual(['A-1']);
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).toEqual([ledger[0]?.id]);
});

test('a call that is listed late serves, also if its visit is canceled after that', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  const visit = clinic.visit('A-1');
  await send(clinic, visit);
  clinic.submit.settings.is_observing = true;
  await lookUp(clinic);
  await show(0);
  await reconcile(clinic);
  await clinic.read({ ...visit, status: 'cancelled' });
  await clinic.planNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  const [call] = await clinic.service.ledger();
  expect(await clinic.inquiries()).toMatchObject([{ state: 'open', service_id: call?.id }]);
});

test.each([
  ['on hold', { hold_reason: 'operator' }, []],
  ['damaged', { draft: '{' }, ['inquiry_unreadable']],
])('a call that is listed late serves an inquiry that is %s', async (_, set, told) => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  await send(clinic, clinic.visit('A-1'));
  clinic.submit.settings.is_observing = true;
  await lookUp(clinic);
  await clinic.planNow();
  await clinic.store.db.updateTable('inquiries').set(set).execute();
  clinic.submit.settings.is_observing = false;
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual(told);
  await show(0);
  await reconcile(clinic);
  expect(await clinic.inquiries()).toMatchObject([{ state: 'open', hold_reason: null }]);
  expect(await clinic.attention()).toEqual([]);
});

test('an absent call of another record that is listed at last serves (G1)', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  const patient = { ...twin('Ada').patient, id: 'RECORD-1' };
  const first = clinic.visit('a-1', { ...SAME, patient });
  await send(clinic, first);
  refuseCreates(clinic, 1);
  await lookUp(clinic);
  await clinic.read({ ...first, status: 'cancelled' });
  await clinic.planNow();
  await show(0);
  const other = { ...SAME, patient: { ...patient, id: 'RECORD-2' } };
  await send(clinic, clinic.visit('b-1', other, 5));
  expect(await labelsOf(clinic)).toEqual(['a-1']);
});

test('a call listed under an old label during its successor’s lookup serves', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 2);
  const first = clinic.visit('A-1', SAME);
  await send(clinic, first, clinic.visit('A-2', SAME, 4));
  await clinic.read({ ...first, status: 'cancelled' });
  await clinic.planNow();
  await clinic.read(clinic.visit('A-2', SAME, 5));
  await clinic.service.advance({ seconds: 60 });
  await lookUp(clinic);
  await clinic.planNow();
  await clinic.submitNow();
  const [late, second] = await clinic.service.ledger();
  await show(0);
  await reconcile(clinic);
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).toEqual([late?.id]);
  expect(await clinic.attention()).toEqual([]);
  await show(1);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
  expect(await duplicates(clinic)).toEqual([second?.id]);
});

test('of two unlisted calls, the second is reported once the first is adopted', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 2);
  await send(clinic, clinic.visit('A-1'));
  await clinic.service.advance({ hours: 1 });
  clinic.pass(HOUR_MS);
  await lookUp(clinic);
  await clinic.read(clinic.visit('A-1', {}, 5));
  await lookUp(clinic);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['planned']);
  await show(0);
  demandReconciliation(clinic.submit);
  await clinic.planNow();
  await clinic.submitNow();
  await show(1);
  await reconcile(clinic);
  const [first, second] = (await clinic.service.ledger()).map(({ id }) => id);
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).toEqual([first]);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
  expect(await duplicates(clinic)).toEqual([second]);
});

test('a lost database’s call that is listed late does not mean a second installation', async () => {
  const clinic = await install();
  const { show } = hideCalls(clinic);
  await clinic.service.createBeside({
    ...TWINS,
    member_id: 'W77',
    patient_name: 'Ben Example',
    external_id: 'B-1',
  });
  await clinic.service.advance({ hours: 1 });
  clinic.pass(HOUR_MS);
  await send(clinic, clinic.visit('A-1'));
  await show(0);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual([]);
  await clinic.service.advance({ hours: 1 });
  clinic.pass(HOUR_MS);
  await clinic.service.createBeside({
    ...TWINS,
    member_id: 'W88',
    patient_name: 'Ben Example',
    external_id: 'B-2',
  });
  await show(2);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(['submission_stopped']);
});

test('a duplicate call serves as the next attempt, because it is paid for (G1)', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 2);
  await send(clinic, clinic.visit('A-1'));
  await clinic.service.advance({ seconds: 60 });
  await lookUp(clinic);
  const calls = (await clinic.service.ledger()).map(({ id }) => id);
  await show(0);
  await show(1);
  await lookUp(clinic);
  callsBringNothing(clinic);
  await clinic.collectAll();
  clinic.pass(2 * HOUR_MS);
  await clinic.submitNow();
  expect((await clinic.inquiries()).map(({ service_id }) => service_id).toSorted()).toEqual(
    calls.toSorted(),
  );
  expect(await clinic.service.ledger()).toHaveLength(2);
});

test('of two calls listed after nothing needs them, eligd reports both', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 2);
  const visit = clinic.visit('A-1');
  await send(clinic, visit);
  await clinic.service.advance({ seconds: 60 });
  await lookUp(clinic);
  expect(await clinic.service.ledger()).toHaveLength(2);
  await clinic.read({ ...visit, status: 'cancelled' });
  await clinic.planNow();
  await lookUp(clinic);
  await clinic.planNow();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['withdrawn']);
  await show(0);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
  await clinic.store.write((tx) => resolveAttention(tx, inquirySubject(1), clinic.now()));
  await show(1);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
});

test('a duplicate call whose request arrives late is reported as ours', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  await send(clinic, clinic.visit('A-1'));
  await clinic.service.advance({ hours: 1 });
  clinic.pass(HOUR_MS);
  await loseCreates(clinic, 1, 'before');
  await lookUp(clinic);
  await show(0);
  await lookUp(clinic);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open']);
  // Eleven minutes after it was sent: `lookUp` has let ten minutes pass.
  await clinic.service.advance({ seconds: 60 });
  await clinic.service.createBeside(await firstBody(clinic));
  await show(1);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
});

test('a duplicate call is reported with the right one of several inquiries', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 2);
  const visit = clinic.visit('A-1', { coverages: [aCoverage({ payor_id: '11111' })] });
  await send(clinic, visit);
  await clinic.read({ ...visit, coverages: [aCoverage({ payor_id: '22222' })] });
  await lookUp(clinic);
  await clinic.planNow();
  clinic.pass(2 * MINUTE_MS);
  await clinic.planNow();
  await clinic.submitNow();
  await lookUp(clinic);
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['withdrawn', 'open']);
  await show(2);
  await show(1);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
});

test('a duplicate call made while this machine’s clock was days behind is reported', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 2);
  clinic.submit.clockSkew = () => -2 * DAY_MS;
  await clinic.service.advance({ days: 2 });
  await send(clinic, clinic.visit('A-1'));
  clinic.pass(HOUR_MS);
  await clinic.service.advance({ hours: 1 });
  await lookUp(clinic);
  expect(await clinic.service.ledger()).toHaveLength(2);
  clinic.pass(2 * DAY_MS);
  clinic.submit.clockSkew = () => 0;
  await show(0);
  await lookUp(clinic);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open']);
  await show(1);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
});

test('a lost database’s call serves, and the one with a lost reply stays ours', async () => {
  const clinic = await install();
  const { show } = hideCalls(clinic);
  const visit = clinic.visit('A-1', twin('Ada'));
  await clinic.service.createBeside({
    ...TWINS,
    patient_name: 'Ada Example',
    external_id: 'A-1',
  });
  await clinic.service.advance({ hours: 2 });
  clinic.pass(2 * HOUR_MS);
  await loseCreates(clinic, 1);
  await send(clinic, visit);
  callsBringNothing(clinic);
  await show(0);
  await lookUp(clinic);
  const [first, second] = (await clinic.service.ledger()).map(({ id }) => id);
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).toEqual([first]);
  clinic.pass(20 * MINUTE_MS);
  await reconcile(clinic);
  await show(1);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
  expect(await duplicates(clinic)).toEqual([second]);
});

test('the entry about two duplicate calls ends when both serve as attempts', async () => {
  const attempts = 3;
  const clinic = await install({ collecting: { attempts }, policy: { attempts } });
  const { show } = await callTwice(clinic, 2);
  await lookUp(clinic);
  // The entry names the older one, which was listed last and serves first.
  for (const call of [1, 0]) {
    await show(call);
    await reconcile(clinic);
  }
  expect(await clinic.attention()).toEqual(['duplicate_call']);
  callsBringNothing(clinic);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    await clinic.collectAll();
    clinic.pass(5 * HOUR_MS);
    await clinic.service.advance({ hours: 5 });
    await clinic.submitNow();
  }
  expect(await clinic.service.ledger()).toHaveLength(attempts);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(
    Array(attempts).fill('answered'),
  );
  expect(await clinic.attention()).not.toContain('duplicate_call');
});

test('eligd tells a lost reply’s call from the failed attempt before it', async () => {
  const clinic = await install();
  const { show } = await callTwiceForNothing(clinic, 3);
  await clinic.service.advance({ hours: 2 });
  clinic.pass(2 * HOUR_MS);
  await clinic.submitNow();
  const [first, late, third] = (await clinic.service.ledger()).map(({ id }) => id);
  await show(1);
  await show(2);
  await lookUp(clinic);
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).toEqual([first, third]);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
  expect(await duplicates(clinic)).toEqual([late]);
});

test('a lost database’s unsuccessful call counts, and the next attempt follows (G1)', async () => {
  const clinic = await install();
  await clinic.service.createBeside({
    ...TWINS,
    member_id: 'W1',
    patient_name: 'Ada Example',
    external_id: 'A-1',
  });
  await clinic.service.advance({ hours: 2 });
  clinic.pass(2 * HOUR_MS);
  const { show } = await loseAndHide(clinic, 1);
  await send(clinic, clinic.visit('A-1', { ...SAME, ...twin('Ada') }));
  callsBringNothing(clinic);
  await show(0);
  await show(1);
  await lookUp(clinic);
  await reconcile(clinic);
  await clinic.collectAll();
  clinic.pass(2 * HOUR_MS);
  await clinic.submitNow();
  const calls = (await clinic.service.ledger()).map(({ id }) => id);
  expect((await clinic.inquiries()).map(({ service_id }) => service_id).toSorted()).toEqual(
    calls.toSorted(),
  );
  expect(calls).toHaveLength(2);
  expect(await clinic.attention()).toEqual([]);
});

test('of two duplicate calls that are listed at once, one serves, one is reported', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 2);
  await send(clinic, clinic.visit('A-1'));
  await clinic.service.advance({ hours: 1 });
  clinic.pass(HOUR_MS);
  await lookUp(clinic);
  await clinic.read(clinic.visit('A-1', {}, 5));
  await lookUp(clinic);
  await show(0);
  await show(1);
  demandReconciliation(clinic.submit);
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open']);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
});

test('a duplicate that serves leaves the list, and a canceled one never serves', async () => {
  for (const status of ['UNSUCCESSFUL', 'CANCELLED']) {
    const clinic = await install();
    const { show } = await loseAndHide(clinic, 2);
    await clinic.read(clinic.visit('A-1'));
    await clinic.planNow();
    await clinic.submitNow();
    await clinic.service.advance({ seconds: 60 });
    await lookUp(clinic);
    await show(0);
    await show(1);
    await lookUp(clinic);
    const first = (await clinic.inquiries())[0]?.service_id;
    const [second] = await duplicates(clinic);
    callsEnd(clinic, ({ id }) =>
      id === second ? status : id === first ? 'UNSUCCESSFUL' : 'SCHEDULED',
    );
    demandReconciliation(clinic.submit);
    await clinic.submitNow();
    await clinic.collectAll();
    clinic.pass(2 * HOUR_MS);
    await clinic.submitNow();
    const is_served = status === 'UNSUCCESSFUL';
    expect((await clinic.inquiries())[1]?.service_id === second).toBe(is_served);
    expect((await clinic.attention()).includes('duplicate_call')).toBe(!is_served);
  }
});

test('a twin’s call that is listed late is not an attempt for the other twin (G1)', async () => {
  const clinic = await install();
  const { show } = hideCalls(clinic);
  const ben = await clinic.service.createBeside({
    ...TWINS,
    patient_name: 'Ben Example',
    external_id: 'A-1',
  });
  await clinic.service.advance({ seconds: 60 });
  await loseCreates(clinic, 1, 'before');
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await lookUp(clinic);
  await clinic.submitNow();
  await show(1);
  await show(0);
  await reconcile(clinic);
  callsBringNothing(clinic);
  await clinic.collectAll();
  clinic.pass(2 * HOUR_MS);
  await clinic.submitNow();
  expect(await clinic.inquiries()).toHaveLength(2);
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).not.toContain(ben);
});

test('a lost reply is not matched with a twin’s call that was listed before (G1)', async () => {
  const clinic = await install();
  const ben = await clinic.service.createBeside({
    ...TWINS,
    patient_name: 'Ben Example',
    external_id: 'A-1',
  });
  await clinic.service.advance({ seconds: 60 });
  await loseCreates(clinic, 1);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await clinic.service.advance({ seconds: 60 });
  await lookUp(clinic);
  const [ada] = await clinic.inquiries();
  expect(ada?.state).toBe('open');
  expect(ada?.service_id).not.toBe(ben);
});

test('a call that another lost reply may explain is not a duplicate call (G1)', async () => {
  const clinic = await install();
  await goToYearsEnd(clinic);
  await loseCreates(clinic, 1, 'before');
  await send(clinic, clinic.visit('A-1', SAME, 1), clinic.visit('A-2', SAME, 1.2));
  await clinic.read(clinic.visit('A-1', SAME, 5));
  await lookUp(clinic);
  await loseCreates(clinic, 2);
  await clinic.planNow();
  clinic.pass(2 * MINUTE_MS);
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.inquiries()).map(({ external_id }) => external_id)).toEqual(['A-2', 'A-1']);
  await clinic.service.advance({ seconds: 150 });
  demandReconciliation(clinic.submit);
  for (let round = 0; round < 3; round += 1) {
    await lookUp(clinic);
    await clinic.planNow();
  }
  expect(await clinic.service.ledger()).toHaveLength(2);
  expect(await clinic.attention()).toEqual([]);
});

test('eligd recognizes a claim’s call although the claim has got its number since', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  const unnumbered = { ...claim(1), date_of_service, claim_number: '' };
  await clinic.readClaims(unnumbered);
  await clinic.planNow();
  await clinic.submitNow();
  await clinic.readClaims({ ...unnumbered, claim_number: 'CN-9' });
  await clinic.planNow();
  await lookUp(clinic);
  await clinic.planNow();
  await clinic.submitNow();
  await show(1);
  await show(0);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
});

test('a duplicate call serves its inquiry after a correction of the first name', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  const named = (first_name: string) =>
    clinic.visit('A-1', {
      patient: { id: 'P', first_name, last_name: 'Example', birth_date: '2018-01-02' },
    });
  await send(clinic, named('Jon'));
  await clinic.read(named('John'));
  await clinic.service.advance({ seconds: 60 });
  await lookUp(clinic);
  await show(0);
  demandReconciliation(clinic.submit);
  await clinic.planNow();
  await clinic.submitNow();
  const ledger = await clinic.service.ledger();
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).toEqual(
    ledger.map(({ id }) => id),
  );
  expect(ledger).toHaveLength(1);
});

test('before another attempt, eligd reads the list for calls proven absent', async () => {
  const clinic = await install();
  const { show } = await callTwiceForNothing(clinic, 2);
  await show(1);
  clinic.pass(2 * HOUR_MS);
  await clinic.submitNow();
  const ledger = await clinic.service.ledger();
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).toEqual(
    ledger.map(({ id }) => id),
  );
  expect(ledger).toHaveLength(2);
});

test('an uncertain, withdrawn inquiry is looked up before it is needed again (G1)', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  await send(clinic, clinic.visit('A-1'));
  await clinic.store.db.updateTable('calls').set({ was_accepted: 1 }).execute();
  await lookUp(clinic);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['undecidable']);
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  await send(clinic, clinic.visit('A-1', {}, 4));
  await show(0);
  await lookUp(clinic);
  const ledger = await clinic.service.ledger();
  expect((await clinic.inquiries()).map(({ state, service_id }) => [state, service_id])).toEqual([
    ['open', ledger[0]?.id],
  ]);
  expect(ledger).toHaveLength(1);
});

test('a claim’s call does not answer another claim of its day that has no number', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  const unnumbered = { ...claim(1), date_of_service, claim_number: '' };
  await clinic.readClaims({ ...unnumbered, source_id: 'C-1' });
  await clinic.planNow();
  await clinic.submitNow();
  await clinic.store.db.updateTable('calls').set({ was_accepted: 1 }).execute();
  await lookUp(clinic);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['undecidable']);
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  await show(0);
  await reconcile(clinic);
  await clinic.readClaims({ ...unnumbered, source_id: 'C-2' });
  await clinic.planNow();
  await clinic.submitNow();
  const calls = (await clinic.service.ledger()).map(({ id, external_id }) => [external_id, id]);
  expect(calls.map(([label]) => label)).toEqual(['C-1', 'C-2']);
  const [, second] = await clinic.inquiries();
  expect([second?.external_id, second?.service_id]).toEqual(calls[1]);
});

test('a claim that gets its number keeps the call that is already out', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  const sent = { ...claim(1), source_id: 'C-1', date_of_service, claim_number: '' };
  await clinic.readClaims(sent);
  await clinic.planNow();
  await clinic.submitNow();
  await clinic.store.db.updateTable('calls').set({ was_accepted: 1 }).execute();
  await lookUp(clinic);
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  await clinic.readClaims({ ...sent, claim_number: '17-0042' });
  await clinic.planNow();
  await show(0);
  await lookUp(clinic);
  const ledger = await clinic.service.ledger();
  expect((await clinic.inquiries()).map(({ state, service_id }) => [state, service_id])).toEqual([
    ['open', ledger[0]?.id],
  ]);
  expect(await clinic.attention()).toEqual([]);
  expect(ledger).toHaveLength(1);
});

test('on the first day, two calls of ours for one question show no older database', async () => {
  const clinic = await install();
  await explainDatabase(clinic.store, [], clinic.now());
  const { show } = await callTwiceForNothing(clinic, 2);
  await clinic.submitNow();
  await show(1);
  await reconcile(clinic);
  clinic.pass(2 * HOUR_MS);
  await send(clinic, clinic.visit('B-1', { coverages: [aCoverage({ member_id: 'W2' })] }));
  expect(await clinic.attention()).not.toContain('submission_stopped');
  const ledger = await clinic.service.ledger();
  expect(ledger.map(({ external_id }) => external_id)).toEqual(['A-1', 'A-1', 'B-1']);
});

describe('a call that seemed absent, was withdrawn, and is listed late', () => {
  async function withdrawn(calls = 1) {
    const clinic = await install();
    const { show } = await loseAndHide(clinic, calls);
    const visit = clinic.visit('A-1', SAME);
    await send(clinic, visit);
    await clinic.service.advance({ seconds: 60 });
    for (let made = 1; made < calls; made += 1) await lookUp(clinic);
    const { create } = clinic.client;
    refuseCreates(clinic, 1);
    await lookUp(clinic);
    clinic.client.create = create;
    expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['planned']);
    await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
    for (let call = 0; call < calls; call += 1) await show(call);
    await reconcile(clinic);
    return { clinic, visit };
  }
  const done = (clinic: Installation) =>
    clinic.store.write((tx) =>
      resolveAttention(tx, inquirySubject(1), clinic.now(), ['duplicate_call']),
    );

  test('is reported once: it costs money', async () => {
    const { clinic } = await withdrawn();
    expect(await clinic.attention()).toEqual(['duplicate_call']);
    await done(clinic);
    await reconcile(clinic);
    expect(await clinic.attention()).toEqual([]);
  });

  test('serves if the visit needs it after all, and is not reported any longer (G1)', async () => {
    const { clinic } = await withdrawn();
    await clinic.read(clinic.visit('A-1', SAME, 4));
    await clinic.planNow();
    await clinic.submitNow();
    expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open']);
    expect(await clinic.service.ledger()).toHaveLength(1);
    expect(await clinic.attention()).toEqual([]);
  });

  test('serves its visit while a twin’s nearer visit is called about (G1, G7)', async () => {
    const { clinic, visit } = await withdrawn();
    const patient = { ...visit.patient, id: 'TWIN', first_name: 'Ben' };
    await send(clinic, clinic.visit('A-1', SAME, 5), clinic.visit('B-1', { ...SAME, patient }, 4));
    expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open', 'open']);
    expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
    expect(await clinic.attention()).toEqual([]);
  });

  test('serves another record’s inquiry that was withdrawn, too, and its entry ends', async () => {
    const clinic = await install();
    const { show } = await loseAndHide(clinic, 1);
    const visit = clinic.visit('A-1', SAME);
    const other = { ...SAME, patient: { ...visit.patient, id: 'OTHER' } };
    for (const each of [visit, clinic.visit('A-1', other, 4)]) {
      await send(clinic, each);
      clinic.pass(3 * MINUTE_MS);
      await clinic.service.advance({ seconds: 4 * 60 });
      const { create } = clinic.client;
      refuseCreates(clinic, 1);
      await lookUp(clinic);
      clinic.client.create = create;
      const id = (await clinic.inquiries()).length;
      await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id }, clinic.now()));
      await loseCreates(clinic, 1, 'before');
    }
    await show(0);
    await reconcile(clinic);
    expect(await clinic.attention()).toEqual(['duplicate_call']);
    await send(clinic, clinic.visit('A-1', other, 5));
    expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['withdrawn', 'open']);
    expect(await clinic.attention()).toEqual([]);
  });

  test.each([
    ['is not reported any longer', 1, []],
    ['a second such call still is', 2, ['duplicate_call']],
  ])('serves a visit of another record, and %s (G1)', async (_, calls, attention) => {
    const { clinic, visit } = await withdrawn(calls);
    const patient = { ...visit.patient, id: 'OTHER' };
    await send(clinic, clinic.visit('A-2', { ...SAME, patient }, 4));
    expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['withdrawn', 'open']);
    expect(await clinic.service.ledger()).toHaveLength(calls);
    expect(await clinic.attention()).toEqual(attention);
  });
});

test('a duplicate call is reported once the list shows its whole request', async () => {
  const clinic = await install();
  const hidden = await callTwice(clinic);
  const withheld = withhold(clinic, 'member_id');
  await hidden.show(0);
  await hidden.show(1);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual([]);
  withheld.on = false;
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
});

test('a call that is listed after its successor was refused serves (G1)', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  await send(clinic, clinic.visit('A-1'));
  const { create } = clinic.client;
  clinic.client.create = async () =>
    ({ ok: false, failure: { class: 'refused', status: 422, errors: [] } }) as never;
  await lookUp(clinic);
  clinic.client.create = create;
  expect(await clinic.attention()).toEqual(['refused']);
  await show(0);
  await reconcile(clinic);
  const entries = await openAttention(clinic.store.db);
  expect(entries.map(({ what }) => what)).toContainEqual(
    expect.stringContaining('Nothing needs the call now.'),
  );
  await clinic.store.write((tx) => retry(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(await clinic.inquiries()).toMatchObject([{ state: 'open' }]);
});

test.each(['external_id', 'ignored', 'refused'])(
  'two calls that are listed late are not made again (list_filter: %s)',
  async (list_filter) => {
    const clinic = await install();
    await clinic.service.behave({ list_filter, list_paging: 'limit_offset', list_page_size: 10 });
    const { show } = await loseAndHide(clinic, 2);
    await send(clinic, clinic.visit('A-1', about('W1')), clinic.visit('A-2', about('W2')));
    refuseCreates(clinic, 2);
    await lookUp(clinic);
    await show(0);
    await show(1);
    clinic.pass(HOUR_MS);
    await clinic.submitNow();
    await clinic.submitNow();
    expect((await labelsOf(clinic)).toSorted()).toEqual(['A-1', 'A-2']);
  },
);

describe.each([
  ['the same process', false, 'uncertain'],
  ['a new process', true, 'uncertain'],
  ['after eligd has given up', false, 'undecidable'],
] as const)('%s', (_, is_new, state) => {
  test.each(['external_id', 'tax_id'])(
    'takes no lost call whose echo lacks %s for another installation’s',
    async (field) => {
      const clinic = await install();
      clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
      await send(clinic, clinic.visit('B-1', { coverages: [aCoverage({ member_id: 'W9' })] }));
      clinic.pass(2 * HOUR_MS);
      await clinic.service.advance({ hours: 2 });
      withhold(clinic, field);
      await loseCreates(clinic, 1);
      await send(clinic, clinic.visit('A-1'));
      await clinic.store.db
        .updateTable('inquiries')
        .set({ state })
        .where('state', '=', 'uncertain')
        .execute();
      clinic.pass(2 * MINUTE_MS);
      if (is_new) clinic.submit.memory = newSubmitMemory();
      await reconcile(clinic);
      expect(await clinic.attention()).not.toContain('submission_stopped');
    },
  );
});

test('a first call that is listed late without a label is not another installation’s', async () => {
  const clinic = await install();
  clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
  await send(clinic, clinic.visit('B-1', { coverages: [aCoverage({ member_id: 'W9' })] }));
  clinic.pass(2 * HOUR_MS);
  await clinic.service.advance({ hours: 2 });
  withhold(clinic, 'external_id');
  const { show } = await loseAndHide(clinic, 1);
  await show(0);
  await send(clinic, clinic.visit('A-1'));
  await clinic.service.advance({ seconds: 60 });
  await lookUp(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1', 'A-1']);
  await show(1);
  await show(2);
  await reconcile(clinic);
  expect(await clinic.attention()).not.toContain('submission_stopped');
});

test('a lost call does not explain what others call for the same patient days later', async () => {
  const clinic = await install();
  clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
  await clinic.service.behave({ list_paging: 'limit_offset', list_page_size: 10 });
  await send(clinic, clinic.visit('B-1', { coverages: [aCoverage({ member_id: 'W9' })] }));
  await acceptUnlisted(clinic, () => send(clinic, clinic.visit('A-1', twin('Ada'), 6)));
  for (let day = 0; day < 3; day += 1) {
    clinic.pass(DAY_MS);
    await clinic.service.advance({ hours: 24 });
    await reconcile(clinic);
  }
  expect(await clinic.attention()).toEqual(['undecidable']);
  await clinic.service.createBeside({ ...TWINS, patient_name: 'Ada Example', external_id: '' });
  await reconcile(clinic);
  expect(await clinic.attention()).toContain('submission_stopped');
});

test('a lost call that was withdrawn and is listed without its label is ours', async () => {
  const clinic = await install();
  clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
  await send(clinic, clinic.visit('B-1', about('W9')));
  const { show } = await acceptAndHide(clinic, () => send(clinic, clinic.visit('A-1')));
  const lost = { kind: 'inquiry', id: 2 } as const;
  await clinic.store.write((tx) => withdraw(tx, lost, clinic.now()));
  withhold(clinic, 'external_id');
  await show(1);
  await clinic.service.advance({ hours: 1 });
  clinic.pass(HOUR_MS);
  await reconcile(clinic);
  expect(await clinic.attention()).not.toContain('submission_stopped');
});

test('the record of a call that is listed late says what that call asked about', async () => {
  const clinic = await install({ policy: { new_codes: 'call' } });
  const coded = (id: string, code: string) => ({ ...visit(clinic, id), procedure_codes: [code] });
  await clinic.planNow();
  const { show } = await loseAndHide(clinic, 1);
  await send(clinic, coded('A-1', 'D2740'));
  await clinic.read({ ...coded('A-1', 'D2740'), status: 'cancelled' });
  await clinic.planNow();
  await lookUp(clinic);
  await clinic.read(coded('A-2', 'D1110'));
  await clinic.planNow();
  await show(0);
  await reconcile(clinic);
  await finish(clinic);
  await clinic.planNow();
  const asked: unknown[] = [];
  const note = connector(({ record }) => asked.push(record.asked.benefits_codes));
  await clinic.deliverNow(note);
  expect(asked).toEqual([['D2740']]);
});
