/**
 * A child of the bench: the simplest possible inquiry service, so that the bench measures the
 * client and not the server.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const creation = () => ({ success: true, inquiry_id: randomUUID() });

function answer(method: string | undefined, url: string, body: string): unknown {
  if (method === 'GET') return [];
  if (!url.endsWith('/batch_inquiries')) return creation();
  const requests: unknown = JSON.parse(body);
  return Array.isArray(requests) ? requests.map(creation) : [];
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const text = JSON.stringify(
      answer(request.method, request.url ?? '', Buffer.concat(chunks).toString()),
    );
    response
      .writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      })
      .end(text);
  });
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
