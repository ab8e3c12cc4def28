/**
 * A child of the bench: two weeks of 100 visits a day with the real stages, a real database, and
 * the sandbox, on one clock that this file moves. It counts the requests that the sandbox received.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { subscriptionStep } from '../../src/daemon/subscription.ts';
import type { Env } from '../../src/domain/env.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/time.ts';
import { startHttpServer } from '../../src/http/server.ts';
import { newWebhookCounts, webhookRoute } from '../../src/http/webhook.ts';
import { questions } from '../../src/ops/config-questions.ts';
import { realClock } from '../../src/ops/env.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { createServiceClient } from '../../src/service/client.ts';
import type { CollectDeps } from '../../src/stages/collect/deps.ts';
import { inboxStep } from '../../src/stages/collect/inbox/index.ts';
import { newCollectMemory } from '../../src/stages/collect/poll/ask.ts';
import { collectStep } from '../../src/stages/collect/poll/index.ts';
import { planStep } from '../../src/stages/plan/index.ts';
import { newSubmitMemory, type SubmitDeps, submitStep } from '../../src/stages/submit/index.ts';
import { openInbox } from '../../src/store/answers/inbox.ts';
import { openStore } from '../../src/store/engine/store.ts';
import { acceptBatch } from '../../src/store/intake/intake.ts';
import { aCoverage, anAppointment, facts, NATIONAL, NO_BUDGET } from '../domain/examples.ts';
import { newSendCount } from '../support/send-count.ts';
import { jobOfChild } from './measure.ts';

export type FortnightJob = { is_told: boolean };
export type FortnightResult = {
  answered: number;
  open: number;
  by_kind: Record<Kind, number>;
  silences: number;
};

type Kind = 'creates' | 'asking' | 'verification' | 'list' | 'other';

const DAYS = 14;
const VISITS_A_DAY = 100;
const TICK_MS = 5 * MINUTE_MS;
/** A Monday, 06:00 in Chicago, without a holiday soon. */
const START_MS = Date.parse('2030-06-03T11:00:00Z');
/** The faster its clock runs, the more often the sandbox checks its events. */
const SPEED = 5_000;
const REAL_MS_FOR_REPORTS = 4;
const PATH = '/hook';

const { is_told } = jobOfChild<FortnightJob>();
let now_ms = START_MS;
let random = 1;
let silences = 0;
const env: Env = {
  clock: { now: () => now_ms, elapsed: () => now_ms, sleep: realClock.sleep },
  // Its own generator, so that every run asks at the same times.
  random: () => {
    random = (random * 48_271) % 2_147_483_647;
    return random / 2_147_483_647;
  },
  log: (event) => {
    if (event === 'webhook_silent') silences += 1;
  },
};
const folder = mkdtempSync(join(tmpdir(), 'eligd-bench-'));
const store = await openStore(join(folder, 'eligd.db'));
const sandbox = await startSandbox({
  port: 0,
  db: ':memory:',
  seed: 1,
  speed: SPEED,
  anchor_ms: START_MS,
  now: () => START_MS + (now_ms - START_MS) / SPEED,
});
const client = createServiceClient({
  base_url: sandbox.url,
  credentials: { scheme: 'oauth', username: 'clinic', password: 'sandbox' },
  timeout_ms: 30_000,
  concurrency: 4,
  gate: { enter: async () => ({ leave: async () => {} }), pause: async () => {} },
  env,
});
process.stdout.write(JSON.stringify(await fortnight()));
await client.close();
await sandbox.close();
await store.close();
rmSync(folder, { recursive: true });

async function fortnight(): Promise<FortnightResult> {
  const { submit, collect } = deps();
  const route = webhookRoute({
    path: PATH,
    signature_header: 'X-Service-Signature',
    secrets: ['sandbox'],
    body_bytes_max: 16_000_000,
    inbox: openInbox(store, env.clock),
    env,
    onStored: () => {},
    counts: newWebhookCounts(),
  });
  const server = await startHttpServer({ host: '127.0.0.1', port: 0 }, [route], env);
  const wanted = {
    callback_url: `http://127.0.0.1:${server.address.port}${PATH}`,
    update_frequency_min: 5,
  };
  const subscription = {
    store,
    env,
    client,
    wanted,
    take_over: false,
    onKept: () => {},
    onRight: async () => {},
    is_elsewhere: false,
    failures: 0,
  };
  let compare_at = is_told ? START_MS : Number.POSITIVE_INFINITY;
  let read_days = 0;
  // Two more days, in which the last visits are answered and no new ones arrive.
  while (now_ms < START_MS + (DAYS + 2) * DAY_MS) {
    if (now_ms >= compare_at)
      compare_at = (await subscriptionStep(subscription)).next_at ?? compare_at;
    // At the start, all visits within the look-ahead window; then one more day every day.
    while (read_days < Math.min(DAYS, 7 + (now_ms - START_MS) / DAY_MS)) await readDay(read_days++);
    if (is_told) await sleep(REAL_MS_FOR_REPORTS);
    await settle(submit, collect);
    now_ms += TICK_MS;
  }
  await server.close();
  return await count();
}

async function settle(submit: SubmitDeps, collect: CollectDeps): Promise<void> {
  const plan = {
    store,
    env,
    external_id_template: '{appointment}',
    log_key: 'bench',
    onPlanned: () => {},
  };
  // The default questions about dental visits.
  const dental = questions.parse({}).dental.map((rule) => ({ ...rule, when_codes: null }));
  const { now: _, ...planning } = facts({
    policy: { questions: { ...facts().policy.questions, dental } },
  });
  const signal = new AbortController().signal;
  const steps = [
    () => planStep({ ...plan, facts: () => planning }),
    () => submitStep(submit, { external_id_template: '{appointment}', signal }),
    () => inboxStep(collect),
    () => collectStep(collect),
  ];
  for (const step of steps) while ((await step()).did > 0);
}

/** The visits of one day, from eight to five; none on Saturdays and Sundays. */
async function readDay(day: number): Promise<void> {
  const midnight = START_MS - 6 * HOUR_MS + day * DAY_MS;
  if ([0, 6].includes(new Date(midnight + 12 * HOUR_MS).getUTCDay())) return;
  const appointments = Array.from({ length: VISITS_A_DAY }, (_, index) =>
    anAppointment({
      source_id: `${day}-${index}`,
      starts_at: new Date(
        midnight + 8 * HOUR_MS + Math.floor((index * 9 * HOUR_MS) / VISITS_A_DAY),
      ).toISOString(),
      patient: {
        id: `P${day}-${index}`,
        first_name: 'Ada',
        last_name: 'Example',
        birth_date: '1980-01-02',
      },
      coverages: [aCoverage({ member_id: `W${day}${String(index).padStart(4, '0')}` })],
    }),
  );
  const source = {
    key: `bench:${day}`,
    name: 'bench',
    is_last: true,
    completeness: 'changes' as const,
  };
  await store.write((tx) =>
    acceptBatch(tx, 'front-desk', { source, appointments, rejected: [], cursor: null }, now_ms),
  );
}

function deps(): { submit: SubmitDeps; collect: CollectDeps } {
  const polling = {
    poll_interval_ms: HOUR_MS,
    urgent_poll_interval_ms: 15 * MINUTE_MS,
    settle_ms: 5 * MINUTE_MS,
    concurrency: 4,
    time_zone: 'America/Chicago',
  };
  const submission = {
    is_observing: false,
    mode: 'auto',
    batch_size: 25,
    bulk_shape: 'auto',
    send_npi: 'auto',
    is_shared_account: false,
  } as const;
  const limits = { days_off: new Set<string>(), budget: NO_BUDGET, reverify_after_days: 30 };
  const settings = {
    ...polling,
    give_up_after_days: 14,
    attempts: 2,
    max_claim_calls: 6,
    claim_words: {},
    attempt_pause_ms: 20 * HOUR_MS,
    external_id_template: '{appointment}',
    callBy: (_coverage: unknown, visit: { starts_at: number }) => visit.starts_at - 4 * HOUR_MS,
    payerHours: () => NATIONAL,
    turnaround_days: 2,
    benefits_days: 365,
  };
  return {
    submit: {
      store,
      env,
      client,
      memory: newSubmitMemory(),
      clockSkew: () => 0,
      sends: newSendCount(),
      onOpen: () => {},
      afterReading: (claim) => claim(),
      settings: { ...polling, ...submission, ...limits, timeout_ms: 30_000 },
    },
    collect: {
      store,
      env,
      client,
      onRecord: () => {},
      clockSkew: () => 0,
      onPlanned: () => {},
      memory: newCollectMemory(),
      webhook: is_told
        ? { grace_ms: 12 * MINUTE_MS, sample_at: 0, compare_at: 0, onSilent: () => {} }
        : null,
      settings: { ...settings, verify_for_ms: 48 * HOUR_MS, verification_required: [] },
    },
  };
}

async function count(): Promise<FortnightResult> {
  const response = await fetch(`${sandbox.url}/_sandbox/ledger?inquiries=no`);
  const { requests } = (await response.json()) as {
    requests: { by_route: Record<string, number> };
  };
  const by_kind: Record<Kind, number> = {
    creates: 0,
    asking: 0,
    verification: 0,
    list: 0,
    other: 0,
  };
  for (const [route, number] of Object.entries(requests.by_route)) by_kind[kindOf(route)] += number;
  const rows = await store.db.selectFrom('inquiries').select('state').execute();
  const inState = (state: string) => rows.filter((row) => row.state === state).length;
  return { answered: inState('answered'), open: inState('open'), by_kind, silences };
}

function kindOf(route: string): Kind {
  if (/^POST .*inquiries$/.test(route)) return 'creates';
  if (/^GET .*inquiries\/:id$/.test(route)) return 'asking';
  if (/^GET .*inquiries$/.test(route)) return 'list';
  return route.includes('verification') ? 'verification' : 'other';
}
