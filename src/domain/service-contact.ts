/** Judges by the last replies whether the calling service can be used. */
import { type Instant, MINUTE_MS } from './time.ts';

/** Why the service cannot be used now. No patient data (G6). */
export type ServiceTrouble = {
  since: Instant;
  kind: 'away' | 'login_rejected' | 'turned_away';
  why: string;
  next: string;
};

export type ServiceContact = {
  /** When a request last succeeded; null: not since the start. */
  ok_at: Instant | null;
  trouble: ServiceTrouble | null;
};

/** The parts of a failed request that concern the service as a whole. */
type FailedRequest = { class: string; cause?: string; status: number | null };

export const PROXY_LOGIN_REMEDY =
  'Correct ELIGD_SERVICE_PROXY_USERNAME and ELIGD_SERVICE_PROXY_PASSWORD (or the login in ' +
  'HTTPS_PROXY), then run "eligd check".';

/** Returns the trouble that a failure shows; null: it does not concern the service as a whole. */
export function troubleOf(
  { class: kind, cause, status }: FailedRequest,
  since: Instant,
): ServiceTrouble | null {
  if (cause === 'unauthorized' || status === 401) {
    return {
      since,
      kind: 'login_rejected',
      why: 'The calling service rejects our login (401).',
      next: 'Correct the credentials (ELIGD_SERVICE_…), then run "eligd check".',
    };
  }
  if (kind === 'stopped') {
    return {
      since,
      kind: 'turned_away',
      why: `The calling service rejects our requests (${status}).`,
      next: 'Run "eligd check". Ask the calling service about the account.',
    };
  }
  const is_neutral =
    kind === 'refused' ||
    cause === 'aborted' ||
    cause === 'closed' ||
    cause?.startsWith('bulk_') === true;
  if (is_neutral) return null;
  if (isRateLimited({ class: kind, status, ...(cause === undefined ? {} : { cause }) })) {
    return {
      since,
      kind: 'away',
      why: 'The calling service rejects our requests because there are too many (429).',
      next: 'Lower service.submission.max_per_minute, or ask the calling service for its limit.',
    };
  }
  if (cause === 'proxy_login' || cause === 'proxy') {
    const is_login = cause === 'proxy_login';
    return {
      since,
      kind: 'away',
      why: is_login
        ? 'The proxy to the calling service rejects our login (407).'
        : 'The proxy to the calling service cannot be reached or refuses to connect.',
      next: is_login
        ? PROXY_LOGIN_REMEDY
        : 'Check the proxy, then run "eligd check". eligd tries again automatically.',
    };
  }
  const answered = status === null ? (cause ?? 'no reply') : `status ${status}`;
  return {
    since,
    kind: 'away',
    why: `The calling service does not respond correctly (${answered}).`,
    next: 'Check the internet connection, then run "eligd check". eligd tries again automatically.',
  };
}

/** A short pause because of the rate limit is routine; rejected requests for this long are not. */
const LIMITED_MS_MIN = 10 * MINUTE_MS;

function isRateLimited({ cause, status }: FailedRequest): boolean {
  return cause === 'rate_limited' || status === 429;
}

/** Learns from each request. After a success, one lost reply does not count as trouble yet. */
export class ContactLog {
  #ok_at: Instant | null = null;
  #trouble: ServiceTrouble | null = null;
  #failures = 0;
  /** Since when the rate limit has rejected every request; null: it has not. */
  #limited_since: Instant | null = null;

  /** Records a result. Returns whether contact was lost or restored, or the reason changed. */
  note(failure: FailedRequest | null, now: Instant): boolean {
    const before = this.current().trouble?.kind;
    if (failure === null) {
      const is_first = this.#ok_at === null;
      this.#ok_at = now;
      this.#trouble = null;
      this.#failures = 0;
      this.#limited_since = null;
      return is_first || before !== undefined;
    }
    if (isRateLimited(failure)) {
      this.#limited_since ??= now;
      if (now - this.#limited_since < LIMITED_MS_MIN) return false;
    }
    const trouble = troubleOf(failure, this.#trouble?.since ?? this.#limited_since ?? now);
    if (trouble === null) return false;
    this.#trouble = trouble;
    this.#failures += 1;
    return before !== this.current().trouble?.kind;
  }

  current(): ServiceContact {
    const is_once = this.#failures === 1 && this.#ok_at !== null && this.#trouble?.kind === 'away';
    return { ok_at: this.#ok_at, trouble: is_once ? null : this.#trouble };
  }
}
