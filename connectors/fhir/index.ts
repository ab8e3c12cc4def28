/**
 * The FHIR R4 connector: reads appointments from a FHIR server and writes answers back.
 * docs/fhir.md describes the mapping, the configuration, and the known servers.
 */
import type { Connector, ConnectorType } from '../contract.ts';
import { checkServer } from './check.ts';
import { COMMANDS } from './commands.ts';
import { type FhirConfig, fhirConfigSchema } from './config.ts';
import { EVENTS, type FhirEnv } from './events.ts';
import { Puller } from './read/pull.ts';
import { FhirClient } from './server/client.ts';
import { FhirError, toConnectorError } from './server/failure.ts';
import { publishAttention } from './write/attention.ts';
import { deliver } from './write/deliver.ts';
import { deliverClaims } from './write/deliver-claims.ts';

const fhir: ConnectorType<FhirConfig> = {
  name: 'fhir',
  config: fhirConfigSchema,
  events: EVENTS,
  commands: COMMANDS,
  create,
};
export default fhir;

function create(config: FhirConfig, env: FhirEnv): Connector {
  const client = new FhirClient(config, env);
  const puller = new Puller(client, config, env);
  const parts = { client, config, env };
  return {
    certificates: () => [
      { of: `the FHIR server (${env.connector_id})`, url: config.base_url, connection: config },
      ...(config.tls?.certificate_file === undefined
        ? []
        : [
            {
              of: `eligd at the FHIR server (${env.connector_id})`,
              file: env.resolvePath(config.tls.certificate_file),
            },
          ]),
    ],
    pull: (call) => told(() => puller.pull(call)),
    readSource: (call) =>
      told(() =>
        new Puller(client, config, env).pull({
          ...call,
          cursor: null,
          isAccepted: async () => false,
        }),
      ),
    deliver: (batch, signal) => told(() => deliver(parts, batch, signal)),
    deliverClaims: (batch, signal) => told(() => deliverClaims(parts, batch, signal)),
    ...(config.attention === 'none'
      ? {}
      : {
          publishAttention: (entries, signal) =>
            told(async () => publishAttention(parts, await Array.fromAsync(entries), signal)),
        }),
    check: (signal) => told(() => checkServer(parts, signal)),
    close: () => client.close(),
  };
}

/** Runs `work` and converts a failed request to the core's error. */
async function told<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof FhirError ? toConnectorError(error) : error;
  }
}
