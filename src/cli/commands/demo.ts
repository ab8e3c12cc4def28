import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { createDaemon } from '../../daemon/index.ts';
import type { Clock } from '../../domain/env.ts';
import { EligdError } from '../../domain/errors.ts';
import { HOUR_MS, localDate, localDateTime, startOfDay } from '../../domain/time.ts';
import { createHttpAgent } from '../../network/http.ts';
import { DIRECT } from '../../network/way.ts';
import { generatedPassword, hashPassword, UserFile, usersPath } from '../../office/users.ts';
import { type Config, loadConfig } from '../../ops/config.ts';
import { createEnv, realClock, slowableClock } from '../../ops/env.ts';
import { createLog } from '../../ops/log.ts';
import { OWN_PROCESS } from '../../ops/project.ts';
import { openSecrets, serviceCredentials } from '../../ops/secrets.ts';
import { openAttention } from '../../store/bookkeeping/attention.ts';
import type { Db } from '../../store/engine/database.ts';
import { type AllCounts, countSituations } from '../../store/views/overview.ts';
import type { CliContext, Output } from '../context.ts';
import { demoExport, lastVisitDay } from '../demo-export.ts';
import { stopSignal, untilStopped } from '../stop.ts';
import { summaryLine } from '../summary.ts';
import { programVersion } from '../version.ts';

/**
 * A day takes a little over four seconds. Clock, polling, rate limit, and sandbox all use this
 * factor.
 */
const SPEED = 20_000;
const APPOINTMENTS = 40;
const TIME_ZONE = 'America/Chicago';
/** In real time. A demo that has not finished by then has failed, and says what is left. */
const DEADLINE_MS = 55_000;
const PROGRESS_MS = 1_500;
const LOOKS_PER_PROGRESS = 5;
/** The hour at which the demo shows the office page, on the day of the last visits. */
const MORNING_HOUR = 7;
const LIST_WAIT_MS = 10_000;
const LIST_LOOK_MS = 200;

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Shows eligd at work with made-up patients: starts a sandbox, drops an export into a ' +
        'folder, and runs a week in half a minute. It works in a new temporary folder, makes no ' +
        'calls, and needs no configuration.',
    )
    .option(
      '--exit',
      'stop when everything is done, instead of running until Ctrl-C (the default without a ' +
        'terminal)',
    )
    .addHelpText('after', '\nExamples:\n  eligd demo\n  eligd demo --exit\n')
    .action(async (options: { exit?: true }) => {
      const stop = stopSignal();
      try {
        await demonstrate(context, {
          is_ending: options.exit === true || context.stdout.isTTY !== true,
          signal: stop.signal,
        });
      } finally {
        stop.release();
      }
    });
}

async function demonstrate(
  { stdout }: CliContext,
  { is_ending, signal }: { is_ending: boolean; signal: AbortSignal },
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-demo-'));
  const anchor_ms = Date.now();
  stdout.write(
    `eligd demo, in ${folder}\nA sandbox replaces the calling service; a day takes ` +
      `${(86_400 / SPEED).toFixed(1)} seconds.\n\n`,
  );
  const sandbox = await startSandboxProcess(folder, anchor_ms);
  try {
    const { clock, slowDown } = slowableClock({ anchor_ms, speed: SPEED });
    const page = { port: await freePort(), password: generatedPassword() };
    const config = await loadConfig(writeConfiguration(folder, sandbox.url, page.port));
    await addPageUser(config, page.password);
    const address = `http://127.0.0.1:${page.port}`;
    stdout.write(`Office page: ${address} (user demo, password ${page.password})\n`);
    const log_stream = createWriteStream(join(folder, 'eligd.log'), { mode: 0o600 });
    const env = createEnv({
      clock,
      log: createLog({ level: 'info', to: log_stream, pretty: false, now: clock.now }),
    });
    const secrets = openSecrets(folder, {});
    const credentials = serviceCredentials(secrets, config.service.auth);
    const daemon = await createDaemon({
      config,
      credentials,
      secrets,
      env,
      version: programVersion(),
      idle_ms: HOUR_MS,
      machine_clock: realClock,
    });
    // Taken last, because simulated days pass while the daemon starts.
    const today = localDate(clock.now(), TIME_ZONE);
    const last_day = lastVisitDay(today);
    dropExport(join(folder, 'dropbox', 'inbox'), today);
    stdout.write(`An export of ${APPOINTMENTS} appointments was dropped into dropbox/inbox/.\n`);
    const ending = new AbortController();
    const running = daemon.run(AbortSignal.any([signal, ending.signal]));
    try {
      const read = () => countSituations(daemon.store.db, clock.now());
      const counts = await follow(read, { stdout, clock, signal, running });
      await listWritten(daemon.store.db, folder, signal);
      tellResult(stdout, folder, counts);
      if (!is_ending && !signal.aborted) {
        const morning = startOfDay(last_day, TIME_ZONE) + MORNING_HOUR * HOUR_MS;
        const left_ms = Math.max(0, morning - clock.now());
        stdout.write(`\nThe clock advances to the morning of the last visits, ${last_day}.\n`);
        await clock.sleep(left_ms, signal).catch(() => {});
        await slowSandbox(sandbox.url);
        slowDown();
        stdout.write(`\n  Office page: ${address} (user demo, password ${page.password})\n`);
        stdout.write(
          '\nIt runs until Ctrl-C, now at normal speed. Drop another CSV file into ' +
            'dropbox/inbox/ and watch dropbox/outbox/.\n',
        );
        await Promise.race([untilStopped(signal), running]);
      }
      if (!signal.aborted && !isSettled(counts)) throw notSettled(folder, counts);
    } finally {
      ending.abort();
      await running.finally(() => daemon.close());
      log_stream.end();
    }
  } finally {
    await sandbox.stop();
  }
}

/**
 * Prints a line after each change, until every appointment is settled or the deadline is reached.
 */
async function follow(
  read: () => Promise<AllCounts>,
  {
    stdout,
    clock,
    signal,
    running,
  }: { stdout: Output; clock: Clock; signal: AbortSignal; running: Promise<void> },
): Promise<AllCounts> {
  const started_ms = Date.now();
  let said = '';
  let counts = await read();
  while (!signal.aborted && !isSettled(counts) && Date.now() - started_ms < DEADLINE_MS) {
    for (let look = 0; look < LOOKS_PER_PROGRESS && !isSettled(counts); look += 1) {
      const pause_ms = (PROGRESS_MS / LOOKS_PER_PROGRESS) * SPEED;
      await Promise.race([clock.sleep(pause_ms, signal).catch(() => {}), running]);
      counts = await read();
    }
    const line = counts.total === 0 ? '' : summaryLine(counts);
    if (line === said) continue;
    said = line;
    stdout.write(`${localDateTime(clock.now(), TIME_ZONE).replace('T', ' ')}  ${line}\n`);
  }
  return counts;
}

/** Waits until attention.csv has every entry, or until the wait for it ends. */
async function listWritten(db: Db, folder: string, signal: AbortSignal): Promise<void> {
  const file = join(folder, 'dropbox', 'outbox', 'attention.csv');
  const until_ms = Date.now() + LIST_WAIT_MS;
  while (!signal.aborted && Date.now() < until_ms) {
    const entries = (await openAttention(db)).length;
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\r\n') : [];
    // The header and at least one line, which may say that nothing needs you.
    if (lines.length === 1 + Math.max(1, entries)) return;
    await realClock.sleep(LIST_LOOK_MS, signal).catch(() => {});
  }
}

/**
 * Returns whether every appointment is delivered, on the attention list, or closed with a reason
 * (G2).
 */
function isSettled(counts: AllCounts): boolean {
  return (
    counts.total > 0 && counts.waiting + counts.planned + counts.asking + counts.answered === 0
  );
}

/** Describes the result for all appointments, also after an interrupted demo. */
export function resultWords(counts: AllCounts): string {
  const { total, delivered, attention } = counts;
  const under_way = counts.waiting + counts.planned + counts.asking + counts.answered;
  const closed = total - delivered - attention - under_way;
  const parts = [
    `${delivered} of ${total} appointments are verified`,
    `${attention} ${attention === 1 ? 'needs' : 'need'} you`,
    ...(under_way > 0 ? [`${under_way} ${under_way === 1 ? 'is' : 'are'} still in progress`] : []),
    ...(closed > 0 ? [`${closed} ${closed === 1 ? 'is' : 'are'} closed with a reason`] : []),
  ];
  return `${parts.join('; ')}.`;
}

function tellResult(stdout: Output, folder: string, counts: AllCounts): void {
  const outbox = join(folder, 'dropbox', 'outbox');
  const files = readdirSync(outbox).filter((name) => name.startsWith('eligibility-'));
  const records = readdirSync(join(outbox, 'records')).length;
  const lines = [
    '',
    resultWords(counts),
    '',
    `  ${outbox}/`,
    '    schedule.csv, schedule.xlsx: the next days on one page, for the front desk',
    `    ${files[0] ?? 'eligibility-….csv'}` +
      `${files.length > 1 ? ` and ${files.length - 1} more` : ''}: ` +
      'one line for each answer, for the office',
    `    records/: ${records} full records as JSON, for programs`,
    '    attention.csv: what needs you, why, and what to do',
    '',
    `  The log:          ${join(folder, 'eligd.log')}`,
    `  Status summary:   bin/eligd status --config ${join(folder, 'eligd.yaml')}`,
    `  One history:      bin/eligd explain 7001 --config ${join(folder, 'eligd.yaml')}`,
    `  When you are done: rm -r ${folder}`,
    '',
  ];
  stdout.write(lines.join('\n'));
}

function notSettled(folder: string, counts: AllCounts): EligdError {
  return new EligdError('failed', {
    what: `The demo did not finish within ${DEADLINE_MS / 1000} seconds: ${summaryLine(counts)}`,
    why: 'This machine was too busy, or something is wrong.',
    next: `Read ${join(folder, 'eligd.log')}, or run the demo again.`,
  });
}

/** Slows the sandbox to real time, like the daemon. */
async function slowSandbox(url: string): Promise<void> {
  const agent = createHttpAgent(() => DIRECT, { connections: 1, timeout_ms: 10_000 });
  await agent.request({
    origin: url,
    path: '/_sandbox/clock',
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from('sandbox:sandbox').toString('base64')}` },
    body: JSON.stringify({ speed: 1 }),
  });
  await agent.destroy();
}

async function addPageUser(config: Config, password: string): Promise<void> {
  const path = usersPath(config);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const hash = await hashPassword(password);
  new UserFile(path).write([{ name: 'demo', role: 'admin', hash }]);
}

/** Returns a port that no program is using now. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise<void>((resolve) => probe.close(() => resolve()));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function writeConfiguration(folder: string, base_url: string, page_port: number): string {
  const file = join(folder, 'eligd.yaml');
  const yaml = `clinic:
  name: Riverside Dental
  time_zone: ${TIME_ZONE}
  specialty: dental
  tax_id: "123456789"
  billing_npi: "1234567893"
  in_network: true
service:
  base_url: ${base_url}
  auth: oauth
connectors:
  - id: front-desk
    type: csv
    folder: ./dropbox
state:
  path: ./state/eligd.db
policy:
  late_visits: buy # the demo may begin on a weekend
  min_lead_hours: 0
  dollars_per_month: 1000
prices:
  per_inquiry: 12.50
backup:
  cron: null # the folder is deleted after the demo
office:
  listen: 127.0.0.1:${page_port}
schedule:
  pull_seconds: 3600 # on the demo's clock
`;
  writeFileSync(file, yaml, { mode: 0o600 });
  writeFileSync(
    join(folder, '.env'),
    'ELIGD_SERVICE_USERNAME=clinic\nELIGD_SERVICE_PASSWORD=sandbox\n',
    { mode: 0o600 },
  );
  return file;
}

/** Writes the export under a temporary name and renames it, as a well-behaved export does. */
function dropExport(inbox: string, today: string): void {
  mkdirSync(inbox, { recursive: true, mode: 0o700 });
  const temporary = join(inbox, '.appointments.csv.part');
  writeFileSync(temporary, demoExport(today, APPOINTMENTS), { mode: 0o600 });
  renameSync(temporary, join(inbox, 'appointments.csv'));
}

/**
 * Starts the sandbox as a separate process, like the real service; the daemon and the sandbox share
 * only the anchor of the clock.
 */
async function startSandboxProcess(
  folder: string,
  anchor_ms: number,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const args = [
    'sandbox',
    '--port',
    '0',
    '--db',
    join(folder, 'sandbox.db'),
    '--speed',
    String(SPEED),
    '--anchor-ms',
    String(anchor_ms),
    '--json',
  ];
  const [program, ...own] = OWN_PROCESS;
  const child = spawn(program, [...own, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  try {
    return { url: await announcedUrl(child), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function announcedUrl(child: ChildProcess): Promise<string> {
  let printed = '';
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  for await (const chunk of child.stdout ?? []) {
    printed += String(chunk);
    const found = /"url": "([^"]+)"/.exec(printed);
    if (found?.[1] !== undefined) return found[1];
  }
  throw new EligdError('failed', {
    what: 'The sandbox of the demo did not start.',
    why: complaint.trim() === '' ? 'It stopped without a message.' : complaint.trim(),
    next: 'Run "bin/eligd sandbox" to see more.',
  });
}
