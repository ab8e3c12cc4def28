import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import {
  beginWithoutComparison,
  demandReconciliation,
  ensureReconciled,
  newSubmitMemory,
} from '../../../src/stages/submit/index.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { handle } from '../../../src/store/bookkeeping/handled.ts';
import { currentHalts } from '../../../src/store/calls/halts.ts';
import { aCoverage } from '../../domain/examples.ts';
import { AWAY, type Installation, install, reconcile, SETTLE_MS, send } from '../installation.ts';
import { callTwice, lookUp, loseAndHide, loseCreates } from './lost-calls.ts';

/** Sends, and loses the request before the service has read it. */
async function loseRequest(clinic: Installation): Promise<void> {
  await loseCreates(clinic, 1, 'before');
  await clinic.planNow();
  await clinic.submitNow();
}

test('eligd makes no call for a visit canceled during the lookup of its lost call', async () => {
  const clinic = await install();
  const visit = clinic.visit('A-1');
  await clinic.read(visit);
  await loseRequest(clinic);
  expect((await clinic.inquiries())[0]?.state).toBe('uncertain');
  await clinic.read({ ...visit, status: 'cancelled' });
  await clinic.planNow();
  await lookUp(clinic);
  expect(await clinic.service.ledger()).toEqual([]);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['withdrawn']);
});

test('eligd makes no early call for a visit moved away during its lookup (G1)', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1'));
  await loseRequest(clinic);
  await clinic.read(clinic.visit('A-1', {}, 60));
  await clinic.planNow();
  await lookUp(clinic);
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toEqual([]);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['withdrawn']);
});

test('a visit past during the lookup of its lost call is closed without a call', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1', {}, 1));
  await loseRequest(clinic);
  clinic.pass(2 * DAY_MS);
  await clinic.planNow();
  await lookUp(clinic);
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toEqual([]);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['withdrawn']);
  const [row] = await clinic.store.db.selectFrom('appointments').select('closed_reason').execute();
  expect(row?.closed_reason).toBe('past');
});

test('an invalid birth date goes on the attention list and blocks no other visit', async () => {
  const clinic = await install({
    policy: { required_fields: { dental: [], medical: [], mental_health: [] } },
  });
  const patient = {
    id: 'P-2',
    first_name: 'Ben',
    last_name: 'Example',
    birth_date: '1980-13-45',
  };
  await clinic.read(clinic.visit('bad', { patient }, 2), clinic.visit('good'));
  await clinic.planNow();
  for (let step = 0; step < 3; step += 1) await clinic.submitNow();
  expect((await clinic.service.ledger()).map(({ external_id }) => external_id)).toEqual(['good']);
  expect(await clinic.attention()).toEqual(['field_malformed']);
});

test('an ID that another inquiry has is not used, and nothing is sent again', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-1'));
  const [first] = await clinic.inquiries();
  const { create } = clinic.client;
  let sent = 0;
  clinic.client.create = async (...call) => {
    sent += 1;
    const result = await create(...call);
    return result.ok ? { ok: true, value: { inquiry_id: first!.service_id as never } } : result;
  };
  await send(clinic, clinic.visit('A-2', { coverages: [aCoverage({ member_id: 'W456' })] }));
  expect((await clinic.inquiries())[1]).toMatchObject({
    state: 'uncertain',
    was_accepted: 1,
    service_id: null,
  });
  await lookUp(clinic);
  expect(sent).toBe(1);
});

test('an ID given to two inquiries that are bound together serves only the first', async () => {
  const clinic = await install({ settings: { mode: 'single', concurrency: 2 } });
  const { create } = clinic.client;
  const ids: string[] = [];
  clinic.client.create = async (...call) => {
    const result = await create(...call);
    if (result.ok) ids.push(result.value.inquiry_id);
    return result.ok ? { ok: true, value: { inquiry_id: ids[0] as never } } : result;
  };
  await clinic.read(
    clinic.visit('A-1', { coverages: [aCoverage({ member_id: 'W1' })] }),
    clinic.visit('A-2', { coverages: [aCoverage({ member_id: 'W2' })] }),
  );
  await clinic.planNow();
  await clinic.submitNow();
  expect(ids).toHaveLength(2);
  const states = (await clinic.inquiries()).map(({ state }) => state);
  expect(states.toSorted()).toEqual(['open', 'uncertain']);
  await lookUp(clinic);
  expect(await clinic.service.ledger()).toHaveLength(2);
});

/** An inquiry of another installation on the account. */
const FOREIGN = {
  type: 'BENEFITS',
  desired_completion_date: '12-31-2026',
  patient_name: 'Some Body',
  dob: '01-02-1970',
  member_id: 'X1',
  tax_id: '999999999',
  benefits_query: ['STANDARD'],
  insurance: 'CIGNA',
  billing_npi: '1234567893',
  external_id: 'Z-1',
};

test('the daily reconciliation counts strangers; a shared account ends the halt', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-1'));
  await clinic.service.createBeside(FOREIGN);
  await clinic.service.advance({ seconds: 60 });
  demandReconciliation(clinic.submit);
  await send(clinic, clinic.visit('A-2', { coverages: [aCoverage({ member_id: 'W456' })] }));
  expect((await currentHalts(clinic.store.db)).map(({ reason }) => reason)).toEqual(['foreign']);
  expect(await clinic.service.ledger()).toHaveLength(2);
  clinic.submit.settings.is_shared_account = true;
  await clinic.submitNow();
  expect(await currentHalts(clinic.store.db)).toEqual([]);
  expect(await clinic.attention()).toEqual([]);
  expect(await clinic.service.ledger()).toHaveLength(3);
});

test('a process that began without a comparison compares daily, and counts strangers', async () => {
  const clinic = await install();
  expect(await beginWithoutComparison(clinic.submit, 'dental')).toBe(true);
  await clinic.service.advance({ seconds: 900 });
  await clinic.service.createBeside(FOREIGN);
  await clinic.service.advance({ seconds: 60 });
  await clinic.submitNow();
  expect(await currentHalts(clinic.store.db)).toEqual([]);
  demandReconciliation(clinic.submit);
  await clinic.submitNow();
  expect((await currentHalts(clinic.store.db)).map(({ reason }) => reason)).toEqual(['foreign']);
});

test('a call that a replaced database made shortly before the start stops nothing', async () => {
  const clinic = await install();
  await clinic.service.createBeside(FOREIGN);
  expect(await beginWithoutComparison(clinic.submit, 'dental')).toBe(true);
  await clinic.service.advance({ seconds: 60 });
  demandReconciliation(clinic.submit);
  await clinic.submitNow();
  expect(await currentHalts(clinic.store.db)).toEqual([]);
});

test('a batch refused as a whole is looked up before anything is sent again', async () => {
  const clinic = await install({ settings: { mode: 'bulk' } });
  await send(clinic, clinic.visit('A-1', {}, 2));
  await clinic.service.fault({
    method: 'POST',
    path: '/api/v0/dental/batch_inquiries',
    times: 1,
    when: 'after',
    action: 'status',
    status: 400,
  });
  await clinic.read(
    clinic.visit('A-2', { coverages: [aCoverage({ member_id: 'W2' })] }),
    clinic.visit('A-3', { coverages: [aCoverage({ member_id: 'W3' })] }),
  );
  await clinic.planNow();
  for (let step = 0; step < 3; step += 1) await clinic.submitNow();
  await clinic.service.advance({ seconds: 60 });
  await lookUp(clinic);
  expect((await clinic.service.ledger()).map(({ external_id }) => external_id).sort()).toEqual([
    'A-1',
    'A-2',
    'A-3',
  ]);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open', 'open', 'open']);
});

test('a rejected reconciliation is listed at once; calls go out after it succeeds', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  const { list } = clinic.client;
  let asked = 0;
  clinic.client.list = async () => {
    asked += 1;
    return {
      ok: false,
      failure: { class: 'unsent', cause: 'unauthorized', status: 401, retry_after_ms: null },
    };
  };
  await clinic.submitNow();
  clinic.pass(2 * MINUTE_MS);
  await clinic.submitNow();
  expect(asked).toBe(1);
  expect(await clinic.attention()).toEqual(['submission_stopped']);
  clinic.client.list = list;
  clinic.pass(15 * MINUTE_MS);
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual([]);
  expect((await clinic.service.ledger()).length).toBe(1);
});

test('a list too long to compare stops all calls at once, and says what to do', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  clinic.client.list = async () => ({
    ok: false,
    failure: {
      class: 'ambiguous',
      cause: 'too_large',
      status: 200,
      retry_after_ms: null,
      accepted: true,
    },
  });
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toEqual([]);
  const [entry] = await clinic.store.db.selectFrom('attention').selectAll().execute();
  expect(entry).toMatchObject({ reason: 'submission_stopped', resolved_at: null });
  expect(entry?.what).toContain('500,000 inquiries');
  expect(entry?.next).toContain('take old inquiries off its list');
});

test('an unavailable service goes on the attention list after an hour', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  failLists(clinic);
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual([]);
  clinic.pass(61 * MINUTE_MS);
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual(['submission_stopped']);
});

/** No list can be read. */
function failLists({ client }: Installation): void {
  client.list = async () => AWAY;
}

test('a lost reply unproven for an hour is on the attention list until found', async () => {
  const clinic = await install();
  await loseCreates(clinic, 1);
  await send(clinic, clinic.visit('A-1'));
  const { list } = clinic.client;
  failLists(clinic);
  clinic.pass(SETTLE_MS + 1);
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual([]);
  clinic.pass(61 * MINUTE_MS);
  await clinic.submitNow();
  expect(await clinic.attention()).toContain('unconfirmed');
  clinic.client.list = list;
  clinic.pass(15 * MINUTE_MS);
  await clinic.submitNow();
  expect((await clinic.inquiries())[0]?.state).toBe('open');
  expect(await clinic.attention()).toEqual([]);
});

test('a lost reply does not come back to the list after its visit is over', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1'));
  await loseRequest(clinic);
  failLists(clinic);
  clinic.pass(61 * MINUTE_MS);
  await clinic.submitNow();
  expect(await clinic.attention()).toContain('unconfirmed');
  clinic.pass(60 * DAY_MS);
  await clinic.closeOld();
  expect(await clinic.attention()).not.toContain('unconfirmed');
  await clinic.submitNow();
  expect(await clinic.attention()).not.toContain('unconfirmed');
});

test('an entry about a lost reply names the visit that comes next', async () => {
  const clinic = await install();
  const shown = async () =>
    (await openAttention(clinic.store.db)).map(({ source_id }) => source_id);
  await clinic.read(clinic.visit('A-1', {}, 6));
  await clinic.planNow();
  await clinic.read(clinic.visit('A-2', {}, 4));
  await loseRequest(clinic);
  failLists(clinic);
  clinic.pass(61 * MINUTE_MS);
  await clinic.submitNow();
  expect(await shown()).toEqual(['A-2']);
  await clinic.read(clinic.visit('A-3', {}, 2));
  await clinic.planNow();
  expect(await shown()).toEqual(['A-3']);
  await clinic.read(clinic.visit('A-3', {}, 7));
  await clinic.planNow();
  expect(await shown()).toEqual(['A-2']);
  await clinic.read(clinic.visit('A-2', {}, 60));
  await clinic.planNow();
  expect(await shown()).toEqual(['A-1']);
  await clinic.read(clinic.visit('A-2', {}, 4));
  await clinic.planNow();
  for (const next of ['A-2', 'A-1', 'A-3', 'A-3']) {
    clinic.pass(2 * DAY_MS);
    await clinic.planNow();
    expect(await shown()).toEqual([next]);
  }
});

test('an entry about a lost reply names the visit that its inquiry serves now', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1'));
  await loseRequest(clinic);
  failLists(clinic);
  const appointments = async () =>
    await clinic.store.db
      .selectFrom('attention')
      .select('appointment')
      .where('reason', '=', 'unconfirmed')
      .execute();
  const lookUpAfterAnHour = async () => {
    clinic.pass(61 * MINUTE_MS);
    await clinic.submitNow();
  };
  await clinic.read(clinic.visit('A-1', { coverages: [aCoverage({ member_id: 'W2' })] }));
  await clinic.planNow();
  await lookUpAfterAnHour();
  expect(await appointments()).toEqual([]);
  await clinic.read(clinic.visit('A-2'));
  await clinic.planNow();
  await lookUpAfterAnHour();
  expect(await appointments()).toEqual([{ appointment: 2 }]);
});

test('a list that shows a recent call proves that a lost one is absent', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1'));
  await loseRequest(clinic);
  await send(clinic, clinic.visit('A-2', { coverages: [aCoverage({ member_id: 'W456' })] }));
  const [lost, accepted] = await clinic.inquiries();
  expect(lost?.state).toBe('uncertain');
  expect(accepted).toMatchObject({ state: 'open', reply_group: expect.any(String) });
  await lookUp(clinic);
  expect((await clinic.service.ledger()).map(({ external_id }) => external_id).sort()).toEqual([
    'A-1',
    'A-2',
  ]);
});

test('a list without one of the last sent inquiries proves no absence', async () => {
  const clinic = await install();
  await send(
    clinic,
    clinic.visit('A-1'),
    clinic.visit('A-2', { coverages: [aCoverage({ member_id: 'W2' })] }),
  );
  const sent_at = clinic.now();
  await clinic.store.write(async (tx) => {
    const answered = { state: 'answered', poll_at: null } as const;
    await tx.updateTable('inquiries').set(answered).execute();
    await tx.updateTable('calls').set({ sent_at, reply_group: null }).execute();
  });
  const sent_last = (await clinic.inquiries()).map(({ service_id }) => service_id);
  let left_out = sent_last[0];
  const { list } = clinic.client;
  clinic.client.list = async (...given) => {
    const result = await list(...given);
    if (!result.ok) return result;
    const inquiries = result.value.inquiries.filter(({ id }) => id !== left_out);
    return { ok: true, value: { ...result.value, inquiries, filter: 'ignored' } };
  };
  await clinic.service.advance({ hours: 1 });
  clinic.pass(HOUR_MS);
  await clinic.read(clinic.visit('A-3', { coverages: [aCoverage({ member_id: 'W3' })] }));
  await loseRequest(clinic);
  for (left_out of sent_last) {
    await lookUp(clinic);
    expect((await clinic.inquiries()).at(-1)?.state).toBe('uncertain');
  }
  expect(clinic.events.filter((event) => event === 'lookup_inconclusive')).toHaveLength(
    2 * sent_last.length,
  );
});

/** Nothing ran while the clock was an hour ahead. */
function restartWithOtherClock(clinic: Installation): void {
  clinic.pass(HOUR_MS);
  clinic.submit.memory = newSubmitMemory();
  clinic.submit.clockSkew = () => HOUR_MS;
}

/** The connection fails, so the call is put off. Returns for how long. */
async function putOff(clinic: Installation): Promise<number> {
  const { create } = clinic.client;
  clinic.client.create = async () => AWAY;
  await send(clinic, clinic.visit('A-1'));
  clinic.client.create = create;
  const [put_off] = await clinic.inquiries();
  const wait_ms = (put_off?.due_at ?? 0) - clinic.now();
  expect(wait_ms).toBeGreaterThan(0);
  return wait_ms;
}

async function expectSentAfter(clinic: Installation, wait_ms: number): Promise<void> {
  clinic.submit.memory = newSubmitMemory();
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toHaveLength(0);
  // The visit, which changed by a clock that was ahead, is planned again.
  await clinic.planNow();
  clinic.pass(wait_ms + MINUTE_MS);
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toHaveLength(1);
}

test('a call put off while the clock was ahead waits as long as it should (G2)', async () => {
  const clinic = await install();
  await clinic.submitNow();
  clinic.pass(DAY_MS);
  const wait_ms = await putOff(clinic);
  clinic.pass(-DAY_MS);
  await expectSentAfter(clinic, wait_ms);
});

test('a call that was overdue and changed while the clock was ahead leaves soon (G2)', async () => {
  const clinic = await install();
  await clinic.submitNow();
  clinic.pass(DAY_MS);
  const wait_ms = await putOff(clinic);
  clinic.pass(wait_ms + HOUR_MS);
  await clinic.read(clinic.visit('A-1', { coverages: [aCoverage({ group_id: 'G2' })] }));
  await clinic.planNow();
  clinic.pass(-DAY_MS - wait_ms - HOUR_MS);
  await expectSentAfter(clinic, 15 * MINUTE_MS);
});

test('a call put off before that, and changed while the clock was ahead, does too', async () => {
  const clinic = await install();
  await clinic.submitNow();
  const wait_ms = await putOff(clinic);
  clinic.pass(DAY_MS);
  await clinic.read(clinic.visit('A-1', { coverages: [aCoverage({ group_id: 'G2' })] }));
  await clinic.planNow();
  clinic.pass(-DAY_MS);
  await expectSentAfter(clinic, wait_ms);
});

test('lookups begin again when the clock was set while nothing ran (G1)', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  await send(clinic, clinic.visit('A-1'));
  restartWithOtherClock(clinic);
  await clinic.submitNow();
  clinic.pass(clinic.submit.settings.timeout_ms + SETTLE_MS + 1);
  await clinic.submitNow();
  expect(
    (await clinic.inquiries()).map(({ state, empty_lookups }) => [state, empty_lookups]),
  ).toEqual([['uncertain', 1]]);
  await show(0);
  clinic.pass(SETTLE_MS + 1);
  await clinic.submitNow();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open']);
  expect(await clinic.service.ledger()).toHaveLength(1);
});

test('all lookups begin again, also when one is the first to hear the service (G1)', async () => {
  const clinic = await install();
  await loseAndHide(clinic, 2);
  await send(
    clinic,
    clinic.visit('A-1'),
    clinic.visit('A-2', { coverages: [aCoverage({ member_id: 'W2' })] }),
  );
  restartWithOtherClock(clinic);
  let was_heard = false;
  clinic.submit.clockSkew = () => (was_heard ? HOUR_MS : null);
  const { list } = clinic.client;
  clinic.client.list = async (specialty, filter, options) => {
    if (options?.priority === 'send') return AWAY;
    was_heard = true;
    return await list(specialty, filter, options);
  };
  await clinic.submitNow();
  expect(
    (await clinic.inquiries()).map(({ state, empty_lookups }) => [state, empty_lookups]),
  ).toEqual([
    ['uncertain', 0],
    ['uncertain', 0],
  ]);
});

test('a duplicate call is reported once, and not again after its refund', async () => {
  const clinic = await install();
  const lost = {
    method: 'POST',
    path: '/api/v0/dental/inquiries',
    times: 1,
    when: 'after',
    action: 'reset',
  } as const;
  await clinic.service.fault(lost);
  await send(clinic, clinic.visit('A-1'));
  const { list } = clinic.client;
  const hidden = new Set((await clinic.service.ledger()).map(({ id }) => id));
  clinic.client.list = async (...given) => {
    const result = await list(...given);
    if (!result.ok) return result;
    return {
      ok: true,
      value: {
        ...result.value,
        inquiries: result.value.inquiries.filter(({ id }) => !hidden.has(id)),
      },
    };
  };
  await clinic.service.advance({ hours: 1 });
  clinic.pass(HOUR_MS);
  await clinic.service.fault(lost);
  await lookUp(clinic);
  const [first, second] = (await clinic.service.ledger()).map(({ id }) => id);
  hidden.clear();
  hidden.add(second!);
  await lookUp(clinic);
  expect((await clinic.inquiries()).map(({ state, service_id }) => [state, service_id])).toEqual([
    ['open', first],
  ]);
  hidden.clear();
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
  // After the operator has handled the refund, the item stays closed.
  const [{ id } = { id: 0 }] = await clinic.inquiries();
  const subject = { kind: 'inquiry', id } as const;
  const now = clinic.env.clock.now();
  await clinic.store.write((tx) => handle('refunded')(tx, subject, now));
  expect(await clinic.attention()).toEqual([]);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual([]);
});

test('a duplicate call listed late is reported, whatever the clock said later', async () => {
  const clinic = await install();
  const hidden = await callTwice(clinic);
  expect(await clinic.service.ledger()).toHaveLength(2);
  await clinic.store.write((tx) =>
    tx
      .updateTable('calls')
      .set({ sent_at: clinic.now() - DAY_MS })
      .execute(),
  );
  await hidden.show(0);
  await hidden.show(1);
  await reconcile(clinic);
  expect(await clinic.attention()).toContain('duplicate_call');
});

test('a list that fails at a start is read later, with nothing to send', async () => {
  const clinic = await install();
  const { list } = clinic.client;
  await callTwice(clinic);
  expect(await clinic.service.ledger()).toHaveLength(2);

  clinic.submit.memory = newSubmitMemory();
  failLists(clinic);
  expect(await ensureReconciled(clinic.submit, 'dental')).toBe(false);
  clinic.client.list = list;
  clinic.pass(2 * MINUTE_MS);
  await clinic.submitNow();
  expect(await clinic.attention()).toContain('duplicate_call');
});

test('a process that began without a comparison counts strangers before a call', async () => {
  const clinic = await install();
  expect(await beginWithoutComparison(clinic.submit, 'dental')).toBe(true);
  await clinic.service.advance({ hours: 1 });
  clinic.pass(HOUR_MS);
  await clinic.service.createBeside(FOREIGN);
  await send(clinic, clinic.visit('A-1'));
  expect((await currentHalts(clinic.store.db)).map(({ reason }) => reason)).toEqual(['foreign']);
  expect(await clinic.service.ledger()).toHaveLength(1);
});

test('without the service’s clock, a process begins with a comparison', async () => {
  const clinic = await install();
  clinic.submit.clockSkew = () => null;
  expect(await beginWithoutComparison(clinic.submit, 'dental')).toBe(false);
});

test('strangers count although the service states no time (G1)', async () => {
  const clinic = await install();
  clinic.submit.clockSkew = () => null;
  await send(clinic, clinic.visit('A-1'));
  await clinic.service.createBeside(FOREIGN);
  await reconcile(clinic);
  expect((await currentHalts(clinic.store.db)).map(({ reason }) => reason)).toEqual(['foreign']);
});

test('a call that was out when eligd ended is looked up a timeout and a settle later', async () => {
  const clinic = await install();
  await clinic.submitNow();
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  const { create } = clinic.client;
  clinic.client.create = async () => {
    throw new Error('The process ends.');
  };
  await expect(clinic.submitNow()).rejects.toThrow('The process ends.');
  clinic.client.create = create;
  const at = clinic.now();
  await clinic.submitNow();
  const [row] = await clinic.inquiries();
  expect(row).toMatchObject({ state: 'uncertain' });
  expect(row!.absence_at! - at).toBeGreaterThanOrEqual(SETTLE_MS + 5_000);
});
