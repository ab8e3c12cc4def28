/** One FHIR server and one connector, with a clock that advances only while someone sleeps. */

import type { Resource } from '@medplum/fhirtypes';
import { afterEach } from 'vitest';
import { appointment } from '../../../connectors/conformance/examples.ts';
import { makeSuiteEnv } from '../../../connectors/conformance/harness.ts';
import type { Connector, ConnectorEnv, PullBatch } from '../../../connectors/contract.ts';
import { fhirConfigSchema } from '../../../connectors/fhir/config.ts';
import fhir from '../../../connectors/fhir/index.ts';
import type { AppointmentInput } from '../../../src/domain/appointment.ts';
import type { Fault, FhirPeer, Loose, PeerOptions, Request } from '../../support/fhir/peer.ts';
import { resourcesOf } from '../../support/fhir/records.ts';
import { startPeer } from '../../support/fhir/start.ts';

export type Bench = {
  peer: FhirPeer;
  connector: Connector;
  env: ConnectorEnv;
  /** The whole log. */
  said: () => string;
  /** The result of a pull; keeps the cursor for the next one. */
  pull: () => Promise<PullBatch[]>;
  cursor: () => string | null;
  /** Adds visits with all their resources, last changed long ago. */
  offer: (...visits: AppointmentInput[]) => Promise<void>;
  /** Another connector on the same journal, as after a restart. */
  restart: () => Connector;
  /** Advances the time. */
  pass: (duration_ms: number) => Promise<void>;
};

const made: Connector[] = [];

afterEach(async () => {
  for (const connector of made.splice(0)) await connector.close?.();
});

export const LONG_AGO = '2026-01-05T12:00:00.000Z';
/** When the clock of the connector starts; the server's own clock is the machine's. */
export const NOW = new Date(makeSuiteEnv().env.clock.now()).toISOString();

export async function bench(
  peer_options: PeerOptions = {},
  config: Record<string, unknown> = {},
  secrets: Record<string, string> = {},
): Promise<Bench> {
  const peer = await startPeer(peer_options);
  const world = makeSuiteEnv();
  const secret = (name: string) => ({
    name: `ELIGD_SUITE_${name.toUpperCase()}`,
    value: secrets[name] ?? null,
  });
  const env: ConnectorEnv = { ...world.env, secret };
  const parsed = fhirConfigSchema.parse({
    base_url: peer.url,
    auth: 'none',
    poll_minutes: 0,
    ...config,
  });
  const restart = () => {
    const connector = fhir.create(parsed, env);
    made.push(connector);
    return connector;
  };
  let cursor: string | null = null;
  const connector = restart();
  return {
    peer,
    connector,
    env,
    said: world.said,
    restart,
    cursor: () => cursor,
    pull: async () => {
      const batches: PullBatch[] = [];
      const accept = async (batch: PullBatch) => {
        batches.push(batch);
        cursor = batch.cursor ?? cursor;
      };
      const { signal } = new AbortController();
      await connector
        .pull?.({ cursor, accept, isAccepted: async () => false, signal })
        .catch((error: unknown) => {
          throw Object.assign(error as Error, { batches });
        });
      return batches;
    },
    offer: async (...visits) => {
      for (const visit of visits) await peer.putAt(LONG_AGO, ...resourcesOf(visit));
    },
    pass: (duration_ms) => env.clock.sleep(duration_ms),
  };
}

/** The appointments of all batches, by id. */
export function read(batches: readonly PullBatch[]): Map<string, AppointmentInput> {
  return new Map(batches.flatMap((batch) => batch.appointments).map((one) => [one.source_id, one]));
}

export { appointment };

/** Whether a request changes something. */
export const written = (request: Request) => request.method !== 'GET';

/** Makes the first request that `when` selects fail in one way. */
export function failOnce(peer: FhirPeer, fault: Fault, when: (request: Request) => boolean): void {
  let is_over = false;
  peer.fault = (request) => {
    if (is_over || !when(request)) return null;
    is_over = true;
    return fault;
  };
}

/** The result of reading A-1 after a change on the server. */
export async function readWith(
  change: (resources: Loose[]) => Loose[],
  config: Record<string, unknown> = {},
) {
  const world = await bench({}, config);
  const changed = change(structuredClone(resourcesOf(appointment(1))) as Loose[]);
  await world.peer.putAt(LONG_AGO, ...(changed as Resource[]));
  const batches = await world.pull();
  const rejected = batches.flatMap((batch) => batch.rejected);
  const cancelled = batches.flatMap((batch) => batch.cancelled_ids ?? []);
  return { visit: read(batches).get('A-1'), rejected, cancelled, world };
}

/** Changes one resource of A-1, by type, and adds others. */
export const edit =
  (type: string, change: (resource: Loose) => void, ...more: Loose[]) =>
  (resources: Loose[]) => {
    for (const resource of resources) if (resource.resourceType === type) change(resource);
    return [...more, ...resources];
  };
