/**
 * Login with the account of a group: OpenID Connect Core 1.0, authorization code with PKCE
 * (RFC 7636), by openid-client. The provider only says who somebody is; `eligd user add --sign-on`
 * says who may come in, and as what.
 */
import { randomBytes } from 'node:crypto';
import * as oidc from 'openid-client';
import type { Dispatcher } from 'undici';
import type { Clock } from '../domain/env.ts';
import { MINUTE_MS } from '../domain/time.ts';

export type SignOnSettings = {
  issuer: string;
  client_id: string;
  /** The claim of the ID token that names the account, such as `email`. */
  claim: string;
  /** Null: a client without a secret, with PKCE alone. */
  secret: string | null;
  /** Where the provider sends the browser back to. */
  redirect_uri: string;
};

/** What belongs to one login until the browser comes back with the answer. */
type Begun = { state: string; nonce: string; verifier: string; at: number };

const BEGUN_MS_MAX = 10 * MINUTE_MS;
const BEGUN_COUNT_MAX = 500;
/** No provider needs more than a megabyte to say who somebody is. */
const REPLY_BYTES_MAX = 1024 * 1024;
const REPLY_SECONDS_MAX = 10;
const NAME_CHARS_MAX = 200;

/** Plain http is only for a provider on this machine, as in tests. */
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

export class SingleSignOn {
  readonly #settings: SignOnSettings;
  readonly #clock: Clock;
  readonly #agent: Dispatcher;
  readonly #begun = new Map<string, Begun>();
  #provider: Promise<oidc.Configuration> | undefined;

  /** `agent`: the way to the provider. */
  constructor(settings: SignOnSettings, clock: Clock, agent: Dispatcher) {
    this.#settings = settings;
    this.#clock = clock;
    this.#agent = agent;
  }

  /**
   * `address`: where the browser goes to log in; `ticket`: what it keeps until it comes back.
   * Throws when the provider cannot be reached.
   */
  async begin(): Promise<{ address: string; ticket: string }> {
    const provider = await this.#discovered();
    const begun = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
      at: this.#clock.now(),
    };
    const address = oidc.buildAuthorizationUrl(provider, {
      redirect_uri: this.#settings.redirect_uri,
      scope: 'openid email profile',
      state: begun.state,
      nonce: begun.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(begun.verifier),
      code_challenge_method: 'S256',
    });
    const ticket = randomBytes(32).toString('base64url');
    this.#forgetOld();
    this.#begun.set(ticket, begun);
    return { address: address.href, ticket };
  }

  /**
   * The account that the provider vouches for; null where the ID token does not name it, or only
   * by an e-mail address that nobody has verified. Each ticket counts once. Throws when the answer
   * is forged, too late, or not about this login.
   */
  async finish(ticket: string | null, query: string): Promise<string | null> {
    const begun = ticket === null ? undefined : this.#begun.get(ticket);
    if (ticket === null || begun === undefined) throw new UnknownTicket();
    this.#begun.delete(ticket);
    if (this.#clock.now() - begun.at > BEGUN_MS_MAX) throw new UnknownTicket();
    const { claim, redirect_uri } = this.#settings;
    const tokens = await oidc.authorizationCodeGrant(
      await this.#discovered(),
      new URL(`${redirect_uri}${query}`),
      {
        expectedState: begun.state,
        expectedNonce: begun.nonce,
        pkceCodeVerifier: begun.verifier,
        idTokenExpected: true,
      },
    );
    const claims = tokens.claims() ?? {};
    const named = (claims as Record<string, unknown>)[claim];
    if (typeof named !== 'string' || named === '' || named.length > NAME_CHARS_MAX) return null;
    if (claim === 'email' && (claims as Record<string, unknown>).email_verified !== true)
      return null;
    return named.trim().toLowerCase();
  }

  /** Asked for once; again after a failure. */
  #discovered(): Promise<oidc.Configuration> {
    const { issuer, client_id, secret } = this.#settings;
    const url = new URL(issuer);
    const is_local = url.protocol === 'http:' && LOOPBACK.has(url.hostname);
    this.#provider ??= oidc
      .discovery(
        url,
        client_id,
        {},
        secret === null ? oidc.None() : oidc.ClientSecretBasic(secret),
        {
          timeout: REPLY_SECONDS_MAX,
          [oidc.customFetch]: limitedFetch(this.#agent),
          // Signatures are checked as well, so that not TLS alone vouches for a token.
          execute: [
            oidc.enableNonRepudiationChecks,
            ...(is_local ? [oidc.allowInsecureRequests] : []),
          ],
        },
      )
      .catch((error: unknown) => {
        this.#provider = undefined;
        throw error;
      });
    return this.#provider;
  }

  #forgetOld(): void {
    const now = this.#clock.now();
    for (const [ticket, { at }] of this.#begun)
      if (now - at > BEGUN_MS_MAX || this.#begun.size >= BEGUN_COUNT_MAX)
        this.#begun.delete(ticket);
  }
}

/** The browser came back without having left from here, twice, or too late. */
export class UnknownTicket extends Error {
  readonly code = 'unknown_ticket';
}

/** A `fetch` of openid-client over our own agent, without redirects and with a bound. */
function limitedFetch(agent: Dispatcher): oidc.CustomFetch {
  return async (url, { body: sent, method, headers, signal }) => {
    const { origin, pathname, search } = new URL(url);
    const response = await agent.request({
      origin,
      path: `${pathname}${search}`,
      method: method as Dispatcher.HttpMethod,
      headers,
      body: sent == null ? null : typeof sent === 'string' ? sent : String(sent),
      signal: signal ?? null,
    });
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    for await (const chunk of response.body) {
      size += chunk.length;
      if (size > REPLY_BYTES_MAX) throw new Error('The reply of the login provider is too long.');
      chunks.push(chunk);
    }
    const { statusCode: status } = response;
    const has_body = ![101, 204, 205, 304].includes(status);
    const heard = Object.entries(response.headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, one]),
    );
    return new Response(has_body ? new Blob(chunks) : null, { status, headers: heard });
  };
}
