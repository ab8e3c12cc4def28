/** Limits what a browser may do with a page (OWASP Secure Headers). */

/**
 * The page may load its own style sheet and script and connect to its own address, nothing else.
 */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'cache-control': 'no-store',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'permissions-policy':
    'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), ' +
    'magnetometer=(), microphone=(), midi=(), payment=(), usb=()',
  // Addresses contain no patient data; "no-referrer" would hide the origin of a form.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-frame-options': 'DENY',
  'x-permitted-cross-domain-policies': 'none',
  'x-robots-tag': 'noindex, nofollow',
};

/** Sent only if browsers reach the page over TLS. */
export const TLS_HEADERS: Readonly<Record<string, string>> = {
  'strict-transport-security': 'max-age=31536000',
};

/**
 * Builds the session cookie; scripts cannot read it, and requests from other sites do not send it.
 */
export function sessionCookie(token: string, is_secure: boolean): string {
  const flags = `Path=/; HttpOnly; SameSite=Strict${is_secure ? '; Secure' : ''}`;
  return token === ''
    ? `${cookieName(is_secure)}=; Max-Age=0; ${flags}`
    : `${cookieName(is_secure)}=${token}; ${flags}`;
}

/** Returns the session cookie's value; null if it is missing or malformed. */
export const readCookie = (header: string | undefined, is_secure: boolean): string | null =>
  readNamed(header, cookieName(is_secure));

function readNamed(header: string | undefined, name: string): string | null {
  for (const part of (header ?? '').slice(0, 8_192).split(';')) {
    const [key, value = ''] = part.trim().split('=');
    if (key === name && /^[A-Za-z0-9_-]{20,3600}$/.test(value)) return value;
  }
  return null;
}

/** With this prefix, no other host of the domain can set the cookie (RFC 6265bis 4.1.3.2). */
const cookieName = (is_secure: boolean) => (is_secure ? '__Host-eligd' : 'eligd');

const TICKET = 'eligd-login';

/**
 * Builds the cookie for a login at the provider: SameSite=Lax, because the provider's page sends
 * the browser back.
 */
export function ticketCookie(ticket: string, is_secure: boolean): string {
  const age = ticket === '' ? 0 : 600;
  const flags = `Max-Age=${age}; Path=/login; HttpOnly; SameSite=Lax${is_secure ? '; Secure' : ''}`;
  return `${TICKET}=${ticket}; ${flags}`;
}

const KEPT = 'eligd-form';

/** Keeps a sealed form while its sender, whose login had ended, logs in at the provider. */
export function keptCookie(sealed: string, is_secure: boolean): string {
  const age = sealed === '' ? 0 : 600;
  const flags = `Max-Age=${age}; Path=/login; HttpOnly; SameSite=Lax${is_secure ? '; Secure' : ''}`;
  return `${KEPT}=${sealed}; ${flags}`;
}

export const readKeptCookie = (header: string | undefined): string | null =>
  readNamed(header, KEPT);

/** Returns that cookie's value; null if it is missing or malformed. */
export const readTicket = (header: string | undefined): string | null => readNamed(header, TICKET);
