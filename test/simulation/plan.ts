/**
 * The plan of a world: everything that is drawn from the seed before it begins. A failing seed
 * prints it at the top of its trace.
 */
import type { Specialty } from '../../src/domain/specialty.ts';
import { Random } from './random.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

export type Plan = ReturnType<typeof drawPlan>;

/**
 * Mornings before special dates: an ordinary week, both daylight-saving nights, a leap day, New
 * Year.
 */
const STARTS = [
  '2026-11-16T13:00:00Z',
  '2027-03-11T14:00:00Z',
  '2026-10-29T13:00:00Z',
  '2028-02-26T15:00:00Z',
  '2026-12-28T15:00:00Z',
  '2027-06-30T09:00:00Z',
] as const;
const ZONES = [
  'America/Chicago',
  'America/New_York',
  'America/Los_Angeles',
  'America/Phoenix',
  'Pacific/Honolulu',
] as const;

/** Most accounts require no more fields than the specification. */
const NOTHING = [null, null, null, null, null, null, null, null] as const;

/** The procedures of each specialty's visits. */
export const CODES: Readonly<Record<Specialty, readonly [string, string]>> = {
  dental: ['D1110', 'D2740'],
  medical: ['99213', '99214'],
  mental_health: ['90834', '90837'],
};

/**
 * How many lists are cut off. If the service does not filter such a list, eligd stops after a loss
 * until the operator has looked.
 */
const CAPPED = { exact: 0.08, any_case: 0.08, ignored: 0.5, refused: 0.5 } as const;

/** `policy.new_codes`, if visits differ in their codes; null: all visits have the same. */
const drawNewCodes = (random: Random) =>
  random.chance(0.35) ? random.pick(['call', 'call', 'note'] as const) : null;

export function drawPlan(seed: number) {
  const random = new Random(seed, 'plan');
  /** A kind of fault is absent, rare or frequent; a world without any is a rare world. */
  const rate = (rare: number, frequent: number) =>
    random.chance(0.35) ? 0 : random.chance(0.5) ? rare : frequent;
  const sometimes = <Value>(probability: number, value: Value): Value | null =>
    random.chance(probability) ? value : null;
  const settle_ms = random.pick([60, 300, 300, 900]) * 1000;
  const timeout_ms = random.pick([5, 30, 30, 60]) * 1000;
  const storm_days = random.int(2, 5);
  const pms_kind = random.pick(['export', 'export', 'changes', 'queue'] as const);
  const can_lose_state = pms_kind !== 'queue';
  const list_filter = random.mostly('exact', ['ignored', 'any_case', 'refused'] as const);
  const is_echo_nameless = new Random(seed, 'nameless').chance(0.15);
  /** Twins and a lost database: nobody can tell whom a listed call without a name is about. */
  const is_doubtful =
    is_echo_nameless && can_lose_state && new Random(seed, 'doubtful').chance(0.5);
  return {
    seed,
    start_ms: Date.parse(random.pick(STARTS)) + random.int(0, 20) * HOUR_MS,
    time_zone: random.pick(ZONES),
    specialty: new Random(seed, 'specialty').pick<Specialty>([
      'dental',
      'dental',
      'dental',
      'medical',
      'mental_health',
    ]),
    /** The number of days with faults. Then everything works, and everything must finish. */
    storm_days,
    config: {
      auth: random.pick(['oauth', 'basic'] as const),
      settle_ms,
      timeout_ms,
      mode: random.mostly('auto', ['bulk', 'single', 'auto'] as const),
      bulk_shape: random.mostly('auto', ['array', 'object'] as const),
      batch_size: random.pick([1, 3, 10, 25]),
      max_per_minute: random.pick([0, 4, 6, 12, 60]),
      concurrency: random.int(1, 6),
      look_ahead_days: random.pick([3, 7, 7, 14]),
      min_lead_hours: random.pick([0, 4, 4, 12]),
      attempts: random.int(1, 3),
      attempt_pause_hours: random.pick([1, 6, 20]),
      reverify_after_days: random.pick([30, 30, 3, 1]),
      give_up_after_days: random.pick([1, 2, 3]),
      poll_hours: random.pick([3, 6, 12]),
      pull_seconds: random.pick([1800, 7200, 14_400]),
      // A loop with work knows its next time; besides that, it polls only this rarely.
      idle_ms: random.pick([120, 360, 720]) * MINUTE_MS,
      ...drawPayerTimes(new Random(seed, 'payers')),
      calls_per_day: sometimes(0.1, random.int(3, 12)),
    },
    pms: {
      kind: pms_kind,
      patients: random.logInt(2, 12),
      appointments: random.logInt(3, 24),
      completeness: random.pick(['full', 'unknown'] as const),
      batch_size: random.pick([1, 4, 100]),
      changes_per_day: random.logInt(1, 20),
      /** Kinds of trouble with the data. */
      twins: random.chance(0.25) || is_doubtful,
      families: random.chance(0.4),
      reused_ids: random.chance(0.3),
      ...drawClaims(new Random(seed, 'claims')),
      /** Patients who have two records until the practice merges them. An export cannot say so. */
      /** The codes of visits. */
      new_codes: drawNewCodes(new Random(seed, 'codes')),
      merges:
        pms_kind !== 'export' && new Random(seed, 'merges').chance(0.5)
          ? new Random(seed, 'merged').int(1, 3)
          : 0,
      malformed: rate(0.05, 0.2),
      refused: rate(0.05, 0.2),
      two_coverages: rate(0.1, 0.4),
      pull_failure: rate(0.02, 0.2),
      deliver_failure: rate(0.02, 0.2),
      item_failure: rate(0.02, 0.15),
      item_permanent: rate(0, 0.05),
      /** A record at which the connector fails whenever it is in the batch. */
      poison: random.chance(0.15),
      down: random.chance(0.3),
      /**
       * Charts that are open elsewhere when the answer arrives, and whose insurance changes
       * meanwhile.
       */
      meddles: random.chance(0.3),
    },
    network: {
      latency_ms: random.pick([20, 200, 1500]),
      unsent: rate(0.01, 0.1),
      lost_before: rate(0.01, 0.12),
      lost_after: rate(0.02, 0.25),
      silent: random.chance(0.5),
      late_arrival: rate(0.01, 0.05),
      late_reply: rate(0.01, 0.05),
      proxy_page: rate(0.01, 0.08),
      truncated: rate(0.01, 0.08),
      outages: random.chance(0.35) ? random.int(1, 3) : 0,
    },
    service: {
      bulk: random.mostly('present', ['absent_404', 'absent_405', 'absent_501'] as const),
      bulk_body: random.pick(['array', 'array', 'object'] as const),
      bulk_reply: random.pick([
        'responses',
        'responses',
        'ids',
        'enveloped',
        'read_forms',
        'success_only',
        'ids_other_order',
        'responses_other_order',
      ] as const),
      bulk_refusal: random.pick(['all_or_nothing', 'partial_422', 'mixed'] as const),
      bulk_max: random.pick([1000, 1000, 2, 5]),
      bulk_max_status: random.pick([413, 422]),
      list_filter,
      list_paging: random.mostly('none', ['offset', 'page', 'link', 'envelope', 'limit'] as const),
      page_size: random.pick([2, 5, 50]),
      list_order: random.pick(['oldest', 'newest', 'any'] as const),
      /** The list shows only this many inquiries, and does not say so. */
      list_cap: random.chance(CAPPED[list_filter]) ? random.int(3, 12) : null,
      unreadable_element: random.chance(0.06),
      read_array: random.chance(0.3),
      unknown_id: random.pick(['404', '422', 'null', 'empty'] as const),
      echo: random.pick(['as_sent', 'nulls', 'defaults', 'trimmed_upper'] as const),
      /** An echo without the patient's name, so that calls for twins look alike. */
      is_echo_nameless,
      /** A field that the specification does not require, but this account does. */
      requires: new Random(seed, 'requires').pick([...NOTHING, 'npi', 'insurance'] as const),
      timestamps: random.pick(['z', 'offset', 'no_zone'] as const),
      /**
       * How long the list hides a new inquiry, as a share of two settle times after the client's
       * timeout.
       */
      shown_after: random.pick([
        'at_once',
        'seconds',
        'one_settle',
        'two_settles',
        'two_settles',
        'late',
      ] as const),
      late_share: 0.3,
      rate_429: rate(0.005, 0.05),
      retry_after: random.pick(['seconds', 'date', 'none'] as const),
      error_5xx: rate(0.01, 0.06),
      /** A 5xx, 408, or 409 although the service accepted the inquiry. */
      error_after_accept: random.chance(0.5),
      useless_success: rate(0.01, 0.06),
      revokes_tokens: random.chance(0.3),
      tells_lifetime: random.chance(0.3),
      verification: random.pick(['absent', 'none', 'items'] as const),
      turned_away: random.chance(0.2) ? random.pick([400, 401, 402, 403, 404, 405, 407]) : null,
      unsuccessful: rate(0.1, 0.4),
      cancelled: rate(0.02, 0.1),
      never: rate(0, 0.04),
      empty_success: rate(0.1, 0.4),
      revised: rate(0.1, 0.3),
      takes_back: rate(0.02, 0.1),
      lower_case: random.chance(0.2),
      dates: random.mostly('month_first', ['iso', 'slashes'] as const),
      amounts: random.pick(['text', 'number', 'dollars'] as const),
      transcript: random.pick(['call_transcript', 'transcript'] as const),
      tooth_numbers: random.pick(['texts', 'numbers'] as const),
      call_details: random.mostly('list', ['object', 'absent'] as const),
      answers_within_hours: random.pick([2, 12, 36]),
      poison_answer: random.chance(0.1),
      /** The service forgets an inquiry, which only an installation that has it notices. */
      forgets: new Random(seed, 'forgets').chance(0.2) ? 0.1 : 0,
    },
    webhook: {
      is_used: random.chance(0.6),
      update_frequency_minutes: random.pick([1, 5, 30]),
      header: random.mostly('X-Service-Signature', ['X-Signature']),
      bodies: random.pick(['object', 'empty', 'no_content'] as const),
      /** The service accepts the subscription and never sends an event. */
      is_silent: random.chance(0.1),
      split_at: random.pick([1, 3, 1000]),
      retries: random.chance(0.5),
      lost: rate(0.02, 0.3),
      repeated: rate(0.1, 0.6),
      reordered: rate(0.05, 0.4),
      forged: rate(0.05, 0.3),
      strangers: rate(0.05, 0.3),
      /**
       * An answer arrives in two messages, one half in each. Drawn separately, so that the other
       * draws stay the same.
       */
      halved: new Random(seed, 'halved').chance(0.4) ? 0.3 : 0,
    },
    /**
     * The operator withdraws calls that the service accepted and does not list, and the patient
     * books another visit.
     */
    withdraws_lost: new Random(seed, 'withdraws lost').chance(0.15),
    machine: {
      /**
       * Points of interaction (statements, requests, calls of the connector) between two crashes,
       * on average.
       */
      crash_every: random.chance(0.3) ? 0 : random.logInt(40, 6000),
      crashes_max: random.logInt(5, 80),
      restart_ms_max: random.pick([1_000, 60_000, HOUR_MS]),
      stops: random.chance(0.4) ? random.int(1, 4) : 0,
      pauses: random.chance(0.3) ? random.int(1, 3) : 0,
      disk_full: random.chance(0.25) ? random.int(1, 3) : 0,
      clock_steps: random.chance(0.35) ? random.int(1, 4) : 0,
      /** The clock jumps forward just when the rate limit is used up. */
      clock_at_limit: random.chance(0.4),
      /** Trouble at the worst time: right after a lost reply. */
      spite: random.chance(0.5)
        ? random.pick(['crash', 'clock', 'clock', 'sleep', 'stop', 'full'] as const)
        : null,
      /** The daemon is told to stop while it waits for a reply that will not arrive. */
      stop_in_silence: new Random(seed, 'stop in silence').chance(0.2),
      second_daemon: random.chance(0.3),
      restore: is_doubtful
        ? 'empty'
        : can_lose_state
          ? sometimes(0.2, random.pick(['backup', 'backup', 'empty'] as const))
          : null,
      /** The database alone, or the machine with its clock, is put back by less than an hour. */
      rollback: can_lose_state
        ? new Random(seed, 'rollback').pick([
            null,
            null,
            null,
            'database',
            'machine',
            'machine',
          ] as const)
        : null,
      damage_first: random.chance(0.4),
      clone: can_lose_state && random.chance(0.06) ? random.pick(['copy', 'empty'] as const) : null,
    },
  };
}

/** Claims whose payers are to be asked; most practices have none here. */
function drawClaims(random: Random) {
  return {
    claims: random.chance(0.4) ? random.int(1, 5) : 0,
    ask_after_days: random.pick([3, 14]),
    ask_again_days: random.pick([1, 1, 2, 5]),
    claim_calls_max: random.int(1, 4),
  };
}

/** Payers that always answer on a business day, or those of a real clinic. */
function drawPayerTimes(random: Random) {
  if (random.chance(0.75)) {
    const always = { hours: '00:00-24:00', zones: ['America/Chicago'] };
    const payer_hours = { ...always, same_day_cutoff: '12:00', turnaround_days: 2 };
    return { late_visits: 'buy' as const, payer_hours };
  }
  return {
    late_visits: 'call_yourself' as const,
    payer_hours: {
      hours: '08:00-17:00',
      zones: ['America/New_York', 'America/Chicago', 'America/Denver', 'America/Los_Angeles'],
      same_day_cutoff: random.chance(0.5) ? '12:00' : null,
      turnaround_days: random.pick([1, 2]),
    },
  };
}
