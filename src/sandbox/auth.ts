import { randomBytes } from 'node:crypto';
import { type Call, invalid, ok, type Reply } from './exchange.ts';
import type { JsonObject } from './json.ts';
import type { State } from './state.ts';

/**
 * Answers POST /api/v0/auth/token (docs/service.md "Authentication"): the OAuth 2.0 password flow,
 * form-encoded. Lifetimes follow the service time, so advancing the calls does not expire tokens.
 */
export function issueToken({ state, headers, body }: Call): Reply {
  const is_form = String(headers['content-type'] ?? '').startsWith(
    'application/x-www-form-urlencoded',
  );
  const form = new URLSearchParams(is_form ? body : '');
  const username = form.get('username');
  const password = form.get('password');
  const missing: JsonObject[] = Object.entries({ username, password })
    .filter(([, value]) => value === null)
    .map(([field]) => ({ loc: ['body', field], msg: 'Field required', type: 'missing' }));
  if (missing.length > 0) return invalid(missing);
  if (username !== state.credentials.username || password !== state.credentials.password) {
    return refusal(state, 'Incorrect username or password');
  }
  const token = randomBytes(24).toString('base64url');
  const lifetime_seconds = state.behaviors.token_lifetime_seconds;
  const now_ms = state.clock.serviceNow();
  state.store.addToken(token, now_ms + lifetime_seconds * 1000, now_ms);
  const expiry =
    state.behaviors.token_expires_in === 'seconds' ? { expires_in: lifetime_seconds } : {};
  return ok({ access_token: token, token_type: 'bearer', ...expiry });
}

/**
 * Returns undefined for a request with valid credentials of either scheme; otherwise the reply that
 * refuses the request.
 */
export function refuseStranger(state: State, authorization: string | undefined): Reply | undefined {
  const [scheme = '', credentials = ''] = (authorization ?? '').split(/ +/, 2);
  switch (scheme.toLowerCase()) {
    case '':
      return refusal(state, 'Not authenticated');
    case 'bearer':
      return state.store.isTokenValid(credentials, state.clock.serviceNow())
        ? undefined
        : refusal(state, 'The token is unknown or no longer valid');
    case 'basic': {
      const { project_id, api_key } = state.credentials;
      const said = Buffer.from(credentials, 'base64').toString('utf8');
      return said === `${project_id}:${api_key}`
        ? undefined
        : refusal(state, 'Incorrect project ID or API key');
    }
    default:
      return refusal(state, 'The authorization scheme is neither Bearer nor Basic');
  }
}

function refusal(state: State, sentence: string): Reply {
  const reply: Reply = { status: Number(state.behaviors.auth_error), body: { detail: sentence } };
  return reply.status === 401
    ? { ...reply, headers: { 'www-authenticate': 'Bearer, Basic realm="sandbox"' } }
    : reply;
}
