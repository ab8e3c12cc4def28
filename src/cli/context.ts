import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Clock, Env } from '../domain/env.ts';
import { EligdError } from '../domain/errors.ts';
import type { Config } from '../ops/config.ts';
import { applyCertificateSwitch } from '../ops/environment.ts';
import { isInstalled, PROJECT_ROOT } from '../ops/project.ts';
import type { SecretSource } from '../ops/secrets.ts';

/** The stream of a command's output: `process.stdout`, or a buffer in a test. */
export type Output = {
  write: (text: string) => unknown;
  isTTY?: boolean | undefined;
  columns?: number | undefined;
  /** The same output without wrapped lines (`verbatim`). */
  unfitted?: Output;
};

/** Returns the output for JSON, YAML, CSV, and scripts, whose lines must not be wrapped. */
export function verbatim(to: Output): Output {
  return to.unfitted ?? to;
}

/** The process as commands see it; a test supplies its own. */
export type Host = {
  /** Results only, so that they can be piped. `run` logs here. */
  stdout: Output;
  /** Errors, progress, and the log of every command except `run`. */
  stderr: Output;
  environment: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Whether to use `./config/eligd.yaml` as the configuration (`usesLocalConfig`). */
  uses_local_config?: boolean;
};

/**
 * Everything that commands need. Each part is created on first use and kept: a command that only
 * prints help reads no configuration, and one that reads it twice sees the same values.
 */
export type CliContext = Host & {
  /**
   * The absolute path of the configuration: `--config`, or the first default location that exists.
   */
  configFile: () => string;
  /** The value of `--config`, for a command that writes the file. */
  configOption: () => string | undefined;
  /** The whole validated configuration. Throws a ConfigError that lists every error. */
  config: () => Promise<Config>;
  /** The source of secrets. No secret is required until a command asks for it. */
  secrets: () => Promise<SecretSource>;
  /**
   * The real environment with the log at the configured level; `run` logs to stdout, every other
   * command to stderr.
   */
  env: (options?: { log_to?: 'stdout' | 'stderr'; clock?: Clock }) => Promise<Env>;
  /**
   * Returns a context that reads all files again. It changes nothing in this process: its database
   * keys and the switch for certificate checks stay as they are.
   */
  again: () => CliContext;
};

/**
 * Creates the context; `configOption` returns the value of `--config` once the command line is
 * parsed. `adopt` sets what the process takes from the configuration.
 */
export function createContext(
  host: Host,
  configOption: () => string | undefined,
  adopt: (config: Config, context: CliContext) => Promise<void> = adoptInProcess,
): CliContext {
  let config: Promise<Config> | undefined;
  let secrets: Promise<SecretSource> | undefined;
  const context: CliContext = {
    ...host,
    configOption,
    again: () => createContext(host, configOption, async () => {}),
    configFile: () => findConfig(host, configOption()),
    config: () => {
      config ??= readConfig(context, adopt);
      return config;
    },
    secrets: () => {
      secrets ??= Promise.all([context.config(), import('../ops/secrets.ts')]).then(
        ([{ folder }, { openSecrets }]) => openSecrets(folder, host.environment),
      );
      return secrets;
    },
    env: async ({ log_to = 'stderr', clock } = {}) => {
      const [{ log }, { createLog, logLevel }, { isJournal }, { createEnv, realClock }] =
        await Promise.all([
          context.config(),
          import('../ops/log.ts'),
          import('../ops/journal.ts'),
          import('../ops/env.ts'),
        ]);
      const used = clock ?? realClock;
      const stream = verbatim(host[log_to]);
      const pretty = stream.isTTY === true;
      const descriptor = log_to === 'stdout' ? 1 : 2;
      return createEnv({
        clock: used,
        log: createLog({
          level: logLevel(log.level, host.environment),
          to: stream === process[log_to] ? descriptor : stream,
          pretty,
          priorities: isJournal(descriptor, host.environment),
          now: used.now,
        }),
      });
    },
  };
  return context;
}

async function readConfig(
  context: CliContext,
  adopt: (config: Config, context: CliContext) => Promise<void>,
): Promise<Config> {
  const { loadConfig } = await import('../ops/config.ts');
  const config = await loadConfig(context.configFile());
  await adopt(config, context);
  return config;
}

/** Sets what the whole process uses: its keys, and whether it checks certificates. */
async function adoptInProcess(config: Config, context: CliContext): Promise<void> {
  const warning = applyCertificateSwitch(context.environment, config.service.allow_insecure);
  if (warning !== null) context.stderr.write(warning);
  const [{ useDatabaseKeys }, { databaseKeysOf }, { openSecrets }] = await Promise.all([
    import('../store/engine/keys.ts'),
    import('../ops/database-keys.ts'),
    import('../ops/secrets.ts'),
  ]);
  useDatabaseKeys(() => databaseKeysOf(openSecrets(config.folder, context.environment)));
}

const SYSTEM_PLACE = '/etc/eligd/eligd.yaml';

/**
 * Returns whether a command uses the configuration in the current folder without --config. The
 * installed program never does. Root does so only in the working copy that it runs: in another
 * user's folder, that user's configuration would decide which code root runs.
 */
function usesLocalConfig(cwd: string): boolean {
  if (isInstalled()) return false;
  return process.geteuid?.() !== 0 || cwd === PROJECT_ROOT;
}

/** Returns the default locations of the configuration, in order. */
function configPlaces({ cwd, uses_local_config = usesLocalConfig(cwd) }: Host): string[] {
  return [...(uses_local_config ? [resolve(cwd, 'config/eligd.yaml')] : []), SYSTEM_PLACE];
}

function findConfig(host: Host, option: string | undefined): string {
  if (option !== undefined) return resolve(host.cwd, option);
  // If the named file is missing, that is an error; eligd does not try another one.
  if (host.environment.ELIGD_CONFIG) return resolve(host.cwd, host.environment.ELIGD_CONFIG);
  const places = configPlaces(host);
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  const local = resolve(host.cwd, 'config/eligd.yaml');
  const is_left_out = existsSync(local);
  throw new EligdError('configuration', {
    what: 'No configuration was found.',
    why:
      `eligd looked in $ELIGD_CONFIG (not set), ${places.join(' and ')}.` +
      (is_left_out
        ? ` It does not use ${local} unless you say so: root and the installed program take no ` +
          'configuration from the current folder.'
        : ''),
    next: is_left_out
      ? `If you trust that file, add --config ${local}.`
      : 'Run "eligd init" to create one, or use --config FILE to say where it is.',
  });
}
