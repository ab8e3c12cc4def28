import { randomUUID } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';

/** A strict token endpoint: SMART Backend Services, and client_secret. */
export type SmartOptions = {
  client_id: string;
  /** The keys registered for the client. */
  jwks?: JSONWebKeySet;
  client_secret?: string;
  expires_in?: number;
  /** The granted scopes, whatever the client asks for. */
  grants?: string;
  /** Accepted notations of scopes. */
  versions?: ('v1' | 'v2')[];
};

type Answer = { status: number; body: object };

export class SmartServer {
  readonly options: SmartOptions;
  readonly granted: string[] = [];
  private readonly tokens = new Map<string, number>();
  private readonly used = new Set<string>();

  constructor(options: SmartOptions) {
    this.options = options;
  }

  /** `url` is the address of this endpoint, the only accepted audience. */
  async token(
    url: string,
    form: URLSearchParams,
    authorization: string | undefined,
  ): Promise<Answer> {
    if (form.get('grant_type') !== 'client_credentials') return refuse('unsupported_grant_type');
    if (!(await this.isClient(url, form, authorization))) return refuse('invalid_client', 401);
    const scopes = (form.get('scope') ?? '').split(' ');
    const { versions = ['v1', 'v2'], expires_in = 300, grants } = this.options;
    const isUnderstood = (scope: string) =>
      versions.includes(/\.(read|write|\*)$/.test(scope) ? 'v1' : 'v2') &&
      /^system\/[A-Za-z]+\.[a-z*]+$/.test(scope);
    if (!scopes.every(isUnderstood)) return refuse('invalid_scope');
    const access_token = randomUUID();
    this.tokens.set(access_token, Date.now() + expires_in * 1000);
    this.granted.push(form.get('scope') ?? '');
    return {
      status: 200,
      body: { access_token, token_type: 'bearer', expires_in, scope: grants ?? scopes.join(' ') },
    };
  }

  isValid(authorization: string | undefined): boolean {
    const until = this.tokens.get((authorization ?? '').replace(/^Bearer /, ''));
    return until !== undefined && until > Date.now();
  }

  revokeAll(): void {
    this.tokens.clear();
  }

  private async isClient(
    url: string,
    form: URLSearchParams,
    authorization: string | undefined,
  ): Promise<boolean> {
    const { client_id, client_secret, jwks } = this.options;
    if (client_secret !== undefined)
      return (
        authorization === `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`
      );
    if (jwks === undefined) return false;
    try {
      const { payload } = await jwtVerify(
        form.get('client_assertion') ?? '',
        createLocalJWKSet(jwks),
        {
          algorithms: ['RS384', 'ES384'],
          issuer: client_id,
          subject: client_id,
          audience: url,
          currentDate: new Date(Date.now()),
          requiredClaims: ['exp', 'jti'],
        },
      );
      const is_short = (payload.exp ?? 0) <= Date.now() / 1000 + 300;
      const is_new = !this.used.has(payload.jti ?? '');
      this.used.add(payload.jti ?? '');
      return is_short && is_new;
    } catch {
      return false;
    }
  }
}

const refuse = (error: string, status = 400): Answer => ({ status, body: { error } });
