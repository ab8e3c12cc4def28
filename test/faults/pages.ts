/** The texts of each page at the same time, in the same words, so that they can be compared. */
import { existsSync, readFileSync } from 'node:fs';
import { ALERTS } from '../../src/domain/alerts/catalog.ts';
import type { HealthQuestion } from '../../src/domain/health.ts';
import { instantOf } from '../../src/domain/time.ts';
import { HOUR_MS, MINUTE_MS, type SimulatedClinic, ZONE } from './simulated-clinic.ts';

export type Said = { answers: Record<string, string>; alerts: string[] };

const LINES: Readonly<Record<HealthQuestion, string>> = {
  daemon: 'Running',
  calls: 'Calls',
  answers: 'Answers',
  results: 'Writing',
  export: 'Export',
  backup: 'Backup',
  clock: 'Clock',
};

/** An older heartbeat means that eligd does not work; here eligd writes it every 20 minutes. */
const STALE_MS = HOUR_MS;

/** By page; null: the page cannot be read. */
export async function readPages(clinic: SimulatedClinic): Promise<Record<string, Said | null>> {
  return {
    status: await status(clinic),
    '/readyz': await readyz(clinic),
    '/metrics': await metrics(clinic),
    heartbeat: heartbeat(clinic),
  };
}

async function status(clinic: SimulatedClinic): Promise<Said | null> {
  const { stdout } = await clinic.command('status', '--json');
  if (stdout === '') return null;
  const page = JSON.parse(stdout) as {
    health: Record<string, { is: string }>;
    alerts: { name: string }[];
  };
  const answers = Object.entries(page.health).map(([question, { is }]) => [question, is]);
  return said(
    Object.fromEntries(answers),
    page.alerts.map(({ name }) => name),
  );
}

async function readyz(clinic: SimulatedClinic): Promise<Said | null> {
  const reply = await clinic.monitor('/readyz');
  if (reply === null) return null;
  const { answers, alerts } = JSON.parse(reply.text) as Partial<Said>;
  return answers === undefined || alerts === undefined ? null : said(answers, alerts);
}

async function metrics(clinic: SimulatedClinic): Promise<Said | null> {
  const reply = await clinic.monitor('/metrics');
  if (reply === null || reply.status !== 200) return null;
  const values = (name: string, label: string) =>
    [...reply.text.matchAll(new RegExp(`^eligd_${name}\\{${label}="(\\w+)"\\} (\\S+)$`, 'gm'))].map(
      ([, of = '', value = '']) => [of, value] as const,
    );
  const words: Record<string, string> = { '1': 'yes', '0': 'no', '-1': 'unknown' };
  return said(
    Object.fromEntries(values('health', 'question').map(([of, value]) => [of, words[value] ?? ''])),
    values('alert', 'name').flatMap(([name, value]) => (value === '0' ? [] : [name])),
  );
}

function heartbeat(clinic: SimulatedClinic): Said | null {
  const file = clinic.path('dropbox/outbox/heartbeat.txt');
  if (!existsSync(file)) return null;
  if (readFileSync(file, 'utf8') === '') throw new Error('The heartbeat is empty.');
  const text = readFileSync(file, 'utf8').replaceAll(/\r?\n +/g, ' ');
  const written_at = /As of (\S+) (\S+) /.exec(text);
  const as_of =
    instantOf(written_at?.[1] ?? '', 0, ZONE) + minutesOf(written_at?.[2] ?? '') * MINUTE_MS;
  if (Math.abs(clinic.clock.now() - as_of) > STALE_MS) return null;
  const answers = Object.entries(LINES).map(([question, line]) => [
    question,
    new RegExp(`^${line}: +(yes|no|unknown)`, 'm').exec(text)?.[1] ?? '',
  ]);
  const alerts = Object.entries(ALERTS).filter(([, { title }]) =>
    new RegExp(`^Alert: +${title.replaceAll(/[.*+?^$()|]/g, '\\$&')}[ ,]`, 'm').test(text),
  );
  return said(
    Object.fromEntries(answers),
    alerts.map(([name]) => name),
  );
}

function said(answers: Record<string, string>, alerts: string[]): Said {
  const sorted = Object.entries(answers).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { answers: Object.fromEntries(sorted), alerts: [...new Set(alerts)].toSorted() };
}

function minutesOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number);
  return hours * 60 + minutes;
}
