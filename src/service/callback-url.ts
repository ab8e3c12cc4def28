/** The address of a subscription. The service may normalize it; its query may hold a secret. */

/**
 * Whether both are the same address, however it is written. A slash at the end of a path makes
 * another one: no proxy is asked to pass it on.
 */
export function isSameUrl(a: string, b: string): boolean {
  return (URL.parse(a)?.href ?? a) === (URL.parse(b)?.href ?? b);
}

/** What may be said of it: host and path, without user and query. */
export function shownUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? 'an unknown address' : parsed.origin + parsed.pathname;
}
