import type { Command } from 'commander';
import type { AppointmentInput, CoverageInput } from '../../domain/appointment.ts';
import { entryText } from '../../domain/attention.ts';
import type { ClaimInput } from '../../domain/claim.ts';
import { unquoted } from '../../domain/quotes.ts';
import { withoutWords } from '../../domain/story.ts';
import type { Config } from '../../ops/config.ts';
import type { DeliveryRow } from '../../store/answers/deliveries.ts';
import type { InquiryDetail } from '../../store/views/subject.ts';
import { answerLines, summaryOf } from '../answer-text.ts';
import type { CliContext, Output } from '../context.ts';
import { noteLook, shownRecords } from '../looks.ts';
import { printJson, printTable } from '../output.ts';
import { type ExplainedSubject, readExplained, readState } from '../state.ts';
import {
  appointmentJson,
  attentionJson,
  findOrFail,
  ID_HELP,
  patientName,
  shownText,
  statusWord,
  subjectTitle,
} from '../subject.ts';
import { clinicTime, isoTime } from '../times.ts';
import {
  leadingVerdict,
  situationWords,
  type VisitVerdict,
  verdictsOf,
  verdictText,
  withoutWordsOfPayer,
} from '../verdicts.ts';

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Shows everything about one appointment or inquiry, including the payer’s answer. Read-only.',
    )
    .argument('<id>', ID_HELP)
    .option(
      '--patients',
      'with name, birth date, member IDs, and the payer’s words, which are not shown otherwise',
    )
    .option('--json', 'as JSON (docs/json.md, eligd.show/1)')
    .addHelpText(
      'after',
      `
The answer is shown as it was delivered. A payer’s own words may name the
patient.

Examples:
  eligd show 12045
  eligd show front-desk:12045 --patients
  eligd show inquiry:3 --json
`,
    )
    .action(async (id: string, options: { patients?: true; json?: true }) => {
      await readState(context, async (state) => {
        const { db, config, moment } = state;
        const detail = await readExplained(state, await findOrFail(db, id));
        await noteLook(context, 'show', shownRecords(detail.appointments));
        const patients = options.patients === true;
        if (options.json) printJson(context.stdout, showJson(detail, patients, moment.now, config));
        else showText(detail, patients, config, context.stdout);
      });
    });
}

function showJson(
  detail: ExplainedSubject,
  patients: boolean,
  now: number,
  config: Config,
): Record<string, unknown> {
  return {
    schema: 'eligd.show/1',
    at: isoTime(now),
    subject: detail.subject,
    appointments: detail.appointments.map((each) => ({
      ...appointmentJson(each, patients),
      first_read_at: isoTime(each.created_at),
      closed_at: isoTime(each.closed_at),
      birth_date: patients ? each.input.patient.birth_date : null,
      procedure_codes: each.input.procedure_codes,
      coverages: coveragesOf(each.input).map(
        ({ rank, carrier, payor_id, member_id, group_id }) => ({
          rank,
          carrier: shownText(carrier, each.input, patients),
          payor_id: shownText(payor_id, each.input, patients),
          member_id: patients ? member_id : null,
          group_id: patients ? group_id : null,
        }),
      ),
    })),
    inquiries: detail.inquiries.map((each) =>
      inquiryJson(each, verdictsOf(detail, each, config), patients),
    ),
    attention: attentionJson(detail.attention, patients),
    deliveries: detail.deliveries.map((each) => deliveryJson(each, patients)),
  };
}

function inquiryJson(
  { row, coverage_rank, answer }: InquiryDetail,
  verdicts: VisitVerdict[],
  patients: boolean,
): Record<string, unknown> {
  return {
    subject: `inquiry:${row.id}`,
    coverage_rank,
    state: row.state,
    reason: row.reason === null || patients ? row.reason : withoutWords(row.reason),
    hold_reason: row.hold_reason,
    attempt: row.attempt,
    service_id: row.service_id,
    service_status: patients ? row.service_status : statusWord(row.service_status),
    due_at: isoTime(row.due_at),
    sent_at: isoTime(row.sent_at),
    lookup_at: isoTime(row.lookup_at),
    poll_at: isoTime(row.poll_at),
    overdue_since: isoTime(row.overdue_since),
    answered_at: isoTime(row.answered_at),
    answer:
      answer === null
        ? null
        : {
            revision: answer.revision,
            recorded_at: isoTime(answer.created_at),
            summary: patients ? summaryOf(answer.record, verdicts) : null,
            verdicts: patients ? verdicts : verdicts.map(withoutWordsOfPayer),
            record: patients ? answer.record : null,
          },
  };
}

function deliveryJson(row: DeliveryRow, patients: boolean): Record<string, unknown> {
  return {
    key: row.key,
    connector: row.connector,
    inquiry: row.inquiry,
    coverage_rank: row.coverage_rank,
    state: row.state,
    failures: row.failures,
    batch: row.batch,
    created_at: isoTime(row.created_at),
    due_at: isoTime(row.due_at),
    delivered_at: isoTime(row.delivered_at),
    notes: (JSON.parse(row.notes) as string[]).map((note) => (patients ? note : unquoted(note))),
  };
}

function showText(
  detail: ExplainedSubject,
  patients: boolean,
  config: Config,
  stdout: Output,
): void {
  for (const each of detail.appointments) {
    const { until, next } = each.explanation;
    const { word, why } = situationWords(each, leadingVerdict(detail, each, { config, patients }));
    const lines = [
      subjectTitle(each, { config, patients }),
      ...(patients
        ? [
            `  Patient:    ${patientName(each.input)}, born ` +
              `${each.input.patient.birth_date ?? 'unknown'}`,
          ]
        : []),
      ...coverageLines(each.input, patients),
      `  Situation:  ${word}. ` +
        `${why}${until === null ? '' : ` (${clinicTime(until, config)})`}`,
      ...(next === null ? [] : [`  To do:      ${next}`]),
    ];
    stdout.write(`${lines.join('\n')}\n\n`);
  }
  inquiryTable(detail.inquiries, config, stdout);
  for (const entry of detail.attention) {
    const { next, reason, since } = entry;
    const what = entryText(entry, { patients });
    stdout.write(
      `\nAttention (${reason}, since ${clinicTime(since, config)})\n  ${what}\n  → ${next}\n`,
    );
  }
  deliveryTable(detail.deliveries, config, stdout);
  for (const each of detail.inquiries) {
    const { row, answer } = each;
    if (answer === null) continue;
    const heading =
      `Answer to inquiry:${row.id}, revision ${answer.revision}, recorded ` +
      `${clinicTime(answer.created_at, config)}`;
    const verdicts = verdictsOf(detail, each, config);
    const told = verdicts.flatMap((verdict) => verdictText(verdict, patients));
    const said = patients
      ? answerLines(answer.record, verdicts, config.clinic.time_zone)
      : ['  Hidden, because the payer’s words may name a patient; --patients shows them.'];
    stdout.write(`\n${[heading, ...told, ...said].join('\n')}\n`);
  }
}

/** Returns the coverages of an appointment, or the one coverage that a claim was sent to. */
function coveragesOf(input: AppointmentInput | ClaimInput): (CoverageInput & { rank: number })[] {
  if ('coverage' in input) return [{ ...input.coverage, rank: input.coverage_rank }];
  return input.coverages.map((coverage, index) => ({ ...coverage, rank: index + 1 }));
}

function coverageLines(input: AppointmentInput | ClaimInput, patients: boolean): string[] {
  const coverages = coveragesOf(input);
  if (coverages.length === 0) return ['  Coverage:   none'];
  return coverages.map(({ rank, carrier, payor_id, member_id, group_id }) => {
    const [name, id] = [carrier, payor_id].map((text) => shownText(text, input, patients));
    const parts = [
      name === null ? 'payer with a patient’s name' : name || 'payer without a name',
      ...(id ? [`payer ID ${id}`] : []),
      ...(patients ? [`member ID ${member_id || 'none'}`, `group ${group_id || 'none'}`] : []),
    ];
    return `  Coverage ${rank}: ${parts.join(', ')}`;
  });
}

function inquiryTable(inquiries: readonly InquiryDetail[], config: Config, stdout: Output): void {
  if (inquiries.length === 0) {
    stdout.write('No inquiry.\n');
    return;
  }
  const time = (at: number | null) => (at === null ? null : clinicTime(at, config));
  printTable(
    stdout,
    [
      { title: 'inquiry', is_whole: true },
      { title: 'coverage' },
      { title: 'state', is_whole: true },
      { title: 'service ID', is_whole: true },
      { title: 'service status' },
      { title: 'sent', is_whole: true },
      { title: 'answered', is_whole: true },
    ],
    inquiries.map(({ row, coverage_rank }) => [
      `inquiry:${row.id}`,
      coverage_rank,
      row.state,
      row.service_id,
      statusWord(row.service_status),
      time(row.sent_at),
      time(row.answered_at),
    ]),
  );
}

function deliveryTable(deliveries: readonly DeliveryRow[], config: Config, stdout: Output): void {
  if (deliveries.length === 0) return;
  stdout.write('\n');
  printTable(
    stdout,
    [
      { title: 'delivery', is_whole: true },
      { title: 'connector' },
      { title: 'state', is_whole: true },
      { title: 'failures', align: 'right' },
      { title: 'next try', is_whole: true },
      { title: 'delivered', is_whole: true },
    ],
    deliveries.map(({ key, connector, state, failures, due_at, delivered_at }) => [
      key,
      connector,
      state,
      failures,
      state === 'pending' || state === 'failed' ? clinicTime(due_at, config) : null,
      delivered_at === null ? null : clinicTime(delivered_at, config),
    ]),
  );
}
