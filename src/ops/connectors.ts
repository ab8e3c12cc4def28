import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isAbsolute, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ConnectorType } from '../../connectors/contract.ts';
import { EligdError, errorCode } from '../domain/errors.ts';
import { builtInTypes } from './built-in-connectors.ts';
import { declareEvents } from './event-catalog.ts';
import { nearest, oneOf } from './nearest.ts';
import { MODULE_ENDING, PROJECT_ROOT } from './project.ts';
import { requireTrusted } from './trusted-files.ts';

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
