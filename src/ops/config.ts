import { existsSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import type { ConnectorType } from '../../connectors/contract.ts';
import { EligdError, errorCode } from '../domain/errors.ts';
import { type ConfigDocument, type ConfigProblem, readDocument } from './config-document.ts';
import { ConfigError, keyPath, problemsOf } from './config-problems.ts';
import { type Config, type ConnectorConfig, configSchema } from './config-schema.ts';
import { secretsInConfig } from './config-secrets.ts';
import { isLoopback } from './config-values.ts';
import { isModulePath, loadConnectorType } from './connectors.ts';
import { inputSchema } from './json-schema.ts';
import { readTrusted } from './trusted-files.ts';

/** Otherwise zod compiles a parser for each section, which pays off only after many parses. */
const PARSED_ONCE = { jitless: true };

export type { Config, ConnectorConfig } from './config-schema.ts';

/**
 * Returns the schema of a connector's own keys and whether it reads exports, by name or absolute
 * path. Throws an EligdError when the connector does not exist.
 */
export type ConnectorSchema = (
  type: string,
) => Promise<Pick<ConnectorType, 'config' | 'has_exports'>>;

/**
 * Reads, validates, and returns the configuration at `file`. Throws a `ConfigError` that lists
 * every problem.
 */
export async function loadConfig(
  file: string,
  connectorSchema: ConnectorSchema = loadConnectorType,
): Promise<Config> {
  return await parseConfig(readConfigFile(file), resolve(file), connectorSchema);
}

/**
 * Returns the absolute paths of the connector modules that the configuration at `file` names, even
 * if something else in it is wrong. Empty if the file does not exist or is not YAML.
 */
export function configuredModules(file: string): string[] {
  if (!existsSync(file)) return [];
  const read = readDocument(readConfigFile(file));
  const named = 'problems' in read ? [] : listOf(read.document.data, 'connectors');
  return named.flatMap(({ type }) =>
    typeof type === 'string' && isModulePath(type) ? [resolve(dirname(file), type)] : [],
  );
}

function readConfigFile(file: string): string {
  try {
    return readTrusted(file, { role: 'configuration' }).toString('utf8');
  } catch (error) {
    if (error instanceof EligdError) throw error;
    const code = errorCode(error);
    throw new EligdError('configuration', {
      what: `The configuration ${file} could not be read.`,
      why:
        code === 'ENOENT'
          ? 'There is no such file.'
          : `The system reported ${code ?? 'an unknown error'}.`,
      next:
        'Use --config to name the right path, or let the user that eligd runs as ' +
        'read the file.',
      cause: error,
    });
  }
}

/**
 * Validates the text of a configuration that is (or would be) at the absolute path `file`, and
 * returns it. Throws a `ConfigError` that lists every problem.
 */
export async function parseConfig(
  source: string,
  file: string,
  connectorSchema: ConnectorSchema = loadConnectorType,
): Promise<Config> {
  const read = readDocument(source);
  if ('problems' in read) throw new ConfigError(file, read.problems);
  const { document } = read;
  if (document.data === null) {
    const next = 'Run "eligd init". It asks for the values and writes the file.';
    throw new ConfigError(file, [{ path: '', line: 1, what: 'the file is empty.', next }]);
  }

  const folder = dirname(file);
  const secrets = secretsInConfig(document);
  const base = configSchema.safeParse(withCurrentKeys(document.data), PARSED_ONCE);
  const connectors = await validateConnectors(document, folder, connectorSchema);
  const problems = [
    ...(base.error ? problemsOf(base.error.issues, document, inputSchema(configSchema), []) : []),
    ...connectors.problems,
    ...crossProblems(document),
  ].filter((problem) => !secrets.paths.has(problem.path));
  if (!base.success || problems.length + secrets.problems.length > 0)
    throw new ConfigError(file, [...secrets.problems, ...problems]);

  const { state, policy, backup, office, report } = base.data;
  const state_path = resolve(folder, state.path);
  return {
    ...base.data,
    file,
    folder,
    connectors: connectors.valid,
    state: { path: state_path },
    office: resolveOffice(office, folder),
    report: { ...report, folder: report.folder && resolve(folder, report.folder) },
    backup: {
      ...backup,
      folder: resolve(
        backup.folder === null ? dirname(state_path) : folder,
        backup.folder ?? 'backups',
      ),
    },
    policy: {
      ...policy,
      payers: policy.payers === null ? null : resolve(folder, policy.payers),
      fees: policy.fees === null ? null : resolve(folder, policy.fees),
    },
  };
}

/** Returns the data with the old key `sweep_cron` under its current name, `reconciliation_cron`. */
function withCurrentKeys(data: unknown): unknown {
  const { schedule } = data as { schedule?: unknown };
  if (typeof schedule !== 'object' || schedule === null) return data;
  const renamed = Object.entries(schedule).map(([key, value]) => [
    key === 'sweep_cron' ? 'reconciliation_cron' : key,
    value,
  ]);
  return { ...(data as object), schedule: Object.fromEntries(renamed) };
}

/** Returns the section `office` with absolute paths. */
function resolveOffice(office: Config['office'], folder: string): Config['office'] {
  if (office === null) return null;
  const { listen, tls, users } = office;
  return {
    ...office,
    listen: listen.startsWith('unix:')
      ? `unix:${resolve(folder, listen.slice('unix:'.length))}`
      : listen,
    tls: tls && {
      certificate: resolve(folder, tls.certificate),
      key: resolve(folder, tls.key),
    },
    users: users === null ? null : resolve(folder, users),
  };
}

/** Returns the valid connectors, and the problems that their own schemas find. */
async function validateConnectors(
  document: ConfigDocument,
  folder: string,
  connectorSchema: ConnectorSchema,
) {
  const valid: ConnectorConfig[] = [];
  const problems: ConfigProblem[] = [];
  for (const [index, item] of listOf(document.data, 'connectors').entries()) {
    const { id, type, expected_by, ...rest } = item;
    if (typeof type !== 'string' || type === '') continue; // The file's schema has reported it.
    const path = ['connectors', index];
    try {
      const resolved = isModulePath(type) && !isAbsolute(type) ? resolve(folder, type) : type;
      const { config: schema, has_exports = false } = await connectorSchema(resolved);
      if (!has_exports && typeof expected_by === 'string')
        problems.push(neverExpected(type, document, [...path, 'expected_by']));
      const options = schema.safeParse(rest, PARSED_ONCE);
      if (options.success)
        valid.push({
          id: String(id),
          type: resolved,
          has_exports,
          expected_by: typeof expected_by === 'string' ? expected_by : null,
          options: options.data,
        });
      else problems.push(...problemsOf(options.error.issues, document, inputSchema(schema), path));
    } catch (error) {
      if (!(error instanceof EligdError)) throw error;
      const at = [...path, 'type'];
      problems.push({
        path: keyPath(at),
        line: document.lineOf(at),
        what: `${error.what} ${error.why}`,
        next: error.next,
      });
    }
  }
  return { valid, problems };
}

/** Reports `expected_by` for a connector that reads no exports: the alert would never end. */
function neverExpected(
  type: string,
  document: ConfigDocument,
  path: (string | number)[],
): ConfigProblem {
  return {
    path: keyPath(path),
    line: document.lineOf(path),
    what: `is only for exports, and the connector "${type}" reads none: changes arrive one by one.`,
    next: 'Leave it out.',
  };
}

/**
 * Returns problems between several values. It uses the plain data, so that they are reported
 * together with the other problems.
 */
function crossProblems(document: ConfigDocument): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const addProblem = (path: (string | number)[], what: string, next: string) =>
    problems.push({ path: keyPath(path), line: document.lineOf(path), what, next });

  const connectors = listOf(document.data, 'connectors');
  for (const [index, { id }] of connectors.entries()) {
    const first = connectors.findIndex((other) => other.id === id);
    if (typeof id === 'string' && first < index) {
      addProblem(
        ['connectors', index, 'id'],
        `is also used by the connector in line ${document.lineOf(['connectors', first])}.`,
        'Give each connector its own id.',
      );
    }
  }

  const service = partOf(document.data, 'service');
  const template = service.external_id ?? '{appointment}';
  if (connectors.length > 1 && typeof template === 'string' && !template.includes('{connector}')) {
    const what =
      'does not contain {connector}. With more than one connector, two appointments could have ' +
      'the same ID.';
    addProblem(['service', 'external_id'], what, 'Set external_id: "{connector}:{appointment}".');
  }
  const { base_url } = service;
  if (
    typeof base_url === 'string' &&
    /^http:/i.test(base_url) &&
    !isLoopback(base_url) &&
    service.allow_insecure !== true
  ) {
    const next = 'Use an address that begins with https://; for tests, set allow_insecure: true.';
    addProblem(
      ['service', 'base_url'],
      'is plain http to another machine, so others on the network could read patient data.',
      next,
    );
  }

  problems.push(...unpricedBudgets(document));

  const { public_url } = partOf(document.data, 'webhook');
  if (
    typeof public_url === 'string' &&
    /^http:/i.test(public_url) &&
    !isLoopback(public_url) &&
    service.allow_insecure !== true
  ) {
    const next =
      'Use an address that begins with https://; for tests, set service.allow_insecure: true.';
    addProblem(
      ['webhook', 'public_url'],
      'is plain http to another machine, so others on the network could read patient data.',
      next,
    );
  }

  const office = partOf(document.data, 'office');
  const { listen } = office;
  if (isPlain(office.single_sign_on) && typeof office.public_url !== 'string')
    addProblem(
      ['office', 'single_sign_on'],
      'needs office.public_url: the login provider sends people back to that address.',
      'Set office.public_url to the address that people type.',
    );
  if (typeof listen === 'string' && !listen.startsWith('unix:')) {
    if (!isLoopback(`http://${listen}`) && !isPlain(office.tls))
      addProblem(
        ['office', 'listen'],
        'can be reached from other machines, so others on the network could read patient data.',
        'Use 127.0.0.1 and a port with a proxy in front, or add a certificate under office.tls.',
      );
    for (const other of ['webhook', 'monitoring'])
      if (partOf(document.data, other).listen === listen)
        addProblem(
          ['office', 'listen'],
          `is also the address of ${other}.listen, which others can reach without a login.`,
          'Use another port.',
        );
  }

  const places = Object.keys(partOf(document.data, 'locations'));
  for (const [index, place] of places.entries()) {
    const same = places.findIndex(
      (other) => other.trim().toLowerCase() === place.trim().toLowerCase(),
    );
    if (same < index)
      addProblem(
        ['locations', place],
        'differs from an earlier location only in case.',
        'Keep one of them.',
      );
  }
  return problems;
}

/**
 * Returns a problem for each limit in dollars without a price: a call of unknown price would count
 * as $0.
 */
function unpricedBudgets(document: ConfigDocument): ConfigProblem[] {
  const { per_inquiry } = partOf(document.data, 'prices');
  if (typeof per_inquiry === 'number') return [];
  const policy = partOf(document.data, 'policy');
  return ['dollars_per_day', 'dollars_per_month']
    .filter((key) => typeof policy[key] === 'number')
    .map((key) => ({
      path: keyPath(['policy', key]),
      line: document.lineOf(['policy', key]),
      what: 'limits dollars, but the price of a call is unknown.',
      next: 'Set prices.per_inquiry to what the service charges, or limit calls instead.',
    }));
}

type Plain = Readonly<Record<string, unknown>>;

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function partOf(data: unknown, key: string): Plain {
  const part = isPlain(data) ? data[key] : undefined;
  return isPlain(part) ? part : {};
}

function listOf(data: unknown, key: string): Plain[] {
  const list = isPlain(data) ? data[key] : undefined;
  return Array.isArray(list) ? list.map((item) => (isPlain(item) ? item : {})) : [];
}
