/** Answers that could stop the daemon, or make it poll forever. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { inquiryId } from '../../../src/domain/ids.ts';
import { DAY_MS, HOUR_MS } from '../../../src/domain/time.ts';
import { createServiceClient } from '../../../src/service/client.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, send } from '../installation.ts';

const LEVELS = 9_000;
const MEGABYTE = Buffer.alloc(1_000_000, 120);

/** From now on, `reply` writes the service's replies to reads of inquiries. */
async function poison(clinic: Installation, reply: (response: ServerResponse) => unknown) {
  const server = createServer((request, response) => {
    if (request.url?.includes('/auth/token')) {
      response.end('{"access_token": "t", "token_type": "bearer", "expires_in": 3600}');
      return;
    }
    void reply(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const client = createServiceClient({
    base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: { scheme: 'oauth', username: 'clinic', password: 'sandbox' },
    timeout_ms: 20_000,
    concurrency: 1,
    gate: { enter: async () => ({ leave: async () => {} }), pause: async () => {} },
    env: clinic.env,
  });
  onTestFinished(() => client.close());
  clinic.client.read = client.read;
}

async function callFor(clinic: Installation, id: string): Promise<void> {
  await send(clinic, clinic.visit(id, { coverages: [aCoverage({ member_id: `W${id}` })] }));
}

async function expectSetAside(clinic: Installation): Promise<void> {
  for (let asked = 0; asked < 3; asked += 1) {
    expect(await clinic.attention()).toEqual([]);
    clinic.pass(HOUR_MS);
    // Each `eligd once` is a separate process.
    await clinic.collectElsewhere();
  }
  expect(await clinic.attention()).toEqual(['answer_unusable']);
  expect((await clinic.inquiries())[0]).toMatchObject({ state: 'open', poll_at: null });
}

test(`an answer nested ${LEVELS} deep is set aside after three tries and reported`, async () => {
  const clinic = await install();
  await callFor(clinic, 'A-1');
  const [row] = await clinic.inquiries();
  await clinic.service.advance({ days: 3 });
  clinic.pass(3 * DAY_MS);
  const found = await clinic.client.read('dental', inquiryId(row?.service_id ?? ''));
  const form = found.ok ? (found.value?.raw as object) : {};
  const deep = `${'{"note":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`;
  const text = JSON.stringify({ ...form, results: 'here' }).replace('"here"', deep);
  await poison(clinic, (response) => response.end(text));
  await expectSetAside(clinic);
});

test('an answer of a million values is not parsed, and is set aside and reported', async () => {
  const clinic = await install();
  await callFor(clinic, 'A-1');
  clinic.pass(3 * DAY_MS);
  const text = `{"results": {"x": [${'{},'.repeat(1_000_000)}{}]}}`;
  const parsed: number[] = [];
  const { parse } = JSON;
  onTestFinished(() => {
    JSON.parse = parse;
  });
  JSON.parse = (given: string, ...more) => {
    parsed.push(given.length);
    return parse(given, ...more) as unknown;
  };
  await poison(clinic, (response) => response.end(text));
  await expectSetAside(clinic);
  expect(Math.max(...parsed)).toBeLessThan(text.length);
});

test('an answer of 240 MB is not read to its end, and is set aside and reported', async () => {
  const clinic = await install();
  await callFor(clinic, 'A-1');
  clinic.pass(3 * DAY_MS);
  let sent_bytes = 0;
  await poison(clinic, async (response) => {
    response.write('{"note": "');
    for (let megabytes = 0; megabytes < 240 && !response.destroyed; megabytes += 1) {
      sent_bytes += MEGABYTE.length;
      if (!response.write(MEGABYTE))
        await new Promise<void>((resolve) => {
          response.once('drain', resolve).once('close', resolve);
        });
    }
    response.end('"}');
  });
  await expectSetAside(clinic);
  expect(sent_bytes).toBeLessThan(3 * 40_000_000);
});
