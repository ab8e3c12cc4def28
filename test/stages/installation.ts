/**
 * The stages with a real store and the real sandbox, one step at a time, on a clock that the test
 * sets.
 */
import { afterEach } from 'vitest';
import type { Connector, Delivery } from '../../connectors/contract.ts';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import type { ClaimInput } from '../../src/domain/claim.ts';
import type { Env } from '../../src/domain/env.ts';
import { NO_FEES } from '../../src/domain/fees.ts';
import { callBefore } from '../../src/domain/planning.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/time.ts';
import { realClock } from '../../src/ops/env.ts';
import { ATTENTION_KINDS, type AttentionKind } from '../../src/records/verdict/attention.ts';
import type { RequestGate, ServiceClient } from '../../src/service/api.ts';
import { createServiceClient } from '../../src/service/client.ts';
import type { CollectDeps } from '../../src/stages/collect/deps.ts';
import { inboxStep } from '../../src/stages/collect/inbox/index.ts';
import { newCollectMemory } from '../../src/stages/collect/poll/ask.ts';
import { askAboutAll, collectStep } from '../../src/stages/collect/poll/index.ts';
import { newConnectorState } from '../../src/stages/connector-state.ts';
import { deliverStep, newDeliverMemory } from '../../src/stages/deliver/index.ts';
import { closeOldVisits, planStep } from '../../src/stages/plan/index.ts';
import {
  demandReconciliation,
  newSubmitMemory,
  type SubmitDeps,
  submitStep,
} from '../../src/stages/submit/index.ts';
import { openInbox } from '../../src/store/answers/inbox.ts';
import { openAttention } from '../../src/store/bookkeeping/attention.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { acceptBatch } from '../../src/store/intake/intake.ts';
import { aCoverage, anAppointment, facts, NATIONAL, NO_BUDGET } from '../domain/examples.ts';
import { temporaryStore } from '../store/temporary.ts';
import { newSendCount } from '../support/send-count.ts';
import { type Service, startService } from '../support/service.ts';

/** A payer that answers on every business day around the clock. */
const ALWAYS = { ...NATIONAL, hours: { opens: 0, closes: 24 * 60 } };

export const SETTLE_MS = 5 * MINUTE_MS;

/** What a request gets while the service cannot be reached. */
export const AWAY = {
  ok: false,
  failure: { class: 'unsent', cause: 'connect', status: null, retry_after_ms: null },
} as const;

const TEMPLATE = '{appointment}';

/** Verdicts are not the subject of these tests. */
const NO_ATTENTION = Object.fromEntries(ATTENTION_KINDS.map((kind) => [kind, false])) as Record<
  AttentionKind,
  boolean
>;

const clients: ServiceClient[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

type RecordOf = { id: string; first_name: string; last_name: string; birth_date: string };

export type Installation = Awaited<ReturnType<typeof install>>;

/**
 * A Tuesday in January, whatever the real day: visits within months are in one benefit year, and
 * the next days are business days. The sandbox draws by the dates in a request, so a beginning that
 * moved with the calendar would change its answers. It must be after the real day.
 */
const BEGINNING = Date.UTC(2038, 0, 12, 18);

export async function install({
  policy = {},
  settings = {},
  collecting = {},
  gate = { enter: async () => ({ leave: async () => {} }), pause: async () => {} },
  sleep = realClock.sleep,
}: {
  policy?: object;
  settings?: Partial<SubmitDeps['settings']>;
  collecting?: Partial<CollectDeps['settings']>;
  gate?: RequestGate;
  sleep?: Env['clock']['sleep'];
} = {}) {
  const store: Store = await temporaryStore();
  const service: Service = await startService();
  let ahead_ms = BEGINNING - Date.now();
  await service.advance({ seconds: Math.round(ahead_ms / 1000) });
  const events: string[] = [];
  const env: Env = {
    clock: { now: () => Date.now() + ahead_ms, elapsed: () => performance.now() + ahead_ms, sleep },
    random: () => 0.5,
    log: (event) => void events.push(event),
  };
  const real = createServiceClient({
    base_url: service.url,
    credentials: { scheme: 'oauth', username: 'clinic', password: 'sandbox' },
    timeout_ms: 5_000,
    concurrency: 4,
    gate,
    env,
  });
  clients.push(real);
  const client = { ...real };
  const planning = () => {
    // Visits are hours and days from now, on any day.
    const { now: _, ...rest } = facts({
      policy: {
        late_visits: 'buy',
        payer_hours: ALWAYS,
        attempts: collecting.attempts ?? 2,
        attempt_pause_hours: (collecting.attempt_pause_ms ?? HOUR_MS) / HOUR_MS,
        ...policy,
      },
    });
    return rest;
  };
  const polling = {
    poll_interval_ms: HOUR_MS,
    urgent_poll_interval_ms: 10 * MINUTE_MS,
    settle_ms: SETTLE_MS,
    concurrency: 4,
    time_zone: 'America/Chicago',
  };
  const plan = {
    store,
    env,
    facts: planning,
    external_id_template: TEMPLATE,
    log_key: 'key',
    onPlanned: () => {},
  };
  const submit: SubmitDeps = {
    store,
    env,
    client,
    memory: newSubmitMemory(),
    clockSkew: () => 0,
    sends: newSendCount(),
    onOpen: () => {},
    afterReading: (claim) => claim(),
    settings: {
      ...polling,
      is_observing: false,
      mode: 'single',
      batch_size: 25,
      bulk_shape: 'auto',
      send_npi: 'auto',
      timeout_ms: 5_000,
      is_shared_account: false,
      budget: NO_BUDGET,
      days_off: new Set(),
      reverify_after_days: 30,
      ...settings,
    },
  };
  const collect: CollectDeps = {
    store,
    env,
    client,
    onRecord: () => {},
    clockSkew: () => 0,
    onPlanned: () => {},
    webhook: null,
    memory: newCollectMemory(),
    settings: {
      ...polling,
      give_up_after_days: 14,
      attempts: 2,
      max_claim_calls: 6,
      claim_words: {},
      attempt_pause_ms: HOUR_MS,
      external_id_template: TEMPLATE,
      callBy: (coverage, visit) => callBefore(coverage, visit, planning()),
      payerHours: () => planning().policy.payer_hours,
      turnaround_days: planning().policy.turnaround_days,
      benefits_days: planning().policy.benefits_days,
      verify_for_ms: 0,
      verification_required: [],
      ...collecting,
    },
  };
  const inbox = openInbox(store, env.clock);
  const signal = new AbortController().signal;
  const memory = newDeliverMemory();
  const state = newConnectorState();
  let sources = 0;
  return {
    store,
    service,
    env,
    events,
    submit,
    collect,
    plan,
    /** The client that the stages call; a test can replace one of its replies. */
    client,
    now: env.clock.now,
    pass: (duration_ms: number) => {
      ahead_ms += duration_ms;
    },
    /** A visit in this many days. */
    visit: (source_id: string, over: Partial<AppointmentInput> = {}, days = 3): AppointmentInput =>
      anAppointment({
        source_id,
        starts_at: new Date(env.clock.now() + days * DAY_MS).toISOString(),
        ...over,
      }),
    read: async (...appointments: AppointmentInput[]) => {
      sources += 1;
      const source = {
        key: `sha256:${sources}`,
        name: 'export.csv',
        is_last: true,
        completeness: 'changes' as const,
      };
      await store.write((tx) =>
        acceptBatch(
          tx,
          'front-desk',
          { source, appointments, rejected: [], cursor: null },
          env.clock.now(),
        ),
      );
    },
    readClaims: async (...claims: ClaimInput[]) => {
      sources += 1;
      const source = {
        key: `sha256:${sources}`,
        name: 'claims.csv',
        is_last: true,
        completeness: 'changes' as const,
      };
      const batch = { source, appointments: [], claims, rejected: [], cursor: null };
      await store.write((tx) => acceptBatch(tx, 'front-desk', batch, env.clock.now()));
    },
    /** The practice merges these records of a patient into another one. */
    merge: async (into: RecordOf, ...from: { id: string }[]) => {
      const source = {
        key: 'adt:1',
        name: 'message',
        is_last: true,
        completeness: 'changes' as const,
      };
      const patients = from.map(({ id }) => ({ kind: 'merged' as const, from_id: id, into }));
      const batch = { source, appointments: [], patients, rejected: [], cursor: null };
      await store.write((tx) => acceptBatch(tx, 'front-desk', batch, env.clock.now()));
      await planStep(plan);
    },
    planNow: () => planStep(plan),
    closeOld: () => closeOldVisits(plan, 14),
    submitNow: () => submitStep(submit, { external_id_template: TEMPLATE, signal }),
    collectAll: () => askAboutAll(collect, signal),
    collectNow: () => collectStep(collect),
    /** Collects like another process, which has seen nothing of this one. */
    collectElsewhere: () => {
      collect.memory = newCollectMemory();
      return collectStep(collect);
    },
    drainNow: () => inboxStep(collect),
    /** Stores an event as the webhook does. */
    report: (message_hash: string, inquiries: unknown[]) =>
      inbox.accept({
        message_hash,
        body: Buffer.from(JSON.stringify({ message_hash, inquiries })),
        received_at: env.clock.now(),
      }),
    deliverNow: (connector: Connector) =>
      deliverStep(
        {
          store,
          env,
          connector_id: 'front-desk',
          connector,
          time_zone: 'America/Chicago',
          fees: NO_FEES,
          attention: NO_ATTENTION,
          memory,
          state,
        },
        signal,
      ),
    inquiries: () => store.db.selectFrom('inquiries_with_call').selectAll().orderBy('id').execute(),
    deliveries: () => store.db.selectFrom('deliveries').selectAll().orderBy('id').execute(),
    attention: async () => (await openAttention(store.db)).map(({ reason }) => reason),
  };
}

/** A connector that accepts everything except deliveries for which `write` throws. */
export function connector(write: (delivery: Delivery) => void): Connector {
  return {
    deliver: async ({ deliveries }) => {
      for (const delivery of deliveries) write(delivery);
      return deliveries.map(({ key }) => ({ key, outcome: 'delivered' as const }));
    },
    check: async () => [],
  };
}

/** Reads the practice's visits, plans them, and sends what is due. */
export async function send(
  { read, planNow, submitNow }: Installation,
  ...visits: AppointmentInput[]
): Promise<void> {
  await read(...visits);
  await planNow();
  await submitNow();
}

/** Compares the service's list with the ledger. */
export async function reconcile({ submit, submitNow }: Installation): Promise<void> {
  demandReconciliation(submit);
  await submitNow();
}

/** Reads and sends this many visits; their last call ended a minute ago. */
export async function endCalls(clinic: Installation, count: number): Promise<void> {
  const visits = Array.from({ length: count }, (_, index) =>
    clinic.visit(`A-${index}`, { coverages: [aCoverage({ member_id: `ACTIVE${index}` })] }, 0.5),
  );
  await clinic.read(...visits);
  await clinic.planNow();
  while ((await clinic.submitNow()).did > 0);
  const ends = (await clinic.service.ledgerWithSteps()).map(({ steps }) =>
    Date.parse(steps.at(-1)?.at ?? ''),
  );
  const over = Math.max(...ends) + MINUTE_MS;
  await clinic.service.advanceTo(new Date(over).toISOString());
  clinic.pass(over - clinic.now());
}
