import { type Command, InvalidArgumentError } from 'commander';
import { actorName, actorsCalled } from '../../domain/actor.ts';
import { EligdError } from '../../domain/errors.ts';
import { addDays, isDate, localDate, startOfDay } from '../../domain/time.ts';
import type { Config } from '../../ops/config.ts';
import { wrapped } from '../../ops/health-text.ts';
import {
  type ChainReport,
  checkChain,
  type Head,
  headText,
} from '../../store/bookkeeping/chain-check.ts';
import { LOGS } from '../../store/bookkeeping/purge-logs.ts';
import type { Db } from '../../store/engine/database.ts';
import {
  type PatientSubjects,
  readTrail,
  subjectsOfPatient,
  subjectsOfVisit,
  type TrailRow,
  visitsOfHashes,
} from '../../store/views/audit.ts';
import { findSubject } from '../../store/views/subject.ts';
import type { CliContext } from '../context.ts';
import { printJson, printTable } from '../output.ts';
import { readState, type State } from '../state.ts';
import { clinicTime, isoTime } from '../times.ts';

const LIMIT_MAX = 100_000;
const DAYS_SHOWN = 30;

type ShowOptions = {
  by?: string;
  patient?: string;
  from?: string;
  to?: string;
  limit: number;
  json?: true;
};

export function register(command: Command, context: CliContext): void {
  command.description(
    'Shows who did what and who looked at which patient: the audit trail and the access log.',
  );
  command.addHelpText(
    'after',
    '\nExamples:\n  eligd audit show --by maria\n  eligd audit show --patient 4711\n' +
      '  eligd audit verify\n',
  );
  command
    .command('show')
    .description(
      'Lists what people did and which records they looked at, newest first. With --patient, ' +
        'it also lists what eligd did. It shows no patient names.',
    )
    .option('--by <name>', 'only this user: a login of the computer, or of the office page')
    .option('--patient <id>', 'only this patient (PMS ID) or this appointment')
    .option('--from <date>', `first day (default: ${DAYS_SHOWN} days ago)`, day)
    .option('--to <date>', 'last day', day)
    .option('--limit <number>', 'show at most this many', limitOf, 200)
    .option('--json', 'as JSON (docs/json.md, eligd.audit/1)')
    .addHelpText(
      'after',
      '\nExamples:\n  eligd audit show\n  eligd audit show --by maria --from 2026-11-01\n' +
        '  eligd audit show --patient 4711 --from 2026-01-01 --json\n',
    )
    .action((options: ShowOptions) => show(context, options));
  command
    .command('verify')
    .description(
      'Checks that nobody changed the audit trail or the access log: each entry holds the hash ' +
        'of the one before it. The newest hashes go to the journal daily (audit_head). With ' +
        '--head, it checks that one of those is still in the chain.',
    )
    .option('--head <head...>', 'a head from the journal, as 1234:9f86d081…', heads)
    .option('--json', 'as JSON (docs/json.md, eligd.audit_check/1)')
    .addHelpText(
      'after',
      '\nExamples:\n  eligd audit verify\n' +
        '  journalctl -u eligd --output=cat --grep audit_head --lines=1\n' +
        `  eligd audit verify --head 1234:${'9f86d081'.repeat(4)}\n`,
    )
    .action((options: { head?: Head[]; json?: true }) => verify(context, options));
}

function day(text: string): string {
  if (isDate(text)) return text;
  throw new InvalidArgumentError('Write the date as 2026-11-23.');
}

function limitOf(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= LIMIT_MAX) return value;
  throw new InvalidArgumentError(`Write a whole number from 1 to ${LIMIT_MAX}.`);
}

function heads(text: string, before: Head[] = []): Head[] {
  const [, id, hash] = /^(\d{1,15}):([0-9a-f]{32})$/.exec(text.trim()) ?? [];
  if (id !== undefined && hash !== undefined) return [...before, { id: Number(id), hash }];
  throw new InvalidArgumentError('Write it as in the journal: a number, a colon, 32 digits.');
}

async function show(context: CliContext, options: ShowOptions): Promise<void> {
  const { stdout } = context;
  await readState(context, async (state) => {
    const { db, config, moment } = state;
    const about =
      options.patient === undefined ? undefined : await subjectsFor(state, options.patient);
    const rows = await readTrail(db, filterOf(options, about, state), options.limit);
    const names = await subjectNames(db, rows, config);
    if (options.json)
      printJson(stdout, {
        schema: 'eligd.audit/1',
        at: isoTime(moment.now),
        entries: rows.map(({ at, ...row }) => ({
          at: isoTime(at),
          ...row,
          appointment: names.get(row.subject) ?? null,
        })),
      });
    else if (rows.length === 0) stdout.write('No entry matches.\n');
    else printRows(context, rows, { names, config });
  });
}

function filterOf(
  { by, from, to }: ShowOptions,
  about: PatientSubjects | undefined,
  { config, moment }: State,
) {
  const { time_zone } = config.clinic;
  const today = localDate(moment.now, time_zone);
  return {
    ...(by === undefined ? {} : { actors: actorsCalled(by) }),
    ...(about === undefined ? {} : { about }),
    from: startOfDay(from ?? addDays(today, -DAYS_SHOWN), time_zone),
    before: startOfDay(addDays(to ?? today, 1), time_zone),
  };
}

/**
 * Finds a patient by the PMS's ID, with or without the connector, or the patient of an appointment.
 */
async function subjectsFor({ db, config }: State, text: string): Promise<PatientSubjects> {
  const ids = config.connectors.map(({ id }) => id);
  const named = ids.find((id) => text.startsWith(`${id}:`));
  const patient =
    named === undefined
      ? await subjectsOfPatient(db, text, ids)
      : await subjectsOfPatient(db, text.slice(named.length + 1), [named]);
  if (patient.looked_at.length > 0) return patient;
  const visit = await findSubject(db, text);
  // Access-log entries about a patient whose visits are purged are still found by the ID.
  return visit.kind === 'appointment' ? await subjectsOfVisit(db, visit.id) : patient;
}

/** Maps the log's hashes to appointment labels that people know. */
async function subjectNames(
  db: Db,
  rows: readonly TrailRow[],
  config: Config,
): Promise<Map<string, string>> {
  const hashes = new Set(rows.filter(({ kind }) => kind === 'saw').map(({ subject }) => subject));
  const visits = await visitsOfHashes(db, hashes);
  const is_one = config.connectors.length === 1;
  return new Map(
    [...visits].map(([hash, { id, connector, source_id, is_named }]) => {
      if (is_named) return [hash, `appointment:${id}`];
      return [hash, is_one ? source_id : `${connector}:${source_id}`];
    }),
  );
}

function printRows(
  { stdout }: CliContext,
  rows: readonly TrailRow[],
  { names, config }: { names: ReadonlyMap<string, string>; config: Config },
): void {
  printTable(
    stdout,
    [
      { title: 'when', is_whole: true },
      { title: 'who', is_whole: true },
      { title: 'action' },
      { title: 'of' },
    ],
    rows.map(({ kind, at, actor, what, subject }) => [
      clinicTime(at, config),
      actor === null ? 'eligd' : whoText(actor),
      kind === 'saw' ? `saw: ${what}` : what,
      names.get(subject) ?? subject,
    ]),
  );
}

const whoText = (actor: string) =>
  actorName(actor) === actor ? actor : `${actorName(actor)} (page)`;

async function verify(context: CliContext, options: { head?: Head[]; json?: true }): Promise<void> {
  const wanted = options.head ?? [];
  await readState(context, async ({ db, config, moment }) => {
    const reports = await Promise.all(LOGS.map((log) => checkChain(db, log, wanted)));
    const lost = wanted.filter(
      (each) => !reports.some(({ known }) => known.some((found) => sameHead(found, each))),
    );
    if (options.json)
      printJson(context.stdout, {
        schema: 'eligd.audit_check/1',
        at: isoTime(moment.now),
        ok: lost.length === 0 && reports.every(({ fault }) => fault === null),
        logs: reports.map(({ log, rows, since, head, fault }) => ({
          log,
          entries: rows,
          since: isoTime(since),
          head: head === null ? null : headText(head),
          fault,
        })),
        unknown_heads: lost.map(headText),
      });
    else printReports(context, reports, { lost, wanted, config });
    refuse(reports, lost);
  });
}

const sameHead = (a: Head, b: Head) => a.id === b.id && a.hash === b.hash;

const LOG_NAMES = { audit: 'Audit trail', access_log: 'Access log' } as const;

function printReports(
  { stdout }: CliContext,
  reports: readonly ChainReport[],
  { lost, wanted, config }: { lost: readonly Head[]; wanted: readonly Head[]; config: Config },
): void {
  const say = (head: string, text: string) => stdout.write(`${wrapped(head, text).join('\n')}\n`);
  for (const { log, rows, since, head, fault } of reports) {
    const from = since === null ? '' : ` since ${clinicTime(since, config)}`;
    say(
      `${LOG_NAMES[log]}:`,
      fault ?? `${rows} ${rows === 1 ? 'entry' : 'entries'}${from}, unchanged.`,
    );
    if (head !== null) say('', `head ${headText(head)}`);
  }
  if (wanted.length > 0)
    say(
      'Journal:',
      lost.length === 0
        ? 'every head that you named is in the chain.'
        : `${lost.length} of the heads that you named ${lost.length === 1 ? 'is' : 'are'} in ` +
            'neither log.',
    );
  else say('', 'Compare with the journal: "eligd audit verify --help" says how.');
}

function refuse(reports: readonly ChainReport[], lost: readonly Head[]): void {
  const broken = reports.find(({ fault }) => fault !== null);
  if (broken !== undefined)
    throw new EligdError('failed', {
      what: `The ${LOG_NAMES[broken.log].toLowerCase()} was changed.`,
      why: broken.fault ?? '',
      next:
        'Keep a copy of the database, and find out who could write to it. A backup may contain ' +
        'more.',
    });
  if (lost.length > 0)
    throw new EligdError('failed', {
      what: 'The logs do not contain a head that is in the journal.',
      why: 'Entries were removed or changed, or an older backup was restored.',
      next:
        '"eligd audit show" lists each restore. If there was none, find out who could write to ' +
        'the database.',
    });
}
