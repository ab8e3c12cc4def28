import { expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { DAY_MS, HOUR_MS } from '../../../src/domain/time.ts';
import { allOpenTurnarounds, allTurnarounds } from '../../../src/store/calls/turnarounds.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, send } from '../installation.ts';

async function callFor(clinic: Installation, ...ids: string[]): Promise<void> {
  await send(
    clinic,
    ...ids.map((id) => clinic.visit(id, { coverages: [aCoverage({ member_id: `W${id}` })] })),
  );
}

test('eligd gives up an inquiry that it cannot read after the visit, and lists it', async () => {
  const clinic = await install();
  await callFor(clinic, 'A-1');
  clinic.client.read = async () => ({
    ok: false,
    failure: {
      class: 'ambiguous',
      cause: 'unreadable_reply',
      status: 200,
      retry_after_ms: null,
      accepted: false,
    },
  });
  clinic.pass(18 * DAY_MS);
  await clinic.collectNow();
  expect((await clinic.inquiries())[0]?.poll_at).toBeNull();
  expect(await clinic.attention()).toEqual(['no_answer']);
});

test('eligd polls an inquiry that it gave up again when a later visit needs it', async () => {
  const clinic = await install();
  const coverages = [aCoverage({ member_id: 'W1' })];
  await send(clinic, clinic.visit('A-1', { coverages }));
  const { read } = clinic.client;
  clinic.client.read = async () => ({
    ok: false,
    failure: {
      class: 'ambiguous',
      cause: 'unreadable_reply',
      status: 200,
      retry_after_ms: null,
      accepted: false,
    },
  });
  clinic.pass(18 * DAY_MS);
  await clinic.collectNow();
  expect((await clinic.inquiries())[0]?.poll_at).toBeNull();
  await clinic.read(clinic.visit('A-2', { coverages }, 4));
  await clinic.planNow();
  expect(await clinic.inquiries()).toHaveLength(1);
  clinic.client.read = read;
  await clinic.service.advance({ days: 18 });
  await clinic.collectNow();
  expect((await clinic.inquiries())[0]?.state).toBe('answered');
});

test('eligd polls an inquiry until the last visit that it serves is long over', async () => {
  const clinic = await install();
  const coverages = [aCoverage({ member_id: 'W1' })];
  await send(clinic, clinic.visit('A-1', { coverages }));
  clinic.pass(2 * DAY_MS);
  await clinic.read(clinic.visit('A-2', { coverages }, 5));
  await clinic.planNow();
  clinic.pass(17 * DAY_MS);
  await clinic.collectNow();
  expect((await clinic.inquiries()).map(({ poll_at }) => poll_at === null)).toEqual([false]);
  expect(await clinic.attention()).toEqual([]);
  clinic.pass(3 * DAY_MS);
  await clinic.collectNow();
  expect((await clinic.inquiries())[0]?.poll_at).toBeNull();
  expect(await clinic.attention()).toEqual(['no_answer']);
});

test('an inquiry that comes to serve a sooner visit is polled at once', async () => {
  const clinic = await install();
  const coverages = [aCoverage({ member_id: 'W1' })];
  await send(clinic, clinic.visit('A-1', { coverages }, 7));
  const sooner = clinic.visit('A-2', { coverages }, 1);
  await clinic.read(sooner);
  await clinic.planNow();
  const [row] = await clinic.inquiries();
  expect(row?.visit_at).toBe(Date.parse(sooner.starts_at));
  expect(row?.poll_at).toBeLessThanOrEqual(clinic.now());
});

test('eligd makes another attempt under the label of a visit that it still serves', async () => {
  const clinic = await install();
  const coverages = [aCoverage({ member_id: 'W1' })];
  const first = clinic.visit('A-1', { coverages }, 3);
  await send(clinic, first, clinic.visit('A-2', { coverages }, 4));
  await clinic.read({ ...first, status: 'cancelled' });
  await clinic.planNow();
  answering(clinic)('UNSUCCESSFUL');
  await clinic.collectAll();
  expect((await clinic.inquiries()).map(({ external_id }) => external_id)).toEqual(['A-1', 'A-2']);
});

test('an answer that came while a visit was canceled is written once it is booked', async () => {
  const clinic = await install();
  const visit = clinic.visit('A-1');
  await send(clinic, visit);
  await clinic.read({ ...visit, status: 'cancelled' });
  await clinic.planNow();
  await clinic.service.advance({ days: 3 });
  clinic.pass(3 * DAY_MS + HOUR_MS);
  await clinic.collectAll();
  expect(await clinic.store.db.selectFrom('deliveries').select('id').execute()).toEqual([]);
  await clinic.read(visit);
  await clinic.planNow();
  expect(await clinic.store.db.selectFrom('deliveries').select('id').execute()).toHaveLength(1);
});

test('an unsuccessful call for a visit moved to another year is not repeated', async () => {
  const clinic = await install();
  const to_december_ms =
    Date.UTC(new Date(clinic.now()).getUTCFullYear(), 11, 30, 18) - clinic.now();
  clinic.pass(to_december_ms);
  await clinic.service.advance({ seconds: Math.round(to_december_ms / 1000) });
  await send(clinic, clinic.visit('A-1', {}, 1));
  await clinic.read(clinic.visit('A-1', {}, 40));
  await clinic.planNow();
  answering(clinic)('UNSUCCESSFUL');
  await clinic.collectAll();
  expect(
    (await clinic.inquiries()).map(({ state, benefit_year }) => [state, benefit_year]),
  ).toEqual([['answered', new Date(clinic.now()).getUTCFullYear()]]);
  expect(await clinic.attention()).toEqual([]);
});

test('an answer that cannot be committed delays neither others nor the stage', async () => {
  const clinic = await install();
  await callFor(clinic, 'A-1', 'A-2');
  const { read } = clinic.client;
  const [bad] = await clinic.inquiries();
  clinic.client.read = async (specialty, id, options) => {
    const result = await read(specialty, id, options);
    // A status of another type than the schema allows makes the commit of this one throw.
    if (id === bad?.service_id && result.ok && result.value !== null)
      return { ok: true, value: { ...result.value, status: {} as never } };
    return result;
  };
  await clinic.service.advance({ days: 3 });
  clinic.pass(2 * DAY_MS);
  await clinic.collectNow();
  const [first, second] = await clinic.inquiries();
  expect(second?.state).toBe('answered');
  expect(first?.poll_at).toBeGreaterThan(clinic.now());
  expect(clinic.events).toContain('stage_failed');
});

test('an answer that can’t be stored is listed in time, and given up after the visit', async () => {
  const clinic = await install();
  await callFor(clinic, 'A-1');
  const { read } = clinic.client;
  clinic.client.read = async (...call) => {
    const result = await read(...call);
    return result.ok && result.value !== null
      ? { ok: true, value: { ...result.value, status: null as never } }
      : result;
  };
  clinic.pass(2 * DAY_MS + 23 * HOUR_MS);
  await clinic.collectNow();
  expect(await clinic.attention()).toEqual(['answer_missing']);
  clinic.pass(15 * DAY_MS);
  await clinic.collectNow();
  expect(await clinic.attention()).toContain('no_answer');
  expect((await clinic.inquiries())[0]?.poll_at).toBeNull();
});

test('an answer that cannot be normalized delays neither others nor the stage', async () => {
  const clinic = await install();
  await callFor(clinic, 'A-1', 'A-2');
  await clinic.store.write((tx) =>
    tx.updateTable('inquiries').set({ draft: '{' }).where('id', '=', 1).execute(),
  );
  await clinic.service.advance({ days: 3 });
  clinic.pass(2 * DAY_MS);
  await clinic.collectNow();
  await clinic.collectNow();
  const records = await clinic.store.db.selectFrom('records').select('inquiry').execute();
  expect(records).toEqual([{ inquiry: 2 }]);
  expect(clinic.events).toContain('stage_failed');
  expect(await clinic.attention()).toContain('answer_unusable');
});

test('an unsuccessful call for a canceled visit is not listed', async () => {
  const clinic = await install();
  const visit = clinic.visit('A-1');
  await send(clinic, visit);
  await clinic.read({ ...visit, status: 'cancelled' });
  await clinic.planNow();
  const { read } = clinic.client;
  clinic.client.read = async (specialty, id, options) => {
    const result = await read(specialty, id, options);
    return result.ok && result.value !== null
      ? { ok: true, value: { ...result.value, status: 'CANCELLED' } }
      : result;
  };
  clinic.pass(HOUR_MS);
  await clinic.collectAll();
  expect((await clinic.inquiries())[0]?.state).toBe('answered');
  expect(await clinic.attention()).toEqual([]);
});

test('an answer that a crash left without a record gets one, with nothing open', async () => {
  const clinic = await install();
  await callFor(clinic, 'A-1');
  await clinic.service.advance({ days: 3 });
  clinic.pass(2 * DAY_MS);
  await clinic.collectAll();
  await clinic.store.write(async (tx) => {
    await tx.deleteFrom('deliveries').execute();
    await tx.deleteFrom('records').execute();
    await tx.updateTable('answers').set({ is_normalized: 0 }).execute();
  });
  await clinic.collectAll();
  expect(await clinic.deliveries()).toHaveLength(1);
});

/** Makes the service answer with `status` from now on, with other content each time. */
function answering(clinic: Installation) {
  const { read } = clinic.client;
  let revision = 0;
  return (status: string) => {
    revision += 1;
    const representative_name = `Representative ${revision}`;
    clinic.client.read = async (specialty, id, options) => {
      const result = await read(specialty, id, options);
      if (!result.ok || result.value === null) return result;
      return {
        ok: true,
        value: { ...result.value, status, representative_name } as typeof result.value,
      };
    };
  };
}

/**
 * The call is unsuccessful, so eligd plans another attempt; then the call gets an answer after all.
 */
async function callForNothing(clinic: Installation, id: string) {
  const { read } = clinic.client;
  const answer = answering(clinic);
  await callFor(clinic, id);
  answer('UNSUCCESSFUL');
  await clinic.collectAll();
  return {
    answerAfterAll: async () => {
      await clinic.store.write((tx) =>
        tx.updateTable('inquiries').set({ poll_at: clinic.now() }).where('id', '=', 1).execute(),
      );
      clinic.client.read = read;
      await clinic.service.advance({ days: 3 });
      clinic.pass(1);
      await clinic.collectNow();
    },
  };
}

test('a late answer cancels the next attempt, and planning does not restore it', async () => {
  const clinic = await install();
  const { answerAfterAll } = await callForNothing(clinic, 'A-1');
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['answered', 'planned']);
  await answerAfterAll();
  expect(
    (await clinic.inquiries()).map(({ state, service_status }) => [state, service_status]),
  ).toEqual([
    ['answered', 'SUCCESS'],
    ['withdrawn', null],
  ]);
  clinic.pass(HOUR_MS);
  await clinic.store.write((tx) =>
    tx.updateTable('appointments').set({ plan_due_at: clinic.now() }).execute(),
  );
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.service.ledger()).length).toBe(1);
});

test('a late answer goes to the visit that was waiting for another attempt (G2)', async () => {
  const clinic = await install();
  const { answerAfterAll } = await callForNothing(clinic, 'A-1');
  await clinic.read(clinic.visit('A-2', { coverages: [aCoverage({ member_id: 'WA-1' })] }));
  await clinic.planNow();
  await answerAfterAll();
  await clinic.planNow();
  const written = (await clinic.deliveries()).map(({ appointment, inquiry }) => [
    appointment,
    inquiry,
  ]);
  expect(written).toContainEqual([2, 1]);
});

test('a claim’s call that is answered late needs no other call (G1)', async () => {
  const clinic = await install();
  const { read } = clinic.client;
  const answer = answering(clinic);
  const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  await clinic.readClaims({ ...claim(1), claim_number: 'PAID-1', date_of_service });
  await clinic.planNow();
  await clinic.submitNow();
  answer('UNSUCCESSFUL');
  await clinic.collectAll();
  await clinic.planNow();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['answered', 'planned']);
  await clinic.store.write((tx) =>
    tx.updateTable('inquiries').set({ poll_at: clinic.now() }).where('id', '=', 1).execute(),
  );
  clinic.client.read = read;
  await clinic.service.advance({ days: 6 });
  clinic.pass(1);
  await clinic.collectNow();
  await clinic.planNow();
  expect(
    (await clinic.inquiries()).map(({ state, service_status }) => [state, service_status]),
  ).toEqual([
    ['answered', 'SUCCESS'],
    ['withdrawn', null],
  ]);
  clinic.pass(30 * DAY_MS);
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toHaveLength(1);
});

test('a revised answer in an event after the visit is polled until eligd reads it', async () => {
  const clinic = await install();
  const answer = answering(clinic);
  await callFor(clinic, 'A-1');
  answer('CANCELLED');
  await clinic.collectAll();
  const { read } = clinic.client;
  clinic.pass(17 * DAY_MS);
  clinic.client.read = async () => ({
    ok: false,
    failure: {
      class: 'ambiguous',
      cause: 'socket',
      status: null,
      retry_after_ms: null,
      accepted: false,
    },
  });
  const told = () =>
    clinic.store.write((tx) =>
      tx.updateTable('inquiries').set({ poll_at: clinic.now() }).execute(),
    );
  await told();
  await clinic.collectNow();
  expect((await clinic.inquiries())[0]?.poll_at).not.toBeNull();
  clinic.client.read = read;
  clinic.pass(DAY_MS);
  await clinic.collectNow();
  expect((await clinic.inquiries())[0]?.poll_at).toBeNull();
});

test('a revision of an unsuccessful answer during its retry lists nothing', async () => {
  const clinic = await install();
  const answer = answering(clinic);
  await callFor(clinic, 'A-1');
  answer('UNSUCCESSFUL');
  await clinic.collectAll();
  await clinic.store.write((tx) =>
    tx.updateTable('inquiries').set({ poll_at: clinic.now() }).where('id', '=', 1).execute(),
  );
  answer('UNSUCCESSFUL');
  clinic.pass(1);
  await clinic.collectNow();
  expect((await clinic.deliveries()).length).toBeGreaterThan(0);
  expect(await clinic.attention()).toEqual([]);
});

test('from five calls on, eligd learns how long a payer’s calls take', async () => {
  const clinic = await install();
  const ids = ['A-1', 'A-2', 'A-3', 'A-4', 'A-5'];
  await callFor(clinic, ...ids);
  expect(await allTurnarounds(clinic.store.db)).toEqual(new Map());
  await clinic.service.advance({ days: 3 });
  clinic.pass(3 * DAY_MS);
  await clinic.collectAll();
  const [[payer, learned] = []] = await allTurnarounds(clinic.store.db);
  expect(payer).toMatch(/^dental\|benefits\|/);
  expect(learned?.calls).toBe(5);
  // eligd found the answers after three days, but the calls ended sooner.
  expect(learned?.p90_ms).toBeLessThan(2 * DAY_MS);
  expect(learned?.median_ms).toBeGreaterThan(0);
  // Planning counts hours in which the payer answers the phone: no nights and no weekends.
  const open = (await allOpenTurnarounds(clinic.store.db)).get(payer ?? '');
  expect(open?.calls).toBe(5);
  expect(open?.median_ms).toBeLessThanOrEqual(learned?.median_ms ?? 0);
  // eligd polls the next inquiry about this payer when such a call usually ends.
  await callFor(clinic, 'A-6');
  const next = (await clinic.inquiries()).find(({ external_id }) => external_id === 'A-6');
  expect((next?.poll_at ?? 0) - clinic.now()).toBeLessThanOrEqual(1.1 * (learned?.median_ms ?? 0));
});
