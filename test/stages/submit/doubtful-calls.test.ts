import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { ensureReconciled, newSubmitMemory } from '../../../src/stages/submit/index.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { handle } from '../../../src/store/bookkeeping/handled.ts';
import { keepMessages } from '../../../src/store/intake/keep-messages.ts';
import { type Installation, install, reconcile, SETTLE_MS, send } from '../installation.ts';
import {
  anOldCall,
  hideCalls,
  labelsOf,
  lookUp,
  loseCreates,
  TWINS,
  twin,
  withhold,
} from './lost-calls.ts';

/** A database was lost after a call under a label that the clinic no longer uses. */
async function haveNamelessCall(clinic: Installation): Promise<void> {
  await anOldCall(clinic);
  withhold(clinic, 'patient_name');
  await ensureReconciled(clinic.submit, 'dental');
}

test('a call that may be for the patient delays ours for two settle times', async () => {
  const clinic = await install();
  await haveNamelessCall(clinic);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await labelsOf(clinic)).toEqual(['OLD']);
  expect(await clinic.attention()).toEqual(['doubtful_call']);
  clinic.pass(2 * SETTLE_MS - MINUTE_MS);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['OLD']);
  clinic.pass(MINUTE_MS + 1_000);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['OLD', 'A-1']);
  expect(await clinic.attention()).toEqual(['doubtful_call']);
  expect(clinic.events.filter((event) => event === 'doubtful_call_found')).toHaveLength(1);
});

test('while something else holds our call, the entry does not promise it (G2)', async () => {
  const clinic = await install();
  await haveNamelessCall(clinic);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  const message = { key: 'K', name: 'M', reply: '', text: 'T' };
  await clinic.store.write((tx) =>
    keepMessages({ tx, connector: 'front-desk', now: clinic.now() }, [message], new Map()),
  );
  clinic.pass(HOUR_MS);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['OLD']);
  const entry = async () => (await openAttention(clinic.store.db)).map(({ what }) => what);
  expect(await entry()).toEqual([
    expect.stringMatching(/10 minutes for the office, and then may make/),
  ]);
  await clinic.store.write((tx) => tx.deleteFrom('unread_messages').execute());
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['OLD', 'A-1']);
  expect(await entry()).toEqual([expect.stringContaining('has waited, and makes its own call')]);
});

test('our call is made within a minute once the office has marked the entry as done', async () => {
  const clinic = await install();
  await haveNamelessCall(clinic);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  const [{ id } = { id: 0 }] = await clinic.inquiries();
  await clinic.store.write((tx) =>
    handle('another patient')(tx, { kind: 'inquiry', id }, clinic.now()),
  );
  clinic.pass(MINUTE_MS + 1_000);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['OLD', 'A-1']);
  expect(await clinic.attention()).toEqual([]);
});

test('a nameless call that the list names later serves the visit (G1)', async () => {
  const clinic = await install();
  await anOldCall(clinic);
  const withheld = withhold(clinic, 'patient_name');
  await ensureReconciled(clinic.submit, 'dental');
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  withheld.on = false;
  await reconcile(clinic);
  clinic.pass(11 * MINUTE_MS);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['OLD']);
});

test('a doubtful call listed before the visit came delays ours', async () => {
  const clinic = await install();
  await anOldCall(clinic);
  withhold(clinic, 'patient_name');
  await ensureReconciled(clinic.submit, 'dental');
  clinic.pass(11 * MINUTE_MS);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await labelsOf(clinic)).toEqual(['OLD']);
});

test('a call first listed by a clock that was ahead delays ours for minutes', async () => {
  const clinic = await install();
  await anOldCall(clinic);
  withhold(clinic, 'patient_name');
  clinic.pass(365 * DAY_MS);
  await ensureReconciled(clinic.submit, 'dental');
  clinic.pass(-365 * DAY_MS);
  clinic.submit.memory = newSubmitMemory();
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  for (let hour = 0; hour < 24; hour += 1) {
    clinic.pass(HOUR_MS);
    await clinic.submitNow();
  }
  expect(await labelsOf(clinic)).toEqual(['OLD', 'A-1']);
});

test('a clock that jumps ahead does not end the wait (G1)', async () => {
  const clinic = await install();
  await haveNamelessCall(clinic);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  clinic.pass(2 * SETTLE_MS + MINUTE_MS);
  clinic.submit.clockSkew = () => 2 * SETTLE_MS;
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['OLD']);
  clinic.pass(2 * SETTLE_MS);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['OLD', 'A-1']);
});

test('the entry goes when the visit is canceled', async () => {
  const clinic = await install();
  await anOldCall(clinic);
  withhold(clinic, 'patient_name');
  await ensureReconciled(clinic.submit, 'dental');
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await send(clinic, { ...clinic.visit('A-1', twin('Ada')), status: 'cancelled' } as never);
  expect(await clinic.attention()).toEqual([]);
});

test('a visit that was canceled during the wait and is booked again waits again (G1)', async () => {
  const clinic = await install();
  await haveNamelessCall(clinic);
  const visit = clinic.visit('A-1', twin('Ada'));
  await send(clinic, visit);
  clinic.pass(4 * MINUTE_MS);
  await send(clinic, { ...visit, status: 'cancelled' } as never);
  clinic.pass(HOUR_MS);
  await send(clinic, visit);
  expect(await labelsOf(clinic)).toEqual(['OLD']);
  expect(await clinic.attention()).toEqual(['doubtful_call']);
  clinic.pass(2 * SETTLE_MS + 1_000);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['OLD', 'A-1']);
});

test('a visit canceled after the wait, and booked again, is on the list again', async () => {
  const clinic = await install();
  await haveNamelessCall(clinic);
  const visit = clinic.visit('A-1', twin('Ada'));
  await send(clinic, visit);
  clinic.pass(2 * SETTLE_MS + 1_000);
  await send(clinic, { ...visit, status: 'cancelled' } as never);
  await send(clinic, visit);
  expect(await clinic.attention()).toEqual(['doubtful_call']);
  clinic.pass(2 * SETTLE_MS + 1_000);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['OLD', 'A-1']);
  expect(await clinic.attention()).toEqual(['doubtful_call']);
});

test('what the office cleared does not come back after a cancellation', async () => {
  const clinic = await install();
  await haveNamelessCall(clinic);
  const visit = clinic.visit('A-1', twin('Ada'));
  await send(clinic, visit);
  await clinic.store.write((tx) => handle('')(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  await send(clinic, { ...visit, status: 'cancelled' } as never);
  await send(clinic, visit);
  expect(await labelsOf(clinic)).toEqual(['OLD', 'A-1']);
  expect(await clinic.attention()).toEqual([]);
});

test('what the office cleared does not come back for the next attempt', async () => {
  const clinic = await install();
  await anOldCall(clinic);
  withhold(clinic, 'patient_name');
  await ensureReconciled(clinic.submit, 'dental');
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await clinic.store.write((tx) => handle('')(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  clinic.pass(MINUTE_MS + 1_000);
  await clinic.submitNow();
  const { read } = clinic.client;
  clinic.client.read = async (...given) => {
    const result = await read(...given);
    return result.ok && result.value !== null
      ? { ok: true, value: { ...result.value, status: 'UNSUCCESSFUL' } }
      : result;
  };
  await clinic.collectAll();
  clinic.pass(2 * HOUR_MS);
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual([]);
});

test('the wait begins again for a fourth call that the entry does not name', async () => {
  const clinic = await install();
  for (const mark of 'abcde') await anOldCall(clinic, `OLD-${mark}`);
  withhold(clinic, 'patient_name');
  const { show } = hideCalls(clinic);
  const order = (await clinic.service.ledger())
    .map(({ id }, index) => ({ id, index }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (const { index } of order.slice(0, 4)) await show(index);
  clinic.submit.settings.is_shared_account = true;
  await ensureReconciled(clinic.submit, 'dental');
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await clinic.store.write((tx) => handle('')(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  await show(order[4]!.index);
  await reconcile(clinic);
  clinic.pass(MINUTE_MS + 1_000);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).not.toContain('A-1');
});

test('the entry about a doubtful call stays if the reply to ours was lost', async () => {
  const clinic = await install();
  await haveNamelessCall(clinic);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await loseCreates(clinic, 1);
  clinic.pass(2 * SETTLE_MS + 2_000);
  await clinic.submitNow();
  await lookUp(clinic);
  expect(await labelsOf(clinic)).toEqual(['OLD', 'A-1']);
  expect(await clinic.inquiries()).toMatchObject([{ state: 'open' }]);
  expect(await clinic.attention()).toEqual(['doubtful_call']);
});

test('a list that names the patient and leaves out the member ID hides nothing (G1)', async () => {
  const clinic = await install();
  await anOldCall(clinic);
  const withheld = withhold(clinic, 'patient_name');
  await ensureReconciled(clinic.submit, 'dental');
  withheld.on = false;
  withhold(clinic, 'member_id');
  await reconcile(clinic);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await labelsOf(clinic)).toEqual(['OLD']);
});

test.each([
  ['a masked member ID', { member_id: '**23' }, ['OLD']],
  ['the call of another patient', { dob: '05-06-1970' }, ['OLD', 'A-1']],
])('a list that shows %s and no name, and then names both', async (_, first, labels) => {
  const clinic = await install();
  await clinic.service.createBeside({
    ...TWINS,
    patient_name: 'Ada Example',
    external_id: 'OLD',
    ...('dob' in first ? first : {}),
  });
  const { list } = clinic.client;
  let is_first = true;
  clinic.client.list = async (...given) => {
    const result = await list(...given);
    if (!result.ok || !is_first) return result;
    const inquiries = result.value.inquiries.map((each) => ({
      ...each,
      request: {
        ...each.request,
        patient_name: null,
        ...('dob' in first ? { dob: TWINS.dob } : first),
      },
    }));
    return { ok: true, value: { ...result.value, inquiries } };
  };
  await ensureReconciled(clinic.submit, 'dental');
  is_first = false;
  await reconcile(clinic);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await labelsOf(clinic)).toEqual(labels);
});

test('the entry ends if the doubtful call serves as ours, which never arrived', async () => {
  const clinic = await install();
  await anOldCall(clinic, 'A-1');
  const withheld = withhold(clinic, 'dob');
  await loseCreates(clinic, 1, 'before');
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  clinic.pass(2 * SETTLE_MS + MINUTE_MS);
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual(['doubtful_call']);
  withheld.on = false;
  await lookUp(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open']);
  expect(await clinic.attention()).toEqual([]);
});

test('the entry ends if one of two doubtful calls serves before ours is made', async () => {
  const clinic = await install();
  const first = await anOldCall(clinic, 'A-1');
  await anOldCall(clinic, 'A-1');
  const withheld = withhold(clinic, 'dob');
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await clinic.attention()).toEqual(['doubtful_call']);
  withheld.not_of = first;
  clinic.pass(MINUTE_MS);
  await reconcile(clinic);
  await clinic.submitNow();
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).toEqual([first]);
  expect(await clinic.attention()).toEqual([]);
});

test('while a call waits for the office, the next step comes within a minute', async () => {
  const clinic = await install();
  await haveNamelessCall(clinic);
  await clinic.read(clinic.visit('A-1', twin('Ada')));
  await clinic.planNow();
  // Others may be due.
  expect((await clinic.submitNow()).did).toBe(1);
  const begun_at = clinic.now();
  const { did, next_at } = await clinic.submitNow();
  expect(did).toBe(0);
  expect(next_at! - begun_at).toBeGreaterThan(MINUTE_MS / 2);
  expect(next_at! - begun_at).toBeLessThanOrEqual(MINUTE_MS);
});

test('the entry says how to answer while eligd waits, and then whom to ask', async () => {
  const clinic = await install();
  await haveNamelessCall(clinic);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  const entry = async () => (await openAttention(clinic.store.db))[0];
  expect((await entry())?.what).toContain('holds a call that may be');
  expect((await entry())?.next).toContain('"eligd done"');
  clinic.pass(2 * SETTLE_MS + 1_000);
  await clinic.submitNow();
  expect((await entry())?.next).toContain('not to charge for both');
});

test('without a settle time, the office hears of a doubtful call beside ours', async () => {
  const clinic = await install({ settings: { settle_ms: 0 } });
  await haveNamelessCall(clinic);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await labelsOf(clinic)).toEqual(['OLD', 'A-1']);
  expect(await clinic.attention()).toEqual(['doubtful_call']);
});
