/**
 * A clinic's server whose processes the test really kills: the daemon and the service are child
 * processes, and the drop folder and the webhook are real. It uses no test runner, so that a
 * command can run it for hours (`npm run kills`).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { readCsv } from '../../support/csv-text.ts';
import { freePort } from '../../support/free-port.ts';
import { exportOf, type Visit, visits } from '../../support/visits.ts';

const ELIGD = join(import.meta.dirname, '../../../bin/eligd');
const OTHER_SERVICE = join(import.meta.dirname, 'other-service.ts');
/** By then, every service lists what it has accepted, and eligd knows it. */
const LISTED_MS = 4_000;
const RELEASED_MS_MAX = 60_000;
const DAY_MS = 86_400_000;
/** How many inquiries a repeated event has at most. */
const EVENT_INQUIRIES = 20;
/** Log events that show progress. */
const USEFUL = new Set([
  'batch_accepted',
  'reconciliation_done',
  'inquiries_sent',
  'inquiry_found',
  'answer_received',
  'records_delivered',
  'csv_file_read',
  'csv_file_repeated',
]);

export type Called = {
  id: string;
  external_id: string | null;
  status: string;
  request: { member_id: string; dob: string };
};

/** `other`: the second implementation of the service, in `other-service.ts`. */
export type ServiceKind = 'sandbox' | 'other';

export type Running = {
  child: ChildProcess;
  began: number;
  ended: Promise<{ code: number | null; signal: string | null }>;
};

export class KillClinic {
  readonly folder: string;
  readonly visits: Visit[] = [];
  /** The time from a start until the first piece of work is done, in milliseconds. */
  readonly to_useful_ms: number[] = [];
  readonly #service_port: number;
  readonly #hook_port: number;
  readonly #anchor_ms = Date.now();
  readonly #kind: ServiceKind;
  #service: Running | null = null;
  daemon: Running | null = null;
  #files = 0;
  reports = { sent: 0, taken: 0 };

  private constructor(
    folder: string,
    service_port: number,
    hook_port: number,
    service: ServiceKind,
  ) {
    this.folder = folder;
    this.#kind = service;
    this.#service_port = service_port;
    this.#hook_port = hook_port;
  }

  static async make(service: ServiceKind): Promise<KillClinic> {
    const folder = mkdtempSync(join(tmpdir(), 'eligd-kills-'));
    const clinic = new KillClinic(folder, await freePort(), await freePort(), service);
    clinic.#configure();
    await clinic.startService();
    return clinic;
  }

  #configure(): void {
    const hook = `http://127.0.0.1:${this.#hook_port}/hook`;
    const config = {
      clinic: {
        name: 'Riverside Dental',
        time_zone: 'America/Chicago',
        specialty: 'dental',
        tax_id: '123456789',
        billing_npi: '1234567893',
      },
      service: {
        base_url: `http://127.0.0.1:${this.#service_port}`,
        auth: 'basic',
        settle_seconds: 1,
        timeout_seconds: 2,
        submission: { max_per_minute: 0, batch_size: 3, concurrency: 2 },
      },
      connectors: [{ id: 'front-desk', type: 'csv', folder: './dropbox', stable_seconds: 0 }],
      webhook: {
        listen: `127.0.0.1:${this.#hook_port}`,
        public_url: hook,
        update_frequency_minutes: 1,
      },
      state: { path: './state/eligd.db' },
      policy: { look_ahead_days: 365, min_lead_hours: 0, late_visits: 'buy' },
      polling: { interval_minutes: 0.05, urgent_interval_minutes: 0.05 },
      schedule: { pull_seconds: 0.2 },
      backup: { cron: null },
    };
    writeFileSync(join(this.folder, 'eligd.yaml'), JSON.stringify(config));
    const secrets = ['PROJECT_ID=sandbox', 'API_KEY=sandbox'].map(
      (line) => `ELIGD_SERVICE_${line}\n`,
    );
    writeFileSync(join(this.folder, '.env'), `${secrets.join('')}ELIGD_WEBHOOK_SECRET=sandbox\n`, {
      mode: 0o600,
    });
    mkdirSync(join(this.folder, 'dropbox/inbox'), { recursive: true });
  }

  // ---- processes

  #spawn(program: string, args: string[]): Running {
    const child = spawn(program, args, {
      env: { PATH: process.env.PATH ?? '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<{ code: number | null; signal: string | null }>((done) => {
      child.on('close', (code, signal) => done({ code, signal }));
    });
    return { child, began: performance.now(), ended };
  }

  async startService(): Promise<void> {
    const { folder } = this;
    const port = ['--port', String(this.#service_port)];
    if (this.#kind === 'other') {
      const file = join(folder, 'service.jsonl');
      this.#service = this.#spawn(process.execPath, [OTHER_SERVICE, ...port, '--file', file]);
      this.#service.child.stdout?.resume();
      this.#service.child.stderr?.resume();
    } else {
      const kept = ['--db', join(folder, 'service.db'), '--anchor-ms', String(this.#anchor_ms)];
      this.#service = this.#spawn(ELIGD, ['sandbox', ...port, ...kept]);
    }
    for (;;) {
      if (await this.ask('GET', '/_sandbox/ledger?inquiries=no').catch(() => null)) return;
      await sleep(20);
    }
  }

  async killService(): Promise<void> {
    this.#service?.child.kill('SIGKILL');
    await this.#service?.ended;
  }

  /**
   * Starts the daemon. `started` resolves when the daemon says so, `useful` when it has done some
   * work.
   */
  startDaemon(): { started: Promise<void>; useful: Promise<void> } {
    const running = this.#spawn(ELIGD, ['run', '--config', join(this.folder, 'eligd.yaml')]);
    this.daemon = running;
    const started = Promise.withResolvers<void>();
    const useful = Promise.withResolvers<void>();
    let was_useful = false;
    running.child.stderr?.resume();
    createInterface({ input: running.child.stdout! }).on('line', (line) => {
      const event = /"event":"(\w+)"/.exec(line)?.[1] ?? '';
      if (event === 'daemon_started') started.resolve();
      if (!was_useful && USEFUL.has(event)) {
        was_useful = true;
        this.to_useful_ms.push(performance.now() - running.began);
        useful.resolve();
      }
    });
    void running.ended.then(() => {
      started.resolve();
      useful.resolve();
    });
    return { started: started.promise, useful: useful.promise };
  }

  async killDaemon(
    signal: NodeJS.Signals = 'SIGKILL',
  ): Promise<{ code: number | null; signal: string | null }> {
    this.daemon?.child.kill(signal);
    const ended = await this.daemon?.ended;
    this.daemon = null;
    return ended ?? { code: null, signal: null };
  }

  /** Runs a command to its end. */
  async #command(...args: string[]): Promise<{ code: number | null; said: string }> {
    const { child, ended } = this.#spawn(ELIGD, [
      ...args,
      '--config',
      join(this.folder, 'eligd.yaml'),
    ]);
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (part: Buffer) => {
        said += part.toString();
      });
    return { code: (await ended).code, said };
  }

  async #done(...args: string[]): Promise<void> {
    const { code, said } = await this.#command(...args);
    if (code !== 0) throw new Error(`eligd ${args.join(' ')} ended with ${code}: ${said}`);
  }

  get #backup(): string {
    return join(this.folder, 'kept', 'eligd.db');
  }

  async backUp(): Promise<void> {
    // An early kill may have left a database without tables.
    await this.startDaemon().started;
    await this.killDaemon();
    mkdirSync(join(this.folder, 'kept'), { recursive: true });
    await this.#done('backup', this.#backup);
  }

  /** Puts the older database back, as an operator does after a broken disk. */
  async restore(): Promise<void> {
    await sleep(LISTED_MS);
    await this.#done('restore', this.#backup);
  }

  /**
   * Deletes the database. The practice exports all its visits again, and the operator confirms the
   * new database once eligd asks for it.
   */
  async loseDatabase(): Promise<void> {
    await sleep(LISTED_MS);
    for (const end of ['', '-wal', '-shm', '.lock'])
      rmSync(join(this.folder, 'state', `eligd.db${end}`), { force: true });
    this.#write(this.visits);
    this.startDaemon();
    const until = performance.now() + RELEASED_MS_MAX;
    while (!(await this.#command('release', 'submission')).said.includes('there was one before')) {
      if (performance.now() > until) throw new Error('eligd did not stop at the new database.');
      await sleep(500);
    }
    await this.killDaemon();
  }

  async end(): Promise<void> {
    await this.killDaemon();
    await this.killService();
  }

  // ---- the world outside

  async ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`http://127.0.0.1:${this.#service_port}${path}`, {
      method,
      headers: {
        authorization: `Basic ${btoa('sandbox:sandbox')}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(5_000),
    });
    return (await response.json()) as unknown;
  }

  async ledger(): Promise<Called[]> {
    return ((await this.ask('GET', '/_sandbox/ledger')) as { inquiries: Called[] }).inquiries;
  }

  /**
   * A file with a few new visits on their own day, so that no other visit seems to have vanished.
   */
  drop(count: number): void {
    const day = new Date(Date.now() + (6 + (this.#files % 340)) * DAY_MS)
      .toISOString()
      .slice(0, 10);
    const first = this.visits.length;
    const fresh = visits(count, (index) => ({
      appointment_id: `V${first + index}`,
      appointment_at: `${day}T${10 + (index % 6)}:${10 + (this.#files % 40)}`,
      patient_id: `P${first + index}`,
      member_id: `ACTIVE${10_000 + first + index}`,
    }));
    this.visits.push(...fresh);
    this.#write(fresh);
  }

  #write(exported: Visit[]): void {
    this.#files += 1;
    const inbox = join(this.folder, 'dropbox/inbox');
    writeFileSync(join(inbox, `.part-${this.#files}`), exportOf(exported));
    renameSync(join(inbox, `.part-${this.#files}`), join(inbox, `export-${this.#files}.csv`));
  }

  /** An event about some inquiries, as the service would send it: new, repeated, or forged. */
  async report(): Promise<void> {
    const called = await this.ledger().catch(() => []);
    const some = called.slice(-5).map(({ id, request }) => ({
      id,
      status: 'IN_PROGRESS',
      summary: '',
      results: null,
      request,
    }));
    const hash = `report-${Math.floor(Math.random() * 1000)}`;
    await this.#tell(some, hash, Math.random() < 0.1 ? 'forged' : 'sandbox');
  }

  /**
   * Sends every inquiry as the service answers it now, like a service that repeats the events that
   * nobody took. The test advances the service's clock and not the daemon's: an answer can come
   * hours before its completion date, and if its event is lost, the daemon polls for it on that
   * date (`nextPollAt`), long after the test.
   */
  async repeatEvents(): Promise<void> {
    const called = await this.ledger();
    for (let first = 0; first < called.length; first += EVENT_INQUIRIES) {
      const some = await Promise.all(
        called
          .slice(first, first + EVENT_INQUIRIES)
          .map(({ id }) => this.ask('GET', `/api/v0/dental/inquiries/${id}`)),
      );
      await this.#tell(some, randomUUID(), 'sandbox');
    }
  }

  async #tell(inquiries: unknown[], message_hash: string, secret: string): Promise<void> {
    const body = JSON.stringify({ subscription_id: 's', inquiries, message_hash });
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    this.reports.sent += 1;
    const answered = await fetch(`http://127.0.0.1:${this.#hook_port}/hook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-signature': signature },
      body,
      signal: AbortSignal.timeout(2_000),
    }).catch(() => null);
    if (answered?.status === 200) this.reports.taken += 1;
  }

  /** The inquiries whose answers were written back, by appointment. */
  written(): Map<string, Set<string>> {
    const outbox = join(this.folder, 'dropbox/outbox');
    const found = new Map<string, Set<string>>();
    for (const name of existsSync(outbox) ? readdirSync(outbox) : []) {
      if (!/^eligibility-.*\.csv$/.test(name)) continue;
      for (const line of readCsv(readFileSync(join(outbox, name), 'utf8'))) {
        const ids = found.get(line.appointment_id ?? '') ?? new Set();
        found.set(line.appointment_id ?? '', ids.add(line.inquiry_id ?? ''));
      }
    }
    return found;
  }
}
