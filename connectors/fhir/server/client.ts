/**
 * The client of the FHIR server: reads are repeated after a transient failure, writes are not, and
 * searches return page by page. Every request is authorized; a token that expires meanwhile is
 * renewed once.
 */
import PQueue from 'p-queue';
import { backoffMs } from '../../../src/domain/backoff.ts';
import { HOUR_MS } from '../../../src/domain/time.ts';
import { ConnectorError } from '../../contract.ts';
import type { FhirConfig } from '../config.ts';
import { at, isResource, listAt, type Resource, textAt } from '../element.ts';
import type { FhirEnv } from '../events.ts';
import { type Authorizer, createAuthorizer } from './auth.ts';
import { type Capability, readCapability } from './capability.ts';
import { FhirError, failureOfReply, isPassing, retryAfterMs } from './failure.ts';
import { createTransport, type HttpReply, type HttpRequest, type Transport } from './transport.ts';

const FHIR_JSON = 'application/fhir+json';
const TRIES = 6;
const RETRY_LIMITS = { first_ms: 50, max_ms: 5_000 };
/** For a longer wait, the core repeats the whole pull or batch. */
const PATIENCE_MS = 20_000;
/** The longest wait that eligd accepts from a server. */
const PAUSE_MS_MAX = 60 * 60_000;
/** Far more than a clinic has, but a limit (every loop has one). */
const PAGES_MAX = 10_000;
/**
 * Entries move while pages are read, and some are hidden, so a page may contain nothing new; this
 * many in a row mean a cycle.
 */
const STALE_PAGES_MAX = 20;
const CAPABILITY_MS = HOUR_MS;

type Page = {
  matches: Resource[];
  /** All included resources, by `fullUrl`. */
  included: Map<string, Resource>;
  /** The number of entries without a resource. */
  unreadable: number;
  /** The server says that its answer is incomplete. */
  is_partial: boolean;
  /** How the search ended; null: more pages follow. */
  end: SearchEnd | null;
};

/** Every value except `end` means that pages are missing. */
export type SearchEnd = 'end' | 'loop' | 'foreign_link' | 'too_many_pages';

export type Written = { resource: Resource | null; id: string; is_new: boolean };

export class FhirClient {
  readonly base_url: string;
  private readonly env: FhirEnv;
  private readonly transport: Transport;
  private readonly authorizer: Authorizer;
  private readonly queue: PQueue;
  private known: { capability: Capability; read_elapsed: number } | null = null;
  /** Monotonic time; nothing is sent before, because the server asked to wait. */
  private resume_at = 0;

  constructor(config: FhirConfig, env: FhirEnv) {
    this.env = env;
    this.base_url = config.base_url;
    this.transport = createTransport(config, env.network);
    this.authorizer = createAuthorizer({ config, env, transport: this.transport });
    this.queue = new PQueue({ concurrency: config.parallel_requests });
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  grantedScopes(): string[] | null {
    return this.authorizer.granted();
  }

  /** Logs in with any method; throws when that fails. */
  async login(signal: AbortSignal): Promise<void> {
    await this.repeating(() => this.authorizer.header(signal), signal);
  }

  /**
   * Returns the capabilities, cached for an hour, because a server's permissions may change. A
   * server without a readable statement is asked again next time.
   */
  async capability(signal: AbortSignal): Promise<Capability> {
    const { known } = this;
    const elapsed = this.env.clock.elapsed();
    if (known !== null && elapsed - known.read_elapsed < CAPABILITY_MS) return known.capability;
    const url = `${this.base_url}/metadata`;
    let capability: Capability;
    try {
      const statement = await this.getJson({ url, doing: 'the CapabilityStatement' }, signal);
      if (statement.resourceType !== 'CapabilityStatement')
        throw new FhirError('broken', { what: 'It is not a CapabilityStatement.' });
      capability = readCapability(statement);
    } catch (error) {
      if (
        !(error instanceof FhirError) ||
        error.kind === 'unreachable' ||
        error.kind === 'unauthorized'
      )
        throw error;
      if (known !== null) return known.capability;
      this.env.log('fhir_capability_unknown', {
        connector: this.env.connector_id,
        failure: error.kind,
      });
      return readCapability(null);
    }
    if (capability.fhir_version !== '' && !capability.fhir_version.startsWith('4.')) {
      throw new ConnectorError('permanent', {
        what:
          `The server speaks FHIR ${capability.fhir_version.replaceAll(/[^\w.-]/g, '')}, and ` +
          'eligd needs R4.',
        next: 'Write the base address of its R4 endpoint into base_url:.',
      });
    }
    this.known = { capability, read_elapsed: elapsed };
    return capability;
  }

  /**
   * Reads a resource. Throws a FhirError of kind `absent` if it does not exist, and of kind
   * `broken` if the server returns another one, which may belong to another patient.
   */
  async read(type: string, id: string, signal: AbortSignal): Promise<Resource> {
    const url = `${this.base_url}/${type}/${encodeURIComponent(id)}`;
    const read = await this.getJson({ url, doing: `a read of ${type}` }, signal);
    if (read.resourceType === type && read.id === id) return read;
    throw new FhirError('broken', {
      what: `The FHIR server answered a read of ${type} with a resource that was not asked for.`,
    });
  }

  /**
   * Yields the pages of a search. Uses the server's own addresses of further pages, but never
   * another server's.
   */
  async *search(
    type: string,
    query: readonly [string, string][],
    signal: AbortSignal,
  ): AsyncGenerator<Page> {
    let url = `${this.base_url}/${type}?${new URLSearchParams([...query])}`;
    const seen = new Set<string>();
    const ids = new Set<string>();
    let stale = 0;
    for (let pages = 0; ; pages += 1) {
      seen.add(url);
      const bundle = await this.getJson({ url, doing: `a search of ${type}` }, signal);
      const page = readPage(bundle, type);
      const known = ids.size;
      for (const { id } of page.matches) if (id !== undefined) ids.add(id);
      stale = ids.size === known ? stale + 1 : 0;
      const next = textAt(
        listAt(bundle, 'link').find((link) => textAt(link, 'relation') === 'next'),
        'url',
      );
      const address = next === '' ? null : URL.parse(next, url);
      if (next === '') yield page;
      else if (address === null || address.origin !== new URL(this.base_url).origin)
        yield { ...page, end: 'foreign_link' };
      else if (seen.has(address.href) || stale >= STALE_PAGES_MAX) yield { ...page, end: 'loop' };
      else if (pages + 1 >= PAGES_MAX) yield { ...page, end: 'too_many_pages' };
      else {
        yield { ...page, end: null };
        url = address.href;
        continue;
      }
      return;
    }
  }

  /**
   * Returns all matches of a small search. Throws a FhirError when pages are missing: a missing
   * result must not count as a proof of absence.
   */
  async searchAll(type: string, query: readonly [string, string][], signal: AbortSignal) {
    const matches: Resource[] = [];
    const included = new Map<string, Resource>();
    let is_partial = false;
    for await (const page of this.search(type, query, signal)) {
      matches.push(...page.matches);
      for (const [url, resource] of page.included) included.set(url, resource);
      is_partial ||= page.is_partial;
      if (page.end !== null && page.end !== 'end')
        throw new FhirError('broken', {
          what: `The pages of a search of ${type} do not end as they should (${page.end}).`,
        });
    }
    return { matches, included, is_partial };
  }

  /**
   * Sends once: the caller does a lookup before it writes again. `if_none_exist` is a query, which
   * the server may ignore.
   */
  async create(
    resource: Resource,
    if_none_exist: string | null,
    signal: AbortSignal,
  ): Promise<Written> {
    const { resourceType } = resource;
    const headers: Record<string, string> =
      if_none_exist === null ? {} : { 'if-none-exist': if_none_exist };
    return await this.write(
      {
        method: 'POST',
        url: `${this.base_url}/${resourceType}`,
        headers,
        doing: `a create of ${resourceType}`,
      },
      resource,
      signal,
    );
  }

  /** `version` is the version that was read (`If-Match`); null if the server has none. */
  async update(
    resource: Resource & { id: string },
    version: string | null,
    signal: AbortSignal,
  ): Promise<Written> {
    const { resourceType, id } = resource;
    const headers: Record<string, string> =
      version === null ? {} : { 'if-match': `W/"${version}"` };
    const url = `${this.base_url}/${resourceType}/${encodeURIComponent(id)}`;
    return await this.write(
      { method: 'PUT', url, headers, doing: `an update of ${resourceType}` },
      resource,
      signal,
    );
  }

  private async write(
    request: Omit<HttpRequest, 'body'>,
    resource: Resource,
    signal: AbortSignal,
  ): Promise<Written> {
    const headers = {
      ...request.headers,
      'content-type': FHIR_JSON,
      prefer: 'return=representation',
    };
    const reply = await this.authorized(
      { ...request, headers, body: JSON.stringify(resource) },
      signal,
    );
    const written =
      isResource(reply.body) && reply.body.resourceType === resource.resourceType
        ? reply.body
        : null;
    const location =
      [reply.headers.location, reply.headers['content-location']]
        .flat()
        .find((value) => value !== undefined) ?? '';
    const id =
      written?.id ??
      new RegExp(`${resource.resourceType}/([^/?#]+)`).exec(location)?.[1] ??
      resource.id ??
      '';
    if (id === '')
      throw new FhirError('broken', {
        what: `The FHIR server answered ${reply.status} to ${request.doing}, without the id.`,
        may_be_done: true,
      });
    return { resource: written, id, is_new: reply.status === 201 };
  }

  private async getJson(
    { url, doing }: { url: string; doing: string },
    signal: AbortSignal,
  ): Promise<Resource> {
    return await this.repeating(async () => {
      // A cached search result of a server or proxy would not show later writes.
      const reply = await this.authorized(
        { method: 'GET', url, headers: { 'cache-control': 'no-cache' }, doing },
        signal,
      );
      if (isResource(reply.body)) return reply.body;
      throw new FhirError('broken', {
        what: `The FHIR server answered ${doing} with something that is not FHIR in JSON.`,
      });
    }, signal);
  }

  /** Repeats a transient failure a few times, for a short while. */
  private async repeating<Value>(
    attempt: () => Promise<Value>,
    signal: AbortSignal,
  ): Promise<Value> {
    for (let failures = 1; ; failures += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof FhirError) || !isPassing(error) || failures >= TRIES) throw error;
        const wait_ms =
          error.retry_after_ms ?? backoffMs(failures, RETRY_LIMITS, this.env.random());
        if (wait_ms > PATIENCE_MS) throw error;
        await this.env.clock.sleep(wait_ms, signal);
      }
    }
  }

  /**
   * Sends one request with its login; a 401 gets one retry with a new token. Throws a FhirError for
   * every status except 2xx.
   */
  private async authorized(request: HttpRequest, signal: AbortSignal): Promise<HttpReply> {
    let header = await this.authorizer.header(signal);
    let reply = await this.paced(request, header, signal);
    if (reply.status === 401) {
      const renewed = await this.authorizer.header(signal, header);
      if (renewed !== header) {
        header = renewed;
        reply = await this.paced(request, header, signal);
      }
    }
    const { status, body, headers } = reply;
    if (status >= 200 && status < 300) return reply;
    const retry_after_ms = retryAfterMs(headers, this.env.clock.now());
    if (status === 429 || status === 503) {
      const pause_ms = Math.min(retry_after_ms ?? 0, PAUSE_MS_MAX);
      this.resume_at = Math.max(this.resume_at, this.env.clock.elapsed() + pause_ms);
    }
    throw failureOfReply(status, body, request.doing, retry_after_ms);
  }

  /**
   * Limits all callers together to `parallel_requests`, and sends nothing while the server asked to
   * wait.
   */
  private async paced(
    request: HttpRequest,
    header: string | null,
    signal: AbortSignal,
  ): Promise<HttpReply> {
    return await this.queue.add(async () => {
      const wait_ms = this.resume_at - this.env.clock.elapsed();
      if (wait_ms > PATIENCE_MS) {
        const what = `The FHIR server asked to wait, so ${request.doing} was put off.`;
        throw new FhirError('busy', { what, retry_after_ms: wait_ms });
      }
      if (wait_ms > 0) await this.env.clock.sleep(wait_ms, signal);
      const headers = {
        accept: FHIR_JSON,
        ...request.headers,
        ...(header === null ? {} : { authorization: header }),
      };
      return await this.transport.send({ ...request, headers }, signal);
    });
  }
}

function readPage(bundle: Resource, type: string): Page {
  const page: Page = {
    matches: [],
    included: new Map(),
    unreadable: 0,
    is_partial: false,
    end: 'end',
  };
  if (bundle.resourceType !== 'Bundle') {
    throw new FhirError('broken', {
      what: `The FHIR server answered a search of ${type} with a resource that is no Bundle.`,
    });
  }
  for (const entry of listAt(bundle, 'entry')) {
    const resource = at(entry, 'resource');
    const mode = textAt(entry, 'search', 'mode');
    if (mode === 'outcome' || textAt(resource, 'resourceType') === 'OperationOutcome') {
      // Warnings are common (an unknown parameter, a hidden record); an error means that a part
      // could not be searched.
      page.is_partial ||= listAt(resource, 'issue').some((issue) =>
        ['error', 'fatal'].includes(textAt(issue, 'severity')),
      );
    } else if (!isResource(resource)) {
      page.unreadable += 1;
    } else if (resource.resourceType === type && mode !== 'include') {
      page.matches.push(resource);
    } else {
      page.included.set(
        textAt(entry, 'fullUrl') || `${resource.resourceType}/${resource.id}`,
        resource,
      );
    }
  }
  return page;
}
