import type { Command } from 'commander';
import { localDateTime } from '../../domain/time.ts';
import type { Config } from '../../ops/config.ts';
import type { Db } from '../../store/engine/database.ts';
import { readDatabase, readStatus, type StatusOverview } from '../../store/views/overview.ts';
import type { SituationWord } from '../../store/views/situation.ts';
import { holdWords, type Moment, momentOf, waitWords } from '../../store/views/story.ts';
import type { CliContext } from '../context.ts';
import { printJson } from '../output.ts';

/** What each situation is called on the screen. */
export const SITUATION_NAMES: Readonly<Record<SituationWord, string>> = {
  waiting: 'waiting',
  planned: 'call planned',
  asking: 'being asked',
  answered: 'being written back',
  delivered: 'delivered',
  attention: 'needs attention',
  closed: 'closed',
};

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Says what is where, in one page: appointments by situation, what is written back, why ' +
        'nothing is sent if so, and what waits for a person. ' +
        'It only reads, and works while the daemon runs.',
    )
    .option('--json', 'as JSON (docs/json.md, eligd.status/1)')
    .addHelpText(
      'after',
      `
Situations:
  waiting             too early to call, or about to be planned
  call planned        decided, not sent
  being asked         sent, being looked for, or with the service
  being written back  the answer is here, and not in the practice management system yet
  delivered           the newest answer is in the practice management system
  needs attention     a person has to do something: eligd list --attention
  closed              nothing more is done, and why

Examples:
  eligd status
  eligd status --json
  eligd list --attention
`,
    )
    .action(async (options: { json?: true }) => {
      await readState(context, async ({ db, config, moment }) => {
        const status = await readStatus(db, moment.now);
        if (options.json) printJson(context.stdout, statusJson(status, config, moment.now));
        else context.stdout.write(`${statusLines(status, config, moment).join('\n')}\n`);
      });
    });
}

export type State = { db: Db; config: Config; moment: Moment };

/**
 * What every command that only reads the state needs: one unchanging view of the database, and the
 * time.
 */
export async function readState<Value>(
  context: CliContext,
  work: (state: State) => Promise<Value>,
): Promise<Value> {
  const config = await context.config();
  const { clock } = await context.env();
  return await readDatabase(config.state.path, async (db) => {
    const limits = { ...config.policy, time_zone: config.clinic.time_zone };
    return await work({ db, config, moment: await momentOf(db, limits, clock.now()) });
  });
}

/** A moment for people: the clinic's wall clock, `2026-11-23 09:30`. */
export function clinicTime(at: number, config: Config): string {
  return localDateTime(at, config.clinic.time_zone).replace('T', ' ');
}

/** A moment for programs: UTC with milliseconds; null stays null. */
export function isoTime(at: number): string;
export function isoTime(at: number | null): string | null;
export function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

function statusJson(status: StatusOverview, config: Config, now: number): Record<string, unknown> {
  const { counts, claims, first_visits, waiting, inquiries, deliveries, halts, attention } = status;
  return {
    schema: 'eligd.status/1',
    at: isoTime(now),
    clinic: { name: config.clinic.name, time_zone: config.clinic.time_zone },
    appointments: counts,
    claims,
    first_visits: Object.fromEntries(
      Object.entries(first_visits).map(([situation, at]) => [situation, isoTime(at)]),
    ),
    waiting: waiting.map(({ next_at, ...rest }) => ({ ...rest, next_at: isoTime(next_at) })),
    inquiries: {
      ...inquiries,
      longest:
        inquiries.longest === null
          ? null
          : { inquiry: inquiries.longest.inquiry, sent_at: isoTime(inquiries.longest.sent_at) },
    },
    deliveries: { ...deliveries, oldest_at: isoTime(deliveries.oldest_at) },
    halts: halts.map(({ reason, detail, since, next_try_at }) => ({
      reason,
      detail,
      since: isoTime(since),
      next_try_at: isoTime(next_try_at),
    })),
    connectors: lastReads(status, config).map(({ id, at }) => ({ id, last_read_at: isoTime(at) })),
    attention: attention.map(({ since, ...rest }) => ({ ...rest, since: isoTime(since) })),
    next: nextSteps(status),
  };
}

/** The connectors of the configuration, and those that only the database knows any more. */
function lastReads(
  { last_reads }: StatusOverview,
  config: Config,
): { id: string; at: number | null }[] {
  const ids = new Set([
    ...config.connectors.map(({ id }) => id),
    ...last_reads.map(({ connector }) => connector),
  ]);
  return [...ids].map((id) => ({
    id,
    at: last_reads.find(({ connector }) => connector === id)?.at ?? null,
  }));
}

function nextSteps({ attention, halts, counts, claims }: StatusOverview): string[] {
  const entries = attention.reduce((total, { count }) => total + count, 0);
  return [
    ...(entries > 0
      ? [`See what waits for you and what to do about it: eligd list --attention`]
      : []),
    ...(halts.some(({ next_try_at }) => next_try_at === null)
      ? ['Calls stay stopped until a person lets them go on: eligd release submission']
      : []),
    ...(counts.total + claims.total === 0
      ? ['Nothing was read yet. Export appointments, and see that the daemon runs: eligd check']
      : []),
  ];
}

function statusLines(status: StatusOverview, config: Config, { now, budget }: Moment): string[] {
  const { counts, first_visits, inquiries, halts } = status;
  const time = (at: number) => clinicTime(at, config);
  const row = (situation: Exclude<SituationWord, 'closed'>, remarks: readonly string[]) => {
    const visit = first_visits[situation];
    const shown = [...(visit === undefined ? [] : [`first visit ${time(visit)}`]), ...remarks].join(
      '; ',
    );
    return line(
      SITUATION_NAMES[situation],
      counts[situation],
      counts[situation] === 0 ? '' : shown,
    );
  };
  const closed = Object.entries(counts.closed).map(
    ([reason, count]) => `${count} ${reason.replaceAll('_', ' ')}`,
  );
  return [
    `${config.clinic.name}, ${time(now)} (${config.clinic.time_zone})`,
    '',
    line('appointments', counts.total, ''),
    row('waiting', waitingRemarks(status, config)),
    row('planned', [
      ...inquiries.held.map(({ reason, count }) => `${count} held: ${holdWords(reason)}`),
      ...(budget === null ? [] : [`${budget.why} On from ${time(budget.until)}`]),
    ]),
    row('asking', askingRemarks(status, config)),
    row('answered', []),
    row('delivered', []),
    row('attention', []),
    line('closed', counts.total - sumOpen(status), closed.join(', ')),
    ...claimLines(status),
    '',
    'Calls:       ' +
      `${
        halts.length === 0
          ? 'go out.'
          : halts
              .map(
                ({ detail, since, next_try_at }) =>
                  `stopped since ${time(since)}: ${detail} ` +
                  (next_try_at === null
                    ? 'A person has to let them go on.'
                    : `Next try ${time(next_try_at)}.`),
              )
              .join(' ')
      }`,
    `Writing:     ${writingLine(status, config)}`,
    `Last read:   ${lastReads(status, config)
      .map(({ id, at }) => `${id} ${at === null ? 'never' : time(at)}`)
      .join(', ')}`,
    ...attentionLines(status, config),
    ...nextSteps(status).map((step) => `Next:        ${step}`),
  ];
}

/** Claims in one line, where there are any. */
function claimLines({ claims }: StatusOverview): string[] {
  if (claims.total === 0) return [];
  const { total, closed, ...open } = claims;
  const closed_count = Object.values(closed).reduce((sum, count) => sum + count, 0);
  const parts = [...Object.entries(open), ['closed', closed_count] as const].filter(
    ([, count]) => count > 0,
  );
  return [
    line('claims', total, parts.map(([situation, count]) => `${count} ${situation}`).join(', ')),
  ];
}

function line(name: string, count: number, remark: string): string {
  return `  ${name.padEnd(20)}${String(count).padStart(7)}   ${remark}`.trimEnd();
}

function sumOpen({ counts }: StatusOverview): number {
  return (
    counts.waiting +
    counts.planned +
    counts.asking +
    counts.answered +
    counts.delivered +
    counts.attention
  );
}

function waitingRemarks({ waiting }: StatusOverview, config: Config): string[] {
  return waiting.map(({ reason, count, next_at }) => {
    const until =
      reason === null || next_at === null
        ? ''
        : ` The first is looked at ${clinicTime(next_at, config)}.`;
    return `${count}: ${waitWords(reason)}${until}`;
  });
}

function askingRemarks({ inquiries }: StatusOverview, config: Config): string[] {
  const { sending, uncertain, open, overdue, longest } = inquiries;
  return [
    ...(open > 0 ? [`${open} ${open === 1 ? 'call' : 'calls'} with the service`] : []),
    ...(sending > 0 ? [`${sending} on the way there`] : []),
    ...(uncertain > 0 ? [`${uncertain} being looked for after a lost reply`] : []),
    ...(overdue > 0 ? [`${overdue} of them late`] : []),
    ...(longest === null
      ? []
      : [`the longest since ${clinicTime(longest.sent_at, config)} (inquiry:${longest.inquiry})`]),
  ];
}

function writingLine({ deliveries }: StatusOverview, config: Config): string {
  const { pending, failed, parked, oldest_at } = deliveries;
  if (oldest_at === null) return 'every answer is in the practice management system.';
  return (
    `${pending} to write, ${failed} failed and tried again, ${parked} need a person; the ` +
    `oldest since ${clinicTime(oldest_at, config)}.`
  );
}

function attentionLines({ attention }: StatusOverview, config: Config): string[] {
  const entries = attention.reduce((total, { count }) => total + count, 0);
  if (entries === 0) return ['For you:     nothing.'];
  const oldest = Math.min(...attention.map(({ since }) => since));
  const kinds = attention
    .map(({ reason, count }) => `${count} ${reason.replaceAll('_', ' ')}`)
    .join(', ');
  return [
    `For you:     ${entries} ${entries === 1 ? 'entry' : 'entries'} on the attention list ` +
      `(${kinds}), the oldest since ${clinicTime(oldest, config)}.`,
  ];
}
