/** When an event is the answer, and when it only leads to a GET. */
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { newCollectMemory } from '../../../src/stages/collect/poll/ask.ts';
import { endCalls, type Installation, install } from '../installation.ts';

type Form = Record<string, unknown> & { results: Record<string, unknown> };

/**
 * Calls that ended within the hour, each of which answered everything, and the service's forms of
 * them.
 */
async function called(count: number, collecting: Parameters<typeof install>[0] = {}) {
  const clinic = await install(collecting);
  clinic.collect.webhook = {
    grace_ms: HOUR_MS,
    sample_at: Number.POSITIVE_INFINITY,
    compare_at: 0,
    onSilent: () => {},
  };
  await endCalls(clinic, count);
  const forms: Form[] = [];
  for (const row of await clinic.inquiries()) {
    const read = await clinic.client.read(row.specialty, (row.service_id ?? '') as never, {
      priority: 'routine',
    });
    if (read.ok) forms.push(read.value?.raw as Form);
  }
  const before = await reads(clinic);
  return { clinic, forms, reads: async () => (await reads(clinic)) - before };
}

const reads = async ({ service }: Installation) =>
  (await service.traffic()).by_route['GET /api/v0/dental/inquiries/:id'] ?? 0;
const checks = async ({ service }: Installation) =>
  (await service.traffic()).by_route['GET /api/v0/verification'] ?? 0;
const states = async (clinic: Installation) => (await clinic.inquiries()).map(({ state }) => state);
const answers = ({ store }: Installation) =>
  store.db.selectFrom('answers').selectAll().orderBy('inquiry').orderBy('revision').execute();

/** Like `called`, after eligd saw for the first inquiry that the event agrees with the reply. */
async function believed(count: number, collecting: Parameters<typeof install>[0] = {}) {
  const scene = await called(count + 1, collecting);
  await scene.clinic.report('first', [scene.forms.shift()]);
  await scene.clinic.drainNow();
  const before = await scene.reads();
  return { ...scene, reads: async () => (await scene.reads()) - before };
}

test('the first complete event is compared with the reply; later ones are answers', async () => {
  const { clinic, forms, reads } = await called(3);
  await clinic.report('h-1', forms.slice(0, 1));
  await clinic.drainNow();
  expect(await reads()).toBe(1);
  expect(clinic.events).toContain('webhook_believed');
  await clinic.report('h-2', forms.slice(1));
  expect(await clinic.drainNow()).toMatchObject({ did: 1 });
  expect(await reads()).toBe(1);
  expect(await states(clinic)).toEqual(['answered', 'answered', 'answered']);
  expect((await answers(clinic)).map(({ raw }) => JSON.parse(raw))).toEqual(forms);
  expect(await clinic.deliveries()).toHaveLength(3);
  const told = await clinic.store.db
    .selectFrom('audit')
    .select(['subject', 'reason'])
    .where('to_state', '=', 'answered')
    .execute();
  expect(told.map(({ reason }) => reason)).toEqual([
    'The service ended the inquiry: successful.',
    'The service reported the inquiry: successful.',
    'The service reported the inquiry: successful.',
  ]);
  // A later poll finds nothing new.
  await clinic.store.write((tx) =>
    tx.updateTable('inquiries').set({ poll_at: clinic.now() }).execute(),
  );
  await clinic.collectNow();
  expect(await answers(clinic)).toHaveLength(3);
});

const without = (form: Form, ...parts: string[]): Form => ({
  ...form,
  results: Object.fromEntries(
    Object.entries(form.results).filter(([part]) => !parts.includes(part)),
  ),
});

test.each<[string, (form: Form) => unknown[]]>([
  ['has no results', (form) => [{ ...form, results: null }]],
  ['has results that cannot be read', (form) => [{ ...form, results: 'words only' }]],
  ['lacks a part that was asked for', (form) => [without(form, 'maximums')]],
  ['lacks the calls', (form) => [without(form, 'call_details')]],
  [
    'does not say when the call ended',
    (form) => [
      { ...form, results: { ...form.results, call_details: [{ representative_name: 'A' }] } },
    ],
  ],
  ['has no summary', (form) => [{ ...form, summary: '' }]],
  [
    'comes in two halves',
    (form) => [without(form, 'maximums', 'extra_info'), without(form, 'procedure_classes')],
  ],
  ['says two things about the inquiry', (form) => [form, { ...form, summary: 'Otherwise.' }]],
  ['says that the call was unsuccessful', (form) => [{ ...form, status: 'UNSUCCESSFUL' }]],
  [
    'has another patient’s request',
    (form) => [{ ...form, request: { ...(form.request as object), dob: '01-01-1970' } }],
  ],
  [
    'is nested too deeply to be stored',
    (form) => [{ ...form, results: { ...form.results, deep: 'DEEP' } }],
  ],
])('an event that %s leads to a GET, and the reply is the answer', async (_, told) => {
  const { clinic, forms, reads } = await believed(1);
  const [form] = forms as [Form];
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const body = JSON.stringify({ message_hash: 'h', inquiries: told(form) }).replace('"DEEP"', deep);
  await clinic.store.write((tx) =>
    tx
      .insertInto('inbox')
      .values({ message_hash: 'h', body: Buffer.from(body), received_at: 1 })
      .execute(),
  );
  await clinic.drainNow();
  expect(await reads()).toBe(1);
  expect((await answers(clinic)).map(({ raw }) => JSON.parse(raw)).slice(1)).toEqual(forms);
  expect(clinic.events).not.toContain('stage_failed');
});

test('an event of a call that ended hours ago leads to a GET: newer ones may be lost', async () => {
  const { clinic, forms, reads } = await believed(1);
  clinic.pass(3 * HOUR_MS);
  await clinic.report('late', forms);
  await clinic.drainNow();
  expect(await reads()).toBe(1);
});

test('an event does not bring back an answer that the service withdrew', async () => {
  const { clinic, forms, reads } = await believed(1);
  await clinic.report('h-1', forms);
  await clinic.drainNow();
  const { read } = clinic.client;
  clinic.client.read = async (...call) => {
    const result = await read(...call);
    return result.ok && result.value !== null
      ? { ok: true, value: { ...result.value, status: 'IN_PROGRESS', results: null, summary: '' } }
      : result;
  };
  await clinic.report('h-2', [{ ...forms[0], status: 'IN_PROGRESS', results: null, summary: '' }]);
  await clinic.drainNow();
  expect(await states(clinic)).toEqual(['answered', 'open']);
  await clinic.report('h-3', forms);
  await clinic.drainNow();
  expect(await states(clinic)).toEqual(['answered', 'open']);
  expect(await reads()).toBe(2);
});

test('if a reply contradicts an event, every event leads to a GET for a week', async () => {
  const { clinic, forms, reads } = await called(4);
  await clinic.report('h-1', [{ ...forms[0], summary: 'Shortened.' }]);
  await clinic.drainNow();
  expect(clinic.events).toContain('webhook_contradicted');
  await clinic.report('h-2', forms.slice(1, 3));
  await clinic.drainNow();
  expect(await reads()).toBe(3);
  expect(clinic.events).not.toContain('webhook_believed');
  expect((await answers(clinic)).map(({ raw }) => JSON.parse(raw))).toEqual(forms.slice(0, 3));
  clinic.pass(8 * DAY_MS);
  const last = forms[3] as Form;
  const [call] = last.results.call_details as [object];
  const recent = { ...call, call_end_time: new Date(clinic.now() - MINUTE_MS).toISOString() };
  const form = { ...last, results: { ...last.results, call_details: [recent] } };
  const { read } = clinic.client;
  clinic.client.read = async (...asked) => {
    const result = await read(...asked);
    return result.ok && result.value !== null
      ? { ok: true, value: { ...result.value, results: form.results, raw: form } }
      : result;
  };
  await clinic.report('h-3', [form]);
  await clinic.drainNow();
  expect(clinic.events).toContain('webhook_believed');
});

test('now and then, eligd compares a complete event with the reply', async () => {
  const { clinic, forms, reads } = await believed(3);
  await clinic.report('h-1', forms.slice(0, 1));
  await clinic.drainNow();
  expect(await reads()).toBe(0);
  if (clinic.collect.webhook !== null) clinic.collect.webhook.compare_at = clinic.now();
  await clinic.report('h-2', forms.slice(1));
  await clinic.drainNow();
  expect(await reads()).toBe(1);
  expect(await states(clinic)).toEqual(['answered', 'answered', 'answered', 'answered']);
});

test('a step that fails leaves no request that a stop must wait for', async () => {
  const { clinic, forms } = await believed(2, { collecting: { verify_for_ms: 48 * HOUR_MS } });
  await clinic.report('h-1', forms);
  await clinic.drainNow();
  let asked = 0;
  let on_the_wire = 0;
  clinic.client.verifications = async () => {
    asked += 1;
    if (asked === 1) throw new Error('There is no room for it.');
    on_the_wire += 1;
    await setImmediate();
    on_the_wire -= 1;
    return { ok: true, value: [] };
  };
  await clinic.store.db
    .updateTable('inquiries')
    .set({ verify_at: clinic.now() })
    .where('state', '=', 'answered')
    .execute();
  await expect(clinic.collectNow()).rejects.toThrow('no room');
  expect(asked).toBeGreaterThan(1);
  expect(on_the_wire).toBe(0);
});

test('a crash between an event and its record loses and repeats nothing (G2)', async () => {
  const { clinic, forms, reads } = await believed(2, {
    collecting: { verify_for_ms: 48 * HOUR_MS },
  });
  await clinic.report('h-1', forms);
  const { verifications } = clinic.client;
  clinic.client.verifications = () => Promise.reject(new Error('The process dies here.'));
  await clinic.store.write((tx) =>
    tx
      .insertInto('learned_settings')
      .values({ name: 'verification_delays', value: '[0]', updated_at: 0 })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: '[0]' }))
      .execute(),
  );
  clinic.pass(MINUTE_MS);
  await expect(clinic.drainNow()).rejects.toThrow('dies here');
  expect((await answers(clinic)).map(({ is_normalized }) => is_normalized)).toEqual([1, 0, 0]);
  expect(await clinic.deliveries()).toHaveLength(1);
  // The process's memory is gone; the database is the only source.
  clinic.collect.memory = newCollectMemory();
  clinic.client.verifications = verifications;
  await clinic.drainNow();
  await clinic.collectNow();
  expect(await clinic.deliveries()).toHaveLength(3);
  expect(await reads()).toBe(0);
  expect((await answers(clinic)).map(({ raw }) => JSON.parse(raw)).slice(1)).toEqual(forms);
});

test('eligd takes all answers of a message or none, and then tries again (G2)', async () => {
  const { clinic, forms } = await believed(2);
  await clinic.report('h-1', forms);
  const [, , last] = await clinic.inquiries();
  await clinic.store.write(async (tx) => {
    const create = sql`create unique index one_too_many on answers (service_status)
        where inquiry >= ${sql.lit((last?.id ?? 0) - 1)}`;
    await create.execute(tx);
  });
  await clinic.drainNow();
  expect(await states(clinic)).toEqual(['answered', 'open', 'open']);
  expect(clinic.events).toContain('stage_failed');
  await clinic.store.write(async (tx) => void (await sql`drop index one_too_many`.execute(tx)));
  await clinic.drainNow();
  expect(await states(clinic)).toEqual(['answered', 'answered', 'answered']);
  expect(await clinic.deliveries()).toHaveLength(3);
});

test('eligd asks for the checks of calls when they are usually ready, once each', async () => {
  const { clinic, forms } = await called(6, { collecting: { verify_for_ms: 48 * HOUR_MS } });
  await clinic.report('h-1', forms);
  await clinic.drainNow();
  for (let minutes = 0; minutes < 30; minutes += 1) {
    clinic.pass(MINUTE_MS);
    await clinic.service.advance({ seconds: 60 });
    await clinic.collectNow();
  }
  expect(await checks(clinic)).toBe(6);
  const records = await clinic.store.db
    .selectFrom('records')
    .select(['inquiry', 'record'])
    .orderBy('id')
    .execute();
  const verified = records.filter(
    ({ record }) => (JSON.parse(record) as { verification: unknown }).verification !== null,
  );
  expect(new Set(verified.map(({ inquiry }) => inquiry)).size).toBe(6);
});
