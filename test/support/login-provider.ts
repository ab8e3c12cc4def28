/** An OpenID Connect provider on loopback whose answers a test can falsify. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { onTestFinished } from 'vitest';

type Key = Awaited<ReturnType<typeof generateKeyPair>>;

export type LoginProvider = {
  issuer: string;
  /** The content of the next ID tokens; the test may change it. */
  claims: JWTPayload;
  /** False values that replace the correct ones in the next ID tokens. */
  lies: JWTPayload;
  /** The key that signs them. */
  signer: 'own' | 'foreign';
  /** The requests to the token endpoint. */
  exchanges: URLSearchParams[];
  /** A browser at the provider: returns the address that it is redirected to. */
  login: (address: string) => string;
};

const CLIENT = 'eligd-office';

export async function startLoginProvider(): Promise<LoginProvider> {
  const own = await generateKeyPair('RS256');
  const foreign = await generateKeyPair('RS256');
  const codes = new Map<string, URLSearchParams>();
  const provider: LoginProvider = {
    issuer: '',
    claims: { sub: 'u-1', email: 'maria@group.example', email_verified: true },
    lies: {},
    signer: 'own',
    exchanges: [],
    login: (address) => {
      const asked = new URL(address).searchParams;
      const code = `code-${codes.size}`;
      codes.set(code, asked);
      const back = new URL(asked.get('redirect_uri') ?? '');
      back.searchParams.set('code', code);
      back.searchParams.set('state', asked.get('state') ?? '');
      back.searchParams.set('iss', provider.issuer);
      return back.href;
    },
  };
  const reply = async (path: string, body: string): Promise<object> => {
    const { issuer } = provider;
    if (path === '/.well-known/openid-configuration')
      return {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        authorization_response_iss_parameter_supported: true,
      };
    if (path === '/keys') return { keys: [{ ...(await exportJWK(own.publicKey)), kid: 'k1' }] };
    const form = new URLSearchParams(body);
    provider.exchanges.push(form);
    const asked = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const { privateKey }: Key = provider.signer === 'own' ? own : foreign;
    const now = Math.floor(Date.now() / 1000);
    const right = {
      iss: issuer,
      aud: CLIENT,
      iat: now,
      exp: now + 300,
      nonce: asked?.get('nonce'),
    };
    const id_token = await new SignJWT({ ...right, ...provider.claims, ...provider.lies })
      .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
      .sign(privateKey);
    return { access_token: 'a', token_type: 'Bearer', expires_in: 300, id_token };
  };
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      const json = await reply(new URL(request.url ?? '/', 'http://x').pathname, body);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  provider.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return provider;
}
