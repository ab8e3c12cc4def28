/**
 * Bodies of webhook events with a valid signature, through the real route over a socket into a real
 * database: eligd stores JSON before it acknowledges it (G3) and drains it whatever it says, and
 * then also the genuine event after it (G7).
 */
import { createHmac } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import type { Env } from '../../src/domain/env.ts';
import { startHttpServer } from '../../src/http/server.ts';
import { newWebhookCounts, webhookRoute } from '../../src/http/webhook.ts';
import { realClock } from '../../src/ops/env.ts';
import type { CollectDeps } from '../../src/stages/collect/deps.ts';
import { inboxStep } from '../../src/stages/collect/inbox/index.ts';
import { newCollectMemory } from '../../src/stages/collect/poll/ask.ts';
import { openInbox } from '../../src/store/answers/inbox.ts';
import { openStore } from '../../src/store/engine/store.ts';
import { NATIONAL } from '../domain/examples.ts';
import { bareService } from './bare-service.ts';
import { must, type Target } from './target.ts';

const SECRET = 'the-secret';
const PATH = '/hook';
const BODY_BYTES_MAX = 200_000;
const form = {
  id: 'x1',
  status: 'SUCCESS',
  creation_ts: '2026-11-20T09:00:00Z',
  summary: '',
  results: null,
  request: { dob: '02-03-1980' },
};

export async function webhooksTarget(): Promise<Target> {
  const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'eligd-fuzz-'));
  const store = await openStore(join(root, 'eligd.db'));
  const events: string[] = [];
  const env: Env = {
    clock: realClock,
    random: Math.random,
    log: (event) => void events.push(event),
  };
  const service = await bareService(env);
  const counts = newWebhookCounts();
  const route = webhookRoute({
    path: PATH,
    signature_header: 'X-Service-Signature',
    secrets: [SECRET],
    body_bytes_max: BODY_BYTES_MAX,
    inbox: openInbox(store, realClock),
    env,
    onStored: () => {},
    counts,
  });
  const server = await startHttpServer({ host: '127.0.0.1', port: 0 }, [route], env);
  const agent = new Agent();
  const collect = collectDeps(env, store, service.client);
  const post = async (body: Buffer): Promise<number> => {
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const reply = await request(`http://127.0.0.1:${server.address.port}${PATH}`, {
      method: 'POST',
      headers: { 'x-service-signature': signature, 'content-type': 'application/json' },
      body,
      dispatcher: agent,
    });
    await reply.body.dump();
    return reply.statusCode;
  };
  let last = 0;
  const check = async (input: Buffer): Promise<string> => {
    last += 1;
    events.length = 0;
    const status = await post(input);
    if (isJson(input))
      must(
        status === (input.length > BODY_BYTES_MAX ? 413 : 200),
        `JSON that is rightly signed was answered ${status}.`,
      );
    else must(status === 400 || status === 413, `What is no JSON was answered ${status}.`);
    if (status === 200) must((await post(input)) === 200, 'The same again was not acknowledged.');
    const genuine = Buffer.from(
      JSON.stringify({
        subscription_id: 's',
        inquiries: [{ ...form, id: `g${last}` }],
        message_hash: `g${last}`,
      }),
    );
    must((await post(genuine)) === 200, 'The genuine report after it was not taken.');
    await inboxStep(collect);
    const left = await store.db
      .selectFrom('inbox')
      .select('id')
      .where('body', 'is not', null)
      .execute();
    must(left.length === 0, `${left.length} reports were stored and are not drained.`);
    must(!events.includes('stage_failed'), 'A report could not be drained.');
    return [status, ...new Set(events.filter((event) => event !== 'webhook_strangers'))].join(' ');
  };
  const text = (inquiries: unknown) =>
    JSON.stringify({ subscription_id: 's', inquiries, message_hash: 'h1' });
  return {
    name: 'webhooks',
    seeds: [
      text([form]),
      text([form, { ...form, id: 'x2', status: 'IN_PROGRESS' }]),
      text([]),
      text(null),
      '[]',
      '7',
      '{}',
    ],
    // biome-ignore format: a list of words
    telling: [
      '{', '}', '[', ']', ',', ':', 'null', 'true', '""', '"', '0', '"id"', '"message_hash":',
      '"inquiries":', '\\u0000', '\\ud800', '\ufeff', '\xff', '"__proto__":{}',
    ],
    check,
    close: async () => {
      await agent.close();
      await server.close();
      await service.close();
      await store.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

function collectDeps(
  env: Env,
  store: CollectDeps['store'],
  client: CollectDeps['client'],
): CollectDeps {
  return {
    store,
    env,
    client,
    onRecord: () => {},
    clockSkew: () => 0,
    onPlanned: () => {},
    webhook: null,
    memory: newCollectMemory(),
    settings: {
      poll_interval_ms: 3_600_000,
      urgent_poll_interval_ms: 600_000,
      settle_ms: 300_000,
      concurrency: 2,
      time_zone: 'America/Chicago',
      give_up_after_days: 14,
      attempts: 2,
      max_claim_calls: 6,
      claim_words: {},
      attempt_pause_ms: 3_600_000,
      external_id_template: '{appointment}',
      callBy: (_coverage, { starts_at }) => starts_at,
      payerHours: () => NATIONAL,
      turnaround_days: 2,
      benefits_days: 365,
      verify_for_ms: 0,
      verification_required: [],
    },
  };
}
