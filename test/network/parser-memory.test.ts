import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const HTTP = join(import.meta.dirname, '../../src/network/http.ts');

/** Prints the most memory that V8 took from the C library, in MB, over 2,000 requests. */
const REQUESTS = `
  import { createServer } from 'node:http';
  import { getHeapStatistics } from 'node:v8';
  const { createHttpAgent } = await import(${JSON.stringify(HTTP)});
  const headers = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => ['x-' + index, 'a'.repeat(200)]),
  );
  const server = createServer((_, response) => response.writeHead(200, headers).end('{}'));
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const origin = 'http://127.0.0.1:' + server.address().port;
  const way = { certificates: null, proxyFor: () => null };
  const agent = createHttpAgent(() => way, { connections: 1, timeout_ms: 10_000 });
  for (let i = 0; i < 2_000; i += 1) {
    const { body } = await agent.request({ origin, path: '/', method: 'GET' });
    await body.text();
  }
  console.log(Math.round(getHeapStatistics().peak_malloced_memory / 1_000_000));
  process.exit();
`;

test('many replies do not make V8 spend 20 MB on the parser', () => {
  const args = ['--input-type=module', '--eval', REQUESTS];
  const most_mb = Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  expect(most_mb).toBeLessThan(18);
});
