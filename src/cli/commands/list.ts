import { type Command, InvalidArgumentError, Option } from 'commander';
import type { AppointmentInput } from '../../domain/appointment.ts';
import { appointmentHash } from '../../domain/appointment-hash.ts';
import { entryText } from '../../domain/attention.ts';
import { callSheet, PHONE_REASONS } from '../../domain/call-yourself.ts';
import type { ClaimInput } from '../../domain/claim.ts';
import { EligdError } from '../../domain/errors.ts';
import { unquoted } from '../../domain/quotes.ts';
import { SITUATIONS, type SituationWord } from '../../domain/situation.ts';
import { addDays, isDate, localDate, startOfDay } from '../../domain/time.ts';
import type { Config } from '../../ops/config.ts';
import { wrapped } from '../../ops/health-text.ts';
import { nearest } from '../../ops/nearest.ts';
import { clinicProfile } from '../../ops/profile.ts';
import { VERDICT_WORDS } from '../../records/verdict/text.ts';
import type { ShownRecord } from '../../store/bookkeeping/access-log.ts';
import { type AttentionRow, openAttention } from '../../store/bookkeeping/attention.ts';
import { TO_HANDLE } from '../../store/bookkeeping/handled.ts';
import { knownLogKey } from '../../store/bookkeeping/log-key.ts';
import { listAppointments, type OverviewFilter } from '../../store/views/listed-appointments.ts';
import { withProgress } from '../../store/views/progress.ts';
import type { CliContext, Output } from '../context.ts';
import { noteLook, shownRecords } from '../looks.ts';
import { type Column, isColored, printJson, printTable, type Style } from '../output.ts';
import { explained, readState, type State } from '../state.ts';
import {
  appointmentJson,
  appointmentLabel,
  patientName,
  payerName,
  SITUATION_NAMES,
  shownText,
  visitText,
} from '../subject.ts';
import { clinicTime, isoTime } from '../times.ts';
import { situationWords, verdictsById } from '../verdicts.ts';

type Options = {
  situation?: SituationWord;
  attention?: true;
  connector?: string;
  today?: true;
  from?: string;
  to?: string;
  payer?: string;
  needsMe?: true;
  limit: number;
  patients?: true;
  json?: true;
};

const LIMIT_MAX = 100_000;

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Lists appointments and claims, each with its situation and the reason: upcoming visits ' +
        'first, soonest at the top, then past ones. Closed ones are listed only on request. ' +
        'Read-only.',
    )
    .addOption(new Option('--situation <word>', 'only items in this situation').choices(SITUATIONS))
    .addOption(
      new Option(
        '--attention',
        'the attention list instead: what needs you, and what to do',
      ).conflicts('situation'),
    )
    .addOption(new Option('--needs-me', 'only items that need you').conflicts('situation'))
    .addOption(new Option('--today', 'only today’s visits').conflicts(['from', 'to']))
    .option('--from <date>', 'only visits on or after this date, such as 2026-11-23', day)
    .option('--to <date>', 'only visits on or before this date', day)
    .option('--payer <text>', 'only payers with this text in the name, or with this ID')
    .option('--connector <id>', 'only this connector')
    .option('--limit <number>', 'show at most this many', limit, 50)
    .option('--patients', 'with patients’ names; without it no name is shown')
    .option('--json', 'as JSON (docs/json.md, eligd.list/1 and eligd.attention/1)')
    .addHelpText(
      'after',
      `
Examples:
  eligd list
  eligd list --today
  eligd list --needs-me --from 2026-11-23 --to 2026-11-27
  eligd list --payer delta
  eligd list --attention --patients
  eligd list --situation asking --limit 10
  eligd list --situation closed --json
`,
    )
    .action(async (options: Options) => {
      await readState(context, async (state) => {
        refuseUnknownConnector(options, state.config);
        if (options.attention) await listAttention(state, options, context);
        else await listSituations(state, options, context);
      });
    });
}

function day(text: string): string {
  if (isDate(text)) return text;
  throw new InvalidArgumentError('Write the date as 2026-11-23.');
}

function limit(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= LIMIT_MAX) return value;
  throw new InvalidArgumentError(`Write a whole number from 1 to ${LIMIT_MAX}.`);
}

function refuseUnknownConnector({ connector }: Options, { connectors }: Config): void {
  const ids = connectors.map(({ id }) => id);
  if (connector === undefined || ids.includes(connector)) return;
  const near = nearest(connector, ids);
  throw new EligdError('usage', {
    what: `There is no connector "${connector}".`,
    why: `The configuration has ${ids.join(', ')}.`,
    next:
      near === null ? 'Use one of these with --connector.' : `Did you mean --connector ${near}?`,
  });
}

async function listSituations(
  { db, config, moment }: State,
  options: Options,
  context: CliContext,
): Promise<void> {
  const { stdout, environment } = context;
  const filter = filterOf(options, config, moment.now);
  const { total, appointments } = await listAppointments(db, filter, options.limit, moment.now);
  const progressed = await withProgress(db, appointments);
  const verdicts = await verdictsById(db, progressed, config);
  const shown = progressed.map((each) => explained(each, moment));
  if (options.patients) await noteLook(context, 'list', shownRecords(shown));
  if (options.json) {
    const rows = shown.map((each) => ({
      ...appointmentJson(each, options.patients === true),
      verdict: verdicts.get(each.id)?.standing ?? null,
    }));
    printJson(stdout, {
      schema: 'eligd.list/1',
      at: isoTime(moment.now),
      total,
      appointments: rows,
    });
    return;
  }
  if (total === 0) {
    stdout.write('No appointment or inquiry matches.\n');
    return;
  }
  const is_narrow = stdout.isTTY === true && (stdout.columns ?? WIDE) < WIDE;
  printTable(
    stdout,
    withPatients(options, [
      { title: 'appointment', is_whole: true },
      { title: 'visit', is_whole: true },
      { title: 'payer' },
      { title: 'situation', style: situationStyle },
      ...(is_narrow ? [] : [{ title: 'until', is_whole: true }]),
      { title: 'why' },
    ]),
    shown.map((each) => {
      const { until } = each.explanation;
      const { word, why } = situationWords(each, verdicts.get(each.id));
      const until_text = until === null ? null : clinicTime(until, config);
      const cells = [
        appointmentLabel(each, config, options.patients === true),
        visitText(each, config),
        payerName(each.input, options.patients === true),
        word,
        ...(is_narrow ? [] : [until_text]),
        is_narrow && until_text !== null ? `Until ${until_text}. ${why}` : why,
      ];
      return options.patients ? [...cells, patientName(each.input)] : cells;
    }),
    isColored(stdout, environment),
  );
  sayMore(stdout, total - shown.length);
}

/** Below this width, "until" comes before "why". */
const WIDE = 110;

function situationStyle(text: string): Style | null {
  const name = text.trim();
  if (name === SITUATION_NAMES.attention || name === VERDICT_WORDS.not_eligible) return 'red';
  if (name === VERDICT_WORDS.attention || name === VERDICT_WORDS.incomplete) return 'yellow';
  if (name === SITUATION_NAMES.delivered || name === VERDICT_WORDS.eligible) return 'green';
  return name === SITUATION_NAMES.closed ? 'dim' : null;
}

function filterOf(options: Options, { clinic }: Config, now: number): OverviewFilter {
  const { connector, payer, today } = options;
  const situation = options.needsMe ? 'attention' : options.situation;
  const day = localDate(now, clinic.time_zone);
  const from = today ? day : options.from;
  const to = today ? day : options.to;
  const at = (date: string) => startOfDay(date, clinic.time_zone);
  return {
    coming_from: at(day),
    ...(situation === undefined ? {} : { situation }),
    ...(connector === undefined ? {} : { connector }),
    ...(payer === undefined ? {} : { payer }),
    ...(from === undefined ? {} : { from: at(from) }),
    ...(to === undefined ? {} : { before: at(addDays(to, 1)) }),
  };
}

function withPatients({ patients }: Options, columns: Column[]): Column[] {
  return patients ? [...columns, { title: 'patient' }] : columns;
}

function sayMore(stdout: Output, more: number): void {
  if (more > 0) stdout.write(`… and ${more} more; --limit shows them.\n`);
}

async function listAttention(
  { db, config, moment }: State,
  options: Options,
  context: CliContext,
): Promise<void> {
  const { stdout } = context;
  const entries = await openAttention(db, options.connector);
  const shown = entries.slice(0, options.limit);
  if (options.patients) await noteLook(context, 'attention', shown.flatMap(recordOf));
  if (options.json) {
    const key = (await knownLogKey(db)) ?? '';
    const subjectOf = ({ subject }: AttentionRow) =>
      options.patients === true ? subject : publicSubject(subject, key);
    const rows = shown.map((each) => ({
      subject: subjectOf(each),
      ...attentionJson(each, options.patients === true, config),
    }));
    printJson(stdout, {
      schema: 'eligd.attention/1',
      at: isoTime(moment.now),
      total: entries.length,
      entries: rows,
    });
    return;
  }
  if (shown.length === 0) {
    stdout.write('Nothing needs you.\n');
    return;
  }
  const is_narrow = stdout.isTTY === true;
  stdout.write(shown.map((each) => attentionBlock(each, options, config, is_narrow)).join('\n'));
  sayMore(stdout, entries.length - shown.length);
}

function recordOf({ connector, source_id, content }: AttentionRow): ShownRecord[] {
  if (connector === null || source_id === null || content === null) return [];
  return [{ connector, source_id, patient_id: inputOf(content).patient.id }];
}

/** Names the subject of an entry that is not about a visit. */
function subjectName({ id, subject, reason, connector }: AttentionRow): string {
  if (TO_HANDLE.has(reason)) return `entry:${id} of ${connector ?? 'the installation'}`;
  if (subject.startsWith('payer:')) return `payer of ${connector ?? 'every connector'}`;
  return connector ?? 'the installation';
}

function attentionBlock(
  entry: AttentionRow,
  { patients }: Options,
  config: Config,
  is_narrow: boolean,
): string {
  const indented = (head: string, text: string) =>
    is_narrow ? wrapped(head, text, head.length) : [`${head}${text}`];
  const { source_id, connector, starts_at, content } = entry;
  const about =
    source_id === null || connector === null || starts_at === null
      ? entry.inquiry === null
        ? subjectName(entry)
        : `inquiry:${entry.inquiry}`
      : entry.kind === 'claim'
        ? `claim ${attentionLabel(entry, config, patients === true)}`
        : `appointment ${attentionLabel(entry, config, patients === true)}, visit ` +
          `${clinicTime(starts_at, config)}`;
  const patient = patients && content !== null ? `, ${patientName(inputOf(content))}` : '';
  const since = clinicTime(entry.since, config);
  return [
    ...indented('', `${about}${patient} (${entry.reason}, since ${since})`),
    ...indented('  ', entryText(entry, { patients: patients === true })),
    ...indented('  → ', entry.next),
    ...((patients && phoneIds(entry, config)) || []).flatMap((line) => indented('    ', line)),
    '',
  ].join('\n');
}

/** Returns the ID of the visit that an entry is about; empty if it is about none. */
function attentionLabel(entry: AttentionRow, config: Config, patients: boolean): string {
  const { appointment, connector, source_id, content } = entry;
  if (appointment === null || connector === null || source_id === null) return '';
  if (content === null) return `appointment:${appointment}`;
  const each = { id: appointment, connector, source_id, input: inputOf(content) };
  return appointmentLabel(each, config, patients);
}

/**
 * Returns the IDs that the office reads out when it phones the payer; null: no phone call is
 * needed.
 */
function phoneIds({ kind, content, reason }: AttentionRow, config: Config): string[] | null {
  const is_phoned = PHONE_REASONS.some((each) => each === reason);
  if (kind !== 'appointment' || content === null || !is_phoned) return null;
  return callSheet(JSON.parse(content) as AppointmentInput, clinicProfile(config));
}

function attentionJson(
  entry: AttentionRow,
  patients: boolean,
  config: Config,
): Record<string, unknown> {
  const { source_id, content } = entry;
  const is_shown =
    source_id === null ||
    (content !== null && shownText(source_id, inputOf(content), patients) !== null);
  const id = is_shown ? source_id : `appointment:${entry.appointment}`;
  return {
    entry: entry.id,
    connector: entry.connector,
    appointment: entry.kind === 'claim' ? null : id,
    claim: entry.kind === 'claim' ? id : null,
    inquiry: entry.inquiry,
    starts_at: entry.kind === 'claim' ? null : isoTime(entry.starts_at),
    patient: patients && entry.content !== null ? patientName(inputOf(entry.content)) : null,
    ids: (patients && phoneIds(entry, config)?.join('\n')) || null,
    reason: entry.reason,
    what: patients ? entry.what : unquoted(entry.what),
    words: patients ? entry.words : null,
    next: entry.next,
    since: isoTime(entry.since),
  };
}

/** A file name or a row may contain a name, so the output has its hash. */
function publicSubject(subject: string, key: string): string {
  const [kind = ''] = subject.split(':', 1);
  if (!['rejected', 'source', 'item'].includes(kind)) return subject;
  return `${kind}:${appointmentHash(key, kind, subject)}`;
}

function inputOf(content: string): AppointmentInput | ClaimInput {
  return JSON.parse(content) as AppointmentInput | ClaimInput;
}
