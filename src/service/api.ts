/**
 * What the rest of eligd sees of the inquiry service: calls, results and the classes of failure
 * (docs/design.md "The two legs of an inquiry"). Failures are values, because every caller decides
 * something on them.
 */
import type { Dispatcher } from 'undici';
import type { Env } from '../domain/env.ts';
import type { InquiryId } from '../domain/ids.ts';
import type { Specialty } from '../domain/specialty.ts';
import type { Way } from '../network/way.ts';
import type { Inquiry, InquiryRequest, Subscription, ValidationItem } from './wire.ts';

export type { Inquiry, InquiryRequest, Subscription, ValidationItem } from './wire.ts';

/**
 * The rate limit (G5). It lives in the store; every HTTP request passes it: the token's, each page,
 * the repetition after a 401.
 */
export type RequestGate = {
  /** Resolves once a slot is committed. Rejects when `signal` is aborted first. */
  enter(priority: RequestPriority, signal?: AbortSignal): Promise<GatePass>;
  /**
   * Nobody enters before `until_ms` (clock milliseconds): a Retry-After holds for all callers at
   * once.
   */
  pause(until_ms: number): Promise<void>;
  /** The service said 429: calls go more slowly from now on. Left out by a gate without a pace. */
  slowDown?(): Promise<void>;
};

/** `leave` is called once when the request has ended, however it ended. */
export type GatePass = { leave(): Promise<void> };

/** Who goes first when there is a queue: `send`, then `urgent`, then `routine`. */
export type RequestPriority = 'send' | 'urgent' | 'routine';

/** The two schemes of docs/service.md "Authentication". */
export type ServiceCredentials =
  | { scheme: 'oauth'; username: string; password: string }
  | { scheme: 'basic'; project_id: string; api_key: string };

export type ServiceClientOptions = {
  /** http or https; a path in it is kept as a prefix. No user name, query or fragment. */
  base_url: string;
  credentials: ServiceCredentials;
  /**
   * Of one HTTP request, from the moment it is handed to the network until the last byte of its
   * reply.
   */
  timeout_ms: number;
  /** Requests under way at once, and connections kept open. */
  concurrency: number;
  gate: RequestGate;
  env: Env;
  /** Left out: an agent of the client's own, with keep-alive, which `close` closes. */
  dispatcher?: Dispatcher;
  /** How the client's own agent gets to the service; left out: directly. */
  way?: Way;
  /**
   * The `Date` header of every reply, with the clock's readings before and after (all epoch
   * milliseconds).
   */
  onServiceDate?: (seen: { service_ms: number; sent_ms: number; received_ms: number }) => void;
  /** Called now and then while a long list comes in, which is a sign of life. */
  onListGrows?: () => void;
  user_agent?: string;
};

/**
 * `signal`: a call that still waits for its turn is given back as *unsent* `aborted`; one that is
 * on the wire goes on.
 */
export type CallOptions = { priority?: RequestPriority; signal?: AbortSignal };

export type Result<T> = { ok: true; value: T } | { ok: false; failure: ServiceFailure };

export type ServiceFailure =
  /** Provably not accepted by the service: safe to send again. */
  | { class: 'unsent'; cause: UnsentCause; status: number | null; retry_after_ms: number | null }
  /**
   * The service refused the content: 400 (`errors` may be empty) and 422. Its words may repeat
   * patient data: never to the log.
   */
  | { class: 'refused'; status: number; errors: ValidationItem[] }
  /** Something about the account or the installation: 402, 403, 404, 405, 407. */
  | { class: 'stopped'; status: number; retry_after_ms: number | null }
  /**
   * It may have been accepted: look before anything is sent again. `accepted`: the reply said
   * success but has no usable id.
   */
  | {
      class: 'ambiguous';
      cause: AmbiguousCause;
      status: number | null;
      retry_after_ms: number | null;
      accepted: boolean;
    };

export type UnsentCause =
  | 'dns'
  /** Refused, unreachable, or no connection in time. */
  | 'connect'
  | 'tls'
  /** The proxy is away, or does not connect us. */
  | 'proxy'
  /** The proxy wants a login, or another one (407). */
  | 'proxy_login'
  /** The deadline passed while the request was still waiting for a connection. */
  | 'timeout'
  | 'aborted'
  | 'closed'
  /** 401 on the call (after one renewal), or a login that was rejected. */
  | 'unauthorized'
  | 'rate_limited'
  /** The login did not come through: the network, a server error, a redirect. */
  | 'login_failed'
  | 'login_unreadable'
  /** 404, 405, 501 on the bulk path. */
  | 'bulk_absent'
  /** 413, or a 422 on the body that names its length. */
  | 'bulk_too_large'
  /** A 422 on the body that names its form. */
  | 'bulk_shape'
  /** A 422 on the body that may mean either. */
  | 'bulk_body_refused';

export type AmbiguousCause =
  | 'http_status'
  | 'redirect'
  /** The connection broke after the request had gone out and before a status came back. */
  | 'socket'
  | 'timeout'
  | 'aborted'
  /** A status came, the body broke off. */
  | 'truncated'
  /**
   * An answer of more than 16 MB, a list of more than 500,000 inquiries, or nested deeper than any:
   * asking again does not help.
   */
  | 'too_large'
  | 'too_deep'
  /** HTML, no JSON, or JSON of an unknown form. */
  | 'unreadable_reply'
  /** Success without an id that could be used. */
  | 'no_usable_id'
  /** A 2xx that says `"success": false`. */
  | 'contradictory_reply'
  /** A bulk's 422 that names neither the body nor its items. */
  | 'unlocated_refusal'
  /** A read by id gave another inquiry. */
  | 'other_inquiry'
  /** The subscription is not there after it was set. */
  | 'not_stored';

export type BulkResult = { ok: true; items: BulkItem[] } | { ok: false; failure: ServiceFailure };

/** One per request of the bulk, in its order. */
export type BulkItem =
  /**
   * `position`: assigned by order alone, to be verified by reading; `read_form`: the reply named it
   * by its content.
   */
  | { outcome: 'created'; inquiry_id: InquiryId; evidence: 'position' | 'read_form' }
  | { outcome: 'refused'; errors: ValidationItem[] }
  /** To be looked up. `accepted`: the reply says success, so it never goes back to planned. */
  | { outcome: 'unknown'; accepted: boolean };

export type BulkShape = 'array' | 'object';

/**
 * What a list keeps of an inquiry: what shows whose it is. `request` has only the fields that are
 * compared.
 */
export type ListedInquiry = Pick<Inquiry, 'id' | 'status' | 'creation_ts' | 'request'> & {
  /** The whole read form, when it was asked for and there was room; else read it by its id. */
  full: Inquiry | null;
};

export type InquiryList = {
  /**
   * With a filter: only those whose echoed external_id is the one asked for (trimmed, any case).
   */
  inquiries: ListedInquiry[];
  /** Paging ended for certain and every element was readable. */
  is_complete: boolean;
  /**
   * The server showed where the list ends: a link, a total, an empty page, or an empty list. False:
   * no parameter brought more, which is what a fixed cap looks like, too.
   */
  is_end_proven: boolean;
  /** Elements that the server sent, whatever their label. */
  total_count: number;
  unreadable_count: number;
  /** The server returned inquiries under other external_ids although it was asked to filter. */
  ignored_filter: boolean;
};

export type ServiceClient = {
  /** POST /api/v0/<specialty>/inquiries. Sends exactly `JSON.stringify(request)`, at most once. */
  create(
    specialty: Specialty,
    request: InquiryRequest,
    options?: CallOptions,
  ): Promise<Result<{ inquiry_id: InquiryId }>>;
  /**
   * POST /api/v0/<specialty>/batch_inquiries, as a bare array or as `{"inquiries": […]}`; at most
   * once.
   */
  createBulk(
    specialty: Specialty,
    requests: InquiryRequest[],
    shape: BulkShape,
    options?: CallOptions,
  ): Promise<BulkResult>;
  /**
   * GET /api/v0/<specialty>/inquiries, all pages, in bounded memory. `keep` says whose whole read
   * form is wanted.
   */
  list(
    specialty: Specialty,
    filter: { external_id?: string },
    options?: CallOptions & { keep?: (id: InquiryId) => boolean },
  ): Promise<Result<InquiryList>>;
  /** GET /api/v0/<specialty>/inquiries/{id}. Null: absent (404, 422, or 200 with null or []). */
  read(specialty: Specialty, id: InquiryId, options?: CallOptions): Promise<Result<Inquiry | null>>;
  /**
   * GET /api/v0/verification: the records as they came, any JSON, newest first. An unknown inquiry
   * has none.
   */
  verifications(inquiry_id: InquiryId, options?: CallOptions): Promise<Result<unknown[]>>;
  /** GET /api/v0/subscription/. Null: the account has no subscription. */
  getSubscription(options?: CallOptions): Promise<Result<Subscription | null>>;
  /**
   * POST /api/v0/subscription/, then reads back what is there, which may differ from what was
   * wanted.
   */
  setSubscription(
    wanted: { callback_url: string; update_frequency_min: number },
    options?: CallOptions,
  ): Promise<Result<Subscription>>;
  /** DELETE /api/v0/subscription/. Deleting what is not there succeeds. */
  deleteSubscription(options?: CallOptions): Promise<Result<null>>;
  /** The next call logs in (`oauth`); for a try after the service has rejected calls. */
  forgetToken(): void;
  /** Proves the credentials with one cheap read (and a login, with `oauth`). For `eligd check`. */
  login(options?: CallOptions): Promise<Result<null>>;
  /** The same read with the token that the client has, if it has one. */
  access(options?: CallOptions): Promise<Result<null>>;
  /**
   * Gives back what waits as *unsent* `closed`, lets what is on the wire end, closes the
   * connections. May be repeated.
   */
  close(): Promise<void>;
  /**
   * Closes, and ends what is on the wire: a create is *ambiguous* `aborted` then. For a stop that
   * cannot wait.
   */
  cut(): void;
};
