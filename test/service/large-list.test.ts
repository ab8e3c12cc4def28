/** The memory for a list does not depend on the results in it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startHugeService } from '../hostile/huge-service.ts';

const READER = join(import.meta.dirname, '../hostile/list-reader.ts');
const MEGABYTE = 1_000_000;

type Read = { found: number; is_complete: boolean; peak_bytes: number };

async function readList(list_bytes: number): Promise<Read> {
  const service = await startHugeService(list_bytes);
  onTestFinished(() => service.close());
  const child = fork(READER, [service.url], { execArgv: [] });
  const [read] = (await once(child, 'message')) as [Read];
  return read;
}

test('reading a list of 60 MB takes less than 50 MB more memory than one inquiry', {
  timeout: 60_000,
}, async () => {
  const [small, large] = [await readList(1), await readList(60 * MEGABYTE)];
  expect(small).toMatchObject({ found: 1, is_complete: true });
  expect(large.found).toBeGreaterThan(2_500);
  expect(large.is_complete).toBe(true);
  expect(large.peak_bytes - small.peak_bytes).toBeLessThan(50 * MEGABYTE);
});
