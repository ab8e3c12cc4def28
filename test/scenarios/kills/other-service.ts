/**
 * A second implementation of the calling service, written from its specification. It shares no code
 * with the sandbox and differs where the specification is silent: it answers a bulk in another
 * order, writes timestamps without a zone, and lists an inquiry only a while after it accepted it,
 * newest first. It delivers each result until the receiver takes it. Because the process is killed,
 * every inquiry is on disk before its reply leaves.
 *
 *     node other-service.ts --port PORT --file FILE
 */
import { createHmac, randomUUID } from 'node:crypto';
import { existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

/** Longer than the settle time of the clinic’s configuration, and shorter than two. */
const LISTED_AFTER_MS = 1_500;
const CALL_MS = 3 * 3_600_000;
const DELIVER_MS = 500;
const BASE = '/api/v0/dental';

type Wish = Record<string, unknown>;
type Saved = { id: string; at_ms: number; request: Wish };
type Entry = Saved | { advanced_ms: number } | { callback_url: string };
/** One request to the path ends without a reply, or late: before or after the work is done. */
type Fault = { path: string; when: 'before' | 'after'; action: string; delay_ms?: number };

const { values } = parseArgs({ options: { port: { type: 'string' }, file: { type: 'string' } } });
const path = values.file ?? '';
const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
const entries = lines.map((line) => JSON.parse(line) as Entry);
const accepted = entries.flatMap((entry) => ('id' in entry ? [entry] : []));
let advanced_ms = entries.reduce(
  (sum, entry) => sum + ('advanced_ms' in entry ? entry.advanced_ms : 0),
  0,
);
let callback_url = entries.findLast((entry) => 'callback_url' in entry)?.callback_url ?? null;
const delivered = new Set<string>();
let faults: Fault[] = [];
const file = openSync(path, 'a');

function save(...added: Entry[]): void {
  writeSync(file, added.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  fsyncSync(file);
}

function accept(requests: readonly Wish[]): string[] {
  const added = requests.map((request) => ({ id: randomUUID(), at_ms: Date.now(), request }));
  save(...added);
  accepted.push(...added);
  return added.map(({ id }) => id);
}

const isOver = ({ at_ms }: Saved) => Date.now() + advanced_ms > at_ms + CALL_MS;

function readForm(inquiry: Saved): Wish {
  const { id, at_ms, request } = inquiry;
  const is_over = isOver(inquiry);
  const results = {
    call_details: [{ representative_name: 'Kim', reference_number: `R-${id.slice(0, 8)}` }],
    plan_information: { is_active: true, plan_name: 'Choice' },
  };
  return {
    id,
    status: is_over ? 'SUCCESS' : 'SCHEDULED',
    creation_ts: new Date(at_ms).toISOString().replace('Z', '000'),
    summary: is_over ? 'The plan is active.' : '',
    results: is_over ? results : null,
    request,
  };
}

/** Returns the status and the body of the reply. */
async function answer(request: IncomingMessage, url: URL): Promise<[number, unknown]> {
  const { method } = request;
  const { pathname } = url;
  if (method === 'POST' && pathname === `${BASE}/inquiries`)
    return [200, { success: true, inquiry_id: accept([(await json(request)) as Wish])[0] }];
  if (method === 'POST' && pathname === `${BASE}/batch_inquiries`) {
    const ids = accept((await json(request)) as Wish[]);
    return [200, ids.reverse().map((inquiry_id) => ({ success: true, inquiry_id }))];
  }
  if (method === 'GET' && pathname === `${BASE}/inquiries`) {
    const label = url.searchParams.get('external_id');
    const listed = accepted.filter(
      ({ at_ms, request: { external_id } }) =>
        at_ms + LISTED_AFTER_MS <= Date.now() && (label === null || external_id === label),
    );
    return [200, listed.toReversed().map(readForm)];
  }
  if (method === 'GET' && pathname.startsWith(`${BASE}/inquiries/`)) {
    const found = accepted.find(({ id }) => pathname.endsWith(`/${id}`));
    return found === undefined ? [404, { detail: 'Not Found' }] : [200, readForm(found)];
  }
  if (pathname === '/api/v0/subscription/') {
    if (method === 'POST') {
      callback_url = String(((await json(request)) as Wish).callback_url);
      save({ callback_url });
    }
    return [200, { callback_url }];
  }
  return [404, { detail: 'Not Found' }];
}

/** Delivers the results that the receiver has not taken yet. */
async function deliver(): Promise<void> {
  const due = accepted.filter((each) => isOver(each) && !delivered.has(each.id));
  if (callback_url === null || due.length === 0) return;
  const inquiries = due.map(readForm);
  const body = JSON.stringify({ subscription_id: 's', inquiries, message_hash: randomUUID() });
  const signature = createHmac('sha256', 'sandbox').update(body).digest('hex');
  const { ok } = await fetch(callback_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-signature': signature },
    body,
    signal: AbortSignal.timeout(2_000),
  });
  if (ok) for (const { id } of due) delivered.add(id);
}

/** What the test asks and changes from outside, with the sandbox's paths. */
async function control(request: IncomingMessage, url: URL): Promise<unknown> {
  if (url.pathname.endsWith('/ledger'))
    return {
      inquiries: accepted.map((each) => ({
        ...readForm(each),
        external_id: each.request.external_id,
      })),
    };
  if (url.pathname.endsWith('/faults'))
    faults = request.method === 'DELETE' ? [] : ((await json(request)) as Fault[]);
  if (url.pathname.endsWith('/advance')) {
    const { days = 0, hours = 0 } = (await json(request)) as { days?: number; hours?: number };
    const by = { advanced_ms: (days * 24 + hours) * 3_600_000 };
    save(by);
    advanced_ms += by.advanced_ms;
  }
  return {};
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (request.headers.authorization !== `Basic ${btoa('sandbox:sandbox')}`)
    return send(response, 401, { detail: 'Not authenticated' });
  if (url.pathname.startsWith('/_sandbox/'))
    return send(response, 200, await control(request, url));
  const fault = faults.find(
    ({ path: part }) => request.method === 'POST' && url.pathname.includes(part),
  );
  faults = faults.filter((each) => each !== fault);
  if (fault?.when === 'before') await sleep(fault.delay_ms ?? 0);
  if (fault?.when === 'before' && fault.action === 'reset') return void request.socket.destroy();
  const [status, body] = await answer(request, url);
  if (fault?.when === 'after') await sleep(fault.delay_ms ?? 0);
  if (fault?.when === 'after' && fault.action === 'reset') return void request.socket.destroy();
  send(response, status, body);
}

const server = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy());
});
server.listen(Number(values.port), '127.0.0.1');
setInterval(() => void deliver().catch(() => {}), DELIVER_MS);
