/** What the browser may do with a page: nothing but show it (OWASP Secure Headers). */

/** The page loads its own style sheet and script, talks to its own address, and nothing else. */
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
  // The addresses hold no patient data; with "no-referrer" a browser would hide where a form is
  // from.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-frame-options': 'DENY',
  'x-permitted-cross-domain-policies': 'none',
  'x-robots-tag': 'noindex, nofollow',
};

/** Where the browser reaches the page by TLS. */
export const TLS_HEADERS: Readonly<Record<string, string>> = {
  'strict-transport-security': 'max-age=31536000',
};

/** The cookie with the session; only the server reads it, and no other site makes it be sent. */
export function sessionCookie(token: string, is_secure: boolean): string {
  const flags = `Path=/; HttpOnly; SameSite=Strict${is_secure ? '; Secure' : ''}`;
  return token === ''
    ? `${cookieName(is_secure)}=; Max-Age=0; ${flags}`
    : `${cookieName(is_secure)}=${token}; ${flags}`;
}

/** The value of the session's cookie; null when it is missing or cannot be one. */
export const readCookie = (header: string | undefined, is_secure: boolean): string | null =>
  readNamed(header, cookieName(is_secure));

function readNamed(header: string | undefined, name: string): string | null {
  for (const part of (header ?? '').slice(0, 8_192).split(';')) {
    const [key, value = ''] = part.trim().split('=');
    if (key === name && /^[A-Za-z0-9_-]{20,3600}$/.test(value)) return value;
  }
  return null;
}

/** With the prefix no other host of the domain can set it (RFC 6265bis 4.1.3.2). */
const cookieName = (is_secure: boolean) => (is_secure ? '__Host-eligd' : 'eligd');

const TICKET = 'eligd-login';

/**
 * What a browser keeps while somebody logs in at the provider: SameSite=Lax, because the provider
 * sends the browser back.
 */
export function ticketCookie(ticket: string, is_secure: boolean): string {
  const age = ticket === '' ? 0 : 600;
  const flags = `Max-Age=${age}; Path=/login; HttpOnly; SameSite=Lax${is_secure ? '; Secure' : ''}`;
  return `${TICKET}=${ticket}; ${flags}`;
}

const KEPT = 'eligd-form';

/** A form whose login had ended, sealed, while its sender logs in at the provider. */
export function keptCookie(sealed: string, is_secure: boolean): string {
  const age = sealed === '' ? 0 : 600;
  const flags = `Max-Age=${age}; Path=/login; HttpOnly; SameSite=Lax${is_secure ? '; Secure' : ''}`;
  return `${KEPT}=${sealed}; ${flags}`;
}

export const readKeptCookie = (header: string | undefined): string | null =>
  readNamed(header, KEPT);

/** The value of that cookie; null when it is missing or cannot be one. */
export const readTicket = (header: string | undefined): string | null => readNamed(header, TICKET);
