/**
 * Spaces out requests after the service has said 429: half as fast as before, evenly spaced, and
 * gradually faster while the service accepts them. The pace is stored in the database for the next
 * process.
 */
import type { Clock } from './env.ts';
import { MINUTE_MS } from './time.ts';

/** Several 429s within this time answer requests that were out together, and count as one. */
const SAME_REFUSAL_MS = 10_000;
/** The pace grows by a tenth of the limit whenever the service has accepted requests this long. */
const GROWS_EVERY_MS = 5 * MINUTE_MS;
const STEPS = 10;

/** The requests per minute that may leave since `at`, the time of a 429 (epoch milliseconds). */
export type LearnedPace = { per_minute: number; at: number };

/** Stores the pace. Each change is committed. */
export type PaceTable = {
  pace: () => Promise<LearnedPace | null>;
  keepPace: (learned: LearnedPace) => Promise<void>;
};

export class Pace {
  readonly #table: PaceTable;
  readonly #clock: Clock;
  /** The configured limit; the pace never exceeds it. */
  readonly #max_per_minute: number;
  /** Undefined: not read from the database yet. */
  #learned: LearnedPace | null | undefined;
  #slowed_elapsed: number | null = null;

  constructor(table: PaceTable, clock: Clock, max_per_minute: number) {
    this.#table = table;
    this.#clock = clock;
    this.#max_per_minute = max_per_minute;
  }

  /**
   * `gap_ms`: the minimum time between requests; 0 at the full pace, when they need not be spaced.
   */
  async now(): Promise<{ per_minute: number; gap_ms: number }> {
    const learned = await this.#read();
    const max = this.#max_per_minute;
    if (learned === null) return { per_minute: max, gap_ms: 0 };
    const steps = Math.floor((this.#clock.now() - learned.at) / GROWS_EVERY_MS);
    const grown = Math.floor(learned.per_minute + (max / STEPS) * steps);
    const per_minute = Math.min(max, Math.max(1, grown));
    return { per_minute, gap_ms: per_minute < max ? Math.ceil(MINUTE_MS / per_minute) : 0 };
  }

  /** Halves the pace after a 429. */
  async slowDown(): Promise<void> {
    const elapsed = this.#clock.elapsed();
    if (this.#slowed_elapsed !== null && elapsed - this.#slowed_elapsed < SAME_REFUSAL_MS) return;
    this.#slowed_elapsed = elapsed;
    const { per_minute } = await this.now();
    const learned = { per_minute: Math.max(1, Math.floor(per_minute / 2)), at: this.#clock.now() };
    this.#learned = learned;
    await this.#table.keepPace(learned);
  }

  async #read(): Promise<LearnedPace | null> {
    if (this.#learned === undefined) this.#learned = await this.#table.pace();
    const now = this.#clock.now();
    // A clock that was ahead wrote this time; the pace grows from now on.
    if (this.#learned !== null && this.#learned.at > now)
      this.#learned = { ...this.#learned, at: now };
    return this.#learned;
  }
}
