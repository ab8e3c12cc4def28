/**
 * The bearer token (docs/service.md "Authentication"): kept, renewed in time, and never asked for
 * twice at once.
 */
import type { Clock } from '../domain/env.ts';
import type { ServiceFailure } from './api.ts';

/** Validity when the reply does not say: one day. */
export const TOKEN_LIFETIME_MS = 24 * 3_600_000;
/** The part of its life after which a token is renewed. */
const RENEW_AFTER = 0.9;
/** After a renewal that failed while the old token is still good, the next one waits this long. */
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

/** `login` performs one token request; it is never called while another call of it is under way. */
export class TokenSource {
  readonly #login: () => Promise<LoginOutcome>;
  readonly #clock: Clock;
  #held: Held | null = null;
  /**
   * Kinds of calls that got 403 again with a token that was renewed for them, and that token: they
   * are not allowed, and their 403 says nothing about a token.
   */
  readonly #forbidden = new Map<string, string>();
  #renewal: Promise<TokenOutcome> | null = null;
  #failed_elapsed_ms: number | null = null;

  constructor(login: () => Promise<LoginOutcome>, clock: Clock) {
    this.#login = login;
    this.#clock = clock;
  }

  /**
   * A token to send. Renewed when nine tenths of its life are over; should that fail, the old one
   * serves to the end of its life, unless the login was rejected.
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
    if (renewed.ok || !is_alive || isTurnedAway(renewed.failure)) return renewed;
    return { ok: true, token: held.token };
  }

  /**
   * A token other than `refused`, which the service answered with 401 or 403: one that is already
   * there, or a new one.
   */
  async replace(refused: string): Promise<TokenOutcome> {
    if (this.#held !== null && this.#held.token !== refused)
      return { ok: true, token: this.#held.token };
    this.#held = null;
    return this.#renew();
  }

  /** The service accepted a call of this kind with this token. */
  noteAccepted(token: string, kind: string): void {
    if (this.#held?.token === token) this.#held.has_worked = true;
    if (this.#forbidden.get(kind) !== token) this.#forbidden.delete(kind);
  }

  /** A call of this kind, for which the token had been renewed, got 403 with this one as well. */
  noteForbidden(token: string, kind: string): void {
    this.#forbidden.set(kind, token);
  }

  /**
   * Whether a 403 to a call of this kind may mean that the token is dead: services exist that
   * answer so instead of 401. At most once for each token, and not for one that never worked.
   */
  mayBeDead(token: string, kind: string): boolean {
    const held = this.#held;
    if (held === null || held.token !== token) return true;
    return held.has_worked && !this.#forbidden.has(kind);
  }

  /** Forgets the token, so that the next call has to log in. */
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
   * The larger of both clocks: one may be set back, the other may stand still while the machine
   * sleeps.
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

function isTurnedAway(failure: ServiceFailure): boolean {
  return failure.class === 'unsent' && failure.cause === 'unauthorized';
}
