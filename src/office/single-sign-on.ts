/**
 * Login with a group's account: OpenID Connect Core 1.0, authorization code with PKCE (RFC 7636),
 * through openid-client. The provider only identifies the user; `eligd user add --sign-on` decides
 * who gets access, and with which role.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deflateSync, inflateSync } from 'node:zlib';
import * as oidc from 'openid-client';
import type { Dispatcher } from 'undici';
import type { Clock } from '../domain/env.ts';
import { MINUTE_MS } from '../domain/time.ts';
import type { SignedOn } from './users.ts';

type SignOnSettings = {
  issuer: string;
  client_id: string;
  /** The claim of the ID token that contains the account, such as `email`. */
  claim: string;
  /** Null: a public client, with PKCE alone. */
  secret: string | null;
  /** The address to which the provider sends the browser back. */
  redirect_uri: string;
};

/**
 * The state of one login until the browser returns. The browser keeps it, encrypted, so abandoned
 * logins use no memory and cannot crowd out others.
 */
type Begun = { state: string; nonce: string; verifier: string; at: number };

/** A browser stores up to 4,096 bytes per cookie, including its name and flags. */
const SEALED_CHARS_MAX = 3_600;
const BEGUN_MS_MAX = 10 * MINUTE_MS;
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Far more than a provider needs to identify a user. */
const REPLY_BYTES_MAX = 1024 * 1024;
const REPLY_SECONDS_MAX = 10;
const NAME_CHARS_MAX = 200;

/** Plain http is allowed only for a provider on this machine, as in tests. */
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

export class SingleSignOn {
  readonly #settings: SignOnSettings;
  readonly #clock: Clock;
  readonly #agent: Dispatcher;
  readonly #key = randomBytes(32);
  /** States of finished logins, with the time when each began. */
  readonly #done = new Map<string, number>();
  #provider: Promise<oidc.Configuration> | undefined;

  /** `agent`: connects to the provider. */
  constructor(settings: SignOnSettings, clock: Clock, agent: Dispatcher) {
    this.#settings = settings;
    this.#clock = clock;
    this.#agent = agent;
  }

  /**
   * Starts a login. `address`: the login page of the provider; `ticket`: kept by the browser until
   * it returns. Throws when the provider cannot be reached.
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
   * Returns the account that the provider confirmed; null if the ID token does not contain one, or
   * contains only an unverified e-mail address. Each ticket works once. Throws when the response is
   * forged, too late, or from another login.
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
    // A subject is case-sensitive (OpenID Connect Core 2).
    return { account: named.trim(), is_exact: claim === 'sub' };
  }

  /** Encrypts a form for a cookie; null: too long. */
  sealForm(form: string): string | null {
    const sealed = this.#seal(deflateSync(form));
    return sealed.length <= SEALED_CHARS_MAX ? sealed : null;
  }

  openForm(sealed: string): string | null {
    const form = this.#open(sealed);
    return form === null ? null : inflateSync(form).toString();
  }

  /** Fetches the provider's metadata once; again after a failure. */
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
          // Also checks signatures, so that a token does not depend on TLS alone.
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

  /** Decrypts a ticket; null: not sealed here, or changed. */
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

/** Parses a ticket; null: other content, such as a form. */
function readBegun(content: Buffer | null): Begun | null {
  const text = content?.toString() ?? '';
  return text.startsWith('{') ? (JSON.parse(text) as Begun) : null;
}

/** The browser returned without a login started here, twice, or too late. */
class UnknownTicket extends Error {
  readonly code = 'unknown_ticket';
}

/**
 * Returns a `fetch` for openid-client that uses our agent, follows no redirects, and limits the
 * reply size.
 */
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
