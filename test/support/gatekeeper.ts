import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';

const open: (() => void)[] = [];

afterEach(() => {
  for (const close of open.splice(0)) close();
});

export type Refusal = { status: number; headers?: Record<string, string> };

/**
 * Rejects the requests that `refuse` selects before the service sees them. Calls `onToken` with
 * every token that the service issues.
 */
export async function gatekeeper(
  target: string,
  refuse: (incoming: IncomingMessage) => Refusal | null,
  onToken: (token: string) => void = () => {},
): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const refusal = refuse(incoming);
    if (refusal !== null) {
      incoming.resume();
      outgoing.writeHead(refusal.status, {
        'content-type': 'application/json',
        ...refusal.headers,
      });
      outgoing.end('{"detail":"No."}');
      return;
    }
    const onward = httpRequest(
      new URL(incoming.url ?? '/', target),
      { method: incoming.method ?? 'GET', headers: incoming.headers },
      async (reply) => {
        const chunks: Buffer[] = [];
        for await (const chunk of reply) chunks.push(chunk as Buffer);
        const body = Buffer.concat(chunks);
        if (incoming.url?.endsWith('/auth/token') && reply.statusCode === 200)
          onToken((JSON.parse(body.toString()) as { access_token: string }).access_token);
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
        outgoing.end(body);
      },
    );
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
