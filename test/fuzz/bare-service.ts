/** A server that answers every request with the same bytes, and a real client of it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Env } from '../../src/domain/env.ts';
import { createServiceClient } from '../../src/service/client.ts';

export type Answer = { status: number; headers: Record<string, string>; body: Buffer };

export async function bareService(env: Env) {
  let answer: Answer = { status: 404, headers: {}, body: Buffer.from('') };
  let creates = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.method === 'POST') creates += 1;
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
      response.end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = createServiceClient({
    base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: { scheme: 'basic', project_id: 'p', api_key: 'k' },
    timeout_ms: 5_000,
    concurrency: 2,
    gate: { enter: async () => ({ leave: async () => {} }), pause: async () => {} },
    env,
  });
  return {
    client,
    answerWith: (next: Answer) => {
      answer = next;
    },
    /** The number of POSTs since the last call. */
    takeCreates: () => {
      const count = creates;
      creates = 0;
      return count;
    },
    close: async () => {
      await client.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
