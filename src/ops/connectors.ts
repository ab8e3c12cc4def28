import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isAbsolute, join, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type Connector,
  type ConnectorEnv,
  ConnectorError,
  type ConnectorEvents,
  type ConnectorLog,
  type ConnectorType,
  type Journal,
} from '../../connectors/contract.ts';
import type { Env } from '../domain/env.ts';
import { EligdError, errorCode } from '../domain/errors.ts';
import type { EventName } from '../domain/events.ts';
import { builtInTypes } from './built-in-connectors.ts';
import type { Config } from './config-schema.ts';
import { declareEvents, eventNameToLog } from './event-catalog.ts';
import { nearest, oneOf } from './nearest.ts';
import { connectorNetwork } from './network.ts';
import { MODULE_ENDING, PROJECT_ROOT } from './project.ts';
import { connectorSecretName, type SecretSource } from './secrets.ts';
import { readTrusted, requireTrusted } from './trusted-files.ts';

/**
 * Checks a clinic's own module and each file that it imports before their code runs as eligd's
 * user. Skips eligd's own files: anyone who can change those does not need a connector.
 */
function requireTrustedModules(file: string): void {
  const requireOne = (path: string) => {
    if (!path.startsWith(`${PROJECT_ROOT}${sep}`))
      requireTrusted(path, { role: 'connector module' });
  };
  requireOne(file);
  if (are_modules_watched) return;
  are_modules_watched = true;
  registerHooks({
    load: (url, context, next) => {
      if (url.startsWith('file:')) requireOne(fileURLToPath(url));
      return next(url, context);
    },
  });
}

let are_modules_watched = false;

/** Returns whether `type:` is the path of a module; otherwise it names a built-in connector. */
export function isModulePath(type: string): boolean {
  return /[./\\]/.test(type);
}

/**
 * Loads the connector of a `type:`, a built-in name or an absolute path (config.ts makes paths
 * absolute). It finds connectors by name at run time, so that a new one needs no change in `src/`.
 * The `why` of an error continues "type: …".
 */
export async function loadConnectorType(type: string, root = PROJECT_ROOT): Promise<ConnectorType> {
  const file = isModulePath(type) ? type : join(root, 'connectors', type, `index${MODULE_ENDING}`);
  if (!isAbsolute(file) || !existsSync(file)) throw unknownType(type, root);
  if (isModulePath(type)) requireTrustedModules(file);
  let module: { default?: unknown };
  try {
    module = await import(pathToFileURL(file).href);
  } catch (error) {
    if (error instanceof EligdError) throw error;
    throw new EligdError('configuration', {
      what: `The connector ${type} could not be loaded.`,
      why: `Its module ${file} failed: ${loadFailure(error)}.`,
      next: isModulePath(type)
        ? 'Fix the module; connectors/README.md says what it must look like.'
        : 'Run "npm ci --ignore-scripts" in the folder of eligd.',
      cause: error,
    });
  }
  if (!isConnectorType(module.default)) {
    throw new EligdError('configuration', {
      what: `The connector ${type} could not be used.`,
      why: `The default export of ${file} does not have name, config, and create.`,
      next: 'See connectors/README.md for what a connector exports.',
    });
  }
  const fault = declareEvents(module.default);
  if (fault !== null) {
    throw new EligdError('configuration', {
      what: `The connector ${type} could not be used.`,
      why: `In ${file}, ${fault}.`,
      next: 'See "ConnectorEvents" in connectors/contract.ts for what an event may be.',
    });
  }
  return module.default;
}

function unknownType(type: string, root: string): EligdError {
  if (isModulePath(type)) {
    return new EligdError('configuration', {
      what: `The connector ${type} was not found.`,
      why: 'There is no such file.',
      next: 'Use the path of its module, relative to the configuration file.',
    });
  }
  const known = builtInTypes(root);
  const meant = nearest(type, known);
  return new EligdError('configuration', {
    what: `Connector "${type}" does not exist.`,
    why:
      known.length === 0
        ? 'No connector comes with this installation.'
        : `The connectors are: ${oneOf(known)}.`,
    next:
      meant === null
        ? 'Use one of these, or the path of your own module.'
        : `Did you mean "${meant}"?`,
  });
}

function isConnectorType(value: unknown): value is ConnectorType {
  if (typeof value !== 'object' || value === null) return false;
  const { name, config, create } = value as Partial<Record<keyof ConnectorType, unknown>>;
  const has_schema = typeof config === 'object' && config !== null && 'safeParse' in config;
  return typeof name === 'string' && has_schema && typeof create === 'function';
}

function loadFailure(error: unknown): string {
  const code = errorCode(error);
  const text =
    error instanceof Error
      ? `${error.name}: ${error.message.split('\n')[0] ?? ''}`
      : 'no reason given';
  return code === null ? text : `${code}, ${text}`;
}

export type OpenConnector = { id: string; type: string; connector: Connector };

/** What the installation supplies to its connectors, besides Env. */
export type ConnectorMeans = { secrets: SecretSource; journal: (connector_id: string) => Journal };

/**
 * Reads a key or certificate after checking its permissions (trusted-files.ts). Throws a
 * ConnectorError, the only error type that connectors know.
 */
export function readKeyFile(file: string, is_secret: boolean): Buffer {
  try {
    return readTrusted(file, { role: is_secret ? 'key file' : 'certificate', is_secret });
  } catch (error) {
    if (!(error instanceof EligdError)) throw error;
    const what = `${error.what} ${error.why}`;
    throw new ConnectorError('permanent', { what, next: error.next, cause: error });
  }
}

/**
 * Creates every configured connector. Nothing is opened yet: a connector starts to work when it is
 * pulled or listened to.
 */
export async function createConnectors(
  config: Config,
  env: Env,
  means: ConnectorMeans,
): Promise<OpenConnector[]> {
  return await Promise.all(
    config.connectors.map(async ({ id, type, options }) => {
      const { create, events } = await loadConnectorType(type);
      const own: ConnectorEnv = {
        ...env,
        log: connectorLog(env, id, events ?? {}),
        connector_id: id,
        time_zone: config.clinic.time_zone,
        resolvePath: (path) => resolve(config.folder, path),
        readKeyFile: async (path, use) => readKeyFile(resolve(config.folder, path), use.is_secret),
        secret: (last_part) => {
          const name = connectorSecretName(id, last_part);
          return { name, value: means.secrets.find(name)?.secret.reveal() ?? null };
        },
        network: connectorNetwork(id, { secrets: means.secrets, folder: config.folder }),
        journal: means.journal(id),
      };
      return { id, type, connector: create(options, own) };
    }),
  );
}

/**
 * Returns the log for a connector: it accepts only the events that the connector declares. An
 * undeclared event must not fail a pull (G7), so it is logged as a separate event.
 */
function connectorLog(env: Env, id: string, events: ConnectorEvents): ConnectorLog {
  return (event, fields) => {
    // Declared when the connector was loaded, so the catalog has it.
    if (Object.hasOwn(events, event)) env.log(event as EventName, fields);
    else env.log('event_unknown', { connector: id, event_name: eventNameToLog(event) });
  };
}
