/**
 * The sandbox's clock. From an anchor on, it runs `speed` times as fast as the machine's clock, so
 * another process that knows anchor and speed has the same clock:
 *
 *     service time = anchor + (machine time - anchor) * speed
 *     call time    = service time + the time advanced
 *
 * When the speed changes, both continue from their current values.
 *
 * Callers see the service time in the `Date` header, and limits and token lifetimes follow it.
 * Calls follow the call time: `POST /_sandbox/advance` makes them happen sooner without telling
 * callers that their clocks are wrong.
 */
export class ScaledClock {
  readonly anchor_ms: number;
  #speed: number;
  /** The machine time and service time from which the current speed applies. */
  #from: { machine_ms: number; service_ms: number };
  advanced_ms: number;
  readonly #machineNow: () => number;

  constructor(settings: {
    anchor_ms: number;
    speed: number;
    advanced_ms: number;
    machineNow: () => number;
  }) {
    this.anchor_ms = settings.anchor_ms;
    this.#speed = settings.speed;
    this.#from = { machine_ms: settings.anchor_ms, service_ms: settings.anchor_ms };
    this.advanced_ms = settings.advanced_ms;
    this.#machineNow = settings.machineNow;
  }

  get speed(): number {
    return this.#speed;
  }

  setSpeed(speed: number): void {
    this.#from = { machine_ms: this.#machineNow(), service_ms: this.serviceNow() };
    this.#speed = speed;
  }

  /** Returns the time that callers see. */
  serviceNow(): number {
    const { machine_ms, service_ms } = this.#from;
    return Math.round(service_ms + (this.#machineNow() - machine_ms) * this.#speed);
  }

  /** Returns the time that calls follow. */
  callNow(): number {
    return this.serviceNow() + this.advanced_ms;
  }
}
