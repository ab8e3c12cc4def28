import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { parse } from 'dotenv';
import { EligdError, errorCode } from '../domain/errors.ts';
import { nearest } from './nearest.ts';
import { readTrusted } from './trusted-files.ts';

/**
 * Every secret that eligd itself knows, with its description. Connectors name theirs
 * `ELIGD_<ID>_<NAME>`.
 */
export const SECRETS = {
  ELIGD_SERVICE_USERNAME: 'user name for the calling service (auth: oauth)',
  ELIGD_SERVICE_PASSWORD: 'password for the calling service (auth: oauth)',
  ELIGD_SERVICE_PROJECT_ID: 'project ID for the calling service (auth: basic)',
  ELIGD_SERVICE_API_KEY: 'API key for the calling service (auth: basic)',
  ELIGD_WEBHOOK_SECRET: 'key that the calling service signs its webhook events with',
  ELIGD_WEBHOOK_SECRET_PREVIOUS:
    'the previous webhook key, while you replace it; both are accepted',
  ELIGD_OFFICE_CLIENT_SECRET:
    'eligd’s secret at the login provider of the office page (office.single_sign_on)',
  ELIGD_PROXY_USERNAME: 'user name at every proxy that has none of its own below',
  ELIGD_PROXY_PASSWORD: 'its password',
  ELIGD_SERVICE_PROXY_USERNAME: 'user name at the proxy to the inquiry service (service.proxy)',
  ELIGD_SERVICE_PROXY_PASSWORD: 'its password',
  ELIGD_OFFICE_PROXY_USERNAME:
    'user name at the proxy to the login provider (office.single_sign_on.proxy)',
  ELIGD_OFFICE_PROXY_PASSWORD: 'its password',
  ELIGD_DATABASE_KEY: 'key of the database and its backups, made by "eligd database key"',
  ELIGD_DATABASE_KEY_PREVIOUS: 'the previous database key, until "eligd database rekey" is done',
} as const;

export type SecretName = keyof typeof SECRETS;

/**
 * Returns the name of a connector's secret: `token` of `front-desk` is `ELIGD_FRONT_DESK_TOKEN`.
 */
export function connectorSecretName(connector_id: string, last_part: string): string {
  return `ELIGD_${connector_id}_${last_part}`.replaceAll('-', '_').toUpperCase();
}

/**
 * A secret value that hides itself: only `reveal()` returns it; every way of printing shows
 * `[secret]`.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

/** Where a secret was found. The first place that has it wins. */
type SecretOrigin = 'credentials directory' | 'environment' | '.env';

export type SecretSource = {
  find: (name: string) => { secret: Secret; from: SecretOrigin } | null;
  /**
   * Names in the environment and `.env` that begin with `ELIGD_`, to recognize a misspelled one.
   */
  names: readonly string[];
  /** The path of `.env`, whether it exists or not. */
  env_file: string;
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens the three places of secrets, in order of precedence: systemd's `$CREDENTIALS_DIRECTORY`
 * (names in lowercase without `ELIGD_`), the environment, and `.env` next to the configuration.
 * Writes nothing into the environment, so no child process inherits the content of `.env`. An empty
 * value counts as missing.
 */
export function openSecrets(config_folder: string, environment: Environment): SecretSource {
  const env_file = join(config_folder, '.env');
  const fromFile = readEnvFile(env_file);
  const directory = environment.CREDENTIALS_DIRECTORY;
  return {
    env_file,
    names: [...Object.keys(environment), ...Object.keys(fromFile)].filter((name) =>
      name.startsWith('ELIGD_'),
    ),
    find: (name) => {
      const credential =
        directory === undefined || directory === '' ? undefined : readCredential(directory, name);
      if (credential) return { secret: new Secret(credential), from: 'credentials directory' };
      const inherited = environment[name];
      if (inherited) return { secret: new Secret(inherited), from: 'environment' };
      const written = fromFile[name];
      return written ? { secret: new Secret(written), from: '.env' } : null;
    },
  };
}

function readEnvFile(file: string): Environment {
  try {
    return parse(readTrusted(file, { role: 'file', is_secret: true }));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return {};
    throw error instanceof EligdError ? error : unreadable(file, error);
  }
}

function readCredential(directory: string, name: string): string | undefined {
  const file = join(directory, name.replace(/^ELIGD_/, '').toLowerCase());
  try {
    // `systemd-creds` and editors add a line break after the value.
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): EligdError {
  return new EligdError('configuration', {
    what: `The file ${file} could not be read.`,
    why: `The system reported ${errorCode(error) ?? 'an unknown error'}.`,
    next: 'Make the user that eligd runs as its owner, with mode 600.',
    cause: error,
  });
}

export type ServiceCredentials =
  | { auth: 'oauth'; username: Secret; password: Secret }
  | { auth: 'basic'; project_id: Secret; api_key: Secret };

/** Returns the names of the secrets that a login method needs. */
export function namesFor(auth: ServiceCredentials['auth']): readonly [SecretName, SecretName] {
  return auth === 'oauth'
    ? ['ELIGD_SERVICE_USERNAME', 'ELIGD_SERVICE_PASSWORD']
    : ['ELIGD_SERVICE_PROJECT_ID', 'ELIGD_SERVICE_API_KEY'];
}

/** Returns the credentials for the service; throws with every missing name at once. */
export function serviceCredentials(
  source: SecretSource,
  auth: ServiceCredentials['auth'],
): ServiceCredentials {
  const [first, second] = requireSecrets(source, namesFor(auth), `service.auth is ${auth}`);
  return auth === 'oauth'
    ? { auth, username: first, password: second }
    : { auth, project_id: first, api_key: second };
}

/** Returns the credentials in plain text, only for the client of the service. */
export function revealCredentials(
  found: ServiceCredentials,
):
  | { scheme: 'oauth'; username: string; password: string }
  | { scheme: 'basic'; project_id: string; api_key: string } {
  return found.auth === 'oauth'
    ? { scheme: 'oauth', username: found.username.reveal(), password: found.password.reveal() }
    : { scheme: 'basic', project_id: found.project_id.reveal(), api_key: found.api_key.reveal() };
}

/**
 * Returns the keys of the webhook's signature: the current one, and the previous one if there is
 * one. Throws when there is no key.
 */
export function webhookSecrets(source: SecretSource): readonly Secret[] {
  const [current] = requireSecrets(
    source,
    ['ELIGD_WEBHOOK_SECRET'] as const,
    'the configuration has a section "webhook"',
  );
  const previous = source.find('ELIGD_WEBHOOK_SECRET_PREVIOUS');
  return previous === null ? [current] : [current, previous.secret];
}

/**
 * Returns the secrets of these names, in order. Throws with every missing one, where to put it, and
 * a misspelled name that was found.
 */
export function requireSecrets<Names extends readonly string[]>(
  source: SecretSource,
  names: Names,
  reason: string,
): { [Index in keyof Names]: Secret } {
  const missing = names.filter((name) => source.find(name) === null);
  if (missing.length > 0) {
    const unknown_names = source.names.filter((name) => !(name in SECRETS));
    const hints = missing.flatMap((name) => {
      const near = nearest(name, unknown_names);
      return near === null ? [] : [` "${near}" is set, which may be a misspelled ${name}.`];
    });
    throw new EligdError('configuration', {
      what:
        `${missing.length === 1 ? 'A secret is' : 'Secrets are'} missing: ` +
        `${missing.join(', ')}.`,
      why:
        `${missing.length === 1 ? 'It is' : 'They are'} needed because ` +
        `${reason}.${hints.join('')}`,
      next: howToAdd(missing, source.env_file),
    });
  }
  return names.map((name) => source.find(name)?.secret) as { [Index in keyof Names]: Secret };
}

/**
 * Returns a sentence about how to add secrets. The installed service keeps them as credentials,
 * which only root can pass on.
 */
function howToAdd(missing: readonly string[], env_file: string): string {
  if (env_file === '/etc/eligd/.env')
    return (
      'Run the command with sudo. If the service never had the secret: see "Secrets" in ' +
      '/usr/share/doc/eligd/README.md.'
    );
  return (
    `Add ${missing.map((name) => `${name}=…`).join(' and ')} to ${env_file}, one per line, ` +
    `and run "chmod 600 ${env_file}".`
  );
}

/** Returns the names of the secrets that a configuration needs. */
export function configuredSecrets({
  service,
  webhook,
}: {
  service: { auth: ServiceCredentials['auth'] };
  webhook: object | null;
}): string[] {
  return [...namesFor(service.auth), ...(webhook === null ? [] : ['ELIGD_WEBHOOK_SECRET'])];
}

/** Returns for each name where the secret is set, or that it is missing; never the value. */
export function secretStatus(
  source: SecretSource,
  names: readonly string[],
): { name: string; state: string }[] {
  return names.map((name) => {
    const found = source.find(name);
    return {
      name,
      state:
        found === null
          ? 'missing'
          : `set from ${found.from === '.env' ? source.env_file : `the ${found.from}`}`,
    };
  });
}
