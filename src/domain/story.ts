/**
 * Turns the audit trail into sentences: what `eligd explain` and the office page say about an
 * appointment or an inquiry. Pure.
 */
import { actorName } from './actor.ts';
import { CLOSED_WORDS, type Moment, PMS } from './explanation.ts';
import { windowOpensAt } from './planning.ts';
import type { ClinicProfile, Policy } from './policy.ts';
import { unquoted } from './quotes.ts';

/** What the story needs to know about its subject. */
type ToldSubject = {
  appointments: readonly {
    id: number;
    kind: 'appointment' | 'claim';
    starts_at: number;
    created_at: number;
    closed_at: number | null;
  }[];
  deliveries: readonly { key: string; connector: string; batch: string | null }[];
};

/** A row of the audit trail. */
type TrailEntry = {
  at: number;
  subject: string;
  from_state: string | null;
  to_state: string;
  reason: string;
  /** Who did it; null: eligd itself. */
  actor: string | null;
};

type Settings = {
  policy: Pick<Policy, 'look_ahead_days'>;
  clinic: Pick<ClinicProfile, 'time_zone'>;
};

/** One event of the story. */
export type Chapter = { at: number; subject: string; text: string };

/**
 * Returns the audit trail as sentences, and inserts the opening of the look-ahead window, which the
 * trail does not contain.
 */
export function tellStory(
  detail: ToldSubject,
  trail: readonly TrailEntry[],
  config: Settings,
  moment: Pick<Moment, 'now' | 'destinations'>,
): Chapter[] {
  const chapters = trail.map((entry) => ({
    at: entry.at,
    subject: entry.subject,
    text: signed(sentenceOf(entry, detail.deliveries, moment), entry.actor),
  }));
  const windows = detail.appointments.flatMap((each) => windowChapter(each, config, moment.now));
  // At equal times the window comes first, because it caused what was planned then.
  return [...windows, ...chapters].sort((a, b) => a.at - b.at);
}

/** Explains why nothing happened between reading and planning a visit that was far ahead. */
function windowChapter(
  appointment: ToldSubject['appointments'][number],
  { policy, clinic }: Settings,
  now: number,
): Chapter[] {
  if (appointment.kind === 'claim') return [];
  const at = windowOpensAt(appointment.starts_at, policy, clinic);
  if (at <= appointment.created_at || at > Math.min(now, appointment.closed_at ?? now)) return [];
  const text =
    `The visit is now within ${policy.look_ahead_days} days (policy.look_ahead_days); eligd ` +
    'makes no call before that.';
  return [{ at, subject: `appointment:${appointment.id}`, text }];
}

/** Steps whose reason already is a full sentence about a user's action. */
const SAID_WHOLE: ReadonlySet<string> = new Set([
  'office',
  'entered',
  'ask',
  'retry',
  'hold',
  'release',
  'withdraw',
  'done',
]);

function signed(text: string, actor: string | null): string {
  const name = actor === null ? '' : actorName(actor);
  return text.includes(name) ? text : `${text} (${name})`;
}

function sentenceOf(
  { subject, from_state, to_state, reason }: TrailEntry,
  deliveries: ToldSubject['deliveries'],
  moment: Pick<Moment, 'destinations'>,
): string {
  const [kind, id = ''] = splitOnce(subject);
  switch (kind) {
    case 'appointment':
      if (to_state === 'closed') return `Closed. ${closedSentence(reason)}`;
      return to_state === 'attention' ? `Needs attention. ${reason}` : reason;
    case 'inquiry':
      if (SAID_WHOLE.has(to_state)) return reason;
      return `Inquiry ${id}: ${inquirySentence(from_state, to_state)} ${reason}`;
    default:
      return deliverySentence(
        to_state,
        reason,
        deliveries.find(({ key }) => key === id),
        moment,
      );
  }
}

/** Splits `inquiry:3` into its two parts. */
export function splitOnce(subject: string): [string, string] {
  const at = subject.indexOf(':');
  return [subject.slice(0, at), subject.slice(at + 1)];
}

/** A closing is stored as a word; older closings and replacements are stored as sentences. */
function closedSentence(reason: string): string {
  return Object.entries(CLOSED_WORDS).find(([word]) => word === reason)?.[1] ?? reason;
}

function inquirySentence(from_state: string | null, to_state: string): string {
  switch (to_state) {
    case 'planned':
      return from_state === null || from_state === 'withdrawn' || from_state === 'rejected'
        ? 'a call was planned.'
        : 'it was planned again, because the service does not have it.';
    case 'sending':
      return 'eligd began to send it to the service.';
    case 'uncertain':
      return 'the reply was lost, so eligd looks it up and does not send it again.';
    case 'open':
      return from_state === 'answered'
        ? 'the service withdrew its answer.'
        : 'the service accepted it and phones the insurance company.';
    case 'answered':
      return from_state === 'answered' ? 'the service revised its answer.' : 'the answer arrived.';
    case 'rejected':
      return 'the service rejected it; no call is made.';
    case 'undecidable':
      return 'eligd could not find out whether the service has it.';
    case 'withdrawn':
      return 'it was withdrawn before it was sent.';
    case 'attention':
      return 'eligd put it on the attention list.';
    default:
      return `it became ${to_state}.`;
  }
}

function deliverySentence(
  to_state: string,
  reason: string,
  delivery: ToldSubject['deliveries'][number] | undefined,
  { destinations }: Pick<Moment, 'destinations'>,
): string {
  const into = destinations?.get(delivery?.connector ?? '') ?? PMS;
  const where = delivery === undefined ? '' : ` through connector ${delivery.connector}`;
  const batch = delivery?.batch == null ? '' : ` (batch ${delivery.batch})`;
  switch (to_state) {
    case 'pending':
      return `The answer will be written to ${into}${where}.`;
    case 'delivered':
      return `The answer was written to ${into}${where}${batch}.`;
    case 'failed':
      return `Writing the answer${where} failed; eligd tries again. ${reason}`;
    case 'attention':
      return `eligd put it on the attention list. ${reason}`;
    case 'parked':
      return `eligd stopped trying to write the answer${where}; it needs you. ${reason}`;
    default:
      return `The delivery${where} became ${to_state}. ${reason}`;
  }
}

/** Texts after which an audit entry quotes others, or a note of the office. */
const WORDS_FOLLOW = ['Refused: ', ' It said: ', ' and says: ', ' Note: '];

/**
 * Removes what others said from a sentence of the trail, for users who may not see patients (G6).
 * Entries of earlier versions mix the service's words with ours.
 */
export function withoutWords(text: string): string {
  const ends = WORDS_FOLLOW.map((mark) => text.indexOf(mark)).filter((at) => at !== -1);
  return unquoted(ends.length === 0 ? text : `${text.slice(0, Math.min(...ends))} …`);
}
