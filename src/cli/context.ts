import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Clock, Env } from '../domain/env.ts';
import { EligdError } from '../domain/errors.ts';
import type { Config } from '../ops/config.ts';
import type { SecretSource } from '../ops/secrets.ts';

/** Where a command writes to: `process.stdout`, or a buffer in a test. */
export type Output = {
  write: (text: string) => unknown;
  isTTY?: boolean | undefined;
  columns?: number | undefined;
};

/** The process as commands see it; a test hands in another. */
export type Host = {
  /** Results, and nothing else, so that they can be piped. `run` logs to it. */
  stdout: Output;
  /** Errors, progress and the log of every command but `run`. */
  stderr: Output;
  environment: Readonly<Record<string, string | undefined>>;
  cwd: string;
};

/**
 * What every command needs, made when it is first asked for and then kept: a command that only
 * prints help reads no configuration, and one that reads it twice sees the same.
 */
export type CliContext = Host & {
  /**
   * Absolute path of the configuration: `--config`, or the first of the usual places that exists.
   */
  configFile: () => string;
  /** What stands after `--config`, for a command that writes the file. */
  configOption: () => string | undefined;
  /** The whole configuration, judged. Throws a ConfigError with everything that is wrong. */
  config: () => Promise<Config>;
  /** Where secrets are found. No secret is required until a command asks for it. */
  secrets: () => Promise<SecretSource>;
  /**
   * The real world with the log at the configured level; `run` logs to stdout, every other command
   * to stderr.
   */
  env: (options?: { log_to?: 'stdout' | 'stderr'; clock?: Clock }) => Promise<Env>;
};

/** `configOption` gives what stands after `--config`, once the command line has been read. */
export function createContext(host: Host, configOption: () => string | undefined): CliContext {
  let config: Promise<Config> | undefined;
  let secrets: Promise<SecretSource> | undefined;
  const context: CliContext = {
    ...host,
    configOption,
    configFile: () => findConfig(host, configOption()),
    config: () => {
      config ??= import('../ops/config.ts').then(({ loadConfig }) =>
        loadConfig(context.configFile()),
      );
      return config;
    },
    secrets: () => {
      secrets ??= Promise.all([context.config(), import('../ops/secrets.ts')]).then(
        ([{ folder }, { openSecrets }]) => openSecrets(folder, host.environment),
      );
      return secrets;
    },
    env: async ({ log_to = 'stderr', clock } = {}) => {
      const [{ log }, { createLog, isJournal, logLevel }, { createEnv, realClock }] =
        await Promise.all([context.config(), import('../ops/log.ts'), import('../ops/env.ts')]);
      const used = clock ?? realClock;
      const pretty = host[log_to].isTTY === true;
      const descriptor = log_to === 'stdout' ? 1 : 2;
      return createEnv({
        clock: used,
        log: createLog({
          level: logLevel(log.level, host.environment),
          to: host[log_to] === process[log_to] ? descriptor : host[log_to],
          pretty,
          priorities: isJournal(descriptor, host.environment),
          now: used.now,
        }),
      });
    },
  };
  return context;
}

/** The places where the configuration is looked for, in order, when the command line names none. */
function configPlaces({ environment, cwd }: Pick<Host, 'environment' | 'cwd'>): string[] {
  const named = environment.ELIGD_CONFIG;
  return [
    ...(named ? [resolve(cwd, named)] : []),
    resolve(cwd, 'config/eligd.yaml'),
    '/etc/eligd/eligd.yaml',
  ];
}

function findConfig(host: Host, option: string | undefined): string {
  if (option !== undefined) return resolve(host.cwd, option);
  // A file that is named and missing is an error of its own, not a reason to take another one.
  if (host.environment.ELIGD_CONFIG) return resolve(host.cwd, host.environment.ELIGD_CONFIG);
  const places = configPlaces(host);
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  throw new EligdError('configuration', {
    what: 'No configuration was found.',
    why: `It was looked for in $ELIGD_CONFIG (not set), ${places.join(' and ')}.`,
    next: 'Make one from config/minimal.yaml, or say where it is with --config FILE.',
  });
}
