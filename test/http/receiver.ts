/** The webhook route on a real socket with a real database. */
import { createHmac } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Agent, request } from 'undici';
import { afterEach } from 'vitest';
import type { Env, LogFields } from '../../src/domain/env.ts';
import { HTTP_LIMITS, type HttpLimits, startHttpServer } from '../../src/http/server.ts';
import { newWebhookCounts, type WebhookOptions, webhookRoute } from '../../src/http/webhook.ts';
import { realClock } from '../../src/ops/env.ts';
import { openInbox } from '../../src/store/answers/inbox.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { temporaryStore } from '../store/temporary.ts';

export const SECRET = 'the-secret-of-the-webhook';
export const PATH = '/webhooks/inquiries';

const closers: (() => Promise<unknown> | unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

export function signatureOf(body: string | Buffer, secret = SECRET): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

export function message(hash: string, inquiries: unknown[] = [], padding = ''): string {
  return JSON.stringify({ subscription_id: 'sub-1', inquiries, message_hash: hash, padding });
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export async function startReceiver({
  limits = {},
  store,
  ...options
}: Partial<WebhookOptions> & { limits?: Partial<HttpLimits>; store?: Store } = {}) {
  const used = store ?? (await temporaryStore());
  const logged: { event: string; fields: LogFields }[] = [];
  const env: Env = {
    clock: realClock,
    random: Math.random,
    log: (event, fields) => void logged.push({ event, fields: fields ?? {} }),
  };
  const counts = newWebhookCounts();
  let woken = 0;
  const route = webhookRoute({
    path: PATH,
    signature_header: 'X-Service-Signature',
    secrets: [SECRET],
    body_bytes_max: 200_000,
    inbox: openInbox(used, realClock),
    env,
    onStored: () => {
      woken += 1;
    },
    counts,
    ...options,
  });
  const server = await startHttpServer({ host: '127.0.0.1', port: 0 }, [route], env, {
    ...HTTP_LIMITS,
    ...limits,
  });
  closers.push(() => server.close());
  const agent = new Agent({ connections: 8, pipelining: 1 });
  closers.push(() => agent.destroy());
  const url = `http://127.0.0.1:${server.address.port}`;
  /** Sends an event as the service does; headers can be replaced, and left out with null. */
  const deliver = async (
    body: string | Buffer,
    headers: Record<string, string | null> = {},
    path = PATH,
  ) => {
    const given = Object.entries({
      'content-type': 'application/json',
      'x-service-signature': signatureOf(body),
      ...headers,
    }).filter((header): header is [string, string] => header[1] !== null);
    const response = await request(url + path, {
      method: 'POST',
      dispatcher: agent,
      headers: Object.fromEntries(given),
      body,
    });
    return {
      status: response.statusCode,
      body: await response.body.text(),
      headers: response.headers,
    };
  };
  return {
    store: used,
    server,
    port: server.address.port,
    url,
    counts,
    logged,
    woken: () => woken,
    deliver,
    rows: () => used.db.selectFrom('inbox').selectAll().orderBy('id').execute(),
    /** A raw connection; `answer` has what came until it closed, even if it was reset. */
    raw: (): { socket: Socket; answer: Promise<string> } => {
      const socket = connect(server.address.port, '127.0.0.1');
      socket.on('error', () => {});
      closers.push(() => socket.destroy());
      const parts: Buffer[] = [];
      socket.on('data', (part: Buffer) => parts.push(part));
      const answer = new Promise<string>((resolve) => {
        socket.once('close', () => resolve(Buffer.concat(parts).toString()));
      });
      return { socket, answer };
    },
  };
}
