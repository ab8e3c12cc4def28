/**
 * The callback URL of a subscription. The service may normalize it; its query may contain a secret.
 */

/**
 * Returns whether both are the same URL, however it is written. A trailing slash makes a different
 * URL, because a proxy may not forward it.
 */
export function isSameUrl(a: string, b: string): boolean {
  return (URL.parse(a)?.href ?? a) === (URL.parse(b)?.href ?? b);
}

/** Returns the part that may be shown: host and path, without user and query. */
export function shownUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? 'an unknown address' : parsed.origin + parsed.pathname;
}
