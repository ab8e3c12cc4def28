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
import { afterEach } from 'vitest';
import { parse, stringify } from 'yaml';
import { createDaemon, type Daemon } from '../../src/daemon/index.ts';
import type { Env } from '../../src/domain/env.ts';
import { loadConfig } from '../../src/ops/config.ts';
import { createEnv, realClock } from '../../src/ops/env.ts';
import { createLog } from '../../src/ops/log.ts';
import { openSecrets, serviceCredentials } from '../../src/ops/secrets.ts';
import { ATTENTION_KINDS } from '../../src/records/verdict/attention.ts';
import { run } from '../cli/capture.ts';
import { readCsv } from './csv-text.ts';
import { leaks, patientsIn, strangeInLine } from './leaks.ts';

/**
 * Configuration keys that differ from config/minimal.yaml; objects are merged, all other values are
 * replaced.
 */
export type Overrides = { [key: string]: unknown };

export type ClinicOptions = {
  base_url: string;
  config?: Overrides;
  secrets?: Record<string, string>;
};

export type Line = Record<string, string>;

/**
 * A clinic's server: one folder with configuration, secrets, drop folder, and state, and the
 * actions of a person there.
 */
export type Clinic = {
  folder: string;
  file: string;
  state: string;
  drop: (name: string, content: string | Buffer) => void;
  /** Runs `eligd once` in this process; fails the test on another exit code than `expected`. */
  once: (expected?: number) => Promise<void>;
  /** Any other command. */
  run: (...args: string[]) => ReturnType<typeof run>;
  /** The log of all of these so far. */
  logged: () => string;
  /** One daemon for several rounds, as in `eligd run`. */
  daemon: (env?: Partial<Env>, options?: { idle_ms?: number }) => Promise<Daemon>;
  /** Every line of every `outbox/eligibility-*.csv`, with the record next to it. */
  written: () => (Line & {
    record: Record<string, unknown>;
    delivery: Record<string, unknown>;
  })[];
  /** The same of every `outbox/claims-*.csv`. */
  writtenClaims: () => (Line & { record: Record<string, unknown> })[];
  attention: () => Line[];
  reasons: () => Line[];
  inbox: () => string[];
};

/**
 * The sandbox draws plans at random; their verdicts go on the attention list only if a test says so
 * (`attention: ALL_ATTENTION`).
 */
const attentionKinds = (is_on: boolean) =>
  Object.fromEntries(ATTENTION_KINDS.map((kind) => [kind, is_on]));
const NO_ATTENTION = attentionKinds(false);
export const ALL_ATTENTION = attentionKinds(true);

const MINIMAL = join(import.meta.dirname, '../../config/minimal.yaml');
export const OAUTH_SECRETS = {
  ELIGD_SERVICE_USERNAME: 'clinic',
  ELIGD_SERVICE_PASSWORD: 'sandbox',
};
export const BASIC_SECRETS = {
  ELIGD_SERVICE_PROJECT_ID: 'sandbox',
  ELIGD_SERVICE_API_KEY: 'sandbox',
};

/** The current test's folders, every line that was logged in them, and the patients in them. */
const made: { folder: string; log: string[]; patients: Set<string> }[] = [];

/**
 * The folder of a failed test stays, with its database; the last line of the test's output says
 * where.
 */
afterEach(({ task }) => {
  const faults: string[] = [];
  for (const { folder, log, patients } of made.splice(0)) {
    for (const each of patientsIn(join(folder, 'state/eligd.db'))) patients.add(each);
    const found = [...log.flatMap(strangeInLine), ...leaks(log.join(''), patients)];
    faults.push(...found);
    if (task.result?.state === 'fail' || found.length > 0)
      console.error(`Kept of "${task.name}": ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
  // Every test with a clinic checks G6, whatever else it checks.
  if (faults.length > 0) throw new Error(`The log holds what it must not: ${faults.join(', ')}`);
});

/**
 * A clinic with the minimal configuration, a short settle time, and no rate limit unless `config`
 * sets one.
 */
export function makeClinic({
  base_url,
  config = {},
  secrets = OAUTH_SECRETS,
}: ClinicOptions): Clinic {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-clinic-'));
  const log: string[] = [];
  const patients = new Set<string>();
  made.push({ folder, log, patients });
  const file = join(folder, 'eligd.yaml');
  const quick = {
    service: { base_url, settle_seconds: 0, submission: { max_per_minute: 0 } },
    // The tests' clock is years ahead of the file times on this disk.
    retention: { processed_days: null, rejected_days: null, outbox_days: null },
    // Tests run on every day of the week; those about payer hours set them.
    policy: {
      look_ahead_days: 14,
      attention: NO_ATTENTION,
      min_lead_hours: 0,
      late_visits: 'buy',
    },
  };
  const whole = merged(
    merged(merged(parse(readFileSync(MINIMAL, 'utf8')) as Overrides, quick), withStableFiles()),
    config,
  );
  writeFileSync(file, stringify(whole));
  const lines = Object.entries(secrets).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, '.env'), lines.join(''), { mode: 0o600 });
  const inbox = join(folder, 'dropbox/inbox');
  const outbox = join(folder, 'dropbox/outbox');
  mkdirSync(inbox, { recursive: true, mode: 0o700 });
  const runHere: Clinic['run'] = async (...args) => {
    const { code, stdout, stderr } = await run([...args, '--config', file], {
      environment: { ELIGD_LOG_LEVEL: 'debug' },
      cwd: folder,
    });
    const lines = stderr.split(/(?<=\n)/);
    log.push(...lines.filter(isLogged));
    // Now, because a purge may be next.
    for (const each of patientsIn(join(folder, 'state/eligd.db'))) patients.add(each);
    return { code, stdout, stderr: lines.filter((line) => !isLogged(line)).join('') };
  };
  return {
    folder,
    file,
    state: join(folder, 'state'),
    drop: (name, content) => writeFileSync(join(inbox, name), content, { mode: 0o600 }),
    once: async (expected = 0) => {
      const { code, stderr } = await runHere('once');
      if (code !== expected)
        throw new Error(`eligd once ended with ${code}, not ${expected}: ${stderr}`);
    },
    run: runHere,
    logged: () => log.join(''),
    daemon: async (env = {}, options = {}) => {
      const loaded = await loadConfig(file);
      const own = openSecrets(folder, {});
      const credentials = serviceCredentials(own, loaded.service.auth);
      const world = {
        ...createEnv({
          log: createLog({ level: 'debug', to: { write: (line) => void log.push(line) } }),
          clock: realClock,
        }),
        ...env,
      };
      return await createDaemon({
        config: loaded,
        credentials,
        secrets: own,
        env: world,
        version: '0.0.0',
        ...options,
      });
    },
    written: () => written(outbox, 'eligibility'),
    writtenClaims: () => written(outbox, 'claims'),
    attention: () =>
      existsSync(join(outbox, 'attention.csv'))
        ? readCsv(readFileSync(join(outbox, 'attention.csv'), 'utf8')).filter(
            ({ reason }) => reason !== 'nothing',
          )
        : [],
    reasons: () =>
      ['processed', 'rejected'].flatMap((part) =>
        listed(join(folder, 'dropbox', part), /\.reasons\.csv$/).flatMap((name) =>
          readCsv(readFileSync(join(folder, 'dropbox', part, name), 'utf8')),
        ),
      ),
    inbox: () => readdirSync(inbox),
  };
}

function isLogged(line: string): boolean {
  return line.startsWith('{"level"');
}

/** No test writes slowly, so eligd reads a file at the first check. */
function withStableFiles(): Overrides {
  return {
    connectors: [{ id: 'front-desk', type: 'csv', folder: './dropbox', stable_seconds: 0 }],
  };
}

function merged(base: Overrides, over: Overrides): Overrides {
  const both = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = both[key];
    both[key] = isObject(value) && isObject(below) ? merged(below, value) : value;
  }
  return both;
}

function isObject(value: unknown): value is Overrides {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function written(outbox: string, kind: string): ReturnType<Clinic['written']> {
  return listed(outbox, new RegExp(`^${kind}-.*\\.csv$`)).flatMap((name) =>
    readCsv(readFileSync(join(outbox, name), 'utf8')).map((line) => ({
      ...line,
      ...documentOf(join(outbox, line.json_file ?? '')),
    })),
  ) as ReturnType<Clinic['written']>;
}

/** The whole delivery of an answer about benefits; the record of an answer about a claim. */
function documentOf(file: string) {
  const document = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  const is_delivery = document.schema === 'eligd.delivery/1';
  return {
    record: (is_delivery ? document.record : document) as Record<string, unknown>,
    delivery: document,
  };
}

function listed(folder: string, pattern: RegExp): string[] {
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => pattern.test(name))
        .sort()
    : [];
}
