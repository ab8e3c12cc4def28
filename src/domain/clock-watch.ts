import type { Clock } from './env.ts';
import { MINUTE_MS } from './time.ts';

/**
 * The largest difference that eligd accepts between two clocks: this computer's and the service's
 * `Date` header, or a time written by the service and ours (docs/design.md "Time").
 */
export const CLOCKS_DIFFER_MS = 10 * MINUTE_MS;

/** How exactly eligd knows the service's clock: a `Date` header has no fraction of a second. */
export const DATE_ERROR_MS = 1_000;

/** Returns whether eligd can work with a skew that `clockSkew` returned. */
export function isSmallSkew(skew_ms: number): boolean {
  return Math.abs(skew_ms) <= CLOCKS_DIFFER_MS;
}

export type SeenServiceDate = { service_ms: number; sent_ms: number; received_ms: number };

/**
 * Returns how far this computer's clock was from the service's while a request was out, in
 * milliseconds: 0 when the service's time is between sending and receiving, negative when this
 * computer is behind.
 */
export function clockSkew({ service_ms, sent_ms, received_ms }: SeenServiceDate): number {
  // A Date header has no fraction of a second.
  if (service_ms + 999 < sent_ms) return sent_ms - service_ms;
  if (service_ms > received_ms) return received_ms - service_ms;
  return 0;
}

/**
 * Decides whether this computer's clock can be trusted. Before the first reply of the service it
 * cannot: eligd closes appointments as past by this clock, and a wrong clock would close a whole
 * day. A comparison holds for the clock as it ran then. When the clock has been set since, which
 * the monotonic clock shows, the skew changes by that amount.
 */
export class ClockWatch {
  readonly #clock: Clock;
  /** `offset_ms`: the clock's time minus the monotonic time at the comparison. */
  #compared: { skew_ms: number; offset_ms: number } | null = null;
  #was_trusted: boolean | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Compares the clocks. Returns whether the result differs from that of the last comparison. */
  observe(seen: SeenServiceDate): boolean {
    this.#compared = { skew_ms: clockSkew(seen), offset_ms: this.#offset() };
    const before = this.#was_trusted;
    this.#was_trusted = this.isTrusted();
    return before !== this.#was_trusted;
  }

  isTrusted(): boolean {
    const skew_ms = this.skewMs();
    return skew_ms !== null && isSmallSkew(skew_ms);
  }

  /**
   * Returns the skew, including any change of the clock since; null before the first comparison.
   */
  skewMs(): number | null {
    return this.#compared === null
      ? null
      : Math.round(this.#compared.skew_ms + this.#offset() - this.#compared.offset_ms);
  }

  #offset(): number {
    return this.#clock.now() - this.#clock.elapsed();
  }
}
