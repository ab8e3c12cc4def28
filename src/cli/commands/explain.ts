import type { Command } from 'commander';
import { appointmentHash } from '../../domain/appointment-hash.ts';
import { entryText } from '../../domain/attention.ts';
import { type Chapter, splitOnce, tellStory, withoutWords } from '../../domain/story.ts';
import type { Config } from '../../ops/config.ts';
import { knownLogKey } from '../../store/bookkeeping/log-key.ts';
import { trailOf } from '../../store/views/subject.ts';
import type { CliContext } from '../context.ts';
import { noteLook, shownRecords } from '../looks.ts';
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
  attentionJson,
  findOrFail,
  ID_HELP,
  subjectTitle,
} from '../subject.ts';
import { clinicTime, isoTime } from '../times.ts';
import {
  leadingVerdict,
  newestAnswers,
  situationWords,
  verdictsOf,
  verdictText,
} from '../verdicts.ts';

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Shows the history of one appointment or inquiry: what happened, when, and why; what it is ' +
        'waiting for; and what you should do. Read-only.',
    )
    .argument('<id>', ID_HELP)
    .option('--patients', 'include what others said, word for word; it may name a patient')
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
    .action(async (id: string, options: { json?: true; patients?: true }) => {
      await readState(context, async (state) => {
        const { db, config, moment } = state;
        const detail = await readExplained(state, await findOrFail(db, id));
        await noteLook(context, 'explain', shownRecords(detail.appointments));
        const patients = options.patients === true;
        const told = tellStory(detail, await trailOf(db, detail), config, moment);
        const story = patients
          ? told
          : told.map((chapter) => ({ ...chapter, text: withoutWords(chapter.text) }));
        if (options.json)
          printJson(context.stdout, explainJson(detail, story, { now: moment.now, patients }));
        else {
          const how = { config, log_key: await knownLogKey(db), patients, now: moment.now };
          context.stdout.write(`${explainLines(detail, story, how).join('\n')}\n`);
        }
      });
    });
}

function explainJson(
  detail: ExplainedSubject,
  story: readonly Chapter[],
  { now, patients }: { now: number; patients: boolean },
): Record<string, unknown> {
  return {
    schema: 'eligd.explain/1',
    at: isoTime(now),
    subject: detail.subject,
    appointments: detail.appointments.map((each) => appointmentJson(each, false)),
    story: story.map(({ at, subject, text }) => ({ at: isoTime(at), subject, text })),
    attention: attentionJson(detail.attention, patients),
  };
}

function explainLines(
  detail: ExplainedSubject,
  story: readonly Chapter[],
  how: { config: Config; log_key: string | null; patients: boolean; now: number },
): string[] {
  const { config, log_key, patients } = how;
  const time = (at: number) => clinicTime(at, config);
  const [only] = detail.appointments;
  const title =
    detail.subject.startsWith('appointment:') && only !== undefined
      ? subjectTitle(only, how)
      : `Inquiry ${splitOnce(detail.subject)[1]}`;
  const now = detail.appointments.map((each) => {
    const { until } = each.explanation;
    const { word, why } = situationWords(each, leadingVerdict(detail, each, how));
    const whose = detail.subject.startsWith('inquiry:')
      ? `${each.kind} ${appointmentLabel(each, config, patients)} `
      : '';
    return `Now: ${whose}${word}. ${why}${until === null ? '' : ` Next: ${time(until)}.`}`;
  });
  const verdicts = newestAnswers(detail).flatMap((each) => verdictsOf(detail, each, config));
  return [
    title,
    ...verdicts.flatMap((each) => verdictText(each, patients)),
    '',
    ...story.map(({ at, text }) => `${time(at)}  ${text}`),
    '',
    ...(now.length > 0 ? now : ['Now: no appointment needs it.']),
    ...todoLines(detail, how),
    ...(log_key === null ? [] : detail.appointments.map((each) => inLog(each, log_key, how))),
  ];
}

/**
 * Says how to find the appointment in the log, which contains no PMS IDs.
 */
function inLog(
  each: ExplainedAppointment,
  log_key: string,
  { config, patients }: { config: Config; patients: boolean },
): string {
  return (
    `In the log: ${each.kind} ${appointmentLabel(each, config, patients)} is ` +
    `${appointmentHash(log_key, each.connector, each.source_id)}.`
  );
}

function todoLines(
  detail: ExplainedSubject,
  how: { config: Config; patients: boolean; now: number },
): string[] {
  const { patients, now } = how;
  const { attention, appointments } = detail;
  const entries = attention.map((entry) => ({
    what: entryText(entry, { patients }),
    next: entry.next,
  }));
  // These lines are derived from the rows and are not on the attention list.
  for (const { explanation } of appointments) {
    const { why, next } = explanation;
    if (next !== null && !entries.some((entry) => entry.next === next))
      entries.push({ what: why, next });
  }
  // Open questions are not on the attention list either, but worth asking before the visit.
  const questions = appointments.flatMap((each) => {
    const verdict = leadingVerdict(detail, each, how);
    const is_open = each.starts_at > now && verdict?.standing === 'incomplete';
    return is_open && each.situation === 'delivered' ? verdict.to_do : [];
  });
  if (entries.length + questions.length === 0) return ['You have nothing to do.'];
  return [
    ...entries.map(({ what, next }) => `For you: ${what} ${next}`),
    ...[...new Set(questions)].map((question) => `For you: ${question}`),
  ];
}
