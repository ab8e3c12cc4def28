/** A child process: reads the list of a service once, and prints the result and its peak memory. */
import { realClock } from '../../src/ops/env.ts';
import { createServiceClient } from '../../src/service/client.ts';

const client = createServiceClient({
  base_url: process.argv[2] ?? '',
  credentials: { scheme: 'basic', project_id: 'p', api_key: 'k' },
  timeout_ms: 30_000,
  concurrency: 1,
  gate: { enter: async () => ({ leave: async () => {} }), pause: async () => {} },
  env: { clock: realClock, random: Math.random, log: () => {} },
});
const listed = await client.list('dental', {});
if (!listed.ok) throw new Error(JSON.stringify(listed.failure));
const { inquiries, is_complete } = listed.value;
process.send?.({
  found: inquiries.length,
  is_complete,
  peak_bytes: process.resourceUsage().maxRSS * 1024,
});
await client.close();
process.disconnect();
