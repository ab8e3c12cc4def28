/**
 * Explains in sentences why an appointment is in its situation: for `status`, `list`, `show`, and
 * `explain`, and for every page that shows the same.
 */
import { VERDICT_REASONS } from './attention.ts';
import type { BudgetPeriod } from './call-budget.ts';
import { DAMAGED_HOLD, KEPT_HOLD, VANISHED_HOLD } from './inquiry.ts';
import { OPERATOR_HOLD } from './operator.ts';
import { outcomeOf } from './outcome.ts';
import { dollars } from './price.ts';
import { unquoted } from './quotes.ts';
import { REFUSED_NEIGHBOR } from './refusal.ts';
import { INFORMATIONAL_REASONS, type SituationWord, STAGES } from './situation.ts';
import type { DeliveryState, InquiryState } from './states.ts';

/**
 * Why an appointment is in its situation, in sentences. They contain no patient data except what a
 * payer or the service said.
 */
export type Explanation = {
  situation: SituationWord;
  why: string;
  /** When the next step is due automatically; null: the next step depends on something else. */
  until: number | null;
  /** What you should do; null: no action is needed. */
  next: string | null;
};

/** A current inquiry of an appointment, and the stage that its coverage has reached. */
export type CurrentInquiry = {
  appointment: number;
  coverage_rank: number;
  stage: number;
  id: number;
  state: InquiryState;
  service_status: string | null;
  due_at: number;
  hold_reason: string | null;
  lookup_at: number | null;
  poll_at: number | null;
  sent_at: number | null;
  /** 1: the service said that it took the call. */
  was_accepted: number | null;
  overdue_since: number | null;
  reason: string | null;
  /** 1: its connector has messages that are not read yet, and it is not sent before that. */
  has_unread: number;
};

/** The facts that every explanation needs in addition to the appointment's rows. */
export type Moment = {
  now: number;
  /** The limit that delays every planned call; null while the budget allows calls. */
  budget: BudgetPeriod | null;
  /** Where connectors write results, by connector ID; left out or missing: the PMS. */
  destinations?: ReadonlyMap<string, string>;
};

/** Used in sentences such as "written to …". */
export const PMS = 'the practice management system';

export type OpenEntry = {
  id: number;
  appointment: number;
  reason: string;
  what: string;
  words: string | null;
  next: string;
  since: number;
};

/** The rows about an appointment from which its explanation is made. */
export type Progress = {
  /** The least advanced first. */
  inquiries: readonly CurrentInquiry[];
  /** Open attention items, the oldest first. */
  entries: readonly OpenEntry[];
  /** The oldest first. */
  deliveries: readonly { state: DeliveryState; inquiry: number; due_at: number }[];
  /** It keeps the office's hold for its next call. Left out: it does not. */
  keeps_hold?: boolean;
  /** Why eligd sends nothing at all. */
  halts: readonly { detail: string; next_try_at: number | null }[];
};

/** The parts of an appointment or a claim that its explanation needs. */
type SituatedAppointment = {
  connector: string;
  kind: 'appointment' | 'claim';
  situation: SituationWord;
  closed_reason: ClosedReason | null;
  plan_wait: string | null;
  plan_due_at: number | null;
  starts_at: number;
};

type Facts = Progress & Moment & { destination: string };
type Explained = Omit<Explanation, 'situation'>;

const explained = (
  why: string,
  until: number | null = null,
  next: string | null = null,
): Explained => ({
  why,
  until,
  next,
});

/** Says why the appointment is in its situation. */
export function explain(
  appointment: SituatedAppointment,
  progress: Progress,
  moment: Moment,
): Explanation {
  return {
    situation: appointment.situation,
    ...explainSituation(appointment, {
      ...progress,
      ...moment,
      destination: moment.destinations?.get(appointment.connector) ?? PMS,
    }),
  };
}

function explainSituation(appointment: SituatedAppointment, facts: Facts): Explained {
  const [least] = facts.inquiries;
  switch (appointment.situation) {
    case 'closed':
      return explained(closedWords(appointment));
    case 'attention':
      return explainAttention(facts);
    case 'waiting': {
      const waiting = explainWaiting(appointment, facts);
      return facts.keeps_hold === true ? { ...waiting, ...heldNext(waiting) } : waiting;
    }
    case 'planned':
      return least === undefined ? explained('It is planned.') : explainPlanned(least, facts);
    case 'asking':
      return least === undefined
        ? explained('The insurance company is being asked.')
        : explainAsking(least);
    case 'answered':
      return explainAnswered(least, facts);
    case 'delivered':
      return explainDelivered(appointment, facts);
  }
}

export const CLOSED_WORDS = {
  cancelled: 'The appointment was canceled in the practice management system.',
  past: 'The visit was over before eligd made a call.',
  no_coverage: 'The practice management system has no insurance for this visit: self-pay.',
  skipped: 'The payer map says not to call this insurance company.',
  replaced: 'The practice management system now uses its ID for someone else.',
  withdrawn: 'You withdrew it (eligd withdraw).',
  settled: 'The practice management system says that the claim is settled, or no longer lists it.',
} as const;
/** Says why eligd does nothing more for an appointment or a claim; `settled` is for claims. */
export type ClosedReason = keyof typeof CLOSED_WORDS;

function closedWords({ kind, closed_reason }: SituatedAppointment): string {
  if (closed_reason === null) return 'It is closed.';
  if (kind === 'claim' && closed_reason === 'past')
    return 'The date of service is too long ago to ask about this claim.';
  return CLOSED_WORDS[closed_reason];
}

/** For a claim that an answer did not settle, planning knows when eligd asks again. */
function explainDelivered(
  { kind, plan_due_at, starts_at }: SituatedAppointment,
  { entries, destination, now }: Facts,
): Explained {
  const written = `The newest answer was written to ${destination}.`;
  // First, the action that the answer requires.
  const verdict = entries.filter(({ reason }) => VERDICT_REASONS.some((each) => each === reason));
  if (verdict.length > 0)
    return explained(
      `${verdict.map(({ what }) => unquoted(what)).join(' ')} ${written}`,
      null,
      verdict.map(({ next }) => next).join(' '),
    );
  const is_due_later = plan_due_at !== null && plan_due_at > now && plan_due_at < starts_at;
  if (kind !== 'claim' || !is_due_later) return explained(written);
  return explained(`${written} It did not settle the claim, so eligd asks again.`, plan_due_at);
}

function explainAttention({ entries, inquiries, deliveries, destination }: Facts): Explained {
  const [entry] = entries.filter(
    ({ reason }) => !INFORMATIONAL_REASONS.some((each) => each === reason),
  );
  if (entry !== undefined) return explained(unquoted(entry.what), null, entry.next);
  const blocked = inquiries.find(({ stage }) => stage === STAGES.blocked);
  if (blocked === undefined) {
    return explained(
      'Nothing is planned for it, and eligd cannot say why. This is a bug in eligd.',
      null,
      'Save the appointment again in the practice management system, so that eligd plans it ' +
        'again, and report this.',
    );
  }
  if (deliveries.some(({ state, inquiry }) => state === 'parked' && inquiry === blocked.id)) {
    return explained(
      `The answer could not be written to ${destination}.`,
      null,
      'See it with "eligd show" and enter it by hand, or fix the cause and try again.',
    );
  }
  const what =
    blocked.state === 'rejected'
      ? 'The service rejected the inquiry.'
      : 'eligd does not know whether the service has the inquiry.';
  return explained(
    `${what} ${blocked.reason ?? ''}`.trim(),
    null,
    'See "eligd explain", and call the insurance company yourself if necessary.',
  );
}

function explainWaiting(
  { plan_wait, plan_due_at }: SituatedAppointment,
  { inquiries: [least], halts: [stopped], now }: Facts,
): Explained {
  const is_due = plan_due_at !== null && plan_due_at <= now;
  // For a call that came back unsent, the office needs to know why it cannot be sent.
  if (is_due && least?.state === 'planned' && stopped !== undefined)
    return explained(
      `eligd is not sending anything right now: ${stopped.detail}`,
      stopped.next_try_at,
    );
  if (is_due) return explained('It is new or has changed; eligd plans it in the next pass.');
  return explained(waitWords(plan_wait), plan_due_at);
}

/** Adds that the call stays on hold when planning does not wait anymore. */
const heldNext = ({ why }: Explained) => ({
  why: `${why} The call stays on hold.`,
  next: 'Run "eligd release" to resume.',
});

/** Returns what planning waits for, as a sentence; also for null and for unknown words. */
export function waitWords(plan_wait: string | null): string {
  switch (plan_wait) {
    case null:
      return 'It is new or has changed; eligd plans it in the next pass.';
    case 'outside_window':
      return 'The visit is too far ahead: it is not in the look-ahead window yet.';
    case 'claim_too_young':
      return (
        'It is too soon after the date of service to ask about this claim ' +
        '(policy.claims.ask_after_days).'
      );
    case 'clock_unproven':
      return (
        'eligd does not know whether the clock of this computer is right, so it cannot tell ' +
        'whether the visit is over.'
      );
    case 'insurance_awaited':
      return (
        'The practice management system has not sent the patient’s insurance yet. eligd plans ' +
        'the visit when it arrives.'
      );
    case 'answer_age_unproven':
      return (
        'The last answer seems old enough for another call, but the clock of this computer may ' +
        'be wrong. eligd decides when it agrees with the service’s clock.'
      );
    case 'call_time_over':
      return 'The visit is too soon for another call.';
    case 'other_inquiry_first':
      return 'eligd sends another inquiry first, because the service could not tell the two apart.';
    case 'planning_failed':
      return (
        'It could not be planned because of a bug in eligd (stage_failed in the log). eligd ' +
        'tries again every minute.'
      );
    default:
      return `Planning waits: ${plan_wait}.`;
  }
}

function explainPlanned(inquiry: CurrentInquiry, facts: Facts): Explained {
  const { halts, budget, now } = facts;
  if (inquiry.hold_reason !== null) return explained(holdWords(inquiry.hold_reason));
  const [stopped] = halts;
  if (stopped !== undefined)
    return explained(
      `eligd is not sending anything right now: ${stopped.detail}`,
      stopped.next_try_at,
    );
  if (inquiry.due_at > now)
    return explained(
      `The call is planned for later. ${inquiry.reason ?? ''}`.trim(),
      inquiry.due_at,
    );
  if (inquiry.has_unread === 1)
    return explained(
      'The call waits until eligd has read messages that it has received from the practice ' +
        'management system: they may cancel the visit.',
      null,
      'If it still waits after a few minutes, see "eligd list --attention" for what to do.',
    );
  if (budget !== null) return explained(budgetWords(budget), budget.until);
  return explained('The call is planned and goes out with the next batch.');
}

/** Explains why no planned call is sent before the budget's next day or month. */
export function budgetWords({ period, unit, limit }: BudgetPeriod): string {
  if (unit === 'cents')
    return (
      `The next call would exceed the ${dollars(limit)} that policy.dollars_per_${period} allows ` +
      `${period === 'month' ? 'this month' : 'today'}.`
    );
  const allowed =
    limit === 1
      ? `The one call that policy.calls_per_${period} allows is used up`
      : `The ${limit} calls that policy.calls_per_${period} allows are used up`;
  return period === 'month' ? `${allowed}.` : `${allowed} for today.`;
}

/** Explains why a planned inquiry is on hold. */
export function holdWords(hold_reason: string): string {
  if (hold_reason === OPERATOR_HOLD) return 'On hold (eligd hold). Run "eligd release" to resume.';
  if (hold_reason === KEPT_HOLD)
    return (
      'On hold: its visits are on hold (eligd hold) or missing from the exports. Run "eligd ' +
      'release" to resume.'
    );
  if (hold_reason === DAMAGED_HOLD)
    return 'The stored data about the call is damaged, so eligd does not make it.';
  return hold_reason === VANISHED_HOLD
    ? 'It was missing from two exports, so eligd makes no call.'
    : `It is on hold: ${hold_reason}.`;
}

function explainAsking(inquiry: CurrentInquiry): Explained {
  const { state, lookup_at, poll_at, overdue_since, reason, hold_reason, was_accepted } = inquiry;
  if (state === 'sending') return explained('The request is on its way to the service.');
  if (state === 'uncertain') {
    const what =
      reason === REFUSED_NEIGHBOR
        ? 'The service rejected another inquiry of the same batch. eligd checks whether it ' +
          'accepted this one, and sends nothing again until it knows.'
        : 'The reply to the request was lost. eligd looks the call up at the service and sends ' +
          'nothing again until it knows.';
    const held = ' If the service does not have it, the call stays on hold.';
    const may_stay_held = hold_reason !== null && was_accepted !== 1;
    return explained(may_stay_held ? what + held : what, lookup_at);
  }
  const late = overdue_since === null ? '' : ' The answer is late.';
  return explained(
    `Call in progress: the service phones the insurance company.${late} eligd keeps asking for ` +
      'the answer.',
    poll_at,
  );
}

function explainAnswered(
  least: CurrentInquiry | undefined,
  { deliveries, destination }: Facts,
): Explained {
  const open = deliveries.findLast(
    ({ state, inquiry }) => (state === 'pending' || state === 'failed') && inquiry === least?.id,
  );
  if (open?.state === 'failed') {
    return explained(
      `eligd has the answer, but could not write it to ${destination}. eligd tries again.`,
      open.due_at,
    );
  }
  if (open !== undefined)
    return explained(`eligd has the answer and is about to write it to ${destination}.`);
  if (least?.service_status != null && outcomeOf(least.service_status) !== 'successful') {
    return explained(
      `The call was ${outcomeOf(least.service_status)}; eligd decides the next step in its ` +
        'next pass.',
    );
  }
  return explained('eligd has the answer and is about to make a record of it.');
}
