/** eligd keeps every acknowledged event, whatever happens to the process right after (G3). */
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterEach, expect, test } from 'vitest';
import { openStore } from '../../src/store/engine/store.ts';
import { message, signatureOf } from '../http/receiver.ts';
import { makeClinic } from '../support/clinic.ts';
import { freePort } from '../support/free-port.ts';
import { startEligd } from '../support/process.ts';
import { startService } from '../support/service.ts';

const agent = new Agent({ connections: 8, pipelining: 1 });
afterEach(() => agent.destroy());

/** An event about ten inquiries that eligd does not know. */
const report = (index: number) =>
  message(
    `report-${index}`,
    Array.from({ length: 10 }, (_, inquiry) => ({
      id: `i-${index}-${inquiry}`,
      status: 'SUCCESS',
      request: {},
    })),
  );

async function deliver(url: string, body: string): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    'x-service-signature': signatureOf(body, 'sandbox'),
  };
  const response = await request(url, { method: 'POST', dispatcher: agent, headers, body });
  await response.body.dump();
  return response.statusCode;
}

test('every event acknowledged before a SIGKILL is in the inbox and recognized', async () => {
  const service = await startService();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/hook`;
  const clinic = makeClinic({
    base_url: service.url,
    config: { webhook: { listen: `127.0.0.1:${port}`, public_url: url } },
    secrets: {
      ELIGD_SERVICE_USERNAME: 'clinic',
      ELIGD_SERVICE_PASSWORD: 'sandbox',
      ELIGD_WEBHOOK_SECRET: 'sandbox',
    },
  });
  const run = async () => {
    const started = startEligd(['run', '--config', clinic.file]);
    await expect.poll(() => deliver(url, '{}').catch(() => 0), { timeout: 60_000 }).toBe(200);
    return started;
  };

  const first = await run();
  const acknowledged: number[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < 5_000; index = next++) {
      if ((await deliver(url, report(index)).catch(() => 0)) !== 200) return;
      acknowledged.push(index);
      if (acknowledged.length === 400) first.child.kill('SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  expect((await first.ended).signal).toBe('SIGKILL');

  const hashes = async () => {
    const store = await openStore(join(clinic.state, 'eligd.db'));
    const rows = await store.db.selectFrom('inbox').select('message_hash').execute();
    await store.close();
    return rows.map(({ message_hash }) => message_hash);
  };
  const kept = await hashes();
  expect(acknowledged.length).toBeGreaterThanOrEqual(400);
  expect(acknowledged.length).toBeLessThan(5_000);
  expect(acknowledged.filter((index) => !kept.includes(`report-${index}`))).toEqual([]);

  const second = await run();
  for (const index of acknowledged.slice(-20)) expect(await deliver(url, report(index))).toBe(200);
  second.child.kill('SIGTERM');
  expect((await second.ended).code).toBe(0);
  expect((await hashes()).toSorted()).toEqual(kept.toSorted());
}, 60_000);
