/**
 * In which situation an appointment is and why, in sentences: for `status`, `list`, `show` and
 * `explain`. Nothing here changes anything.
 */
import { sql } from 'kysely';
import { REFUSED_NEIGHBOR } from '../../domain/refusal.ts';
import type { InquiryState } from '../../domain/states.ts';
import { addDays, instantOf, localDate } from '../../domain/time.ts';
import type { DeliveryRow } from '../answers/deliveries.ts';
import { OPERATOR_HOLD } from '../bookkeeping/operator.ts';
import { currentHalts, type Halt } from '../calls/halts.ts';
import { sentSince } from '../calls/inquiries.ts';
import type { Db } from '../engine/database.ts';
import type { AppointmentOverview } from './overview.ts';
import {
  INFORMATIONAL_REASONS,
  isCurrentLink,
  type SituationWord,
  STAGES,
  stageOfLink,
} from './situation.ts';

/**
 * Why an appointment is in its situation, in sentences without a patient's data but for what a
 * payer or the service said.
 */
export type Explanation = {
  situation: SituationWord;
  why: string;
  /** When the next step falls due by itself; null: when something else happens. */
  until: number | null;
  /** What a person should do; null: nothing. */
  next: string | null;
};

export type ExplainedAppointment = AppointmentOverview & { explanation: Explanation };

/** A current inquiry of an appointment, with how far the coverage has come by it. */
type CurrentInquiry = {
  appointment: number;
  coverage_rank: number;
  stage: number;
  id: number;
  state: InquiryState;
  service_status: string | null;
  due_at: number;
  hold_reason: string | null;
  look_at: number | null;
  poll_at: number | null;
  sent_at: number | null;
  overdue_since: number | null;
  reason: string | null;
};

/** The time, and what every explanation needs besides the database's rows. */
export type Moment = {
  now: number;
  /** Why no planned call goes out before `until`; null while the budget of calls has room. */
  budget: { why: string; until: number } | null;
};

export type CallLimits = {
  calls_per_day: number | null;
  calls_per_month: number | null;
  time_zone: string;
};

/** Counts as submission counts: calls started since the beginning of the clinic's day and month. */
export async function momentOf(db: Db, limits: CallLimits, now: number): Promise<Moment> {
  const { calls_per_day, calls_per_month, time_zone } = limits;
  const today = localDate(now, time_zone);
  const month = `${today.slice(0, 8)}01`;
  const is_used_up = async (limit: number | null, from: string) =>
    limit !== null && (await sentSince(db, instantOf(from, 0, time_zone))) >= limit;
  if (await is_used_up(calls_per_month, month)) {
    const next_month = `${addDays(month, 31).slice(0, 8)}01`;
    const why = `The ${calls_per_month} calls that policy.calls_per_month allows are used up.`;
    return { now, budget: { why, until: instantOf(next_month, 0, time_zone) } };
  }
  if (await is_used_up(calls_per_day, today)) {
    const allowed = `The ${calls_per_day} calls that policy.calls_per_day allows`;
    const why = `${allowed} are used up for today.`;
    return { now, budget: { why, until: instantOf(addDays(today, 1), 0, time_zone) } };
  }
  return { now, budget: null };
}

export type OpenEntry = {
  appointment: number;
  reason: string;
  what: string;
  next: string;
  since: number;
};

const IDS_PER_STATEMENT = 500;

/**
 * Adds to appointments why they are where they are. A fixed number of statements for every few
 * hundred.
 */
export async function explainAppointments(
  db: Db,
  appointments: readonly AppointmentOverview[],
  moment: Moment,
): Promise<ExplainedAppointment[]> {
  const halts = await currentHalts(db);
  const explained: ExplainedAppointment[] = [];
  for (let first = 0; first < appointments.length; first += IDS_PER_STATEMENT) {
    const part = appointments.slice(first, first + IDS_PER_STATEMENT);
    const ids = part.map(({ id }) => id);
    const inquiries = Map.groupBy(
      await currentInquiries(db, ids),
      ({ appointment }) => appointment,
    );
    const entries = Map.groupBy(await openEntries(db, ids), ({ appointment }) => appointment);
    const deliveries = Map.groupBy(await deliveriesTo(db, ids), ({ appointment }) => appointment);
    for (const each of part) {
      const facts = {
        inquiries: inquiries.get(each.id) ?? [],
        entries: entries.get(each.id) ?? [],
        deliveries: deliveries.get(each.id) ?? [],
        halts,
        ...moment,
      };
      explained.push({
        ...each,
        explanation: { situation: each.situation, ...explain(each, facts) },
      });
    }
  }
  return explained;
}

type Facts = Moment & {
  inquiries: CurrentInquiry[];
  entries: OpenEntry[];
  deliveries: DeliveryRow[];
  halts: Halt[];
};
type Told = Omit<Explanation, 'situation'>;

const told = (why: string, until: number | null = null, next: string | null = null): Told => ({
  why,
  until,
  next,
});

function explain(appointment: AppointmentOverview, facts: Facts): Told {
  const [least] = facts.inquiries;
  switch (appointment.situation) {
    case 'closed':
      return told(closedWords(appointment));
    case 'attention':
      return explainAttention(facts);
    case 'waiting':
      return explainWaiting(appointment, facts.now);
    case 'planned':
      return least === undefined ? told('It is planned.') : explainPlanned(least, facts);
    case 'asking':
      return least === undefined ? told('The payer is being asked.') : explainAsking(least);
    case 'answered':
      return explainAnswered(least, facts.deliveries);
    case 'delivered':
      return explainDelivered(appointment);
  }
}

export const CLOSED_WORDS = {
  cancelled: 'The appointment was cancelled in the practice management system.',
  past: 'The visit was over before a call was made.',
  no_coverage: 'The practice management system holds no insurance for it: the patient pays.',
  skipped: 'The payer map says that this payer is never asked.',
  replaced: 'The practice management system uses its id for somebody else now.',
  withdrawn: 'A person withdrew it (eligd withdraw).',
  settled:
    'The practice management system says that the claim is settled, or does not name it any more.',
} as const;

function closedWords({ kind, closed_reason }: AppointmentOverview): string {
  if (closed_reason === null) return 'It is closed.';
  if (kind === 'claim' && closed_reason === 'past')
    return 'The service was too long ago for a question about the claim.';
  return CLOSED_WORDS[closed_reason];
}

/** Of a claim that an answer did not settle, planning knows when it is asked about again. */
function explainDelivered({ kind, plan_due_at, starts_at }: AppointmentOverview): Told {
  const written = 'The newest answer is written into the practice management system.';
  if (kind !== 'claim' || plan_due_at === null || plan_due_at >= starts_at) return told(written);
  return told(`${written} It did not settle the claim, so the payer is asked again.`, plan_due_at);
}

function explainAttention({ entries, inquiries, deliveries }: Facts): Told {
  const [entry] = entries.filter(
    ({ reason }) => !INFORMATIONAL_REASONS.some((each) => each === reason),
  );
  if (entry !== undefined) return told(entry.what, null, entry.next);
  const blocked = inquiries.find(({ stage }) => stage === STAGES.blocked);
  if (blocked === undefined) {
    return told(
      'Nothing is planned for it, and nothing says why. That is a defect of eligd.',
      null,
      'Save the appointment in the practice management system again so that it is planned ' +
        'anew, and report this.',
    );
  }
  if (deliveries.some(({ state, inquiry }) => state === 'parked' && inquiry === blocked.id)) {
    return told(
      'The answer could not be written into the practice management system.',
      null,
      'Look at it with eligd show, enter it by hand, or mend the cause and try again.',
    );
  }
  const what =
    blocked.state === 'rejected'
      ? 'The service refused the inquiry.'
      : 'It is not known whether the service has the inquiry.';
  return told(
    `${what} ${blocked.reason ?? ''}`.trim(),
    null,
    'Look at it with eligd explain, and call the payer yourself if need be.',
  );
}

function explainWaiting({ plan_wait, plan_due_at }: AppointmentOverview, now: number): Told {
  if (plan_due_at !== null && plan_due_at <= now)
    return told('It is new or has changed, and is looked at in the next pass.');
  return told(waitWords(plan_wait), plan_due_at);
}

/**
 * What planning waits for, as a sentence; null and a word that is new are told as well as can be.
 */
export function waitWords(plan_wait: string | null): string {
  switch (plan_wait) {
    case null:
      return 'It is new or has changed, and is looked at in the next pass.';
    case 'outside_window':
      return 'The visit is too far ahead: it is not within the look-ahead window yet.';
    case 'claim_too_young':
      return (
        'The service was too lately for a question about the claim ' +
        '(policy.claims.ask_after_days).'
      );
    case 'clock_unproven':
      return (
        'It is not known whether the clock of this computer is right, so it is not judged ' +
        'whether the visit is over.'
      );
    case 'insurance_awaited':
      return (
        'The practice management system has sent nothing about the patient’s insurance yet; ' +
        'planned when it comes.'
      );
    case 'answer_age_unproven':
      return (
        'The last answer seems too old, but the clock of this computer may be wrong. Decided ' +
        'when it agrees with the service’s.'
      );
    case 'other_inquiry_first':
      return 'Another inquiry that the service could not tell from this one goes first.';
    case 'planning_failed':
      return (
        'It could not be planned because of an error in eligd; the log has it (stage_failed). ' +
        'It is tried again every minute.'
      );
    default:
      return `Planning waits: ${plan_wait}.`;
  }
}

function explainPlanned(inquiry: CurrentInquiry, { halts, budget, now }: Facts): Told {
  if (inquiry.hold_reason !== null) return told(holdWords(inquiry.hold_reason));
  const [stopped] = halts;
  if (stopped !== undefined)
    return told(`Nothing is sent at the moment: ${stopped.detail}`, stopped.next_try_at);
  if (inquiry.due_at > now)
    return told(`The call is planned for later. ${inquiry.reason ?? ''}`.trim(), inquiry.due_at);
  if (budget !== null) return told(budget.why, budget.until);
  return told('The call is planned and goes out with the next ones.');
}

/** Why a planned inquiry is held back, as a sentence. */
export function holdWords(hold_reason: string): string {
  if (hold_reason === OPERATOR_HOLD)
    return 'A person holds it back (eligd hold); "eligd release" lets it go.';
  return hold_reason === 'vanished'
    ? 'It was missing from two exports, so no call is made.'
    : `It is held back: ${hold_reason}.`;
}

function explainAsking(inquiry: CurrentInquiry): Told {
  const { state, look_at, poll_at, overdue_since, reason } = inquiry;
  if (state === 'sending') return told('The request is on its way to the service.');
  if (state === 'uncertain' && reason === REFUSED_NEIGHBOR) {
    return told(
      'The service refused another inquiry of the same batch. eligd looks whether it took this ' +
        'one, and sends it again if not.',
      look_at,
    );
  }
  if (state === 'uncertain') {
    return told(
      'The reply to the request was lost. eligd looks for it at the service and sends ' +
        'nothing again before it knows.',
      look_at,
    );
  }
  const late = overdue_since === null ? '' : ' The answer is later than it was asked for.';
  return told(
    `The service has it and phones the payer.${late} eligd asks for the answer.`,
    poll_at,
  );
}

function explainAnswered(
  least: CurrentInquiry | undefined,
  deliveries: readonly DeliveryRow[],
): Told {
  const open = deliveries.findLast(
    ({ state, inquiry }) => (state === 'pending' || state === 'failed') && inquiry === least?.id,
  );
  if (open?.state === 'failed') {
    return told(
      'The answer is here, but writing it into the practice management system failed. It is ' +
        'tried again.',
      open.due_at,
    );
  }
  if (open !== undefined)
    return told(
      'The answer is here and is about to be written into the practice management system.',
    );
  if (least?.service_status != null && least.service_status !== 'SUCCESS') {
    return told(
      `The service ended the call as ${least.service_status}; what follows is decided in the ` +
        'next pass.',
    );
  }
  return told('The answer is here and is about to be put into a record.');
}

/** By appointment, the least advanced first. */
async function currentInquiries(
  db: Db,
  appointments: readonly number[],
): Promise<CurrentInquiry[]> {
  return await db
    .selectFrom('inquiry_appointments as l')
    .innerJoin('inquiries as i', 'i.id', 'l.inquiry')
    .select([
      'l.appointment',
      'l.coverage_rank',
      stageOfLink.as('stage'),
      'i.id',
      'i.state',
      'i.service_status',
      'i.due_at',
      'i.hold_reason',
      'i.look_at',
      'i.poll_at',
      'i.sent_at',
      'i.overdue_since',
      'i.reason',
    ])
    .where('l.appointment', 'in', appointments)
    .where(isCurrentLink)
    .orderBy('l.appointment')
    .orderBy('stage')
    .orderBy('l.coverage_rank')
    .execute();
}

/**
 * What is on the attention list about the appointments themselves or about their inquiries, oldest
 * first.
 */
export async function openEntries(db: Db, appointments: readonly number[]): Promise<OpenEntry[]> {
  const ids = sql.join(appointments);
  const { rows } = await sql<OpenEntry>`
    select t.appointment, t.reason, t.what, t.next, t.since, t.id from attention t
    where t.resolved_at is null and t.appointment in (${ids}) and t.subject not like 'inquiry:%'
    union
    select l.appointment, t.reason, t.what, t.next, t.since, t.id from attention t
    join inquiry_appointments l on l.inquiry = t.inquiry
    join inquiries i on i.id = l.inquiry
    where t.resolved_at is null and l.appointment in (${ids})
      and t.subject like 'inquiry:%' and i.state <> 'withdrawn'
    order by 6`.execute(db);
  return rows.map(({ appointment, reason, what, next, since }) => ({
    appointment,
    reason,
    what,
    next,
    since,
  }));
}

export async function deliveriesTo(
  db: Db,
  appointments: readonly number[],
): Promise<DeliveryRow[]> {
  return await db
    .selectFrom('deliveries')
    .selectAll()
    .where('appointment', 'in', appointments)
    .orderBy('id')
    .execute();
}
