/**
 * One installation of eligd with the sandbox, on one clock that can be moved ahead. It uses no test
 * runner, because the matrix is a command (`npm run peers`).
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { stringify } from 'yaml';
import { createDaemon, type Daemon } from '../../src/daemon/index.ts';
import type { Clock } from '../../src/domain/env.ts';
import { loadConfig } from '../../src/ops/config.ts';
import { createEnv, realClock } from '../../src/ops/env.ts';
import { openSecrets, serviceCredentials } from '../../src/ops/secrets.ts';
import { type Behaviors, type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { readCsv } from '../support/csv-text.ts';
import { freePort } from '../support/free-port.ts';
import type { Called } from './tally.ts';

/** A Monday, 09:00 in Chicago; `visits` (test/support/visits.ts) are on its Friday. */
export const START_MS = Date.parse('2030-01-07T15:00:00Z');
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
const IDLE_MS = 40;
const STEPS_MAX = 500;
/** The speed of this clock: at this factor, a wait of a minute takes two seconds. */
const SPEED = 30;

export type WorldOptions = {
  behaviors?: Partial<Behaviors>;
  connectors?: readonly Record<string, unknown>[];
  service?: Record<string, unknown>;
  /** Whether eligd receives webhook events. */
  listens?: boolean;
};

export type Written = { line: Record<string, string>; record: Record<string, unknown> };

/** A fast clock that can be moved ahead; eligd and the sandbox share it. */
type FastClock = Clock & { pass: (duration_ms: number) => void };

function fastClock(): FastClock {
  const started = performance.now();
  let ahead_ms = 0;
  const elapsed = () => (performance.now() - started) * SPEED + ahead_ms;
  return {
    elapsed,
    now: () => Math.round(START_MS + elapsed()),
    sleep: (duration_ms, signal) => realClock.sleep(Math.max(1, duration_ms / SPEED), signal),
    pass: (duration_ms) => {
      ahead_ms += duration_ms;
    },
  };
}

export class World {
  readonly folder: string;
  readonly clock: FastClock;
  readonly #sandbox: Sandbox;
  #running: { daemon: Daemon; stop: () => Promise<void> } | null = null;

  private constructor(folder: string, clock: FastClock, sandbox: Sandbox) {
    this.folder = folder;
    this.clock = clock;
    this.#sandbox = sandbox;
  }

  static async start(options: WorldOptions = {}): Promise<World> {
    const { behaviors = {} } = options;
    const clock = fastClock();
    const sandbox = await startSandbox({
      port: 0,
      db: ':memory:',
      seed: 1,
      behaviors,
      // Its own timers run as fast as the shared clock.
      speed: SPEED,
      anchor_ms: START_MS,
      now: () => START_MS + clock.elapsed() / SPEED,
    });
    const world = new World(mkdtempSync(join(tmpdir(), 'eligd-peers-')), clock, sandbox);
    await world.#configure(options);
    return world;
  }

  async #configure({ connectors, service, listens = false }: WorldOptions): Promise<void> {
    const port = await freePort();
    const csv = { id: 'front-desk', type: 'csv', folder: './dropbox', stable_seconds: 0 };
    const webhook = {
      listen: `127.0.0.1:${port}`,
      public_url: `http://127.0.0.1:${port}/hook`,
      update_frequency_minutes: 1,
    };
    const config = {
      clinic: {
        name: 'Riverside Dental',
        time_zone: 'America/Chicago',
        specialty: 'dental',
        tax_id: '123456789',
        billing_npi: '1234567893',
      },
      service: {
        base_url: this.#sandbox.url,
        auth: 'oauth',
        timeout_seconds: 5,
        submission: { max_per_minute: 0 },
        ...service,
      },
      connectors: connectors ?? [csv],
      webhook: listens ? webhook : null,
      state: { path: './state/eligd.db' },
      policy: { look_ahead_days: 14 },
      polling: { interval_minutes: 1, urgent_interval_minutes: 1 },
      backup: { cron: null },
    };
    writeFileSync(join(this.folder, 'eligd.yaml'), stringify(config));
    const secrets = {
      ELIGD_SERVICE_USERNAME: 'clinic',
      ELIGD_SERVICE_PASSWORD: 'sandbox',
      ELIGD_WEBHOOK_SECRET: 'sandbox',
    };
    const lines = Object.entries(secrets).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(this.folder, '.env'), lines.join(''), { mode: 0o600 });
    mkdirSync(join(this.folder, 'dropbox/inbox'), { recursive: true, mode: 0o700 });
  }

  drop(name: string, text: string): void {
    writeFileSync(join(this.folder, 'dropbox/inbox', name), text, { mode: 0o600 });
  }

  /** Runs every stage once, like a process of its own. */
  async once(): Promise<void> {
    const daemon = await this.#daemon();
    try {
      await daemon.once(new AbortController().signal);
    } finally {
      await daemon.close();
    }
  }

  /** Runs a daemon until `stop` or `close`. */
  async run(): Promise<void> {
    const daemon = await this.#daemon();
    const end = new AbortController();
    const running = daemon.run(end.signal);
    this.#running = {
      daemon,
      stop: async () => {
        end.abort();
        await running;
        await daemon.close();
      },
    };
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.stop();
  }

  async #daemon(): Promise<Daemon> {
    const config = await loadConfig(join(this.folder, 'eligd.yaml'));
    const secrets = openSecrets(this.folder, {});
    return await createDaemon({
      config,
      credentials: serviceCredentials(secrets, config.service.auth),
      secrets,
      env: createEnv({ clock: this.clock, log: () => {} }),
      version: '0.0.0',
      idle_ms: IDLE_MS * SPEED,
    });
  }

  /** The sandbox's own routes. */
  async sandbox(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${this.#sandbox.url}/_sandbox/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  /** Ends the calls of all inquiries. */
  async answerAll(): Promise<void> {
    await this.sandbox('POST', 'advance', { days: 6 });
  }

  async ledger(): Promise<Called[]> {
    return ((await this.sandbox('GET', 'ledger')) as { inquiries: Called[] }).inquiries;
  }

  /** Advances the time in steps until `is` holds, or for a maximum time. */
  async passUntil(step_ms: number, is: () => Promise<boolean>): Promise<void> {
    for (let step = 0; step < STEPS_MAX && !(await is()); step += 1) {
      this.clock.pass(step_ms);
      await sleep(IDLE_MS * 2);
    }
  }

  /** Every line of every CSV result, with its record. */
  written(): Written[] {
    const outbox = join(this.folder, 'dropbox/outbox');
    if (!existsSync(outbox)) return [];
    return readdirSync(outbox)
      .filter((name) => /^eligibility-.*\.csv$/.test(name))
      .toSorted()
      .flatMap((name) => readCsv(readFileSync(join(outbox, name), 'utf8')))
      .map((line) => {
        const delivery = JSON.parse(readFileSync(join(outbox, line.json_file ?? ''), 'utf8')) as {
          record: Record<string, unknown>;
        };
        return { line, record: delivery.record };
      });
  }

  /** The reasons on the attention list. */
  attention(): string[] {
    const db = new Database(join(this.folder, 'state/eligd.db'), { readonly: true });
    try {
      return db
        .prepare('SELECT reason FROM attention WHERE resolved_at IS NULL')
        .pluck()
        .all() as string[];
    } finally {
      db.close();
    }
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#sandbox.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
