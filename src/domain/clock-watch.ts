import type { Clock } from './env.ts';
import { MINUTE_MS } from './time.ts';

/**
 * How far two clocks may be apart: that of this machine from the service's `Date` header, and a
 * time that the service wrote down from ours (docs/design.md "Time").
 */
export const CLOCKS_DIFFER_MS = 10 * MINUTE_MS;

/** Whether a skew, as `clockSkew` gives it, is one that eligd works with. */
export function isSmallSkew(skew_ms: number): boolean {
  return Math.abs(skew_ms) <= CLOCKS_DIFFER_MS;
}

export type SeenServiceDate = { service_ms: number; sent_ms: number; received_ms: number };

/**
 * How far the machine's clock was from the service's while a request was out, in milliseconds: 0
 * when the service's time lies between sending and receiving, negative when this machine is behind.
 */
export function clockSkew({ service_ms, sent_ms, received_ms }: SeenServiceDate): number {
  // A Date header has whole seconds.
  if (service_ms + 999 < sent_ms) return sent_ms - service_ms;
  if (service_ms > received_ms) return received_ms - service_ms;
  return 0;
}

/**
 * Whether the clock may be believed. Until the service has been heard it may not: an appointment is
 * closed as past on somebody's word, and a wrong clock would close a whole day. What the service
 * said counts for the clock as it ran then; one that was set since, as the monotonic clock shows,
 * has to be compared again.
 */
export class ClockWatch {
  readonly #clock: Clock;
  /** `offset_ms`: the clock's time less the monotonic one when it was compared. */
  #compared: { skew_ms: number; offset_ms: number } | null = null;
  #told: boolean | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns whether the judgement is another one than the last comparison's. */
  observe(seen: SeenServiceDate): boolean {
    this.#compared = { skew_ms: clockSkew(seen), offset_ms: this.#offset() };
    const before = this.#told;
    this.#told = this.isTrusted();
    return before !== this.#told;
  }

  isTrusted(): boolean {
    const skew_ms = this.skewMs();
    return skew_ms !== null && isSmallSkew(skew_ms);
  }

  /** With what the clock was set by since; null until the service has been heard. */
  skewMs(): number | null {
    return this.#compared === null
      ? null
      : Math.round(this.#compared.skew_ms + this.#offset() - this.#compared.offset_ms);
  }

  #offset(): number {
    return this.#clock.now() - this.#clock.elapsed();
  }
}
