import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import type { Env, LogFields } from '../../src/domain/env.ts';
import type { EventName } from '../../src/domain/events.ts';
import { type InquiryId, inquiryId } from '../../src/domain/ids.ts';
import type {
  InquiryRequest,
  RequestGate,
  ServiceClient,
  ServiceClientOptions,
} from '../../src/service/api.ts';
import { createServiceClient } from '../../src/service/client.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export const START_MS = Date.parse('2026-11-20T12:00:00Z');

export function testEnv() {
  const logged: { event: EventName; fields: LogFields }[] = [];
  const time = { now_ms: START_MS, elapsed_ms: 0 };
  const env: Env = {
    clock: { now: () => time.now_ms, elapsed: () => time.elapsed_ms, sleep: async () => {} },
    random: () => 0.5,
    log: (event, fields) => void logged.push({ event, fields: fields ?? {} }),
  };
  const advance = (duration_ms: number) => {
    time.now_ms += duration_ms;
    time.elapsed_ms += duration_ms;
  };
  return { env, logged, time, advance };
}

export function testGate() {
  const state = { entered: [] as string[], left: 0, pauses: [] as number[] };
  const gate: RequestGate = {
    async enter(priority, signal) {
      signal?.throwIfAborted();
      state.entered.push(priority);
      return {
        async leave() {
          state.left += 1;
        },
      };
    },
    async pause(until_ms) {
      state.pauses.push(until_ms);
    },
  };
  return { gate, state };
}

export type Seen = {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  socket: Socket;
};
export type Reply = {
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  text?: string;
  cut?: boolean;
};
type Handler = (seen: Seen, res: ServerResponse) => Reply | undefined | Promise<Reply | undefined>;

/** A real server on the loopback; it answers the token path unless the handler does. */
export async function serve(
  handler: Handler,
  token: Handler | null = () => ({ json: { access_token: 'T', token_type: 'bearer' } }),
) {
  const seen: Seen[] = [];
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += String(chunk);
    const one: Seen = {
      method: req.method!,
      url: req.url!,
      headers: req.headers,
      body,
      socket: req.socket,
    };
    seen.push(one);
    const reply = await (one.url.endsWith('/auth/token') && token !== null ? token : handler)(
      one,
      res,
    );
    if (reply === undefined) return;
    const text = reply.text ?? (reply.json === undefined ? '' : JSON.stringify(reply.json));
    res.writeHead(reply.status ?? 200, {
      ...(reply.json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(reply.cut ? { 'content-length': String(text.length + 50) } : {}),
      ...reply.headers,
    });
    if (!reply.cut) return void res.end(text);
    res.write(text, () => setTimeout(() => req.socket.destroy(), 5));
  });
  const base_url = await listen(server);
  const calls = () => seen.filter((one) => !one.url.endsWith('/auth/token'));
  return { base_url, seen, calls, server };
}

export async function listen(server: Server | net.Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The address of a port on which no one listens. */
export async function deadAddress(): Promise<string> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

export const BASIC = { scheme: 'basic', project_id: 'project', api_key: 'key' } as const;
export const OAUTH = { scheme: 'oauth', username: 'clinic', password: 'pass word&' } as const;

export function testClient(base_url: string, options: Partial<ServiceClientOptions> = {}) {
  const { env, logged, time, advance } = testEnv();
  const { gate, state } = testGate();
  const client: ServiceClient = createServiceClient({
    base_url,
    credentials: BASIC,
    timeout_ms: 2000,
    concurrency: 4,
    gate,
    env,
    ...options,
  });
  cleanups.push(() => client.close());
  return { client, gate: state, logged, time, advance };
}

export function aRequest(over: Partial<InquiryRequest> = {}): InquiryRequest {
  return {
    type: 'BENEFITS',
    desired_completion_date: '11-20-2026',
    patient_name: 'Ada Example',
    dob: '01-02-1980',
    member_id: 'W123 456',
    tax_id: '123456789',
    external_id: 'appt-1',
    ...over,
  };
}

export function aReadForm(
  id: string,
  over: Record<string, unknown> = {},
  request: Record<string, unknown> = aRequest(),
) {
  return {
    id,
    status: 'SCHEDULED',
    creation_ts: '2026-11-20T12:00:00Z',
    summary: '',
    results: null,
    request,
    ...over,
  };
}

export const id = (text: string): InquiryId => inquiryId(text);
