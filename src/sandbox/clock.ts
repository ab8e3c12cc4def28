/**
 * The sandbox's time. It runs `speed` times as fast as the machine's from an anchor on, so another
 * process that knows anchor and speed has the very same clock:
 *
 *     service time = anchor + (machine time - anchor) * speed
 *     call time    = service time + what was advanced
 *
 * Callers see the service time in the `Date` header, and limits and token lifetimes follow it.
 * Calls follow the call time: `POST /_sandbox/advance` makes them happen sooner without telling
 * callers that their clocks are wrong.
 */
export class ScaledClock {
  readonly anchor_ms: number;
  readonly speed: number;
  advanced_ms: number;
  readonly #machineNow: () => number;

  constructor(settings: {
    anchor_ms: number;
    speed: number;
    advanced_ms: number;
    machineNow: () => number;
  }) {
    this.anchor_ms = settings.anchor_ms;
    this.speed = settings.speed;
    this.advanced_ms = settings.advanced_ms;
    this.#machineNow = settings.machineNow;
  }

  /** What callers are told. */
  serviceNow(): number {
    return Math.round(this.anchor_ms + (this.#machineNow() - this.anchor_ms) * this.speed);
  }

  /** What calls live by. */
  callNow(): number {
    return this.serviceNow() + this.advanced_ms;
  }
}
