/**
 * A FHIR R4 server over HTTP, for tests: storage, search, conditional create, and If-Match are
 * third-party (@medplum/fhir-router with its MemoryRepository). This file adds paging, ETags, a
 * CapabilityStatement, a token endpoint, validation, and faults.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getStatus } from '@medplum/core';
import { FhirRouter } from '@medplum/fhir-router';
import type {
  Bundle,
  CapabilityStatementRestResource,
  OperationOutcome,
  Resource,
} from '@medplum/fhirtypes';
import { faultsOf } from './definitions.ts';
import { IndexedRepository } from './repository.ts';
import { type SmartOptions, SmartServer } from './smart.ts';

export type Fault = {
  /** `before`: the request is not carried out; `after`: it is, and the answer is lost. */
  when: 'before' | 'after';
  action: 'status' | 'reset' | 'truncate' | 'html';
  status?: number;
  headers?: Record<string, string>;
  /** The server's words about it. */
  words?: string;
};

export type Request = { method: string; path: string; query: string };

export type PeerOptions = {
  /** The most entries of a page, whatever the client asks for. */
  page_max?: number;
  smart?: SmartOptions;
  /** The accepted value of Authorization, instead of SMART. */
  authorization?: string;
  /** Resource types that the server does not know. */
  without?: string[];
  /** Differences in the CapabilityStatement and in the server's behavior. */
  conditional_create?: boolean;
  include?: boolean;
  include_payor?: boolean;
  /** Refused search parameters, as `Type.name`. */
  refuse_search?: string[];
  /** `Appointment` can only be searched with one of these parameters. */
  qualified_by?: string[];
  /** `date` may be given once, as node-fhir-server-core reads it. */
  one_date?: boolean;
  has_metadata?: boolean;
  port?: number;
};

/** Tests know the shapes that they change. */
// biome-ignore lint/suspicious/noExplicitAny: the tests that read it check the shape
export type Loose = any;

const BASE = '/fhir/R4';
const TYPES: Resource['resourceType'][] = [
  'Appointment', 'Patient', 'RelatedPerson', 'Coverage', 'Organization', 'Practitioner',
  'PractitionerRole', 'Location', 'ServiceRequest', 'Condition', 'CoverageEligibilityRequest',
  'CoverageEligibilityResponse', 'Claim', 'ClaimResponse', 'Provenance', 'DocumentReference',
  'Task', 'Communication',
]; // biome-ignore format: a list of words reads better in lines than in a column

export class FhirPeer {
  readonly options: PeerOptions;
  readonly smart: SmartServer | null;
  readonly requests: Request[] = [];
  /** Every resource that a validator refused. */
  readonly invalid: string[] = [];
  /** Chooses a fault for each request; null: none. */
  fault: (request: Request) => Fault | null = () => null;
  /** Changes the body of an answer before it is sent. */
  alter: (request: Request, body: Loose) => unknown = (_, body) => body;
  url = '';
  private readonly repository = new IndexedRepository();
  private readonly router = new FhirRouter();
  private readonly pages = new Map<
    string,
    { type: string; query: URLSearchParams; offset: number }
  >();
  private readonly server = createServer((request, response) => {
    this.serve(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });

  constructor(options: PeerOptions) {
    this.options = options;
    this.smart = options.smart === undefined ? null : new SmartServer(options.smart);
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(port, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${BASE}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Stores resources as another program would, under the given IDs, by the machine's clock. */
  async put(...resources: Resource[]): Promise<void> {
    for (const resource of resources) await this.repository.updateResource(resource);
  }

  /** The same, last changed at the given time. */
  async putAt(lastUpdated: string, ...resources: Resource[]): Promise<void> {
    const meta = { lastUpdated };
    await this.repository.withSeeding(async () => {
      for (const resource of resources) await this.repository.updateResource({ ...resource, meta });
    });
  }

  async remove(type: string, id: string): Promise<void> {
    await this.repository.deleteResource(type, id);
  }

  async all<Type extends Resource['resourceType']>(
    type: Type,
  ): Promise<Extract<Resource, { resourceType: Type }>[]> {
    const bundle = await this.repository.search({ resourceType: type, count: 100_000 });
    return (bundle.entry ?? []).map(
      ({ resource }) => resource as Extract<Resource, { resourceType: Type }>,
    );
  }

  /** How often each resource was written: `1` if it was created and never changed. */
  async versions(type: Resource['resourceType'], id: string): Promise<number> {
    const history = await this.repository.readHistory(type, id);
    return history.entry?.length ?? 0;
  }

  /**
   * Every resource with its version: if two calls return the same, nothing was written in between.
   */
  async everyVersion(): Promise<string[]> {
    const all = await Promise.all(TYPES.map((type) => this.all(type)));
    return all
      .flatMap((each) =>
        each.map(({ resourceType, id, meta }) => `${resourceType}/${id} ${meta?.versionId}`),
      )
      .sort();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const seen: Request = {
      method: request.method ?? '',
      path: url.pathname.slice(BASE.length),
      query: url.search.slice(1),
    };
    this.requests.push(seen);
    const body = await text(request);
    const fault = this.fault(seen);
    if (fault?.when === 'before') return misbehave(fault, response, '');
    const answer = await this.answer(seen, url, request, body);
    const content = JSON.stringify(this.alter(seen, answer.body));
    if (fault !== null) return misbehave(fault, response, content);
    response
      .writeHead(answer.status, { 'content-type': 'application/fhir+json', ...answer.headers })
      .end(content);
  }

  private async answer(
    seen: Request,
    url: URL,
    request: IncomingMessage,
    body: string,
  ): Promise<Answer> {
    const { authorization } = request.headers;
    if (seen.path === '/.well-known/smart-configuration') return this.discovery();
    if (seen.path === '/token' && this.smart !== null) {
      return await this.smart.token(`${this.url}/token`, new URLSearchParams(body), authorization);
    }
    if (seen.path === '/metadata')
      return this.options.has_metadata === false
        ? outcome(404, 'not-found', 'None.')
        : { status: 200, body: this.statement() };
    const expected = this.options.authorization;
    if (
      (this.smart !== null && !this.smart.isValid(authorization)) ||
      (expected !== undefined && authorization !== expected)
    )
      return outcome(401, 'login', 'Not logged in.');
    return await this.fhir(seen, url, request, body);
  }

  private async fhir(
    { method, path }: Request,
    url: URL,
    request: IncomingMessage,
    body: string,
  ): Promise<Answer> {
    const page = this.pages.get(url.searchParams.get('_getpages') ?? '');
    if (page !== undefined) return await this.page(page.type, page.query, page.offset);
    const [, type = '', id] = path.split('/');
    if (this.options.without?.includes(type))
      return outcome(404, 'not-supported', `${type} is not supported here.`);
    if (method === 'GET' && id === undefined) return await this.search(type, url.searchParams);
    const resource: Resource | undefined = body === '' ? undefined : JSON.parse(body);
    if (resource !== undefined) {
      const faults = faultsOf(resource);
      this.invalid.push(...faults);
      if (faults.length > 0) return outcome(422, 'invalid', faults.join(' '));
    }
    const headers = { ...request.headers };
    if (this.options.conditional_create === false) delete headers['if-none-exist'];
    const [result, found] = await this.router.handleRequest(
      {
        method: method as 'GET',
        url: path,
        pathname: '',
        params: {},
        query: {},
        body: resource,
        headers,
      },
      this.repository,
    );
    const status = getStatus(result);
    if (found === undefined) return { status, body: result };
    const etag = `W/"${found.meta?.versionId}"`;
    return {
      status,
      body: found,
      headers: { etag, location: `${this.url}/${found.resourceType}/${found.id}/_history/1` },
    };
  }

  private async search(type: string, query: URLSearchParams): Promise<Answer> {
    const { refuse_search = [], qualified_by, include, one_date } = this.options;
    if (one_date === true && query.getAll('date').length > 1)
      return outcome(400, 'invalid', 'date is invalid');
    for (const name of new Set([...query.keys()]))
      if (refuse_search.includes(`${type}.${name}`))
        return outcome(400, 'not-supported', `The parameter ${name} is not supported.`);
    if (
      type === 'Appointment' &&
      qualified_by !== undefined &&
      !qualified_by.some((name) => query.has(name))
    )
      return outcome(400, 'required', `One of ${qualified_by.join(', ')} is required.`);
    if (include === false && query.has('_include'))
      return outcome(400, 'not-supported', '_include is not supported.');
    return await this.page(type, query, 0);
  }

  private async page(type: string, query: URLSearchParams, offset: number): Promise<Answer> {
    const { page_max = 50 } = this.options;
    const count = Math.min(Number(query.get('_count') ?? page_max), page_max);
    const asked: Record<string, string[]> = {};
    for (const [name, value] of query) asked[name] = [...(asked[name] ?? []), value];
    asked._count = [String(count)];
    asked._offset = [String(offset)];
    const [result, bundle] = await this.router.handleRequest(
      { method: 'GET', url: `/${type}`, pathname: '', params: {}, query: asked, body: undefined },
      this.repository,
    );
    if (bundle === undefined) return { status: getStatus(result), body: result };
    const { entry = [], total = 0 } = bundle as Bundle;
    const link = [{ relation: 'self', url: `${this.url}/${type}` }];
    if (offset + count < total) {
      const token = `${type}-${this.pages.size}`;
      this.pages.set(token, { type, query, offset: offset + count });
      link.push({ relation: 'next', url: `${this.url}?_getpages=${token}&_bundletype=searchset` });
    }
    const full = entry.map((one) => ({
      fullUrl: `${this.url}/${one.resource?.resourceType}/${one.resource?.id}`,
      ...one,
    }));
    return { status: 200, body: { ...bundle, link, entry: full } };
  }

  private discovery(): Answer {
    if (this.smart === null) return outcome(404, 'not-found', 'None.');
    const { versions = ['v1', 'v2'] } = this.smart.options;
    const body = {
      token_endpoint: `${this.url}/token`,
      token_endpoint_auth_methods_supported: ['private_key_jwt', 'client_secret_basic'],
      token_endpoint_auth_signing_alg_values_supported: ['RS384', 'ES384'],
      capabilities: [
        'client-confidential-asymmetric',
        ...versions.map((version) => `permission-${version}`),
      ],
    };
    return { status: 200, body };
  }

  private statement() {
    const {
      without = [],
      conditional_create = true,
      include = true,
      include_payor = false,
      refuse_search = [],
    } = this.options;
    const resource = TYPES.filter((type) => !without.includes(type)).map(
      (type): CapabilityStatementRestResource => {
        const names = [
          '_id',
          '_lastUpdated',
          'identifier',
          'patient',
          'date',
          'actor',
          'location',
          'practitioner',
          'target',
          'request',
          'created',
        ];
        return {
          type: type as 'Appointment',
          interaction: (['read', 'search-type', 'create', 'update'] as const).map((code) => ({
            code,
          })),
          versioning: 'versioned-update',
          conditionalCreate: conditional_create,
          ...(include
            ? { searchInclude: [`${type}:actor`, ...(include_payor ? [`${type}:payor`] : [])] }
            : {}),
          searchParam: names
            .filter((name) => !refuse_search.includes(`${type}.${name}`))
            .map((name) => ({ name, type: 'token' })),
        };
      },
    );
    return {
      resourceType: 'CapabilityStatement',
      status: 'active',
      date: '2030-01-01',
      kind: 'instance',
      fhirVersion: '4.0.1',
      format: ['json'],
      software: { name: 'Peer', version: '1' },
      rest: [{ mode: 'server', resource }],
    };
  }
}

type Answer = { status: number; body: object; headers?: Record<string, string> };

function outcome(status: number, code: string, diagnostics: string): Answer {
  const body = {
    resourceType: 'OperationOutcome',
    issue: [{ severity: 'error', code, diagnostics }],
  };
  return { status, body: body as OperationOutcome };
}

function misbehave(fault: Fault, response: ServerResponse, content: string): void {
  if (fault.action === 'status') {
    response
      .writeHead(fault.status ?? 500, fault.headers)
      .end(
        JSON.stringify(outcome(fault.status ?? 500, 'transient', fault.words ?? 'A fault.').body),
      );
  } else if (fault.action === 'html')
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>A proxy</html>');
  else if (fault.action === 'truncate') {
    response.writeHead(200, { 'content-length': content.length + 10 });
    response.write(content.slice(0, content.length / 2), () => response.destroy());
  } else response.destroy();
}

async function text(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk as string;
  return body;
}
