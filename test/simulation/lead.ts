/**
 * Whether a call left its payer the time to answer before the visit (docs/payers.md), counted in
 * payer hours from when the practice had the visit in this version. Later delays are the world's
 * trouble. Also whether the attention list shows a visit without a call while the office has time
 * to phone the payer.
 */
import type { AttentionEntry } from '../../connectors/contract.ts';
import type { World } from './network.ts';
import { isBusinessDay, PayerClock } from './payer-clock.ts';
import { DAY_MS, HOUR_MS } from './plan.ts';
import type { Accepted } from './service.ts';
import { Broken } from './story.ts';

/** Longer than any weekend with a holiday. */
const LONG_MS = 6 * DAY_MS;
/** The payer clock counts in quarter hours. */
const ROUNDING_HOURS = 0.5;
/** eligd learns a payer's turnaround from this many calls at least; all but few end within it. */
const LEARNED_CALLS = 5;
/** A request waits for its turn at most so long: for its slot in a minute, or after a 429. */
const TURN_MS = HOUR_MS / 6;
/** While this many payer hours are left, the office can phone the payer. */
const OFFICE_HOURS = 4;
/**
 * What tells the office that a visit may have no call: it corrects the data that the service
 * refused, or phones the payer itself.
 */
const NO_CALL: ReadonlySet<string> = new Set([
  'too_late_to_call',
  'unconfirmed',
  'undecidable',
  'refused',
]);
/** The time between reading a booking and listing it. */
const LISTING_MS = HOUR_MS;

export class LeadCheck {
  readonly #world: World;
  readonly #withdrawn: ReadonlyMap<string, number>;
  readonly payers: PayerClock;
  /** The questions that the service refuses, and that the office has heard of. */
  readonly #refused = new Set<string>();
  /** The calls that eligd made, by patient. */
  readonly #called = new Map<string, Accepted[]>();
  /** Visits that were listed for the office to call about, by ID and time. */
  readonly #listed = new Set<string>();
  #calm_at = Number.POSITIVE_INFINITY;

  /** `withdrawn`: visits for which the operator wanted no call. */
  constructor(world: World, withdrawn: ReadonlyMap<string, number>) {
    this.#world = world;
    this.#withdrawn = withdrawn;
    this.payers = new PayerClock(world.plan.config.payer_hours);
  }

  /** `patient`: the patient that the call is about. A wrong clock gives eligd wrong hours. */
  onAccepted(call: Accepted, patient: string): void {
    this.#called.set(patient, [...(this.#called.get(patient) ?? []), call]);
    const { plan, pms } = this.#world;
    const { clock_steps, clock_at_limit, spite } = plan.machine;
    if (clock_steps > 0 || clock_at_limit || spite === 'clock') return;
    this.#checkDate(call);
    for (const { version } of pms.book.history()) {
      const { input, at } = version;
      const starts_at = Date.parse(input.starts_at);
      if (pms.book.personOf(input.patient.id) !== patient || at > call.accepted_at) continue;
      if (starts_at - at > LONG_MS || this.#isInTime(at, starts_at)) return;
    }
    this.#world.fail(
      new Broken('lead', `Call ${call.id} left its payer too little time before any visit.`, [
        call.external_id,
        call.id,
      ]),
    );
  }

  /**
   * The requested completion date is a business day, and is not over when eligd sends the inquiry.
   * A request that was committed just before midnight may wait for its turn until the next day.
   */
  #checkDate(call: Accepted): void {
    const [month, day, year] = String(call.request.desired_completion_date).split('-');
    const date = `${year}-${month}-${day}`;
    const sent = new Intl.DateTimeFormat('en-CA', { timeZone: this.#world.plan.time_zone });
    if (date >= sent.format(call.carrier.sent_at - TURN_MS) && isBusinessDay(date)) return;
    this.#world.fail(
      new Broken('lead', `Call ${call.id} is wanted by ${date}.`, [call.external_id, call.id]),
    );
  }

  #isInTime(from: number, starts_at: number): boolean {
    const { config } = this.#world.plan;
    const { min_lead_hours, late_visits } = config;
    const hours = this.payers.hoursBetween(from, starts_at);
    if (hours + ROUNDING_HOURS < min_lead_hours) return false;
    if (late_visits === 'buy') return true;
    return hours + ROUNDING_HOURS >= this.#learnable() || this.payers.canAnswer(from, starts_at);
  }

  /**
   * The shortest turnaround, in payer hours, that eligd can have learned from the calls that ended
   * so far: no percentile of so many calls is shorter than the longest of the shortest ones.
   */
  #learnable(): number {
    const { service, scheduler } = this.#world;
    const took = [...service.accepted.values()].flatMap(({ accepted_at, timeline }) => {
      const ended_at = timeline.find(({ status }) => /SUCCESS/.test(status))?.at;
      if (ended_at === undefined || ended_at > scheduler.now) return [];
      return [this.payers.hoursBetween(accepted_at, ended_at)];
    });
    return took.toSorted((a, b) => a - b)[LEARNED_CALLS - 1] ?? Number.POSITIVE_INFINITY;
  }

  /** When the last call about the patient failed. */
  #failedAt(patient: string): number {
    const { now } = this.#world.scheduler;
    const failures = (this.#called.get(patient) ?? []).flatMap(({ timeline }) =>
      timeline.filter(({ status, at }) => status === 'UNSUCCESSFUL' && at <= now),
    );
    return Math.max(0, ...failures.map(({ at }) => at));
  }

  /** The attention list as the practice receives it; it may be late during trouble. */
  onListed(entries: readonly AttentionEntry[]): void {
    const { plan, scheduler, isCalm } = this.#world;
    if (isCalm()) this.#calm_at = Math.min(this.#calm_at, scheduler.now);
    for (const { reason, source_id, starts_at } of entries) {
      if (!NO_CALL.has(reason) || source_id === null || starts_at === null) continue;
      const name = nameOf(source_id, starts_at);
      if (reason === 'refused')
        for (const question of this.#questionsOf(source_id)) this.#refused.add(question);
      if (this.#listed.has(name)) continue;
      this.#listed.add(name);
      if (reason !== 'too_late_to_call') continue;
      const starts = Date.parse(starts_at);
      const least = Math.min(OFFICE_HOURS, plan.config.min_lead_hours);
      const left = this.payers.hoursBetween(scheduler.now, starts);
      if (left + ROUNDING_HOURS < least)
        this.#failIfKnown(source_id, starts, `${left} payer hours`);
    }
  }

  /** At the end: whether eligd made a call about each booking of the calm days, or listed it. */
  checkEnd(): void {
    for (const visit of this.#world.pms.book.visits.values()) {
      const { input } = this.#world.pms.book.current(visit);
      const is_settled =
        this.#withdrawn.has(visit.source_id) ||
        this.#called.has(this.#world.pms.book.personOf(input.patient.id)) ||
        this.#listed.has(nameOf(visit.source_id, input.starts_at));
      if (visit.is_probe && !is_settled)
        this.#failIfKnown(visit.source_id, Date.parse(input.starts_at), 'never');
    }
  }

  /** The coverages that the visit asks about. */
  #questionsOf(source_id: string): string[] {
    const { book } = this.#world.pms;
    const visit = book.visits.get(source_id);
    if (visit === undefined) return [];
    const { patient, coverages } = book.current(visit).input;
    return coverages.map(({ member_id }) => `${book.personOf(patient.id)} ${member_id}`);
  }

  /**
   * Except if eligd could not know in time of the visit, or that its last call had failed, or the
   * office has heard under other visits that the service refuses its questions.
   */
  #failIfKnown(source_id: string, starts_at: number, when: string): void {
    const questions = this.#questionsOf(source_id);
    if (questions.length > 0 && questions.every((each) => this.#refused.has(each))) return;
    const { plan, pms } = this.#world;
    const { config } = plan;
    const visit = pms.book.visits.get(source_id);
    if (visit === undefined || config.late_visits === 'buy' || config.calls_per_day !== null)
      return;
    const { at, input } = pms.book.current(visit);
    const opens_at = starts_at - config.look_ahead_days * DAY_MS;
    const read_at = Math.max(at, this.#calm_at, opens_at) + config.pull_seconds * 1000;
    const failed_at = this.#failedAt(pms.book.personOf(input.patient.id));
    const known_at = Math.max(read_at, failed_at + config.poll_hours * HOUR_MS) + LISTING_MS;
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
