/**
 * A FHIR server made of @asymmetrik/node-fhir-server-core, with its own routes, parameters,
 * headers, and CapabilityStatement, and its limit of one `date` in a search. Its services use the
 * memory repository of @medplum/fhir-router.
 */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { parseSearchRequest } from '@medplum/core';
import type { Resource } from '@medplum/fhirtypes';
import { indexDefinitions } from './definitions.ts';
import { IndexedRepository } from './repository.ts';

type Written = { id: string; resource_version: string };
type Context = { req: IncomingMessage & { body: unknown } };
type Arguments = Record<string, string>;
type Service = {
  search: (args: Arguments) => Promise<unknown>;
  searchById: (args: Arguments) => Promise<unknown>;
  create: (args: Arguments, context: Context) => Promise<Written>;
  update: (args: Arguments, context: Context) => Promise<Written>;
};
/** The used part of the package, which has no types. */
type Core = {
  initialize: (config: {
    profiles: Record<string, { service: Service; versions: string[] }>;
    logging: { level: string };
  }) => { app: RequestListener };
};

const core = createRequire(import.meta.url)('@asymmetrik/node-fhir-server-core') as Core;

const VERSION = '4_0_0';
const TYPES = [
  'Appointment', 'Patient', 'RelatedPerson', 'Coverage', 'Organization', 'Practitioner',
  'PractitionerRole', 'Location', 'ServiceRequest', 'Condition', 'CoverageEligibilityRequest',
  'CoverageEligibilityResponse', 'Claim', 'ClaimResponse', 'Provenance', 'DocumentReference',
  'Task', 'Communication',
] as const; // biome-ignore format: a list of words reads better in lines than in a column

export type OtherPeer = {
  url: string;
  repository: IndexedRepository;
  /** Every request, as method and path. */
  requests: string[];
  close: () => Promise<void>;
};

export async function startAsymmetrik(): Promise<OtherPeer> {
  indexDefinitions();
  const repository = new IndexedRepository();
  const requests: string[] = [];
  const profiles = Object.fromEntries(
    TYPES.map((type) => [
      type.toLowerCase(),
      { service: serviceOf(type, repository), versions: [VERSION] },
    ]),
  );
  const { app } = core.initialize({ profiles, logging: { level: 'error' } });
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    app(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/${VERSION}`,
    repository,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The core leaves this to its user: finding and storing resources. */
function serviceOf(type: (typeof TYPES)[number], repository: IndexedRepository): Service {
  return {
    search: async ({ base_version: _, ...args }) => {
      const query = new URLSearchParams(args);
      return await repository.search(parseSearchRequest(`${type}?${query}`));
    },
    searchById: async ({ id = '' }) => await repository.readResource(type, id).catch(() => null),
    create: async (_args, { req }) =>
      written(await repository.createResource(req.body as Resource)),
    update: async (_args, { req }) =>
      written(await repository.updateResource(req.body as Resource)),
  };
}

function written({ id, meta }: Resource): Written {
  return { id: id ?? '', resource_version: meta?.versionId ?? '' };
}
