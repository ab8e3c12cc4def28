import { afterEach, vi } from 'vitest';

/** A Monday, 09:00 in Chicago: the machine's time when a test sets it. */
export const MONDAY_MS = Date.parse('2030-01-07T15:00:00Z');

const realNow = Date.now.bind(Date);

export type MachineClock = {
  now: () => number;
  pass: (by: { seconds?: number; minutes?: number; hours?: number; days?: number }) => void;
};

/**
 * Sets the clock of this machine for eligd and the sandbox, which both run in this process and read
 * `Date.now`. It keeps running, and `pass` advances it without waiting. The real clock is back
 * after the test.
 */
export function setMachineClock(start_ms: number = MONDAY_MS): MachineClock {
  let ahead_ms = start_ms - realNow();
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + ahead_ms);
  return {
    now: () => realNow() + ahead_ms,
    pass: ({ seconds = 0, minutes = 0, hours = 0, days = 0 }) => {
      ahead_ms += (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
    },
  };
}

afterEach(() => {
  vi.restoreAllMocks();
});
