/** The calling service is unavailable for a while: who polls meanwhile, and what eligd reports. */
import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import type { ServiceFailure } from '../../../src/service/api.ts';
import { ensureReconciled, newSubmitMemory } from '../../../src/stages/submit/index.ts';
import { openIncidents } from '../../../src/store/bookkeeping/incidents.ts';
import { aCoverage } from '../../domain/examples.ts';
import { AWAY, type Installation, install, send } from '../installation.ts';

async function withOpenCalls(count: number): Promise<Installation> {
  const clinic = await install();
  const ids = Array.from({ length: count }, (_, index) => `A-${index}`);
  await send(
    clinic,
    ...ids.map((id) => clinic.visit(id, { coverages: [aCoverage({ member_id: `W${id}` })] })),
  );
  const poll_at = clinic.now();
  await clinic.store.db.updateTable('inquiries').set({ poll_at }).execute();
  return clinic;
}

/** Every poll fails from now on; returns the number of polls, and how to end the failure. */
function cutOff(clinic: Installation) {
  const { read } = clinic.client;
  const asked = { times: 0 };
  clinic.client.read = async () => {
    asked.times += 1;
    return AWAY;
  };
  return { asked, end: () => (clinic.client.read = read) };
}

const countOf = (clinic: Installation, event: string) =>
  clinic.events.filter((each) => each === event).length;

async function collectFor(clinic: Installation, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    clinic.pass(MINUTE_MS);
    await clinic.collectNow();
  }
}

test('while the service is unavailable, one poll is a probe, and one incident counts', async () => {
  const clinic = await withOpenCalls(8);
  const { asked, end } = cutOff(clinic);
  await clinic.collectNow();
  expect(asked.times).toBe(8);
  await collectFor(clinic, 60);
  // Every four or five minutes, whatever is due.
  expect(asked.times).toBeGreaterThan(8 + 10);
  expect(asked.times).toBeLessThan(8 + 20);
  expect(countOf(clinic, 'poll_failed')).toBe(2);
  const [incident, ...others] = await openIncidents(clinic.store.db);
  expect(incident).toMatchObject({ reason: 'answers_away', connector: null });
  expect(incident?.count).toBeGreaterThan(8);
  expect(others).toEqual([]);

  end();
  await collectFor(clinic, 6);
  expect(await openIncidents(clinic.store.db)).toEqual([]);
  expect(countOf(clinic, 'polls_resumed')).toBe(1);
  const due = (await clinic.inquiries()).filter(({ poll_at }) => (poll_at ?? 0) <= clinic.now());
  expect(due).toEqual([]);
});

test('an inquiry whose poll always fails delays no other (G7)', async () => {
  const clinic = await withOpenCalls(4);
  const { read } = clinic.client;
  const bad = (await clinic.inquiries())[0]?.service_id;
  const asked = new Set<string>();
  clinic.client.read = async (specialty, id, options) => {
    if (id === bad) return AWAY;
    asked.add(id);
    return await read(specialty, id, options);
  };
  await clinic.collectNow();
  expect(asked.size).toBe(3);
  await collectFor(clinic, 90);
  expect(await openIncidents(clinic.store.db)).toEqual([]);
  expect(countOf(clinic, 'polls_resumed')).toBe(0);
});

test('the first answer ends an incident of the previous process', async () => {
  const clinic = await withOpenCalls(3);
  const { end } = cutOff(clinic);
  await collectFor(clinic, 30);
  expect(await openIncidents(clinic.store.db)).toHaveLength(1);
  Object.assign(clinic.collect.memory, { outage: null, was_answered: false });
  end();
  await collectFor(clinic, 30);
  expect(await openIncidents(clinic.store.db)).toEqual([]);
});

test('a start without the service is logged once, and so are its consequences', async () => {
  const clinic = await install();
  let listed = 0;
  clinic.client.list = async () => {
    listed += 1;
    return AWAY;
  };
  expect(await ensureReconciled(clinic.submit, 'dental')).toBe(false);
  expect(listed).toBe(1);
  for (let minute = 0; minute < 30; minute += 1) {
    clinic.pass(MINUTE_MS);
    await ensureReconciled(clinic.submit, 'dental');
  }
  expect(listed).toBeGreaterThan(5);
  expect(countOf(clinic, 'reconciliation_failed')).toBe(1);
});

test('a process that starts while the service is away makes two requests for a try', async () => {
  const clinic = await install();
  clinic.submit.env.boot = () => ({ id: 'boot', awake_ms: HOUR_MS + clinic.now() });
  expect(await ensureReconciled(clinic.submit, 'dental')).toBe(true);
  clinic.submit.memory = newSubmitMemory();
  let requests = 0;
  clinic.client.list = clinic.client.getSubscription = async () => {
    requests += 1;
    return AWAY;
  };
  // Each appointment that waits for the clock wakes the stage.
  for (let step = 0; step < 5; step += 1) {
    clinic.pass(10_000);
    await ensureReconciled(clinic.submit, 'dental');
  }
  expect(requests).toBe(2);
});

test('the entry about the list ends when a new process relies on the old comparison', async () => {
  const clinic = await install();
  clinic.submit.env.boot = () => ({ id: 'boot', awake_ms: HOUR_MS + clinic.now() });
  expect(await ensureReconciled(clinic.submit, 'dental')).toBe(true);
  clinic.submit.memory = newSubmitMemory();
  const { list, getSubscription } = clinic.client;
  const failure = { class: 'unsent', cause: 'unauthorized', status: 401, retry_after_ms: null };
  const rejected = { ok: false, failure } as { ok: false; failure: ServiceFailure };
  clinic.client.list = clinic.client.getSubscription = async () => rejected;
  expect(await ensureReconciled(clinic.submit, 'dental')).toBe(false);
  expect(await clinic.attention()).toEqual(['submission_stopped']);
  Object.assign(clinic.client, { list, getSubscription });
  clinic.pass(16 * MINUTE_MS);
  expect(await ensureReconciled(clinic.submit, 'dental')).toBe(true);
  expect(await clinic.attention()).toEqual([]);
  // The next failure is a new one.
  clinic.client.list = async () => rejected;
  clinic.pass(25 * HOUR_MS);
  await ensureReconciled(clinic.submit, 'dental');
  expect(countOf(clinic, 'reconciliation_failed')).toBe(2);
});
