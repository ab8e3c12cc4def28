import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseStranger } from './auth.ts';
import type { Call, Reply, Route } from './exchange.ts';
import type { Fault } from './faults.ts';
import type { State } from './state.ts';

/**
 * Who may send requests: anyone under /_sandbox and for a token; callers with credentials
 * everywhere else.
 */
export type Access = 'admin' | 'anyone' | 'callers';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const HTML =
  '<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1><hr>proxy</body></html>';

/**
 * Adds routes to the server. Other methods of a path answer 405. `closing` ends the waits of
 * ordered delays.
 */
export function mount(
  app: FastifyInstance,
  state: State,
  routes: readonly { route: Route; access: Access }[],
  closing: AbortSignal,
): void {
  const taken = new Map<string, string[]>();
  for (const { route, access } of routes) {
    taken.set(route.path, [...(taken.get(route.path) ?? []), route.method]);
    app.route({
      method: route.method,
      url: route.path,
      handler: (request, reply) =>
        access === 'admin'
          ? send(reply, route.endpoint(callOf(state, request)))
          : serve({ state, route, access, request, reply, closing }),
    });
  }
  for (const [url, methods] of taken) {
    const others = METHODS.filter((method) => !methods.includes(method));
    const refusal = {
      status: 405,
      body: { detail: 'Method Not Allowed' },
      headers: { allow: methods.join(', ') },
    };
    app.route({ method: others, url, handler: (_request, reply) => send(reply, refusal) });
  }
}

type Exchange = {
  state: State;
  route: Route;
  access: Access;
  request: FastifyRequest;
  reply: FastifyReply;
  closing: AbortSignal;
};

/**
 * Processes a request to the service: count, fail before, limit, credentials, endpoint, fail after,
 * answer.
 */
async function serve(exchange: Exchange): Promise<FastifyReply> {
  const { state, route, request, reply } = exchange;
  const arrived_ms = state.clock.serviceNow();
  state.traffic.arrive(route.method, route.path, arrived_ms);
  const answer = await answerWithFaults(exchange);
  state.traffic.finish({
    at_ms: arrived_ms,
    method: route.method,
    route: route.path,
    status: answer === 'cut_off' ? answer : answer.status,
  });
  if (answer !== 'cut_off') return send(reply, answer);
  request.raw.socket.destroy();
  return reply;
}

async function answerWithFaults(exchange: Exchange): Promise<Reply | 'cut_off'> {
  const { state, route, request } = exchange;
  const failed = await applyFaults(
    exchange,
    state.faults.take('before', route.method, request.url),
    undefined,
  );
  if (failed !== undefined) return failed;
  const answer = answerOrRefuse(exchange);
  if (answer.status >= 300) return answer;
  return (
    (await applyFaults(exchange, state.faults.take('after', route.method, request.url), answer)) ??
    answer
  );
}

function answerOrRefuse({ state, route, access, request }: Exchange): Reply {
  const { behaviors } = state;
  const admitted = state.traffic.admit(behaviors.rate_limit_per_minute, state.clock.serviceNow());
  if (!admitted.ok) return rateLimited(state, admitted.wait_ms);
  const refusal =
    access === 'callers' ? refuseStranger(state, request.headers.authorization) : undefined;
  return refusal ?? route.endpoint(callOf(state, request));
}

/** Executes the faults. Undefined when they were only delays and the request continues. */
async function applyFaults(
  exchange: Exchange,
  faults: readonly Fault[],
  answer: Reply | undefined,
): Promise<Reply | 'cut_off' | undefined> {
  for (const fault of faults) {
    switch (fault.action) {
      case 'delay':
        if (await isCutShort(fault.delay_ms, exchange.closing)) {
          exchange.reply.hijack();
          return 'cut_off';
        }
        break;
      case 'status':
        return { status: fault.status, body: fault.body, headers: fault.headers };
      case 'html':
        return {
          status: fault.status,
          body: HTML,
          headers: { ...fault.headers, 'content-type': 'text/html' },
        };
      case 'reset':
        exchange.reply.hijack();
        return 'cut_off';
      case 'truncate':
        exchange.reply.hijack();
        await sendHalf(
          exchange.reply,
          answer ?? { status: 200, body: { success: true, inquiry_id: '' } },
        );
        return 'cut_off';
    }
  }
  return undefined;
}

/**
 * Waits. Returns true when the sandbox closes during the wait; the caller then sees the connection
 * end, as in a crash.
 */
async function isCutShort(delay_ms: number, closing: AbortSignal): Promise<boolean> {
  return sleep(delay_ms, false, { signal: closing }).catch(() => true);
}

async function sendHalf(reply: FastifyReply, answer: Reply): Promise<void> {
  const text = JSON.stringify(answer.body ?? null);
  reply.raw.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    date: String(reply.getHeader('date')),
  });
  const half = Buffer.from(text).subarray(0, Math.floor(Buffer.byteLength(text) / 2));
  await new Promise<void>((resolve) => reply.raw.write(half, () => resolve()));
}

/** Returns the time for the `Date` header. */
export function shownNow({ clock, behaviors }: State): number {
  return clock.serviceNow() + behaviors.date_skew_seconds * 1000;
}

/**
 * Returns Retry-After in scaled seconds, rounded up, as a caller on the same clock understands it.
 */
function rateLimited(state: State, wait_ms: number): Reply {
  const { rate_limit_status, retry_after } = state.behaviors;
  const reply: Reply = { status: Number(rate_limit_status), body: { detail: 'Too many requests' } };
  const free_ms = Math.ceil((shownNow(state) + wait_ms) / 1000) * 1000;
  switch (retry_after) {
    case 'none':
      return reply;
    case 'seconds':
      return {
        ...reply,
        headers: { 'retry-after': String(Math.max(1, Math.ceil(wait_ms / 1000))) },
      };
    case 'date':
      return { ...reply, headers: { 'retry-after': new Date(free_ms).toUTCString() } };
  }
}

function callOf(state: State, request: FastifyRequest): Call {
  const question = request.url.indexOf('?');
  return {
    state,
    params: request.params as { [name: string]: string },
    query: new URLSearchParams(question < 0 ? '' : request.url.slice(question + 1)),
    url: request.url,
    headers: request.headers,
    body: typeof request.body === 'string' ? request.body : '',
  };
}

/** Sends a reply. Text is sent unchanged if its content type is not JSON. */
export function send(reply: FastifyReply, { status, body, headers = {} }: Reply): FastifyReply {
  reply.code(status).headers(headers);
  if (body === undefined) return reply.send('');
  if (typeof body === 'string' && headers['content-type'] !== undefined) return reply.send(body);
  return reply.header('content-type', 'application/json').send(JSON.stringify(body));
}
