/**
 * Authorizes requests: SMART App Launch 2 "Backend Services" (`private_key_jwt`, RFC 7523), client
 * secret (RFC 6749, section 4.4), Basic (RFC 7617), a configured token, or nothing on this machine.
 */
import { randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, importJWK, importPKCS8, type JWK, SignJWT } from 'jose';
import { errorCode } from '../../../src/domain/errors.ts';
import { ConnectorError } from '../../contract.ts';
import { type FhirConfig, isExposed } from '../config.ts';
import { isJson, listAt, textAt, textsAt } from '../element.ts';
import type { FhirEnv } from '../events.ts';
import { FhirError, failureOfReply, retryAfterMs } from './failure.ts';
import { scopesV1, scopesV2 } from './scopes.ts';
import type { HttpReply, Transport } from './transport.ts';

export type Authorizer = {
  /**
   * Returns the value of the header Authorization; null: none. `refused`: the value that got a 401.
   */
  header: (signal: AbortSignal, refused?: string | null) => Promise<string | null>;
  /**
   * Returns the granted scopes, as far as the server named them; null before a login, and without
   * one.
   */
  granted: () => string[] | null;
};

/**
 * The assertion is used at once, but must also be accepted if the clock is slightly behind; five
 * minutes is the maximum allowed.
 */
const ASSERTION_SECONDS = 240;
/** A token is renewed this long before it expires. */
const MARGIN_MS = 30_000;
/**
 * The assumed life of a token if the server does not state it: SMART recommends at most five
 * minutes.
 */
const LIFE_SECONDS = 300;

type Parts = { config: FhirConfig; env: FhirEnv; transport: Transport };

export function createAuthorizer(parts: Parts): Authorizer {
  const { config, env } = parts;
  const fixed = (value: () => string | null): Authorizer => ({
    header: async () => value(),
    granted: () => null,
  });
  switch (config.auth) {
    case 'none':
      return fixed(() => null);
    case 'bearer':
      return fixed(() => `Bearer ${secretOf(env, 'token')}`);
    case 'basic':
      return fixed(() => basic(secretOf(env, 'username'), secretOf(env, 'password')));
    default:
      return new TokenAuthorizer(parts);
  }
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

function secretOf(env: FhirEnv, last_part: string): string {
  const { name, value } = env.secret(last_part);
  if (value !== null) return value;
  throw new ConnectorError('permanent', {
    what: `The secret ${name} is missing, so eligd cannot log in to the FHIR server.`,
    next:
      `Add ${name}=… to the file .env next to the configuration, or pass it as a systemd ` +
      'credential.',
  });
}

/**
 * Fetches tokens with client credentials. Only one renewal runs at a time, and all requests wait
 * for it.
 */
class TokenAuthorizer implements Authorizer {
  private readonly parts: Parts;
  private token: { header: string; until_ms: number; scopes: string[] | null } | null = null;
  private renewal: { header: Promise<string>; signal: AbortSignal } | null = null;
  private endpoint: Discovery | null = null;
  private speaks_v1 = false;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  granted(): string[] | null {
    return this.token?.scopes ?? null;
  }

  async header(signal: AbortSignal, refused: string | null = null): Promise<string> {
    for (;;) {
      const { token } = this;
      if (
        token !== null &&
        token.header !== refused &&
        token.until_ms > this.parts.env.clock.elapsed()
      )
        return token.header;
      this.renewal ??= {
        signal,
        header: this.renew(signal).finally(() => {
          this.renewal = null;
        }),
      };
      const renewal = this.renewal;
      try {
        return await renewal.header;
      } catch (error) {
        // The request that started the renewal was stopped; the others still need the token.
        if (renewal.signal === signal || !renewal.signal.aborted) throw notDone(error);
      }
    }
  }

  private async renew(signal: AbortSignal): Promise<string> {
    const { config, env } = this.parts;
    // An unusable key is reported even while the server is away.
    if (config.auth === 'private_key_jwt') await privateKey(config, env);
    this.endpoint ??= await discover(this.parts, signal);
    if (this.endpoint.is_v2 === false) this.speaks_v1 = true;
    const asked = () =>
      (config.scopes ?? (this.speaks_v1 ? scopesV1(config) : scopesV2(config))).join(' ');
    let reply = await this.ask(this.endpoint, asked(), signal);
    if (isInvalidScope(reply) && !this.speaks_v1 && config.scopes === undefined) {
      this.speaks_v1 = true;
      reply = await this.ask(this.endpoint, asked(), signal);
    }
    return this.take(reply);
  }

  private async ask(endpoint: Discovery, scope: string, signal: AbortSignal): Promise<HttpReply> {
    const { config, env, transport } = this.parts;
    const form = new URLSearchParams({ grant_type: 'client_credentials', scope });
    const headers: Record<string, string> = {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    };
    if (config.auth === 'private_key_jwt') {
      form.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
      form.set('client_assertion', await assertion(this.parts, endpoint.token_url));
    } else if (endpoint.takes_secret_in_body) {
      form.set('client_id', config.client_id ?? '');
      form.set('client_secret', secretOf(env, 'client_secret'));
    } else {
      const parts = [config.client_id ?? '', secretOf(env, 'client_secret')].map(
        encodeURIComponent,
      );
      headers.authorization = basic(parts[0] ?? '', parts[1] ?? '');
    }
    return await transport.send(
      {
        method: 'POST',
        url: endpoint.token_url,
        headers,
        body: form.toString(),
        doing: 'the login',
      },
      signal,
    );
  }

  private take(reply: HttpReply): string {
    const { clock } = this.parts.env;
    const value = textAt(reply.body, 'access_token');
    if (reply.status >= 300 || value === '') throw loginFailure(reply, clock.now());
    const life_ms = (Number(textAt(reply.body, 'expires_in')) || LIFE_SECONDS) * 1000;
    const scope = textAt(reply.body, 'scope');
    const header = `Bearer ${value}`;
    const until_ms = clock.elapsed() + Math.max(life_ms - MARGIN_MS, life_ms / 2);
    this.token = { header, until_ms, scopes: scope === '' ? null : scope.split(/\s+/) };
    return header;
  }
}

const ERROR_WORD = /^[a-z_]{1,40}$/;

/** OAuth identifies its errors by a word of a closed list (RFC 6749, section 5.2). */
function oauthError({ body }: HttpReply): string {
  const word = textAt(body, 'error');
  return ERROR_WORD.test(word) ? word : '';
}

const isInvalidScope = (reply: HttpReply) =>
  reply.status >= 400 && oauthError(reply) === 'invalid_scope';

function loginFailure(reply: HttpReply, now_ms: number): FhirError {
  const { status, body, headers } = reply;
  if (status >= 500 || status === 429)
    return failureOfReply(status, body, 'the login', retryAfterMs(headers, now_ms));
  // A proxy's page or a truncated reply says nothing about the credentials.
  if (status < 300) {
    const what = `The FHIR server answered the login with ${status} and no token.`;
    return new FhirError('broken', { what, retry_after_ms: retryAfterMs(headers, now_ms) });
  }
  const word = oauthError(reply);
  const what =
    'The FHIR server did not accept the login of eligd ' +
    `(${status}${word === '' ? '' : `, ${word}`}).`;
  return new FhirError('unauthorized', { what, words: textAt(body, 'error_description') });
}

/** Marks the request as not sent: its login failed. */
function notDone(error: unknown): unknown {
  if (!(error instanceof FhirError) || !error.may_be_done) return error;
  const { kind, message, words, retry_after_ms } = error;
  return new FhirError(kind, { what: message, words, retry_after_ms, cause: error.cause });
}

type Discovery = { token_url: string; takes_secret_in_body: boolean; is_v2: boolean | null };

/**
 * Reads SMART's discovery document, otherwise the security extension of the CapabilityStatement.
 * Credentials are sent only to an https address.
 */
async function discover({ config, transport }: Parts, signal: AbortSignal): Promise<Discovery> {
  let is_unreadable = false;
  const read = async (path: string) => {
    const url = `${config.base_url}${path}`;
    const reply = await transport.send(
      { method: 'GET', url, headers: { accept: 'application/json' }, doing: 'the discovery' },
      signal,
    );
    const is_passing =
      reply.status === 429 ||
      reply.status === 503 ||
      (reply.status >= 500 && config.token_url === undefined);
    if (is_passing) throw failureOfReply(reply.status, reply.body, 'the discovery', null);
    is_unreadable ||= reply.status < 300 && !reply.is_json;
    return reply.status < 300 && isJson(reply.body) ? reply.body : null;
  };
  const smart = await read('/.well-known/smart-configuration');
  const methods = textsAt(smart, 'token_endpoint_auth_methods_supported');
  const scopes = textsAt(smart, 'scopes_supported');
  const version = textsAt(smart, 'capabilities').filter((word) => word.startsWith('permission-v'));
  const is_v2 =
    version.includes('permission-v2') ||
    scopes.some((scope) => /\.c?r?u?d?s$/.test(scope)) ||
    (version.length === 0 && scopes.length === 0 ? null : false);
  const told = config.token_url ?? textAt(smart, 'token_endpoint');
  const token_url = told === '' ? tokenUrlOf(await read('/metadata')) : told;
  if (token_url === '' && is_unreadable)
    throw new FhirError('broken', {
      what: 'The FHIR server answered the discovery with something that is not JSON.',
    });
  if (token_url === '') {
    throw new ConnectorError('permanent', {
      what:
        'The FHIR server tells no token endpoint, neither in .well-known/smart-configuration ' +
        'nor in its CapabilityStatement.',
      next:
        'Check base_url: it must be the base address of a FHIR R4 server. If it is right, ' +
        'write token_url: next to it, or choose another auth:.',
    });
  }
  const address = new URL(token_url, `${config.base_url}/`).href;
  if (isExposed(address)) {
    throw new ConnectorError('permanent', {
      what:
        'The FHIR server names a token endpoint with plain http on another machine, and ' +
        'credentials are not sent there.',
      next: 'Have the server name its https address, or write it into token_url:.',
    });
  }
  if (config.token_url === undefined) requireSameHost(address, config.base_url);
  const takes_secret_in_body =
    methods.includes('client_secret_post') && !methods.includes('client_secret_basic');
  return { token_url: address, takes_secret_in_body, is_v2 };
}

/**
 * Requires the host of base_url, or the configured token_url. A discovery document may name any
 * host, which would then receive the secret.
 */
function requireSameHost(address: string, base_url: string): void {
  const { host } = new URL(address);
  if (host === new URL(base_url).host) return;
  throw new ConnectorError('permanent', {
    what:
      `The FHIR server names a token endpoint on another host (${host}), and eligd sends the ` +
      'login to no host that the configuration does not name.',
    next:
      'Ask the maker of the server where clients log in, and write that address into ' +
      'token_url:.',
  });
}

const OAUTH_URIS = 'http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris';

function tokenUrlOf(metadata: unknown): string {
  const extensions = listAt(metadata, 'rest')
    .flatMap((rest) => listAt(rest, 'security'))
    .flatMap((security) => listAt(security, 'extension'));
  const uris = extensions
    .filter((extension) => textAt(extension, 'url') === OAUTH_URIS)
    .flatMap((extension) => listAt(extension, 'extension'));
  return textAt(
    uris.find((uri) => textAt(uri, 'url') === 'token'),
    'valueUri',
  );
}

async function assertion({ config, env }: Parts, audience: string): Promise<string> {
  const { key, algorithm, key_id } = await privateKey(config, env);
  const client = config.client_id ?? '';
  const now_s = Math.floor(env.clock.now() / 1000);
  return await new SignJWT({})
    .setProtectedHeader({ alg: algorithm, kid: config.key_id ?? key_id, typ: 'JWT' })
    .setIssuer(client)
    .setSubject(client)
    .setAudience(audience)
    .setJti(randomUUID())
    .setIssuedAt(now_s)
    .setExpirationTime(now_s + ASSERTION_SECONDS)
    .sign(key);
}

/**
 * Reads the private key: PKCS #8 in PEM, or a JWK. RSA signs with RS384, an elliptic curve with
 * ES384 (SMART requires no other).
 */
export async function privateKey(config: Pick<FhirConfig, 'key_file'>, env: FhirEnv) {
  const source =
    config.key_file === undefined
      ? secretOf(env, 'private_key')
      : await readKeyFile(config.key_file, env);
  try {
    const { key, jwk, algorithm } = await importKey(source.trim());
    // The private and the public key have the same thumbprint (RFC 7638).
    return { key, algorithm, key_id: jwk.kid ?? (await calculateJwkThumbprint(jwk)) };
  } catch (error) {
    throw new ConnectorError('permanent', {
      what:
        'The private key of the connector cannot be used: it is neither an RSA key nor one of ' +
        'the curve P-384, as PKCS #8 PEM or JWK.',
      next:
        'Make one with "eligd fhir keygen --key FILE", name it in key_file:, and register what ' +
        'the command prints.',
      cause: error,
    });
  }
}

async function importKey(source: string) {
  const given: JWK | null = source.startsWith('{') ? (JSON.parse(source) as JWK) : null;
  for (const algorithm of ['ES384', 'RS384']) {
    try {
      const key =
        given === null
          ? await importPKCS8(source, algorithm, { extractable: true })
          : await importJWK(given, algorithm);
      return { key, algorithm, jwk: given ?? (await exportJWK(key)) };
    } catch (error) {
      if (algorithm === 'RS384') throw error;
    }
  }
  throw new Error('unreachable');
}

async function readKeyFile(path: string, env: FhirEnv): Promise<string> {
  try {
    return (await env.readKeyFile(path, { is_secret: true })).toString('utf8');
  } catch (error) {
    if (error instanceof ConnectorError) throw error;
    throw new ConnectorError('permanent', {
      what: `The key_file of the connector cannot be read (${errorCode(error) ?? 'unknown'}).`,
      next:
        'Correct key_file:, or let the user that eligd runs as read the file; "eligd fhir ' +
        'keygen --key FILE" makes one.',
      cause: error,
    });
  }
}
