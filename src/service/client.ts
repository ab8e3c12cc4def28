/**
 * The client of the inquiry service, with one function for each endpoint of the specification. Each
 * function defines the request, which `session.ts` sends, and the reader for the reply.
 */
import { EligdError } from '../domain/errors.ts';
import type { InquiryId } from '../domain/ids.ts';
import type { Specialty } from '../domain/specialty.ts';
import type {
  CallOptions,
  Result,
  ServiceClient,
  ServiceClientOptions,
  Subscription,
} from './api.ts';
import { readBulk } from './bulk.ts';
import { readCreation } from './creates.ts';
import { type Answered, ambiguous, fail, settle } from './failures.ts';
import { ListBodyReader, newListRoom } from './list-body.ts';
import { type PagingMemory, readList } from './listing.ts';
import { readDeletion, readInquiry, readSubscription, readVerifications } from './reads.ts';
import { type Call, Session } from './session.ts';

const SUBSCRIPTION_PATH = '/api/v0/subscription/'; // the service requires the trailing slash

/**
 * Returns a client that has not connected yet. Throws an `EligdError` (configuration) when
 * `base_url` is not valid.
 */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const session = new Session(options, parseBaseUrl(options.base_url));
  const paging = new Map<Specialty, PagingMemory>();
  const call = (
    method: Call['method'],
    path: string,
    how: CallOptions | undefined,
    json?: string,
  ): Promise<Answered> =>
    session.perform({
      method,
      path: session.prefix + path,
      ...(json === undefined ? {} : { json }),
      priority: how?.priority ?? 'routine',
      signal: how?.signal,
    });
  const getSubscription = async (how?: CallOptions) =>
    readSubscription(await call('GET', SUBSCRIPTION_PATH, how));
  const access = async (how?: CallOptions): Promise<Result<null>> => {
    const answered = await call('GET', SUBSCRIPTION_PATH, how);
    if (answered.outcome === 'reply' && answered.reply.status === 404) {
      // A 404 may mean no subscription or a wrong address. With a wrong address, the list is also
      // unknown. The filter keeps the list short.
      const listed = settle(
        await call('GET', `${inquiriesPath('dental')}?external_id=eligd-login-check`, how),
      );
      // The service may refuse the filter (docs/service.md "List filter"), but knows the address.
      const is_known = listed.ok || listed.failure.class === 'refused';
      return is_known ? { ok: true, value: null } : listed;
    }
    const settled = settle(answered);
    return settled.ok ? { ok: true, value: null } : settled;
  };

  return {
    create: async (specialty, request, how) =>
      readCreation(
        await call(
          'POST',
          inquiriesPath(specialty),
          { priority: 'send', ...how },
          JSON.stringify(request),
        ),
      ),

    async createBulk(specialty, requests, shape, how) {
      if (requests.length === 0) return { ok: true, items: [] };
      const json = JSON.stringify(shape === 'array' ? requests : { inquiries: requests });
      return readBulk(
        await call(
          'POST',
          `/api/v0/${specialty}/batch_inquiries`,
          { priority: 'send', ...how },
          json,
        ),
        requests,
        shape,
      );
    },

    async list(specialty, filter, how) {
      const external_id = filter.external_id ?? '';
      const memory = paging.get(specialty) ?? { known: 'nothing' };
      paging.set(specialty, memory);
      const room = newListRoom(how?.keep);
      const source = {
        path: session.prefix + inquiriesPath(specialty),
        origin: session.origin,
        fetchPage: (path: string) =>
          session.perform({
            method: 'GET',
            path,
            priority: how?.priority ?? 'routine',
            signal: how?.signal,
            newReader: () => new ListBodyReader(room),
          }),
        memory,
        onForeignLink: () => options.env.log('service_page_link_refused', { specialty }),
      };
      if (external_id === '') return readList(source, '');
      const path = `${source.path}?${new URLSearchParams({ external_id })}`;
      const listed = await readList({ ...source, path }, external_id);
      if (listed.ok || listed.failure.class !== 'refused') return listed;
      const whole = await readList(source, external_id);
      return whole.ok ? { ok: true, value: { ...whole.value, filter: 'refused' } } : whole;
    },

    read: async (specialty, id, how) =>
      readInquiry(await call('GET', `${inquiriesPath(specialty)}/${segment(id)}`, how), id),

    async verifications(id, how) {
      return readVerifications(
        await call('GET', `/api/v0/verification?${new URLSearchParams({ inquiry_id: id })}`, how),
        id,
      );
    },

    getSubscription,

    async setSubscription(wanted, how): Promise<Result<Subscription>> {
      const { callback_url, update_frequency_min } = wanted;
      const json = JSON.stringify({ callback_url, update_frequency_min });
      const set = settle(await call('POST', SUBSCRIPTION_PATH, how, json));
      if (!set.ok) return set;
      const read = await getSubscription(how);
      if (!read.ok) return read;
      return read.value === null ? fail(ambiguous('not_stored')) : { ok: true, value: read.value };
    },

    deleteSubscription: async (how) => readDeletion(await call('DELETE', SUBSCRIPTION_PATH, how)),

    forgetToken: () => session.forgetToken(),

    login(how) {
      session.forgetToken();
      return access(how);
    },

    access,

    close: () => session.close(),

    cut: () => session.cut(),
  };
}

function inquiriesPath(specialty: Specialty): string {
  return `/api/v0/${specialty}/inquiries`;
}

function segment(id: InquiryId): string {
  return encodeURIComponent(id);
}

function parseBaseUrl(base_url: string): URL {
  const base = URL.parse(base_url);
  const is_plain =
    base !== null &&
    (base.protocol === 'http:' || base.protocol === 'https:') &&
    base.username + base.password + base.search + base.hash === '';
  if (is_plain) return base;
  throw new EligdError('configuration', {
    what: "The inquiry service's address cannot be used.",
    why:
      'service.base_url is not a plain http or https address (no user name, no question mark, ' +
      'no #).',
    next: 'Correct service.base_url in the configuration, for example https://api.example.com.',
  });
}
