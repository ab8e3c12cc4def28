/**
 * The cost of the office page of one day with 10,000 stored visits: from a separate daemon, next to
 * a bare fastify that answers with the same bytes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fastify from 'fastify';
import { localDate } from '../../src/domain/time.ts';
import { hashPassword, UserFile } from '../../src/office/users.ts';
import { growDatabase } from '../faults/grow.ts';
import { HOUR_MS, SimulatedClinic, ZONE } from '../faults/simulated-clinic.ts';

const START_MS = Date.parse('2030-03-04T11:00:00Z');
const VISITS = 10_000;
const PAGES = 31;
const PASSWORD = 'correct horse battery';
const MAIN = join(import.meta.dirname, '../../src/main.ts');

export type OfficeResult = {
  /** Stored visits; those on the page. */
  visits: number;
  shown: number;
  bytes: number;
  /** Medians of one request, in milliseconds. */
  page_ms: number;
  bare_ms: number;
};

async function measureOffice(): Promise<OfficeResult> {
  const clinic = await SimulatedClinic.open(START_MS, null);
  try {
    await clinic.turnOn();
    await clinic.live(START_MS + 7 * 24 * HOUR_MS);
    await clinic.turnOff();
    const file = clinic.path('state/eligd.db');
    growDatabase(file, VISITS);
    const { visits, date, shown } = busiestDay(file);
    const url = `http://127.0.0.1:${clinic.spare_port}`;
    clinic.configure({ office: { listen: url.slice('http://'.length) } });
    const hash = await hashPassword(PASSWORD);
    new UserFile(clinic.path('state/office-users')).write([
      { name: 'front', role: 'viewer', hash },
    ]);
    const daemon = spawn(process.execPath, [MAIN, 'run', '--config', clinic.path('eligd.yaml')], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    try {
      const cookie = await login(url);
      const page = () => read(`${url}/day/${date}`, cookie);
      const text = await page();
      const rows = [...text.matchAll(/href="\/visit\/\d+"/g)].length;
      if (rows < shown) throw new Error(`The page shows ${rows} of ${shown} visits.`);
      const page_ms = await median(page);
      const bare_ms = await besideBare(text);
      return { visits, shown, bytes: Buffer.byteLength(text), page_ms, bare_ms };
    } finally {
      daemon.kill();
      await once(daemon, 'exit');
    }
  } finally {
    await clinic.close();
  }
}

/** How many visits there are, and the day that has most of them. */
function busiestDay(file: string): { visits: number; date: string; shown: number } {
  const raw = new Database(file, { readonly: true });
  const starts = raw
    .prepare("select starts_at from appointments where kind = 'appointment'")
    .pluck()
    .all() as number[];
  raw.close();
  const days = new Map<string, number>();
  for (const at of starts) {
    const date = localDate(at, ZONE);
    days.set(date, (days.get(date) ?? 0) + 1);
  }
  const [date = '', shown = 0] = [...days].toSorted(([, a], [, b]) => b - a)[0] ?? [];
  return { visits: starts.length, date, shown };
}

async function login(url: string): Promise<string> {
  for (let tries = 0; ; tries += 1) {
    const body = new URLSearchParams({ name: 'front', password: PASSWORD });
    const answer = await fetch(`${url}/login`, { method: 'POST', body, redirect: 'manual' }).catch(
      () => null,
    );
    const cookie = answer?.headers.get('set-cookie')?.split(';')[0];
    if (cookie !== undefined) return cookie;
    if (tries > 600) throw new Error('The office’s page did not start.');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function read(url: string, cookie = ''): Promise<string> {
  const answer = await fetch(url, { headers: { cookie }, redirect: 'manual' });
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}.`);
  return await answer.text();
}

async function besideBare(text: string): Promise<number> {
  const app = fastify();
  app.get('/', async (_, reply) => await reply.type('text/html').send(text));
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    return await median(() => read(url));
  } finally {
    await app.close();
  }
}

async function median(request: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let each = 0; each < PAGES; each += 1) {
    const begun = performance.now();
    await request();
    taken.push(performance.now() - begun);
  }
  return taken.toSorted((a, b) => a - b)[Math.floor(PAGES / 2)] ?? Number.NaN;
}

process.stdout.write(JSON.stringify(await measureOffice()));
// The simulated clinic leaves timers of its clock behind.
process.exit(0);
