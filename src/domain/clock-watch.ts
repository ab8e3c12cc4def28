import { MINUTE_MS } from './time.ts';

/** How far the clock may be from the service's `Date` header (design, "Time"). */
export const SKEW_MS_MAX = 10 * MINUTE_MS;

export type SeenServiceDate = { service_ms: number; sent_ms: number; received_ms: number };

/**
 * How far the machine's clock was from the service's while a request was out, in milliseconds: 0 when the service's time lies
 * between sending and receiving, negative when this machine is behind.
 */
export function clockSkew({ service_ms, sent_ms, received_ms }: SeenServiceDate): number {
  // A Date header has whole seconds.
  if (service_ms + 999 < sent_ms) return sent_ms - service_ms;
  if (service_ms > received_ms) return received_ms - service_ms;
  return 0;
}

/**
 * Whether the clock may be believed. Until the service has been heard it may not: an appointment is closed as past on
 * somebody's word, and a wrong clock would close a whole day.
 */
export class ClockWatch {
  #skew_ms: number | null = null;

  /** Returns whether the judgement changed. */
  observe(seen: SeenServiceDate): boolean {
    const before = this.isTrusted();
    const was_heard = this.#skew_ms !== null;
    this.#skew_ms = clockSkew(seen);
    return !was_heard || before !== this.isTrusted();
  }

  isTrusted(): boolean {
    return this.#skew_ms !== null && Math.abs(this.#skew_ms) <= SKEW_MS_MAX;
  }

  skewMs(): number | null {
    return this.#skew_ms;
  }
}
