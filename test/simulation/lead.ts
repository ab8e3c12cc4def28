/**
 * Whether a call left its payer the time to answer before the visit (docs/payers.md): counted in
 * payer hours, from when the practice had the visit in this form. What delays a planned call after
 * that is trouble of the world's.
 */
import type { World } from './network.ts';
import { PayerClock } from './payer-clock.ts';
import { DAY_MS, HOUR_MS } from './plan.ts';
import type { Accepted } from './service.ts';
import { Broken } from './story.ts';

/** No weekend with a holiday is as long. */
const LONG_MS = 6 * DAY_MS;
/** The payer clock counts whole quarters of an hour. */
const ROUNDING_HOURS = 0.5;

export class LeadCheck {
  readonly #world: World;
  readonly payers: PayerClock;

  constructor(world: World) {
    this.#world = world;
    this.payers = new PayerClock(world.plan.config.payer_hours);
  }

  /** `patient`: whom the call is about. A wrong clock tells eligd wrong hours. */
  onAccepted(call: Accepted, patient: string): void {
    const { plan, pms } = this.#world;
    const { clock_steps, clock_at_limit, spite } = plan.machine;
    if (clock_steps > 0 || clock_at_limit || spite === 'clock') return;
    for (const { version } of pms.book.history()) {
      const { input, at } = version;
      const starts_at = Date.parse(input.starts_at);
      if (input.patient.id !== patient || at > call.accepted_at) continue;
      if (starts_at - at > LONG_MS || this.#isInTime(at, starts_at)) return;
    }
    this.#world.fail(
      new Broken('lead', `Call ${call.id} left its payer too little time before any visit.`, [
        call.external_id,
        call.id,
      ]),
    );
  }

  #isInTime(from: number, starts_at: number): boolean {
    const { config, service } = this.#world.plan;
    const { min_lead_hours, late_visits } = config;
    const hours = this.payers.hoursBetween(from, starts_at);
    if (hours + ROUNDING_HOURS < min_lead_hours) return false;
    // What the payers of this world take, around the clock, is what eligd can learn.
    if (starts_at - from >= service.answers_within_hours * HOUR_MS) return true;
    return late_visits === 'buy' || this.payers.canAnswer(from, starts_at);
  }
}
