import type { Command } from 'commander';
import { appointmentHash } from '../../domain/appointment-hash.ts';
import { CLOSED_WORDS, type Moment, PMS } from '../../domain/explanation.ts';
import { windowOpensAt } from '../../domain/planning.ts';
import type { Config } from '../../ops/config.ts';
import type { DeliveryRow } from '../../store/answers/deliveries.ts';
import type { AuditEntry } from '../../store/bookkeeping/audit.ts';
import { knownLogKey } from '../../store/bookkeeping/log-key.ts';
import { trailOf } from '../../store/views/subject.ts';
import type { CliContext } from '../context.ts';
import { printJson } from '../output.ts';
import {
  type ExplainedAppointment,
  type ExplainedSubject,
  readExplained,
  readState,
} from '../state.ts';
import {
  appointmentJson,
  appointmentLabel,
  findOrFail,
  ID_HELP,
  SITUATION_NAMES,
  subjectTitle,
} from '../subject.ts';
import { clinicTime, isoTime } from '../times.ts';
import { verdictsOf, verdictText } from '../verdicts.ts';

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Tells the story of one appointment or one inquiry: what happened when and why, what ' +
        'it waits for now, and what you should do. It only reads.',
    )
    .argument('<id>', ID_HELP)
    .option('--json', 'as JSON (docs/json.md, eligd.explain/1)')
    .addHelpText(
      'after',
      `
Examples:
  eligd explain 12045
  eligd explain front-desk:12045
  eligd explain inquiry:3 --json
`,
    )
    .action(async (id: string, options: { json?: true }) => {
      await readState(context, async (state) => {
        const { db, config, moment } = state;
        const detail = await readExplained(state, await findOrFail(db, id));
        const story = tellStory(detail, await trailOf(db, detail), config, moment);
        if (options.json) printJson(context.stdout, explainJson(detail, story, moment.now));
        else
          context.stdout.write(
            `${explainLines(detail, story, config, await knownLogKey(db)).join('\n')}\n`,
          );
      });
    });
}

type Chapter = { at: number; subject: string; text: string };

/**
 * The audit trail as sentences, with the opening of the look-ahead window, which is no event, put
 * in its place.
 */
function tellStory(
  detail: ExplainedSubject,
  trail: readonly AuditEntry[],
  config: Config,
  moment: Moment,
): Chapter[] {
  const chapters = trail.map((entry) => ({
    at: entry.at,
    subject: entry.subject,
    text: sentenceOf(entry, detail.deliveries, moment),
  }));
  const windows = detail.appointments.flatMap((each) => windowChapter(each, config, moment.now));
  // Where times are equal the window comes first: what was planned then was planned because of it.
  return [...windows, ...chapters].sort((a, b) => a.at - b.at);
}

/** Why nothing happened between the reading and the planning of a visit that was far ahead. */
function windowChapter(
  appointment: ExplainedAppointment,
  { policy, clinic }: Config,
  now: number,
): Chapter[] {
  if (appointment.kind === 'claim') return [];
  const at = windowOpensAt(appointment.starts_at, policy, clinic);
  if (at <= appointment.created_at || at > Math.min(now, appointment.closed_at ?? now)) return [];
  const text =
    `The visit came within ${policy.look_ahead_days} days (policy.look_ahead_days); before ` +
    'that no call is made for it.';
  return [{ at, subject: `appointment:${appointment.id}`, text }];
}

function sentenceOf(
  { subject, from_state, to_state, reason }: AuditEntry,
  deliveries: readonly DeliveryRow[],
  moment: Moment,
): string {
  const [kind, id = ''] = splitOnce(subject);
  switch (kind) {
    case 'appointment':
      if (to_state === 'closed') return `Closed. ${closedSentence(reason)}`;
      return to_state === 'attention' ? `Needs attention. ${reason}` : reason;
    case 'inquiry':
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

function splitOnce(subject: string): [string, string] {
  const at = subject.indexOf(':');
  return [subject.slice(0, at), subject.slice(at + 1)];
}

/** A closing is written down by its word; older ones and replacements as a sentence. */
function closedSentence(reason: string): string {
  return Object.entries(CLOSED_WORDS).find(([word]) => word === reason)?.[1] ?? reason;
}

function inquirySentence(from_state: string | null, to_state: string): string {
  switch (to_state) {
    case 'planned':
      return from_state === null || from_state === 'withdrawn' || from_state === 'rejected'
        ? 'a call was planned.'
        : 'it is planned again, because the service does not have it.';
    case 'sending':
      return 'the request to the service was begun.';
    case 'uncertain':
      return (
        'it became unclear whether the service has it, ' + 'so it is looked for and not sent again.'
      );
    case 'open':
      return from_state === 'answered'
        ? 'the service took its answer back.'
        : 'the service has it and phones the payer.';
    case 'answered':
      return from_state === 'answered' ? 'the service revised its answer.' : 'the answer came.';
    case 'rejected':
      return 'the service refused it; nobody is called.';
    case 'undecidable':
      return 'it could not be found out whether the service has it.';
    case 'withdrawn':
      return 'it was withdrawn before it was sent.';
    case 'attention':
      return 'it was put on the attention list.';
    default:
      return `it became ${to_state}.`;
  }
}

function deliverySentence(
  to_state: string,
  reason: string,
  delivery: DeliveryRow | undefined,
  { destinations }: Moment,
): string {
  const into = destinations?.get(delivery?.connector ?? '') ?? PMS;
  const where = delivery === undefined ? '' : ` through connector ${delivery.connector}`;
  const batch = delivery?.batch == null ? '' : ` (batch ${delivery.batch})`;
  switch (to_state) {
    case 'pending':
      return `The answer is to be written into ${into}${where}.`;
    case 'delivered':
      return `The answer was written into ${into}${where}${batch}.`;
    case 'failed':
      return `Writing the answer${where} failed and is tried again. ${reason}`;
    case 'attention':
      return `It was put on the attention list. ${reason}`;
    case 'parked':
      return `Writing the answer${where} was given up until a person looks at it. ${reason}`;
    default:
      return `The delivery${where} became ${to_state}. ${reason}`;
  }
}

function explainJson(
  detail: ExplainedSubject,
  story: readonly Chapter[],
  now: number,
): Record<string, unknown> {
  return {
    schema: 'eligd.explain/1',
    at: isoTime(now),
    subject: detail.subject,
    appointments: detail.appointments.map((each) => appointmentJson(each, false)),
    story: story.map(({ at, subject, text }) => ({ at: isoTime(at), subject, text })),
    attention: detail.attention.map(({ since, ...entry }) => ({ ...entry, since: isoTime(since) })),
  };
}

function explainLines(
  detail: ExplainedSubject,
  story: readonly Chapter[],
  config: Config,
  log_key: string | null,
): string[] {
  const time = (at: number) => clinicTime(at, config);
  const [only] = detail.appointments;
  const title =
    detail.subject.startsWith('appointment:') && only !== undefined
      ? subjectTitle(only, config)
      : `Inquiry ${splitOnce(detail.subject)[1]}`;
  const now = detail.appointments.map((each) => {
    const { why, until } = each.explanation;
    const whose = detail.subject.startsWith('inquiry:')
      ? `${each.kind} ${appointmentLabel(each, config)} `
      : '';
    return (
      `Now: ${whose}${SITUATION_NAMES[each.situation]}. ` +
      `${why}${until === null ? '' : ` Next: ${time(until)}.`}`
    );
  });
  const verdicts = detail.inquiries.flatMap((each) => verdictsOf(detail, each, config));
  return [
    title,
    ...verdicts.flatMap(verdictText),
    '',
    ...story.map(({ at, text }) => `${time(at)}  ${text}`),
    '',
    ...(now.length > 0 ? now : ['Now: no appointment stands on it.']),
    ...todoLines(detail),
    ...(log_key === null ? [] : detail.appointments.map((each) => inLog(each, log_key, config))),
  ];
}

/**
 * By what an appointment is found in the log, which has no id of the practice management system.
 */
function inLog(each: ExplainedAppointment, log_key: string, config: Config): string {
  return (
    `In the log: ${each.kind} ${appointmentLabel(each, config)} is ` +
    `${appointmentHash(log_key, each.connector, each.source_id)}.`
  );
}

function todoLines({ attention, appointments }: ExplainedSubject): string[] {
  const entries = attention.map(({ what, next }) => ({ what, next }));
  // What is derived from the rows and stands on no list.
  for (const { explanation } of appointments) {
    const { why, next } = explanation;
    if (next !== null && !entries.some((entry) => entry.next === next))
      entries.push({ what: why, next });
  }
  if (entries.length === 0) return ['You have nothing to do.'];
  return entries.map(({ what, next }) => `For you: ${what} ${next}`);
}
