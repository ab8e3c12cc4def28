import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const HEAP = join(import.meta.dirname, '../../src/ops/heap.ts');

/** Keeps 20,000 of 300,000 texts, each old enough to leave the young generation. */
const CHURN = `
  const known = new Map();
  let most = 0;
  for (let i = 0; i < 300_000; i += 1) {
    known.set(i, JSON.stringify({ i, text: 'x'.repeat(1_000) }));
    known.delete(i - 20_000);
    if (i % 1_000 === 0) most = Math.max(most, process.memoryUsage().heapTotal);
  }
  console.log(Math.round(most / 1_000_000));
`;

function mostHeap(before: string): number {
  const script = ['--input-type=module', '--eval', `${before}\n${CHURN}`];
  const args = ['--max-semi-space-size=4', ...script];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

test('dead objects do not make the heap a multiple of the live ones', () => {
  const small = mostHeap(`(await import(${JSON.stringify(HEAP)})).keepHeapSmall();`);
  expect(small).toBeLessThan(70);
  expect(mostHeap('')).toBeGreaterThan(1.3 * small);
});
