import type { Command } from 'commander';
import { describeAlert } from '../../domain/alerts/catalog.ts';
import { budgetWords, holdWords, type Moment, waitWords } from '../../domain/explanation.ts';
import { answersThatAre, type Health } from '../../domain/health.ts';
import type { SituationWord } from '../../domain/situation.ts';
import type { Config } from '../../ops/config.ts';
import { alertLines, healthLines, healthSettings, wrapped } from '../../ops/health-text.ts';
import { payersForPrices } from '../../ops/prices.ts';
import { type HealthReport, readHealth } from '../../store/views/health.ts';
import { readStatus, type StatusOverview } from '../../store/views/overview.ts';
import { type ComingVerdicts, comingVerdicts, comingWords } from '../coming.ts';
import type { CliContext } from '../context.ts';
import { EXIT_CODES, StatusExit } from '../exit.ts';
import { printJson } from '../output.ts';
import { budgetSentences, spendingJson } from '../spending.ts';
import { readState } from '../state.ts';
import { SITUATION_NAMES } from '../subject.ts';
import { clinicTime, isoTime } from '../times.ts';

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Shows a one-page summary: whether eligd works, appointments by situation, why sending ' +
        'is stopped (if it is), and what needs you. Read-only; you can run it while the daemon ' +
        'runs.',
    )
    .option('--json', 'as JSON (docs/json.md, eligd.status/1)')
    .addHelpText(
      'after',
      `
Situations:
  waiting             too early to call, or about to be planned
  call planned        planned, not sent
  being asked         sent, being looked up, or with the service
  being written back  eligd has the answer, and has not written it back yet
  delivered           the newest answer is written back
  needs attention     you have to do something: eligd list --attention
  closed              no further action, with the reason

Examples:
  eligd status
  eligd status --json
  eligd list --attention

Exit code: 0 if every answer is yes, 1 if one is no, and 75 if
none is no and one is unknown.
`,
    )
    .action(async (options: { json?: true }) => {
      const health = await readState(context, async ({ db, config, moment }) => {
        const status = await readStatus(db, moment.now);
        const report = await readHealth(
          db,
          healthSettings(config, payersForPrices(config)),
          moment.now,
        );
        const coming = await comingVerdicts(db, config, moment.now);
        const page = { ...status, ...report, coming };
        if (options.json) printJson(context.stdout, statusJson(page, config, moment.now));
        else context.stdout.write(`${statusLines(page, config, moment).join('\n')}\n`);
        return report.health;
      });
      const code = exitCodeOf(health);
      if (code !== EXIT_CODES.done) throw new StatusExit(code);
    });
}

type StatusPage = StatusOverview & HealthReport & { coming: ComingVerdicts };

function statusJson(status: StatusPage, config: Config, now: number): Record<string, unknown> {
  const { counts, claims, first_visits, waiting, inquiries, deliveries, halts, attention } = status;
  const { health, incidents, alerts, budget } = status;
  return {
    schema: 'eligd.status/1',
    at: isoTime(now),
    clinic: { name: config.clinic.name, time_zone: config.clinic.time_zone },
    ok: exitCodeOf(health) === EXIT_CODES.done,
    health: Object.fromEntries(
      Object.entries(health).map(([question, answer]) => [
        question,
        {
          is: answer.is,
          since: answer.is === 'no' ? isoTime(answer.since) : null,
          why: answer.why === '' ? null : answer.why,
          next: answer.is === 'no' ? answer.next : null,
        },
      ]),
    ),
    incidents: incidents.map(({ since, last_at, ...rest }) => ({
      ...rest,
      since: isoTime(since),
      last_at: isoTime(last_at),
    })),
    alerts: alerts.map(({ id, name, about, since, begun_at }) => ({
      id,
      name,
      level: describeAlert(name).level,
      about: about === '' ? null : about,
      since: isoTime(since),
      began_at: isoTime(begun_at),
    })),
    verdicts: status.coming,
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
    budget: { day: spendingJson(budget.day), month: spendingJson(budget.month) },
    connectors: lastReads(status, config).map(({ id, at }) => ({ id, last_read_at: isoTime(at) })),
    unread_messages: status.unread_messages.map(({ since, ...rest }) => ({
      ...rest,
      since: isoTime(since),
    })),
    attention: attention.map(({ since, ...rest }) => ({ ...rest, since: isoTime(since) })),
    next: nextSteps(status),
  };
}

/** Returns the connectors of the configuration, and those that only the database still knows. */
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
    ...(entries > 0 ? [`See what needs you, and what to do about it: eligd list --attention`] : []),
    ...(halts.some(({ reason, next_try_at }) => reason !== 'observe' && next_try_at === null)
      ? ['Calls stay stopped until you resume them: eligd release submission']
      : []),
    ...(counts.total + claims.total === 0
      ? [
          'Nothing has been read yet. Export appointments, and check that the daemon is running: ' +
            'eligd check',
        ]
      : []),
  ];
}

/** Returns 0 only if every answer is yes: unknown is not fine. */
function exitCodeOf(health: Health): StatusExit['code'] {
  if (answersThatAre(health, 'no').length > 0) return EXIT_CODES.failed;
  return answersThatAre(health, 'unknown').length > 0 ? EXIT_CODES.temporary : EXIT_CODES.done;
}

function statusLines(status: StatusPage, config: Config, { now, budget }: Moment): string[] {
  const { counts, first_visits, inquiries } = status;
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
    `${config.clinic.name}, as of ${time(now)} (${config.clinic.time_zone})`,
    '',
    ...wrapped('Next 8 days:', comingWords(status.coming)),
    '',
    ...healthLines(status.health, config.clinic.time_zone),
    ...alertLines(status.alerts, config.clinic.time_zone),
    '',
    line('appointments', counts.total, ''),
    row('waiting', waitingRemarks(status, config)),
    row('planned', [
      ...inquiries.held.map(({ reason, count }) => `${count} held: ${holdWords(reason)}`),
      ...(budget === null ? [] : [`${budgetWords(budget)} On from ${time(budget.until)}`]),
    ]),
    row('asking', askingRemarks(status, config)),
    row('answered', []),
    row('delivered', []),
    row('attention', []),
    line('closed', counts.total - sumOpen(status), closed.join(', ')),
    ...claimLines(status),
    '',
    ...moneyLines(status),
    ...wrapped('To write:', writingLine(status, config)),
    ...wrapped(
      'Last read:',
      lastReads(status, config)
        .map(({ id, at }) => `${id} ${at === null ? 'never' : time(at)}`)
        .join(', '),
    ),
    ...unreadLines(status, config),
    ...incidentLines(status, config),
    ...attentionLines(status, config),
    ...nextSteps(status).flatMap((step) => wrapped('Next:', step)),
  ];
}

function moneyLines({ budget }: StatusPage): string[] {
  const { spent, left } = budgetSentences(budget);
  return [...wrapped('Spent:', spent), ...(left === null ? [] : wrapped('Left:', left))];
}

/** Returns one line about messages that are received and not read yet, if there are any. */
function unreadLines({ unread_messages }: StatusOverview, config: Config): string[] {
  const parts = unread_messages.map(
    ({ connector, count, since }) =>
      `${count} ${count === 1 ? 'message' : 'messages'} of ${connector}, the oldest since ` +
      `${clinicTime(since, config)}`,
  );
  return parts.length === 0
    ? []
    : wrapped('To read:', `${parts.join('; ')}. Calls for their visits wait.`);
}

/** Returns one line for each recurring incident, with its count. */
function incidentLines({ incidents }: StatusPage, config: Config): string[] {
  return incidents
    .filter(({ count }) => count > 1)
    .flatMap(({ what, count, since }) =>
      wrapped('Repeated:', `${count} times since ${clinicTime(since, config)}: ${what}`),
    );
}

/** Returns one line about claims, if there are any. */
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
  return wrapped(`  ${name.padEnd(18)}${String(count).padStart(7)}`, remark, COUNTS_INDENT)
    .map((each) => each.trimEnd())
    .join('\n');
}

const COUNTS_INDENT = 30;

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
        : ` eligd checks the first one ${clinicTime(next_at, config)}.`;
    return `${count}: ${waitWords(reason)}${until}`;
  });
}

function askingRemarks({ inquiries }: StatusOverview, config: Config): string[] {
  const { sending, uncertain, open, overdue, longest } = inquiries;
  return [
    ...(open > 0 ? [`${open} ${open === 1 ? 'call' : 'calls'} with the service`] : []),
    ...(sending > 0 ? [`${sending} being sent`] : []),
    ...(uncertain > 0 ? [`${uncertain} being looked up after a lost reply`] : []),
    ...(overdue > 0 ? [`${overdue} of them late`] : []),
    ...(longest === null
      ? []
      : [`the longest since ${clinicTime(longest.sent_at, config)} (inquiry:${longest.inquiry})`]),
  ];
}

function writingLine({ deliveries }: StatusOverview, config: Config): string {
  const { pending, failed, parked, oldest_at } = deliveries;
  if (oldest_at === null) return 'every answer is written back.';
  return (
    `${pending} to write, ${failed} to try again, ${parked} need you; the ` +
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
  return wrapped(
    'For you:',
    `${entries} ${entries === 1 ? 'entry' : 'entries'} on the attention list ` +
      `(${kinds}), the oldest since ${clinicTime(oldest, config)}.`,
  );
}
