/**
 * `npm run bench`: the speed of eligd next to the bare tools on the same machine in the same run,
 * so the ratios mean something anywhere. Only the office page and the commands have a limit, above
 * which the bench fails. Every measurement is a separate process.
 */
import { execFileSync, fork } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchCommands } from './commands.ts';
import { benchCost } from './cost-table.ts';
import { benchEncryption } from './encryption.ts';
import type { FortnightResult } from './fortnight.ts';
import type { SendingJob, SendingResult } from './hl7-sender.ts';
import type { AnsweringJob } from './hl7-server.ts';
import { benchIdle } from './idle.ts';
import type { IntakeJob, IntakeResult } from './intake.ts';
import type { LatencyResult } from './latency.ts';
import type { LongRunJob, LongRunResult } from './long-run.ts';
import { inTurn, measureInChild, printTable, type Spread, spread } from './measure.ts';
import type { MetricsResult } from './metrics.ts';
import type { OfficeResult } from './office.ts';
import { benchOnce } from './once.ts';
import { benchSize } from './size.ts';
import type { SubmitJob, SubmitResult } from './submit.ts';
import { BODY_BYTES, benchReceiver, DELIVERIES } from './webhook.ts';

const ROUNDS = 5;
const MEMORY_ROUNDS = 3;
const FEW_ROWS = 1_000;
const SMALL_ROWS = 20_000;
const LARGE_ROWS = 100_000;
const SINGLES = 2_000;
const BULKED = 10_000;
const BULK_SIZE = 50;
const CONCURRENCY = 4;
const ANSWER_WAVES = 10;
const VISITS_A_WAVE = 600;
const HL7_MESSAGES = 16_000;
/** How long people wait for an office page, on a machine that does nothing else. */
const OFFICE_PAGE_MS_MAX = 200;

const MAKE = join(import.meta.dirname, '../fixtures/csv/make.mjs');

/** `npm run bench -- hl7 submit`: only those. */
const chosen = process.argv.slice(2);
const started_ms = performance.now();
const folder = mkdtempSync(join(tmpdir(), 'eligd-bench-'));
const service = fork(join(import.meta.dirname, 'service.ts'), { stdio: 'inherit' });
try {
  console.log(
    `Node ${process.versions.node}, ${availableParallelism()} × ` +
      `${cpus()[0]?.model ?? 'unknown'}; medians\n`,
  );
  const port = await new Promise<unknown>((resolve, reject) => {
    service.once('message', resolve);
    service.once('exit', (code) =>
      reject(new Error(`The service of the bench ended with ${code}.`)),
    );
  });
  const parts = {
    intake: benchIntake,
    memory: benchMemory,
    submit: () => benchSubmit(`http://127.0.0.1:${port}`),
    idle: () => benchIdle(`http://127.0.0.1:${port}`),
    once: () => benchOnce(`http://127.0.0.1:${port}`),
    commands: () => benchCommands(`http://127.0.0.1:${port}`),
    size: () => benchRows(`http://127.0.0.1:${port}`),
    answers: benchAnswers,
    hl7: benchHl7,
    reports: benchReports,
    latency: benchLatency,
    metrics: benchMetrics,
    office: benchOffice,
    encryption: benchEncryption,
    fortnight: benchFortnight,
    cost: benchCost,
  };
  for (const [name, bench] of Object.entries(parts))
    if (chosen.length === 0 || chosen.includes(name)) await bench();
  console.log(`\n${Math.round((performance.now() - started_ms) / 1000)} s in all.`);
} finally {
  service.kill();
  rmSync(folder, { recursive: true });
}

function makeExport(rows: number): string {
  const file = join(folder, `${rows}.csv`);
  const args = [MAKE, '--shape', 'opendental', '--count', String(rows), '--seed', '1'];
  writeFileSync(file, execFileSync(process.execPath, args, { maxBuffer: 1024 * 1024 * 1024 }));
  return file;
}

async function readExport(reader: IntakeJob['reader'], original: string): Promise<IntakeResult> {
  // eligd takes its file away.
  const file = join(folder, 'next.csv');
  copyFileSync(original, file);
  return await measureInChild<IntakeResult>('intake.ts', { reader, file } satisfies IntakeJob);
}

async function benchIntake(): Promise<void> {
  const file = makeExport(SMALL_ROWS);
  const rate = async (reader: IntakeJob['reader']) => {
    const { rows, duration_ms } = await readExport(reader, file);
    return (rows / duration_ms) * 1000;
  };
  const measured = await inTurn(ROUNDS, {
    eligd: () => rate('eligd'),
    csv_parse: () => rate('csv-parse'),
  });
  const megabytes = (statSync(file).size / 1_000_000).toFixed(1);
  compare(`an export of ${SMALL_ROWS} rows (${megabytes} MB), rows per second`, [
    ['csv-parse alone', measured.csv_parse],
    ['eligd: file to committed rows', measured.eligd],
  ]);
}

async function benchMemory(): Promise<void> {
  const rows: [string, Spread][] = [];
  for (const count of [FEW_ROWS, SMALL_ROWS, LARGE_ROWS]) {
    const file = makeExport(count);
    const measured: number[] = [];
    for (let round = 0; round < MEMORY_ROUNDS; round += 1)
      measured.push((await readExport('eligd', file)).rss_mb);
    rows.push([`eligd: export of ${count} rows`, spread(measured)]);
  }
  compare('most memory of the process (RSS), MB', rows);
}

async function benchRows(base_url: string): Promise<void> {
  await benchSize(base_url, [
    { rows: FEW_ROWS, file: makeExport(FEW_ROWS) },
    { rows: LARGE_ROWS, file: makeExport(LARGE_ROWS), rounds: 1 },
  ]);
}

async function benchSubmit(base_url: string): Promise<void> {
  const rate = async (job: Omit<SubmitJob, 'base_url'>) => {
    const { inquiries, duration_ms } = await measureInChild<SubmitResult>('submit.ts', {
      ...job,
      base_url,
    } satisfies SubmitJob);
    return (inquiries / duration_ms) * 1000;
  };
  const single = { inquiries: SINGLES, batch_size: 1, concurrency: CONCURRENCY };
  const singles = await inTurn(ROUNDS, {
    eligd: () => rate({ ...single, sender: 'eligd' }),
    undici: () => rate({ ...single, sender: 'undici' }),
  });
  compare(`single creates, ${CONCURRENCY} at a time, inquiries per second`, [
    ['undici Pool alone', singles.undici],
    ['eligd: planned to open', singles.eligd],
  ]);
  // The stage sends one batch after another.
  const bulk = { inquiries: BULKED, batch_size: BULK_SIZE, concurrency: 1 };
  const bulks = await inTurn(ROUNDS, {
    eligd: () => rate({ ...bulk, sender: 'eligd' }),
    undici: () => rate({ ...bulk, sender: 'undici' }),
  });
  compare(`bulks of ${BULK_SIZE}, one at a time, inquiries per second`, [
    ['undici Pool alone', bulks.undici],
    ['eligd: planned to open', bulks.eligd],
  ]);
}

/** How fast HL7 messages are acknowledged: by eligd after its commit, by the others without one. */
async function benchHl7(): Promise<void> {
  const rate = async (server: AnsweringJob['server'], job: Omit<SendingJob, 'port'>) => {
    const answering = fork(join(import.meta.dirname, 'hl7-server.ts'), [
      JSON.stringify({ server } satisfies AnsweringJob),
    ]);
    try {
      const port = await new Promise<number>((resolve, reject) => {
        answering.once('message', (message) => resolve(Number(message)));
        answering.once('exit', (code) =>
          reject(new Error(`The server of the bench ended with ${code}.`)),
        );
      });
      const { messages, duration_ms } = await measureInChild<SendingResult>('hl7-sender.ts', {
        ...job,
        port,
      });
      return (messages / duration_ms) * 1000;
    } finally {
      answering.disconnect();
      await new Promise((resolve) => answering.once('exit', resolve));
    }
  };
  const jobs = [
    [
      '@medplum/hl7 as sender, 8 connections',
      { sender: 'medplum', messages: HL7_MESSAGES, connections: 8, window: 1 },
    ],
    [
      'one connection, 64 unanswered at a time',
      { sender: 'pipelined', messages: HL7_MESSAGES, connections: 1, window: 64 },
    ],
  ] as const;
  for (const [title, job] of jobs) {
    const measured = await inTurn(ROUNDS, {
      medplum: () => rate('medplum', job),
      net: () => rate('net', job),
      eligd: () => rate('eligd', job),
    });
    compare(`HL7 acknowledgments per second: ${title}`, [
      ['@medplum/hl7: keeps nothing', measured.medplum],
      ['bare node:net: keeps nothing', measured.net],
      ['eligd: after the commit', measured.eligd],
    ]);
  }
}

async function benchReports(): Promise<void> {
  for (const connections of [8, 32]) {
    const { bare, eligd } = await benchReceiver(connections);
    compare(
      `${DELIVERIES} reports of ${BODY_BYTES / 1000} KB, ${connections} connections, reports ` +
        'per second',
      [
        ['fastify: signature, JSON, answer', bare],
        ['eligd: committed, kept after SIGKILL', eligd],
      ],
    );
  }
}

async function benchLatency(): Promise<void> {
  const { latencies_ms } = await measureInChild<LatencyResult>('latency.ts', {});
  const { median, max } = spread(latencies_ms);
  printTable([
    ['from the end that the service reports to the record in outbox/, ms', 'median', 'max'],
    [`eligd: ${latencies_ms.length} answers`, String(Math.round(median)), String(Math.round(max))],
  ]);
  console.log();
}

async function benchFortnight(): Promise<void> {
  const rows = [];
  for (const is_told of [true, false]) {
    const { answered, by_kind, silences } = await measureInChild<FortnightResult>('fortnight.ts', {
      is_told,
    });
    const { asking, list, other, verification } = by_kind;
    const each = (count: number) => (count / answered).toFixed(2);
    const name = is_told ? `with webhooks (silent ${silences} times)` : 'without';
    const all = asking + verification + list + other;
    rows.push([
      name,
      String(answered),
      each(all),
      each(asking),
      each(verification),
      each(list + other),
    ]);
  }
  printTable([
    [
      'a fortnight of 100 visits a day, requests per answer',
      'answers',
      'in all but creates',
      'asking',
      'checks of calls',
      'lists, login, subscription',
    ],
    ...rows,
  ]);
  console.log();
}

/** Memory and space of a daemon while thousands of visits are answered and written. */
async function benchAnswers(): Promise<void> {
  const job: LongRunJob = { waves: ANSWER_WAVES, visits_a_wave: VISITS_A_WAVE };
  const run = await measureInChild<LongRunResult>('long-run.ts', job);
  printTable([
    ['a run with answers: written', 'RSS, MB', 'heap, MB'],
    ...run.samples.map(({ delivered, rss_mb, heap_mb }) =>
      [delivered, rss_mb, heap_mb].map((each) => String(each)),
    ),
  ]);
  const kilobytes = (bytes: number) => (bytes / 1_000).toFixed(1);
  const largest = run.tables
    .slice(0, 5)
    .map(({ name, bytes_per_visit }) => `${name} ${kilobytes(bytes_per_visit)}`);
  console.log(
    `For each visit ${Math.round(run.cpu_ms_per_visit)} ms of processor time, ` +
      `${kilobytes(run.log_bytes_per_visit)} KB of log, and ${kilobytes(run.bytes_per_visit)} KB ` +
      `of database (${largest.join(', ')}).\n`,
  );
}

/** A table in which every line is compared with the first one. */
function compare(title: string, measured: readonly [string, Spread][]): void {
  const base = measured[0]?.[1].median ?? Number.NaN;
  const number = (value: number) => Math.round(value).toLocaleString('en-US');
  const lines = measured.map(([name, { median, min, max, runs }]) => [
    name,
    number(median),
    number(min),
    number(max),
    String(runs),
    (median / base).toFixed(median < base ? 3 : 2),
  ]);
  printTable([[title, 'median', 'min', 'max', 'runs', 'ratio'], ...lines]);
  console.log();
}

/** A scrape of 30,000 delivered visits: 400 days of an ordinary clinic. */
async function benchMetrics(): Promise<void> {
  const { visits, scrape_ms, cpu_ms } = await measureInChild<MetricsResult>('metrics.ts', {});
  const median = scrape_ms[Math.floor(scrape_ms.length / 2)] ?? 0;
  console.log(
    `/metrics at ${visits} visits: ${median.toFixed(0)} ms (median), ` +
      `${cpu_ms.toFixed(0)} ms of processor time each, the first one after a start included`,
  );
}

/** The office page of the day with the most visits. */
async function benchOffice(): Promise<void> {
  const measured = await measureInChild<OfficeResult>('office.ts', {});
  const { visits, shown, bytes, page_ms, bare_ms } = measured;
  console.log(
    `The office's page with ${visits} visits on the books, ${shown} of them on it ` +
      `(${Math.round(bytes / 1000)} KB): ${page_ms.toFixed(0)} ms (median); a bare fastify with ` +
      `the same bytes: ${bare_ms.toFixed(1)} ms; ratio ${(page_ms / bare_ms).toFixed(0)}`,
  );
  if (page_ms <= OFFICE_PAGE_MS_MAX) return;
  console.error(`The page takes longer than ${OFFICE_PAGE_MS_MAX} ms.`);
  process.exitCode = 1;
}
