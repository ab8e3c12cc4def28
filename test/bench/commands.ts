/**
 * `npm run bench -- commands`: the commands of the packaged program with which people read, in a
 * clinic with a year of history. Somebody waits for each, so none may cost more than a quarter of a
 * second of processor time. The first one reads no database.
 */
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { buildPackaged, USER_ID } from './idle.ts';
import { inTurn, measureInChild, printTable } from './measure.ts';
import { pointTo, runCommand } from './once.ts';
import type { OnceClinicJob } from './once-clinic.ts';

const ROUNDS = 7;
const VISITS = 25_000;
const YEAR_DAYS = 365;
const CPU_MS_MAX = 250;
/** `status` says with 1 and 75 that not every answer is yes. */
const CODES = [0, 1, 75];

/** `base_url`: of a service whose list is empty. */
export async function benchCommands(base_url: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-bench-commands-'));
  try {
    const main = await buildPackaged(folder);
    const clinic = join(folder, 'clinic');
    const clinics = [{ folder: clinic, visits: VISITS, days: YEAR_DAYS }];
    await measureInChild('once-clinic.ts', { clinics } satisfies OnceClinicJob);
    const file = join(clinic, 'state/eligd.db');
    copyTrail(file);
    pointTo(clinic, base_url);
    chmodSync(folder, 0o755);
    own(clinic);
    const measure = async (...words: string[]) =>
      (await runCommand(main, clinic, words, { as: USER_ID, codes: CODES })).cpu_ms;
    const { visit, inquiry, count } = chosen(file);
    const lines = {
      'config show': () => measure('config', 'show'),
      status: () => measure('status'),
      list: () => measure('list'),
      'explain, a visit': () => measure('explain', visit),
      'explain, an inquiry': () => measure('explain', inquiry),
      show: () => measure('show', visit),
    };
    // The first run of each takes what the file system has not cached.
    await inTurn(1, lines);
    const measured = Object.entries(await inTurn(ROUNDS, lines));
    printTable([
      [`commands at ${count.toLocaleString('en-US')} closed visits, ms of CPU`, 'median', 'max'],
      ...measured.map(([name, { median, max }]) => [
        name,
        ...[median, max].map((each) => String(Math.round(each))),
      ]),
    ]);
    console.log();
    const slow = measured.filter(([, { median }]) => median > CPU_MS_MAX);
    if (slow.length === 0) return;
    const names = slow.map(([name]) => name).join(', ');
    console.error(`Too slow: ${names} (more than ${CPU_MS_MAX} ms).`);
    process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Gives the copied visits and inquiries the trail of their originals. */
function copyTrail(file: string): void {
  const raw = new Database(file);
  const ids = raw.prepare('select max(id) from audit').pluck().get() as number;
  const columns = 'at, actor, from_state, to_state, reason, salt, words_hash, hash';
  const copied = columns.replaceAll(/\w+/g, (name) => `audit.${name}`);
  for (const [kind, table] of [
    ['appointment', 'appointments'],
    ['inquiry', 'inquiries'],
  ])
    raw.exec(`insert into audit (subject, ${columns})
      select '${kind}:' || copy.id, ${copied} from ${table} copy
      join audit on subject = '${kind}:' || copy.id % ${ids} where copy.id > ${ids}`);
  raw.close();
}

/** A visit in the middle of the history, its inquiry, and how many visits are closed. */
function chosen(file: string): { visit: string; inquiry: string; count: number } {
  const raw = new Database(file, { readonly: true });
  const closed = "kind = 'appointment' and closed_at is not null";
  const count = raw.prepare(`select count(*) from appointments where ${closed}`).pluck().get();
  const row = raw
    .prepare(
      `select source_id as visit, 'inquiry:' || inquiry as inquiry from appointments
        join inquiry_appointments on appointment = id
        where ${closed} order by starts_at limit 1 offset ?`,
    )
    .get(Math.floor(Number(count) / 2)) as { visit: string; inquiry: string };
  raw.close();
  return { ...row, count: Number(count) };
}

/** Lets the user of the commands own a folder with all that is in it. */
function own(folder: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const name of ['', ...names]) chownSync(join(folder, name), USER_ID, USER_ID);
}
