import { realClock } from '../ops/env.ts';
import type { Output } from './context.ts';

const SILENT_MS = 2_000;
const EVERY_MS = 1_000;

/**
 * Runs `work`. If it takes longer than two seconds on a terminal, one line shows the progress and
 * disappears at the end. `text` may fail while the database is busy.
 */
export async function withProgressLine<Value>(
  to: Output,
  text: () => Promise<string> | string,
  work: () => Promise<Value>,
): Promise<Value> {
  if (to.isTTY !== true) return await work();
  const started_ms = realClock.now();
  let is_busy = false;
  let said = '';
  const show = async () => {
    if (is_busy || realClock.now() - started_ms < SILENT_MS) return;
    is_busy = true;
    try {
      said = await text();
    } catch {
      // The last progress text stays in place.
    } finally {
      is_busy = false;
    }
    const seconds = Math.round((realClock.now() - started_ms) / 1000);
    to.write(`\r\u001b[K${`${seconds} s: ${said}`.slice(0, (to.columns ?? 80) - 1)}`);
  };
  const timer = setInterval(() => void show(), EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    is_busy = true;
    to.write('\r\u001b[K');
  }
}
