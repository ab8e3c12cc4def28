/** Which steps count as hanging: those that are silent while the machine works. */
import { expect, onTestFinished, test } from 'vitest';
import type { Clock } from '../../src/domain/env.ts';
import { MINUTE_MS } from '../../src/domain/time.ts';
import { Progress } from '../../src/ops/progress.ts';

const LIMIT_MS = 2 * MINUTE_MS;

/** A step that never ends, and a clock that the test moves. */
function hangingStep() {
  let elapsed_ms = 0;
  const clock: Clock = { now: () => 0, elapsed: () => elapsed_ms, sleep: async () => {} };
  const progress = new Progress(clock);
  const end = Promise.withResolvers<void>();
  const done = progress.step('pull', () => end.promise);
  onTestFinished(async () => {
    end.resolve();
    await done;
  });
  return {
    /** Looks once after each of these pauses; returns the last answer. */
    lookAfter: (...pauses_ms: number[]) =>
      pauses_ms.map((pause_ms) => {
        elapsed_ms += pause_ms;
        return progress.stuck(LIMIT_MS).map(({ stage }) => stage);
      }),
  };
}

test('a step that is silent for longer than the limit hangs', () => {
  const { lookAfter } = hangingStep();
  expect(lookAfter(MINUTE_MS, MINUTE_MS, MINUTE_MS)).toEqual([[], [], ['pull']]);
});

test('the time in which the machine slept is no silence, but a hanging step is found later', () => {
  const { lookAfter } = hangingStep();
  expect(lookAfter(MINUTE_MS, 480 * MINUTE_MS, MINUTE_MS, MINUTE_MS)).toEqual([
    [],
    [],
    [],
    ['pull'],
  ]);
});
