/**
 * The trouble of a world besides crashes: an unavailable service or practice, a full disk, a clock
 * that is set, a computer that sleeps.
 */
import type { Machine } from './machine.ts';
import type { World } from './network.ts';
import { HOUR_MS, MINUTE_MS } from './plan.ts';
import { Random } from './random.ts';

export class Trouble {
  readonly #world: World;
  readonly #random: Random;
  readonly #random_of_silence: Random;

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
    this.#random_of_silence = new Random(world.plan.seed, 'silence');
  }

  /** Part of the trace. */
  tell(text: string): void {
    const { story, scheduler } = this.#world;
    story.tell(scheduler.now, 'world', text);
  }

  downForADay(): void {
    const hours = this.#random.int(1, 30);
    this.tell(`the practice management system is away for ${hours} hours`);
    this.#world.pms.down_until = this.#world.scheduler.now + hours * HOUR_MS;
  }

  outage(): void {
    const minutes = this.#random.logInt(5, 1000);
    this.tell(`the service cannot be reached for ${minutes} minutes`);
    this.#world.service.outage_until = this.#world.scheduler.now + minutes * MINUTE_MS;
  }

  turnAway(): void {
    const hours = this.#random.int(1, 12);
    this.tell(
      `the service answers creates with ${this.#world.plan.service.turned_away} for ${hours} hours`,
    );
    this.#world.service.turned_away_until = this.#world.scheduler.now + hours * HOUR_MS;
  }

  fillDisk(): void {
    const minutes = this.#random.logInt(1, 300);
    this.tell(`the disk is full for ${minutes} minutes`);
    this.#world.machine().disk_full_until = this.#world.scheduler.now + minutes * MINUTE_MS;
  }

  /** The clock of the clinic's computer is wrong for a while, by `step_ms`. */
  stepClock(
    step_ms = this.#random.pick([1, -1]) * this.#random.logInt(30, 3 * 24 * 3600) * 1000,
  ): void {
    const random = this.#random;
    const machine = this.#world.machine();
    this.tell(
      `the clock of the clinic's computer is ${Math.round(step_ms / 1000)} s ahead from now on`,
    );
    machine.clock_ahead_ms = step_ms;
    this.#world.scheduler.after(
      random.logInt(1, 600) * MINUTE_MS,
      () => {
        if (machine.clock_ahead_ms === 0) return;
        this.tell("the clock of the clinic's computer is right again");
        machine.clock_ahead_ms = 0;
      },
      null,
    );
  }

  /** The rate limit is used up just when the clock is set. */
  setClockAtLimit(machine: string): void {
    if (
      !this.#world.plan.machine.clock_at_limit ||
      this.#world.isCalm() ||
      machine !== this.#world.machine().name
    )
      return;
    const random = this.#random;
    // By this much, so that all requests seem to be long ago.
    const setForward = () =>
      this.stepClock(this.#world.machine().clock_ahead_ms + random.logInt(60, 3600) * 1000);
    if (random.chance(0.5)) this.#world.scheduler.after(random.int(1, 40_000), setForward, null);
  }

  /** The daemon is told to stop while a request hangs. */
  stopInSilence(machine: Machine): void {
    const random = this.#random_of_silence;
    if (!this.#world.plan.machine.stop_in_silence || this.#world.isCalm() || !random.chance(0.2))
      return;
    this.#world.scheduler.after(
      random.int(0, 2_000),
      () => this.#world.isCalm() || machine.life?.stop(),
      null,
    );
  }

  /** A reply was lost, so trouble follows at the worst time. */
  spite(machine: Machine): void {
    const { spite } = this.#world.plan.machine;
    if (
      spite === null ||
      this.#world.isCalm() ||
      machine !== this.#world.machine() ||
      !this.#random.chance(spite === 'clock' ? 0.6 : 0.3)
    )
      return;
    const { settle_ms } = this.#world.plan.config;
    const after_ms = this.#random.next() * (spite === 'clock' ? 1 : 3) * settle_ms;
    // Forward, so that the time for a lookup seems to have come.
    const step_ms = settle_ms * this.#random.pick([1, 2, 10]);
    const events = {
      crash: () => machine.life?.die(),
      clock: () => this.stepClock(step_ms),
      sleep: () => this.sleep(),
      stop: () => machine.life?.stop(),
      full: () => this.fillDisk(),
    };
    this.#world.scheduler.after(after_ms, () => this.#world.isCalm() || events[spite](), null);
  }

  sleep(): void {
    const seconds = this.#random.logInt(1, 20_000);
    this.tell(`the clinic's computer stands still for ${seconds} s`);
    this.#world.machine().asleep_until = this.#world.scheduler.now + seconds * 1000;
  }
}
