/**
 * The bearer token (docs/service.md "Authentication"): cached, renewed in time, and never requested
 * twice at once.
 */
import type { Clock } from '../domain/env.ts';
import type { ServiceFailure } from './api.ts';

/** The lifetime when the reply does not state it: one day. */
const TOKEN_LIFETIME_MS = 24 * 3_600_000;
/** The fraction of its lifetime after which a token is renewed. */
const RENEW_AFTER = 0.9;
/** The wait after a failed renewal while the old token is still valid. */
const RENEWAL_PAUSE_MS = 60_000;

export type LoginOutcome =
  | { ok: true; token: string; lifetime_ms: number | null }
  | { ok: false; failure: ServiceFailure };

export type TokenOutcome = { ok: true; token: string } | { ok: false; failure: ServiceFailure };

/** `has_worked`: the service has accepted it. */
type Held = {
  token: string;
  lifetime_ms: number;
  asked_ms: number;
  asked_elapsed_ms: number;
  has_worked: boolean;
};

/** `login` performs one token request; it is never called again while it is running. */
export class TokenSource {
  readonly #login: () => Promise<LoginOutcome>;
  readonly #clock: Clock;
  #held: Held | null = null;
  /**
   * Kinds of calls that got a 403 again with a renewed token, and that token: the account is not
   * allowed to make them, so their 403 says nothing about a token.
   */
  readonly #forbidden = new Map<string, string>();
  #renewal: Promise<TokenOutcome> | null = null;
  #failed_elapsed_ms: number | null = null;

  constructor(login: () => Promise<LoginOutcome>, clock: Clock) {
    this.#login = login;
    this.#clock = clock;
  }

  /**
   * Returns a token to send. Renews it after nine tenths of its lifetime; if that fails, the old
   * one is used until it expires, unless the login was rejected.
   */
  async current(): Promise<TokenOutcome> {
    const held = this.#held;
    if (held === null) return this.#renew();
    const age_ms = this.#age(held);
    if (age_ms < held.lifetime_ms * RENEW_AFTER) return { ok: true, token: held.token };
    const is_alive = age_ms < held.lifetime_ms;
    if (is_alive && this.#renewal === null && this.#isPausing())
      return { ok: true, token: held.token };
    const renewed = await this.#renew();
    if (renewed.ok || !is_alive || isRejected(renewed.failure)) return renewed;
    return { ok: true, token: held.token };
  }

  /**
   * Returns a token other than `refused`, which got a 401 or 403: the current one if it differs, or
   * a new one.
   */
  async replace(refused: string): Promise<TokenOutcome> {
    if (this.#held !== null && this.#held.token !== refused)
      return { ok: true, token: this.#held.token };
    this.#held = null;
    return this.#renew();
  }

  /** Records that the service accepted a call of this kind with this token. */
  noteAccepted(token: string, kind: string): void {
    if (this.#held?.token === token) this.#held.has_worked = true;
    if (this.#forbidden.get(kind) !== token) this.#forbidden.delete(kind);
  }

  /** Records that a call of this kind got a 403 again with a renewed token. */
  noteForbidden(token: string, kind: string): void {
    this.#forbidden.set(kind, token);
  }

  /**
   * Returns whether a 403 to a call of this kind may mean that the token has expired: some services
   * answer so instead of 401. Never for a token that has not worked yet, nor for a kind of call
   * that got a 403 with a renewed token.
   */
  mayHaveExpired(token: string, kind: string): boolean {
    const held = this.#held;
    if (held === null || held.token !== token) return true;
    return held.has_worked && !this.#forbidden.has(kind);
  }

  /** Forgets the token, so that the next call logs in. */
  forget(): void {
    this.#held = null;
    this.#forbidden.clear();
  }

  #renew(): Promise<TokenOutcome> {
    this.#renewal ??= this.#perform().finally(() => {
      this.#renewal = null;
    });
    return this.#renewal;
  }

  async #perform(): Promise<TokenOutcome> {
    const asked_ms = this.#clock.now();
    const asked_elapsed_ms = this.#clock.elapsed();
    const outcome = await this.#login();
    if (!outcome.ok) {
      this.#failed_elapsed_ms = this.#clock.elapsed();
      return outcome;
    }
    const { token } = outcome;
    this.#failed_elapsed_ms = null;
    this.#held = {
      token,
      lifetime_ms: outcome.lifetime_ms ?? TOKEN_LIFETIME_MS,
      asked_ms,
      asked_elapsed_ms,
      has_worked: false,
    };
    return { ok: true, token };
  }

  /**
   * Returns the age by the clock that shows more: one clock may be set back, the other may stop
   * while the machine sleeps.
   */
  #age(held: Held): number {
    return Math.max(
      this.#clock.now() - held.asked_ms,
      this.#clock.elapsed() - held.asked_elapsed_ms,
    );
  }

  #isPausing(): boolean {
    return (
      this.#failed_elapsed_ms !== null &&
      this.#clock.elapsed() - this.#failed_elapsed_ms < RENEWAL_PAUSE_MS
    );
  }
}

function isRejected(failure: ServiceFailure): boolean {
  return failure.class === 'unsent' && failure.cause === 'unauthorized';
}
