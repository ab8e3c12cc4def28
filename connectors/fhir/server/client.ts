/**
 * The FHIR server as seen from here: reads that are repeated when they fail in passing, writes that
 * are not, searches page by page. Every request is authorized; a token that ends in the middle is
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
/** A longer wait is left to the core, which comes back to the whole pull or batch. */
const PATIENCE_MS = 20_000;
/** What a server asks for is believed up to here. */
const PAUSE_MS_MAX = 60 * 60_000;
/** Far above what a clinic has, and still an end (every loop has a bound). */
const PAGES_MAX = 10_000;
/**
 * Entries move while pages are read, and some are hidden, so a page may bring nothing new; so many
 * in a row go round in a circle.
 */
const STALE_PAGES_MAX = 20;
const CAPABILITY_MS = HOUR_MS;

type Page = {
  matches: Resource[];
  /** Everything that came along, under its `fullUrl`. */
  included: Map<string, Resource>;
  /** Entries that hold no resource. */
  unreadable: number;
  /** The server said itself that something is missing from its answer. */
  is_partial: boolean;
  /** How the search ended; null while it goes on. */
  end: SearchEnd | null;
};

/** Anything but `end` means that pages are missing. */
export type SearchEnd = 'end' | 'loop' | 'foreign_link' | 'too_many_pages';

export type Written = { resource: Resource | null; id: string; is_new: boolean };

export class FhirClient {
  readonly base_url: string;
  private readonly env: FhirEnv;
  private readonly transport: Transport;
  private readonly authorizer: Authorizer;
  private readonly queue: PQueue;
  private known: { capability: Capability; read_elapsed: number } | null = null;
  /**
   * By the clock that never goes backward: nothing is sent before, because the server asked to
   * wait.
   */
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

  /** Logs in, whatever the way; throws when that fails. */
  async login(signal: AbortSignal): Promise<void> {
    await this.repeating(() => this.authorizer.header(signal), signal);
  }

  /**
   * Kept for an hour, because what a server lets eligd do may change. One without a readable
   * statement is asked again the next time.
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
   * Throws a FhirError of kind `absent` when it is not there, and of kind `broken` when the server
   * hands over something else: that may be of another patient.
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
   * Pages of a search. The addresses of further pages are the server's, taken as they are, but
   * never to another server.
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
   * All matches of a small search. Throws a FhirError when pages are missing: what is not there
   * must not pass for what is not.
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
   * Sent once: whoever calls looks before it writes again. `if_none_exist` is a query, honored or
   * not.
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

  /** `version` is the one that was read (`If-Match`); null when the server gives none. */
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
      // What a server or a proxy keeps of an earlier search does not show what was written since.
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

  /** Repeats what failed in passing, a few times and not for long. */
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
   * One request with its login; a 401 gets one more try with a fresh token. Throws a FhirError for
   * everything but 2xx.
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
   * All callers together keep to `parallel_requests`, and send nothing while the server asked to
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
      // Warnings are common (an unknown parameter, a hidden record); an error says that a part
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
