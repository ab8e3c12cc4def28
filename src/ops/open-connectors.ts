import { resolve } from 'node:path';
import {
  type Connector,
  type ConnectorEnv,
  ConnectorError,
  type ConnectorEvents,
  type ConnectorLog,
  type Journal,
} from '../../connectors/contract.ts';
import type { Env } from '../domain/env.ts';
import { EligdError } from '../domain/errors.ts';
import type { EventName } from '../domain/events.ts';
import type { Config } from './config-schema.ts';
import { loadConnectorType } from './connectors.ts';
import { eventNameToLog } from './event-catalog.ts';
import { connectorNetwork } from './network.ts';
import { connectorSecretName, type SecretSource } from './secrets.ts';
import { readTrusted } from './trusted-files.ts';

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
