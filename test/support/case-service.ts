/** A service that returns a test's answer for each member at once. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';

type Request = { member_id: string; external_id?: string };
type Answer = { status: string; results: unknown; summary?: string };

const open: { close: () => void }[] = [];

afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** `answerOf` gives the answer by member ID. Returns the base URL. */
export async function startCaseService(answerOf: (member_id: string) => Answer): Promise<string> {
  const inquiries = new Map<string, { path: string; creation_ts: string; request: Request }>();
  const readForm = (id: string) => {
    const { creation_ts, request } = inquiries.get(id)!;
    const { status, results, summary = '' } = answerOf(request.member_id);
    return { id, status, creation_ts, summary, results, request };
  };
  const reply = (request: IncomingMessage, body: string): { status: number; json: unknown } => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
    const [, specialty = '', id] =
      /^\/api\/v0\/(\w+)\/inquiries(?:\/([\w-]+))?$/.exec(pathname) ?? [];
    if (pathname.endsWith('/auth/token'))
      return { status: 200, json: { access_token: 't', token_type: 'bearer' } };
    if (pathname.endsWith('/verification'))
      return { status: 200, json: { success: true, count: 0, verifications: [] } };
    if (specialty === '') return { status: 404, json: { detail: 'absent' } };
    if (request.method === 'POST') {
      const inquiry_id = randomUUID();
      inquiries.set(inquiry_id, {
        path: specialty,
        creation_ts: new Date(Date.now()).toISOString(),
        request: JSON.parse(body) as Request,
      });
      return { status: 200, json: { success: true, inquiry_id } };
    }
    if (id !== undefined)
      return inquiries.has(id)
        ? { status: 200, json: readForm(id) }
        : { status: 404, json: { detail: 'absent' } };
    const wanted = searchParams.get('external_id');
    const listed = [...inquiries].filter(
      ([, each]) =>
        each.path === specialty && (wanted === null || each.request.external_id === wanted),
    );
    return { status: 200, json: listed.map(([each]) => readForm(each)) };
  };
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { status, json } = reply(request, body);
      response.writeHead(status, {
        'content-type': 'application/json',
        date: new Date(Date.now()).toUTCString(),
      });
      response.end(JSON.stringify(json));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
