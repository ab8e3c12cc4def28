/** A calling service that puts a patient's name, birth date, and member ID wherever it can. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Words for every text of an answer, different for each call, so that a leak shows its place. */
export class Marks {
  #count = 0;
  /** The text before each mark, and nowhere else. */
  static readonly BEGIN = 'Zqxname';

  next(): string {
    this.#count += 1;
    return `${Marks.BEGIN}${this.#count} born 07/29/1943 ID QZMEMBER777`;
  }

  /** The same JSON with a mark in every text; `is_whole`: instead of it, else after it. */
  into(value: unknown, is_whole: boolean): unknown {
    if (typeof value === 'string') return is_whole ? this.next() : `${value} ${this.next()}`;
    if (Array.isArray(value)) return value.map((each) => this.into(each, is_whole));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, this.into(each, is_whole)]),
    );
  }
}

type Asked = { external_id: string };

/** `answers`: results in turn. An external ID that ends in `-refused` is refused with words. */
export async function startMarkedService(answers: readonly unknown[], marks: Marks) {
  const calls = new Map<string, Asked>();
  const refusal = () => ({
    detail: [{ loc: ['body', 'member_id'], msg: marks.next(), type: marks.next() }],
  });
  const form = (id: string) => {
    const number = Number(id.split('-')[1]);
    return {
      id,
      status: ['SUCCESS', 'SUCCESS', 'SUCCESS', 'UNSUCCESSFUL', marks.next()][number % 5],
      creation_ts: new Date().toISOString(),
      summary: marks.next(),
      results: answers[number % answers.length],
      request: { ...calls.get(id), additional_info: marks.next() },
    };
  };
  const answer = (method: string, path: string, body: string): [number, unknown] => {
    if (path.endsWith('/auth/token')) return [200, { access_token: 'token', token_type: 'bearer' }];
    if (path.includes('/subscription')) return [404, { detail: marks.next() }];
    if (path.includes('/verification'))
      return [200, { success: true, verifications: [verification(marks)] }];
    if (method === 'POST') {
      const asked = JSON.parse(body) as Asked;
      if (Array.isArray(asked)) return [404, { detail: marks.next() }];
      if (asked.external_id.endsWith('-refused')) return [422, refusal()];
      const id = `call-${calls.size}`;
      calls.set(id, asked);
      return [200, { success: true, inquiry_id: id }];
    }
    if (path.endsWith('/inquiries')) return [200, [...calls.keys()].map(form)];
    const id = path.split('/').at(-1) ?? '';
    return calls.has(id) ? [200, form(id)] : [404, { detail: marks.next() }];
  };
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://x');
    const [status, value] = answer(request.method ?? '', pathname, await bodyOf(request));
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function verification(marks: Marks) {
  const item = { name: marks.next(), status: 'NOT_MET', quote: marks.next() };
  return { id: 'check-1', creation_ts: new Date().toISOString(), verification_items: [item] };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const piece of request) body += String(piece);
  return body;
}
