/**
 * A calling service with a list of any length, generated while it is sent, and with answers that
 * would stop a program that trusts them.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const PIECE = Buffer.alloc(1_000_000, 120);
const TRANSCRIPT = 'Thank you for calling, \\"how\\" may I help you today? '.repeat(380);

export type HugeService = {
  url: string;
  /** The created inquiries, by external ID. */
  created: Map<string, string>;
  /** Bytes of the lists sent so far. */
  listed_bytes: () => number;
  close: () => void;
};

/** The results of an answer, by external ID; `pieces` megabytes replace the `~`. */
export type Poison = Record<string, { results: string; pieces: number }>;

/** One of our inquiries after its answer, with a transcript of about 20 kB. */
function form(id: string, request: object, results: string): string {
  const shown = JSON.stringify({ id, status: 'SUCCESS', creation_ts: '2026-01-05T10:00:00Z' });
  const rest = `"summary":"","results":${results},"request":${JSON.stringify(request)}`;
  return `${shown.slice(0, -1)},${rest}}`;
}

function others(number: number): string {
  const request = {
    type: 'BENEFITS',
    external_id: `old-${number}`,
    patient_name: `Pat Former ${number}`,
    dob: '01-02-1980',
    member_id: `OLD${number}`,
    tax_id: '123456789',
  };
  return form(`old-${number}`, request, `{"calls":[{"transcript":"${TRANSCRIPT}"}]}`);
}

/** `list_bytes`: the minimum length of the list. */
export async function startHugeService(list_bytes: number, poison: Poison = {}) {
  const requests = new Map<string, { external_id: string; request: object }>();
  const created = new Map<string, string>();
  let listed_bytes = 0;
  const send = async (response: ServerResponse, bytes: Buffer | string) => {
    if (response.destroyed || response.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const go = () => {
        response.off('drain', go).off('close', go);
        resolve();
      };
      response.on('drain', go).on('close', go);
    });
  };
  const list = async (response: ServerResponse, query: URLSearchParams) => {
    if (query.has('offset')) {
      response.end('[]');
      return;
    }
    const wanted = query.get('external_id');
    let separator = '[';
    for (const [id, { external_id, request }] of requests) {
      if (wanted !== null && wanted !== external_id) continue;
      await send(response, separator + form(id, request, 'null'));
      separator = ',';
    }
    for (let number = 0, size = 0; wanted === null && size < list_bytes; number += 1) {
      const text = separator + others(number);
      size += text.length;
      listed_bytes += text.length;
      await send(response, text);
      separator = ',';
      if (response.destroyed) return;
    }
    response.end(separator === '[' ? '[]' : ']');
  };
  const answer = async (response: ServerResponse, id: string) => {
    const known = requests.get(id);
    if (known === undefined) {
      response.writeHead(404).end('{}');
      return;
    }
    const { results, pieces } = poison[known.external_id] ?? { results: '{}', pieces: 0 };
    const [before = '', after] = form(id, known.request, results).split('~');
    await send(response, before);
    for (let sent = 0; sent < pieces && !response.destroyed; sent += 1) await send(response, PIECE);
    response.end(after ?? '');
  };
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const body = await bodyOf(request);
    response.setHeader('content-type', 'application/json');
    if (pathname.endsWith('/auth/token'))
      response.end('{"access_token": "t", "token_type": "bearer", "expires_in": 3600}');
    else if (request.method === 'POST') {
      const asked = JSON.parse(body) as object | object[];
      const ids = (Array.isArray(asked) ? asked : [asked]).map((one) => {
        const { external_id } = one as { external_id: string };
        const id = `call-${requests.size + 1}`;
        requests.set(id, { external_id, request: one });
        created.set(external_id, id);
        return { success: true, inquiry_id: id };
      });
      response.end(JSON.stringify(Array.isArray(asked) ? ids : ids[0]));
    } else if (pathname.includes('/verification')) response.end('[]');
    else if (pathname.endsWith('/inquiries')) await list(response, searchParams);
    else if (pathname.includes('/inquiries/'))
      await answer(response, decodeURIComponent(pathname.split('/').at(-1) ?? ''));
    else response.writeHead(404).end('{"detail": "Not found"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    created,
    listed_bytes: () => listed_bytes,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  } satisfies HugeService;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const piece of request) body += String(piece);
  return body;
}
