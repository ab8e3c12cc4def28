/**
 * How fast requests may follow each other once the service has said 429: half as fast as before,
 * evenly spread, and faster again while it takes them. Kept in the database, for the next process.
 */
import type { Clock } from './env.ts';
import { MINUTE_MS } from './time.ts';

/** Answers to requests that were out together are one 429. */
const SAME_REFUSAL_MS = 10_000;
/** How long the service has to take requests until the pace grows by a tenth of the limit. */
const GROWS_EVERY_MS = 5 * MINUTE_MS;
const STEPS = 10;

/** How many requests a minute may leave since `at`, a 429 of the service (epoch milliseconds). */
export type LearnedPace = { per_minute: number; at: number };

/** Where it is kept. Each change is committed. */
export type PaceTable = {
  pace: () => Promise<LearnedPace | null>;
  keepPace: (learned: LearnedPace) => Promise<void>;
};

export class Pace {
  readonly #table: PaceTable;
  readonly #clock: Clock;
  /** What the configuration allows; the pace never exceeds it. */
  readonly #max_per_minute: number;
  /** Undefined: not read from the database yet. */
  #learned: LearnedPace | null | undefined;
  #slowed_elapsed: number | null = null;

  constructor(table: PaceTable, clock: Clock, max_per_minute: number) {
    this.#table = table;
    this.#clock = clock;
    this.#max_per_minute = max_per_minute;
  }

  /** `gap_ms`: how far apart requests have to be; 0 at the full pace: they may come together. */
  async now(): Promise<{ per_minute: number; gap_ms: number }> {
    const learned = await this.#read();
    const max = this.#max_per_minute;
    if (learned === null) return { per_minute: max, gap_ms: 0 };
    const steps = Math.floor((this.#clock.now() - learned.at) / GROWS_EVERY_MS);
    const grown = Math.floor(learned.per_minute + (max / STEPS) * steps);
    const per_minute = Math.min(max, Math.max(1, grown));
    return { per_minute, gap_ms: per_minute < max ? Math.ceil(MINUTE_MS / per_minute) : 0 };
  }

  /** The service said 429: half the pace from now on. */
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
    // Learned by a clock that was ahead: it grows from now on.
    if (this.#learned !== null && this.#learned.at > now)
      this.#learned = { ...this.#learned, at: now };
    return this.#learned;
  }
}
