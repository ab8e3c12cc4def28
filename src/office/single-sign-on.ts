/**
 * Login with the account of a group: OpenID Connect Core 1.0, authorization code with PKCE
 * (RFC 7636), by openid-client. The provider only says who somebody is; `eligd user add --sign-on`
 * says who may come in, and as what.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deflateSync, inflateSync } from 'node:zlib';
import * as oidc from 'openid-client';
import type { Dispatcher } from 'undici';
import type { Clock } from '../domain/env.ts';
import { MINUTE_MS } from '../domain/time.ts';
import type { SignedOn } from './users.ts';

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

/**
 * What belongs to one login until the browser comes back with the answer. The browser keeps it,
 * encrypted, so that logins that nobody ends take no memory and push nobody else out.
 */
type Begun = { state: string; nonce: string; verifier: string; at: number };

/** A browser keeps 4,096 bytes of a cookie, with its name and flags. */
const SEALED_CHARS_MAX = 3_600;
const BEGUN_MS_MAX = 10 * MINUTE_MS;
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
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
  readonly #key = randomBytes(32);
  /** States of logins that are done, with when they were begun. */
  readonly #done = new Map<string, number>();
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
    return { address: address.href, ticket: this.#seal(Buffer.from(JSON.stringify(begun))) };
  }

  /**
   * The account that the provider vouches for; null where the ID token does not name it, or only
   * by an e-mail address that nobody has verified. Each ticket counts once. Throws when the answer
   * is forged, too late, or not about this login.
   */
  async finish(ticket: string | null, query: string): Promise<SignedOn | null> {
    const now = this.#clock.now();
    const begun = ticket === null ? null : readBegun(this.#open(ticket));
    if (begun === null || now - begun.at > BEGUN_MS_MAX || this.#done.has(begun.state))
      throw new UnknownTicket();
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
    for (const [state, at] of this.#done) if (now - at > BEGUN_MS_MAX) this.#done.delete(state);
    this.#done.set(begun.state, begun.at);
    const claims = tokens.claims() ?? {};
    const named = (claims as Record<string, unknown>)[claim];
    if (typeof named !== 'string' || named === '' || named.length > NAME_CHARS_MAX) return null;
    if (claim === 'email' && (claims as Record<string, unknown>).email_verified !== true)
      return null;
    // A subject is a name of the provider's own, in which case counts (OpenID Connect Core 2).
    return { account: named.trim(), is_exact: claim === 'sub' };
  }

  /** A form as the browser may keep it meanwhile; null: it is too long for a cookie. */
  sealForm(form: string): string | null {
    const sealed = this.#seal(deflateSync(form));
    return sealed.length <= SEALED_CHARS_MAX ? sealed : null;
  }

  openForm(sealed: string): string | null {
    const form = this.#open(sealed);
    return form === null ? null : inflateSync(form).toString();
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

  #seal(content: Buffer): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce);
    const text = Buffer.concat([cipher.update(content), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url');
  }

  /** Null: not sealed here, or changed. */
  #open(ticket: string): Buffer | null {
    const sealed = Buffer.from(ticket, 'base64url');
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
    if (tag.length < TAG_BYTES) return null;
    try {
      const cipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAuthTag(tag);
      const text = cipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([text, cipher.final()]);
    } catch {
      return null;
    }
  }
}

/** Null: not a ticket, such as a form. */
function readBegun(content: Buffer | null): Begun | null {
  const text = content?.toString() ?? '';
  return text.startsWith('{') ? (JSON.parse(text) as Begun) : null;
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
