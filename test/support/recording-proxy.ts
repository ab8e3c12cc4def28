import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';

const open: (() => void)[] = [];

afterEach(() => {
  for (const close of open.splice(0)) close();
});

export type RecordingProxy = {
  url: string /** Method, path and query of every request. */;
  urls: string[];
  headers: string[];
};

/**
 * A proxy between eligd and the service that keeps what its log would contain: addresses and
 * headers, but no bodies.
 */
export async function recordingProxy(target: string): Promise<RecordingProxy> {
  const urls: string[] = [];
  const headers: string[] = [];
  const server = createServer((incoming, outgoing) => {
    urls.push(`${incoming.method} ${incoming.url}`);
    const { authorization: _, ...shown } = incoming.headers;
    headers.push(JSON.stringify(shown));
    const onward = httpRequest(
      new URL(incoming.url ?? '/', target),
      { method: incoming.method ?? 'GET', headers: incoming.headers },
      (reply) => {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(outgoing);
        reply.on('error', () => outgoing.destroy());
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
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, urls, headers };
}
