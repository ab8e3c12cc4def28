/**
 * Whether a call left its payer the time to answer before the visit (docs/payers.md): counted in
 * payer hours, from when the practice had the visit in this form. What delays a planned call after
 * that is trouble of the world's. And whether the office hears of a call that is not made while it
 * has the time to phone the payer itself.
 */
import type { AttentionEntry } from '../../connectors/contract.ts';
import type { World } from './network.ts';
import { isBusinessDay, PayerClock } from './payer-clock.ts';
import { DAY_MS, HOUR_MS } from './plan.ts';
import type { Accepted } from './service.ts';
import { Broken } from './story.ts';

/** No weekend with a holiday is as long. */
const LONG_MS = 6 * DAY_MS;
/** The payer clock counts whole quarters of an hour. */
const ROUNDING_HOURS = 0.5;
/** A payer takes any part of its longest time; so much of it is its p90 in fewest calls. */
const LEARNED_SHARE = 0.5;
/** While so many payer hours are left, the office can phone the payer itself. */
const OFFICE_HOURS = 4;
/** Between a booking that is read and the list that says something about it. */
const LISTING_MS = HOUR_MS;

export class LeadCheck {
  readonly #world: World;
  readonly payers: PayerClock;
  /** Patients about whom a call was made. */
  readonly #called = new Set<string>();
  /** Visits that were listed as too near for a call, by ID and time. */
  readonly #listed = new Set<string>();
  #calm_at = Number.POSITIVE_INFINITY;

  constructor(world: World) {
    this.#world = world;
    this.payers = new PayerClock(world.plan.config.payer_hours);
  }

  /** `patient`: whom the call is about. A wrong clock tells eligd wrong hours. */
  onAccepted(call: Accepted, patient: string): void {
    this.#called.add(patient);
    const { plan, pms } = this.#world;
    const { clock_steps, clock_at_limit, spite } = plan.machine;
    if (clock_steps > 0 || clock_at_limit || spite === 'clock') return;
    this.#checkDate(call);
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

  /** The day by which an answer is asked for is a business day, and not over when it is sent. */
  #checkDate(call: Accepted): void {
    const [month, day, year] = String(call.request.desired_completion_date).split('-');
    const date = `${year}-${month}-${day}`;
    const sent = new Intl.DateTimeFormat('en-CA', { timeZone: this.#world.plan.time_zone });
    if (date >= sent.format(call.carrier.sent_at) && isBusinessDay(date)) return;
    this.#world.fail(
      new Broken('lead', `Call ${call.id} is wanted by ${date}.`, [call.external_id, call.id]),
    );
  }

  #isInTime(from: number, starts_at: number): boolean {
    const { config, service } = this.#world.plan;
    const { min_lead_hours, late_visits } = config;
    const hours = this.payers.hoursBetween(from, starts_at);
    if (hours + ROUNDING_HOURS < min_lead_hours) return false;
    if (late_visits === 'buy') return true;
    // What the payers of this world take is what eligd can learn, from a few calls at least.
    if (hours >= service.answers_within_hours * LEARNED_SHARE) return true;
    return this.payers.canAnswer(from, starts_at);
  }

  /** The attention list, as the practice gets it. While there is trouble, it may come late. */
  onListed(entries: readonly AttentionEntry[]): void {
    const { plan, scheduler, isCalm } = this.#world;
    if (isCalm()) this.#calm_at = Math.min(this.#calm_at, scheduler.now);
    for (const { reason, source_id, starts_at } of entries) {
      if (reason !== 'too_late_to_call' || source_id === null || starts_at === null) continue;
      const name = nameOf(source_id, starts_at);
      if (this.#listed.has(name)) continue;
      this.#listed.add(name);
      const starts = Date.parse(starts_at);
      const least = Math.min(OFFICE_HOURS, plan.config.min_lead_hours);
      const left = this.payers.hoursBetween(scheduler.now, starts);
      if (left + ROUNDING_HOURS < least)
        this.#failIfKnown(source_id, starts, `${left} payer hours`);
    }
  }

  /** At the end: whether each booking of the calm days was called about or listed. */
  checkEnd(): void {
    for (const visit of this.#world.pms.book.visits.values()) {
      const { input } = this.#world.pms.book.current(visit);
      const is_settled =
        this.#called.has(input.patient.id ?? '') ||
        this.#listed.has(nameOf(visit.source_id, input.starts_at));
      if (visit.is_probe && !is_settled)
        this.#failIfKnown(visit.source_id, Date.parse(input.starts_at), 'never');
    }
  }

  /** Unless nobody could have known of the visit in time, or a call about the patient was made. */
  #failIfKnown(source_id: string, starts_at: number, when: string): void {
    const { plan, pms } = this.#world;
    const { config } = plan;
    const visit = pms.book.visits.get(source_id);
    if (visit === undefined || config.late_visits === 'buy' || config.calls_per_day !== null)
      return;
    const { at, input } = pms.book.current(visit);
    if (this.#called.has(input.patient.id ?? '')) return;
    const opens_at = starts_at - config.look_ahead_days * DAY_MS;
    const known_at =
      Math.max(at, this.#calm_at, opens_at) + config.pull_seconds * 1000 + LISTING_MS;
    if (this.payers.hoursBetween(known_at, starts_at) < OFFICE_HOURS + ROUNDING_HOURS) return;
    this.#world.fail(
      new Broken(
        'lead',
        `No call was made about ${source_id}, and the office was to call itself: it heard of it ` +
          `${when === 'never' ? 'never' : `${when} before the visit`}.`,
        [source_id],
      ),
    );
  }
}

const nameOf = (source_id: string, starts_at: string) =>
  `${source_id} ${new Date(starts_at).toISOString()}`;
