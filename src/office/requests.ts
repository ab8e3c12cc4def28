/** Reads properties of requests for the routes. */
import type { FastifyRequest } from 'fastify';

export const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? '';

export function formOf(request: FastifyRequest): URLSearchParams {
  return new URLSearchParams(typeof request.body === 'string' ? request.body : '');
}

/**
 * Checks what the browser says about the origin of a form; a client that says nothing is not a
 * browser.
 */
export function isSameSite({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin } = headers;
  return origin === undefined || URL.parse(origin)?.host === headers.host;
}
