/** A child of the bench: sends events about ten inquiries each, every one with its own hash. */
import { createHmac } from 'node:crypto';
import { Pool } from 'undici';
import { jobOfChild } from './measure.ts';

export type WebhookLoadJob = {
  origin: string;
  path: string;
  secret: string;
  deliveries: number;
  body_bytes: number;
  connections: number;
};
export type WebhookLoadResult = { acknowledged: number; duration_ms: number };

const INQUIRIES = 10;
const WARM_UP = 300;

const { origin, path, secret, deliveries, body_bytes, connections } = jobOfChild<WebhookLoadJob>();
const pool = new Pool(origin, { connections, pipelining: 1 });
const HASH = 'h'.repeat(64);
const template = Buffer.from(
  JSON.stringify({ message_hash: HASH, subscription_id: 's', inquiries: inquiries() }),
);
const at = template.indexOf(HASH);
let next = 0;
await send(WARM_UP);
const started_ms = performance.now();
const acknowledged = await send(deliveries);
const duration_ms = performance.now() - started_ms;
await pool.close();
process.stdout.write(JSON.stringify({ acknowledged, duration_ms } satisfies WebhookLoadResult));

function inquiries(): object[] {
  const transcript = 'The representative said that the plan is active. '.repeat(
    Math.ceil((body_bytes / INQUIRIES - 350) / 49),
  );
  return Array.from({ length: INQUIRIES }, (_, index) => ({
    id: `00000000-0000-4000-8000-00000000000${index}`,
    status: 'SUCCESS',
    creation_ts: '2026-11-20T15:00:00Z',
    summary: 'The plan is active.',
    results: {
      call_details: [
        { representative_name: 'Ann', reference_number: '1', call_transcript: transcript },
      ],
    },
    request: { type: 'BENEFITS', member_id: 'W123', dob: '01-02-1980', tax_id: '123456789' },
  }));
}

/** Returns how many got a 200. */
async function send(count: number): Promise<number> {
  const end = next + count;
  let taken = 0;
  const work = async () => {
    while (next < end) {
      const body = Buffer.from(template);
      body.write(String(next++).padStart(HASH.length, '0'), at, 'latin1');
      const signature = createHmac('sha256', secret).update(body).digest('hex');
      const headers = { 'content-type': 'application/json', 'x-service-signature': signature };
      const response = await pool.request({ method: 'POST', path, headers, body });
      await response.body.dump();
      if (response.statusCode === 200) taken += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return taken;
}
