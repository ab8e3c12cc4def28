/**
 * The interface of the inquiry service for the rest of eligd: calls, results and classes of failure
 * (docs/design.md "The two legs of an inquiry"). Failures are values, because every caller makes
 * decisions based on them.
 */
import type { Dispatcher } from 'undici';
import type { Env } from '../domain/env.ts';
import type { InquiryId } from '../domain/ids.ts';
import type { Specialty } from '../domain/specialty.ts';
import type { Way } from '../network/way.ts';
import type { Inquiry, InquiryRequest, Subscription, ValidationItem } from './wire.ts';

export type { Inquiry, InquiryRequest, Subscription, ValidationItem } from './wire.ts';

/**
 * The rate limit (G5). It is kept in the store, and every HTTP request must pass it: token
 * requests, each page of a list, and a repetition after a 401.
 */
export type RequestGate = {
  /** Resolves when a slot is committed. Rejects when `signal` is aborted first. */
  enter(priority: RequestPriority, signal?: AbortSignal): Promise<GatePass>;
  /**
   * Admits no request before `until_ms` (clock milliseconds): a Retry-After applies to all callers.
   */
  pause(until_ms: number): Promise<void>;
  /** Slows down later calls after a 429. Omitted by a gate without a pace. */
  slowDown?(): Promise<void>;
};

/** `leave` is called exactly once when the request has ended, successfully or not. */
export type GatePass = { leave(): Promise<void> };

/** The order in the queue: `send`, then `urgent`, then `routine`. */
export type RequestPriority = 'send' | 'urgent' | 'routine';

/** The two schemes of docs/service.md "Authentication". */
export type ServiceCredentials =
  | { scheme: 'oauth'; username: string; password: string }
  | { scheme: 'basic'; project_id: string; api_key: string };

export type ServiceClientOptions = {
  /** http or https; a path is used as a prefix. No user name, query or fragment. */
  base_url: string;
  credentials: ServiceCredentials;
  /**
   * The limit for one HTTP request, from its handover to the network to the last byte of its reply.
   */
  timeout_ms: number;
  /** The maximum number of concurrent requests, and of connections kept open. */
  concurrency: number;
  gate: RequestGate;
  env: Env;
  /** Omitted: the client creates its own agent with keep-alive, which `close` closes. */
  dispatcher?: Dispatcher;
  /** How the client's own agent connects to the service; omitted: directly. */
  way?: Way;
  /**
   * Called with the `Date` header of every reply, and the clock's readings before and after (all
   * epoch milliseconds).
   */
  onServiceDate?: (seen: { service_ms: number; sent_ms: number; received_ms: number }) => void;
  /** Called repeatedly while a long list arrives, as a sign of progress. */
  onListGrows?: () => void;
  user_agent?: string;
};

/**
 * `signal`: a call that still waits for its turn fails as *unsent* `aborted`; a request in flight
 * continues.
 */
export type CallOptions = { priority?: RequestPriority; signal?: AbortSignal };

export type Result<T> = { ok: true; value: T } | { ok: false; failure: ServiceFailure };

export type ServiceFailure =
  /** Provably not accepted by the service: safe to send again. */
  | { class: 'unsent'; cause: UnsentCause; status: number | null; retry_after_ms: number | null }
  /**
   * The service refused the content: 400 (`errors` may be empty) or 422. Its words may repeat
   * patient data: never log them.
   */
  | { class: 'refused'; status: number; errors: ValidationItem[] }
  /** A problem with the account or the installation: 402, 403, 404, 405, 407. */
  | { class: 'stopped'; status: number; retry_after_ms: number | null }
  /**
   * The service may have accepted the request: a lookup must precede any resend. `accepted`: the
   * reply reported success without a usable ID.
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
  /** The connection was refused, the host is unreachable, or connecting timed out. */
  | 'connect'
  | 'tls'
  /** The proxy is unavailable, or does not connect us. */
  | 'proxy'
  /** The proxy requires a login, or a different one (407). */
  | 'proxy_login'
  /** The deadline passed while the request was still waiting for a connection. */
  | 'timeout'
  | 'aborted'
  | 'closed'
  /** 401 to the call (after one renewal of the token), or a rejected login. */
  | 'unauthorized'
  | 'rate_limited'
  /** The login failed: a network error, a server error, or a redirect. */
  | 'login_failed'
  | 'login_unreadable'
  /** 404, 405, 501 on the bulk path. */
  | 'bulk_absent'
  /** 413, or a 422 about the length of the body. */
  | 'bulk_too_large'
  /** A 422 about the form of the body. */
  | 'bulk_shape'
  /** A 422 about the body that may mean either. */
  | 'bulk_body_refused';

export type AmbiguousCause =
  | 'http_status'
  | 'redirect'
  /** The connection broke after the request was sent and before a status arrived. */
  | 'socket'
  | 'timeout'
  | 'aborted'
  /** A status arrived, but the body was cut off. */
  | 'truncated'
  /**
   * A reply of more than 16 MB, a list of more than 500,000 inquiries, or nested deeper than any
   * valid reply: a repetition does not help.
   */
  | 'too_large'
  | 'too_deep'
  /** HTML, not JSON, or JSON of an unknown form. */
  | 'unreadable_reply'
  /** Success without a usable ID. */
  | 'no_usable_id'
  /** A 2xx with `"success": false`. */
  | 'contradictory_reply'
  /** A bulk's 422 that names neither the body nor its items. */
  | 'unlocated_refusal'
  /** A read by ID returned another inquiry. */
  | 'other_inquiry'
  /** The subscription does not exist after it was set. */
  | 'not_stored';

export type BulkResult = { ok: true; items: BulkItem[] } | { ok: false; failure: ServiceFailure };

/** One for each request of the bulk, in the same order. */
export type BulkItem =
  /**
   * `position`: assigned only by order, so it must be verified by a read; `read_form`: the reply
   * identified the request by its content.
   */
  | { outcome: 'created'; inquiry_id: InquiryId; evidence: 'position' | 'read_form' }
  | { outcome: 'refused'; errors: ValidationItem[] }
  /**
   * Needs a lookup. `accepted`: the reply reported success, so the inquiry never returns to
   * planned.
   */
  | { outcome: 'unknown'; accepted: boolean };

export type BulkShape = 'array' | 'object';

/**
 * The parts of a listed inquiry that identify it. `request` has only the fields that are compared.
 */
export type ListedInquiry = Pick<Inquiry, 'id' | 'status' | 'creation_ts' | 'request'> & {
  /** The complete read form, if requested and if there was room; otherwise read it by its ID. */
  full: Inquiry | null;
};

export type InquiryList = {
  /** With a filter: only inquiries whose echoed external_id matches it (trimmed, ignoring case). */
  inquiries: ListedInquiry[];
  /** Paging ended for certain, and every element was readable. */
  is_complete: boolean;
  /**
   * The server showed the end of the list: by a link, a total, an empty page, or an empty list.
   * False: no parameter returned more, which also happens with a fixed cap.
   */
  is_end_proven: boolean;
  /** The number of elements that the server sent, regardless of their labels. */
  total_count: number;
  unreadable_count: number;
  /**
   * `ignored`: the server returned inquiries with other external_ids although it was asked to
   * filter. `refused`: it refused to filter. Then this is the whole list, filtered here.
   */
  filter: 'none_or_applied' | 'ignored' | 'refused';
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
   * GET /api/v0/<specialty>/inquiries, all pages, in bounded memory. `keep` selects the inquiries
   * whose complete read form is wanted.
   */
  list(
    specialty: Specialty,
    filter: { external_id?: string },
    options?: CallOptions & { keep?: (id: InquiryId) => boolean },
  ): Promise<Result<InquiryList>>;
  /** GET /api/v0/<specialty>/inquiries/{id}. Null: absent (404, 422, or 200 with null or []). */
  read(specialty: Specialty, id: InquiryId, options?: CallOptions): Promise<Result<Inquiry | null>>;
  /**
   * GET /api/v0/verification: the records as received, any JSON, newest first. An unknown inquiry
   * has none.
   */
  verifications(inquiry_id: InquiryId, options?: CallOptions): Promise<Result<unknown[]>>;
  /** GET /api/v0/subscription/. Null: the account has no subscription. */
  getSubscription(options?: CallOptions): Promise<Result<Subscription | null>>;
  /**
   * POST /api/v0/subscription/, then reads the subscription back, which may differ from the wanted
   * one.
   */
  setSubscription(
    wanted: { callback_url: string; update_frequency_min: number },
    options?: CallOptions,
  ): Promise<Result<Subscription>>;
  /** DELETE /api/v0/subscription/. Also succeeds when there is no subscription. */
  deleteSubscription(options?: CallOptions): Promise<Result<null>>;
  /** Makes the next call log in again (`oauth`); for a retry after the service rejected calls. */
  forgetToken(): void;
  /** Tests the credentials with one cheap read (and a login, with `oauth`). For `eligd check`. */
  login(options?: CallOptions): Promise<Result<null>>;
  /** Makes the same read with the client's current token, if it has one. */
  access(options?: CallOptions): Promise<Result<null>>;
  /**
   * Fails waiting calls as *unsent* `closed`, lets requests in flight end, and closes the
   * connections. May be called again.
   */
  close(): Promise<void>;
  /**
   * Closes and also aborts requests in flight: a create then ends as *ambiguous* `aborted`. For a
   * shutdown that cannot wait.
   */
  cut(): void;
};
