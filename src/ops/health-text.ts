/** Formats the answers of `domain/health.ts` as lines for people. */
import type { Alert } from '../domain/alerts/book.ts';
import { describeAlert } from '../domain/alerts/catalog.ts';
import {
  HEALTH_QUESTIONS,
  type Health,
  type HealthAnswer,
  isForWantOfDaemon,
} from '../domain/health.ts';
import { localDateTime } from '../domain/time.ts';
import type { Config } from './config.ts';
import { budgetRules, type PricedPayers } from './prices.ts';

/** Returns the settings and payer prices that the answers depend on. */
export function healthSettings(config: Config, payers: PricedPayers) {
  const { state, backup } = config;
  return {
    state_path: state.path,
    backup: { folder: backup.folder, is_scheduled: backup.cron !== null },
    budget: budgetRules(config, payers),
  };
}

type Shown = { now: number; time_zone: string };

const NAMES: Readonly<Record<keyof Health, string>> = {
  daemon: 'Running',
  calls: 'Calls',
  answers: 'Answers',
  results: 'Writing',
  export: 'Export',
  backup: 'Backup',
  clock: 'Clock',
};

const WIDTH = 80;
const INDENT = 13;

/** Returns one or more lines for each answer, at most 80 columns wide. */
export function healthLines(health: Health, time_zone: string): string[] {
  return (Object.keys(HEALTH_QUESTIONS) as (keyof Health)[]).flatMap((question) =>
    wrapped(`${NAMES[question]}:`, sentence(health[question], time_zone)),
  );
}

/** Returns one or more lines for each open alert. */
export function alertLines(alerts: readonly Alert[], time_zone: string): string[] {
  return alerts.flatMap(({ name, about, begun_at, detail }) => {
    const whose = about === '' ? '' : ` (${about})`;
    const since = `since ${clinicTime(begun_at, time_zone)}`;
    const more = detail === '' ? '' : ` ${detail}`;
    return wrapped('Alert:', `${describeAlert(name).title}${whose}, ${since}.${more}`);
  });
}

function sentence(answer: HealthAnswer, time_zone: string): string {
  // The first line has said why, since when, and what to do.
  if (isForWantOfDaemon(answer)) return 'no';
  if (answer.is === 'yes') return answer.why === '' ? 'yes' : `yes (${answer.why})`;
  if (answer.is === 'unknown') return `unknown. ${answer.why}`;
  const since = answer.since === null ? '' : ` since ${clinicTime(answer.since, time_zone)}`;
  return `no${since}. ${answer.why} → ${answer.next}`;
}

/** Puts `name` in the first column and `text` next to it, wrapped at spaces. */
export function wrapped(name: string, text: string, indent = INDENT): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > WIDTH - indent) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines.map((each, index) => `${(index === 0 ? name : '').padEnd(indent)}${each}`);
}

/** Formats the clinic's wall clock, `2026-11-23 09:30`. */
export function clinicTime(at: number, time_zone: string): string {
  return localDateTime(at, time_zone).replace('T', ' ');
}

/** Builds the heartbeat file next to the results. Its age shows whether eligd still runs. */
export function heartbeatText(
  { health, alerts }: { health: Health; alerts: readonly Alert[] },
  { now, time_zone }: Shown,
): string {
  return `${[
    `As of ${clinicTime(now, time_zone)} (${time_zone}), eligd says:`,
    ...healthLines(health, time_zone),
    ...alertLines(alerts, time_zone),
    '',
    'eligd replaces this file about once a minute. If the time above is more',
    'than 15 minutes ago, eligd is not working: run "eligd status".',
  ].join('\n')}\n`;
}
