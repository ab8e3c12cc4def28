/**
 * A clinic whose days pass in seconds: the real daemon with its own files and sockets, the sandbox
 * as the calling service, an office that exports its appointments every morning, and a service
 * manager that restarts the daemon.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createDaemon, type Daemon } from '../../src/daemon/index.ts';
import { EligdError } from '../../src/domain/errors.ts';
import { addDays, dayOfWeek, instantOf, localDate } from '../../src/domain/time.ts';
import { loadConfig } from '../../src/ops/config.ts';
import { createEnv } from '../../src/ops/env.ts';
import { openSecrets, serviceCredentials } from '../../src/ops/secrets.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { run } from '../cli/capture.ts';
import { SteppedClock } from './clock.ts';
import './machine.ts';
import { anyPort, CuttableProxy, Wire } from './wire.ts';

export const ZONE = 'America/Chicago';
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
const IDLE_MS = 20 * MINUTE_MS;
const VISITS_A_DAY = 4;
const EXPORT_DAYS = 7;
/** How long systemd waits before it restarts the daemon; the wait grows. */
const RESTART_MS = [10_000, 30_000, 5 * MINUTE_MS];

export type Settings = { [key: string]: unknown };

export type Told = { kind: string; name: string; about: string | null; details: string | null };

export type Visit = Record<string, string>;

/** The office's export on a day; null: no export on that day. */
export type Export = (day: string, visits: Visit[]) => string | null;

const realNow = Date.now;

export class SimulatedClinic {
  readonly folder: string;
  readonly clock: SteppedClock;
  readonly wire: Wire;
  readonly proxy: CuttableProxy;
  readonly monitoring_port: number;
  /** Another port on which this clinic listens. */
  readonly spare_port: number;
  readonly log: { event: string; fields: Record<string, unknown> }[] = [];
  /** The office's exports from now on. */
  exports: Export = (_day, visits) => csv(visits);
  /** The time of the export on a day, in minutes after 6:00. */
  exportMinute: (day: string) => number = () => 30;
  #sandbox: Sandbox | null = null;
  #daemon: { daemon: Daemon; stop: AbortController; ended: Promise<void> } | null = null;
  #is_on = false;
  #failures = 0;
  #booted_at: number;

  private constructor(
    folder: string,
    clock: SteppedClock,
    wires: { wire: Wire; proxy: CuttableProxy; monitoring: number; spare: number },
  ) {
    this.folder = folder;
    this.clock = clock;
    this.wire = wires.wire;
    this.proxy = wires.proxy;
    this.#booted_at = clock.now() - HOUR_MS;
    this.monitoring_port = wires.monitoring;
    this.spare_port = wires.spare;
  }

  /** `from`: the folder of an older clinic, whose life continues; null: a new clinic. */
  static async open(start_ms: number, from: string | null): Promise<SimulatedClinic> {
    const base = existsSync('/dev/shm') ? '/dev/shm' : undefined;
    const folder = mkdtempSync(join(base ?? '/tmp', 'eligd-faults-'));
    if (from !== null) execFileSync('cp', ['-a', `${from}/.`, folder]);
    const clock = new SteppedClock(start_ms);
    Date.now = () => clock.now();
    let clinic: SimulatedClinic | null = null;
    const wire = await Wire.lay(0, () => clinic?.sandboxPort() ?? 0);
    const proxy = await CuttableProxy.on();
    const [monitoring, spare] = [await anyPort(), await anyPort()];
    clinic = new SimulatedClinic(folder, clock, { wire, proxy, monitoring, spare });
    clinic.configure({});
    await clinic.#startSandbox();
    return clinic;
  }

  sandboxPort(): number {
    return this.#sandbox?.port ?? 0;
  }

  async #startSandbox(): Promise<void> {
    this.#sandbox = await startSandbox({
      port: 0,
      db: join(this.folder, 'service.db'),
      seed: 1,
      speed: 1,
      anchor_ms: this.clock.trueNow(),
      now: () => this.clock.trueNow(),
    });
  }

  /** Writes the configuration; the daemon reads it at its next start. */
  configure(settings: Settings, secrets: Record<string, string> = {}): void {
    const {
      connectors = [],
      alerts = {},
      front_desk = {},
      ...rest
    } = settings as {
      front_desk?: object;
      connectors?: unknown[];
      alerts?: { targets?: unknown[] };
    };
    const { targets = [] } = alerts;
    const config = merged(
      {
        clinic: {
          name: 'Riverside Dental',
          time_zone: ZONE,
          specialty: 'dental',
          tax_id: '123456789',
          billing_npi: '1234567893',
        },
        service: {
          base_url: `http://127.0.0.1:${this.wire.port}`,
          auth: 'oauth',
          external_id: '{connector}:{appointment}',
          submission: { max_per_minute: 0 },
        },
        connectors: [
          { id: 'front-desk', type: 'csv', folder: './dropbox', stable_seconds: 0, ...front_desk },
          ...connectors,
        ],
        state: { path: './state/eligd.db' },
        policy: { attention: { not_eligible: false, limit_reached: false } },
        schedule: { pull_seconds: (10 * MINUTE_MS) / 1000 },
        // The clock is years ahead of the file times on this disk.
        retention: { processed_days: null, rejected_days: null, outbox_days: null },
        monitoring: { listen: `127.0.0.1:${this.monitoring_port}` },
        alerts: { targets: [{ id: 'record', type: 'file', path: './alerts.jsonl' }, ...targets] },
      },
      rest,
    );
    writeFileSync(join(this.folder, 'eligd.yaml'), stringify(config));
    const all = {
      ELIGD_SERVICE_USERNAME: 'clinic',
      ELIGD_SERVICE_PASSWORD: 'sandbox',
      ELIGD_WEBHOOK_SECRET: 'sandbox',
      ...secrets,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(this.folder, '.env'), lines.join(''), { mode: 0o600 });
    mkdirSync(join(this.folder, 'dropbox/inbox'), { recursive: true, mode: 0o700 });
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  drop(name: string, text: string): void {
    const inbox = this.path('dropbox/inbox');
    if (existsSync(inbox)) writeFileSync(join(inbox, name), text, { mode: 0o600 });
  }

  /** Turns the computer on: the daemon starts, and is restarted when it exits with an error. */
  async turnOn(): Promise<void> {
    this.#is_on = true;
    await this.#start();
  }

  /** `how`: a clean stop, or a power failure. */
  async turnOff(): Promise<void> {
    this.#is_on = false;
    const running = this.#daemon;
    this.#daemon = null;
    running?.stop.abort();
    await running?.ended;
  }

  /**
   * Kills the process; with `off_ms`, the power fails, and is back after that time. The disk keeps
   * its content from that moment.
   */
  async crash(off_ms = 0): Promise<void> {
    await this.clock.quiet();
    const [state, left] = [this.path('state'), this.path('state.left')];
    execFileSync('cp', ['-a', state, left]);
    await this.turnOff();
    rmSync(state, { recursive: true });
    renameSync(left, state);
    if (off_ms > 0) {
      await this.live(this.clock.trueNow() + off_ms);
      this.#booted_at = this.clock.now();
    }
    await this.turnOn();
  }

  async restart(): Promise<void> {
    await this.turnOff();
    await this.turnOn();
  }

  async #start(): Promise<void> {
    try {
      const config = await loadConfig(this.path('eligd.yaml'));
      const secrets = openSecrets(this.folder, {});
      const daemon = await createDaemon({
        config,
        credentials: serviceCredentials(secrets, config.service.auth),
        secrets,
        env: createEnv({
          clock: this.clock,
          log: (event: string, fields: object = {}) => this.#onLog(event, { ...fields }),
        }),
        version: '0.0.0',
        idle_ms: IDLE_MS,
        booted_at: this.#booted_at,
      });
      const stop = new AbortController();
      const ended = daemon
        .run(stop.signal)
        .finally(() => daemon.close())
        .then(
          () => {},
          (error: unknown) => {
            if (this.#daemon?.daemon === daemon) this.#daemon = null;
            this.#restartLater(error);
          },
        );
      this.#daemon = { daemon, stop, ended };
      this.#failures = 0;
    } catch (error) {
      this.#restartLater(error);
    }
  }

  /** `Restart=on-failure`, and `OnFailure=` of the unit. */
  #restartLater(error: unknown): void {
    if (!this.#is_on) return;
    if (!(error instanceof EligdError)) throw error;
    const status = error.kind === 'configuration' ? '78' : error.kind === 'temporary' ? '75' : '1';
    this.log.push({ event: 'ended', fields: { status, what: error.what } });
    const wait_ms = RESTART_MS[Math.min(this.#failures, RESTART_MS.length - 1)] ?? 0;
    this.#failures += 1;
    void this.command('alert', 'failed', '--status', status)
      .then(() => (status === '78' ? undefined : this.clock.sleep(wait_ms)))
      .then(() =>
        status !== '78' && this.#is_on && this.#daemon === null ? this.#start() : undefined,
      );
  }

  #onLog(event: string, fields: Record<string, unknown>): void {
    this.log.push({ event, fields });
    // The files on this disk have the machine's time.
    if (event === 'backup_written') this.#dateBackups();
  }

  #dateBackups(): void {
    const folder = this.path('state/backups');
    const newest = readdirSync(folder).toSorted().at(-1);
    const seconds = this.clock.now() / 1000;
    if (newest !== undefined) utimesSync(join(folder, newest), seconds, seconds);
  }

  /** A command of a person at this clinic. */
  async command(...args: string[]): ReturnType<typeof run> {
    const environment = { STATE_DIRECTORY: this.path('state') };
    return await run([...args, '--config', this.path('eligd.yaml')], {
      cwd: this.folder,
      environment,
    });
  }

  /** Runs the clinic until `until_ms`: the office exports on its business days. */
  async live(until_ms: number): Promise<void> {
    for (;;) {
      const next = this.#nextExport();
      if (next.at > until_ms) break;
      await this.clock.passUntil(next.at);
      const text = this.exports(next.day, visitsFrom(next.day));
      if (text !== null) this.drop(`appointments-${next.day}.csv`, text);
      await this.clock.passUntil(next.at + 1);
    }
    await this.clock.passUntil(until_ms);
    await this.clock.quiet();
  }

  /** The office starts the day's export by hand. */
  exportNow(): void {
    const day = localDate(this.clock.trueNow(), ZONE);
    this.drop(`again-${day}.csv`, this.exports(day, visitsFrom(day)) ?? '');
  }

  #nextExport(): { day: string; at: number } {
    let day = localDate(this.clock.trueNow(), ZONE);
    for (;;) {
      const at = instantOf(day, 6, ZONE, this.exportMinute(day));
      if (dayOfWeek(day) <= 5 && at > this.clock.trueNow()) return { day, at };
      day = addDays(day, 1);
    }
  }

  /** Every message that was sent, in order. */
  told(): Told[] {
    const file = this.path('alerts.jsonl');
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line) as Told);
  }

  /** The sandbox's own routes. */
  async sandbox(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${this.#sandbox?.url}/_sandbox/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text === '' ? null : JSON.parse(text);
  }

  /** `null`: no server answers there. */
  async monitor(path: string): Promise<{ status: number; text: string } | null> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.monitoring_port}${path}`);
      return { status: response.status, text: await response.text() };
    } catch {
      return null;
    }
  }

  async close(keep = false): Promise<void> {
    await this.turnOff();
    await this.wire.cut();
    await this.proxy.close();
    await this.#sandbox?.close();
    Date.now = realNow;
    if (!keep) rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The appointments of the coming days in the practice management system on `day`. */
function visitsFrom(day: string): Visit[] {
  const days = Array.from({ length: EXPORT_DAYS }, (_, ahead) => addDays(day, ahead + 1));
  return days
    .filter((each) => dayOfWeek(each) <= 5)
    .flatMap((each) => Array.from({ length: VISITS_A_DAY }, (_, index) => visitOn(each, index)));
}

/** Each visit has another patient. */
export function visitOn(day: string, index: number, change: Partial<Visit> = {}): Visit {
  const number = Number(day.replaceAll('-', '')) * 100 + index;
  return {
    appointment_id: String(number),
    appointment_at: `${day}T${String(9 + (index % 8)).padStart(2, '0')}:00`,
    status: 'booked',
    patient_id: `P${number}`,
    patient_name: `Testpatient ${'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[index % 26]}`,
    dob: `19${60 + (index % 30)}-03-${String(1 + (number % 28)).padStart(2, '0')}`,
    carrier: index % 2 === 0 ? 'Delta Dental of Illinois' : 'Cigna Dental',
    payor_id: index % 2 === 0 ? '05030' : '62308',
    member_id: `ACTIVE${number}`,
    rendering_npi: '1245319599',
    procedure_codes: 'D0120;D1110',
    ...change,
  } as Visit;
}

export function csv(visits: readonly Visit[]): string {
  const header = Object.keys(visitOn('2030-01-01', 0));
  return [header, ...visits.map((visit) => header.map((name) => visit[name] ?? ''))]
    .map((cells) => `${cells.join(',')}\r\n`)
    .join('');
}

/** Webhook events arrive at the spare port. */
export function webhookAt({ spare_port }: SimulatedClinic): Settings {
  const public_url = `http://127.0.0.1:${spare_port}/hook`;
  return {
    webhook: { listen: `127.0.0.1:${spare_port}`, public_url },
    service: { allow_insecure: true },
  };
}

function merged(base: Settings, over: Settings): Settings {
  const result: Settings = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const before = result[key];
    const both = [before, value].every(
      (each) => typeof each === 'object' && each !== null && !Array.isArray(each),
    );
    result[key] = both ? merged(before as Settings, value as Settings) : value;
  }
  return result;
}
