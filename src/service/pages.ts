/**
 * One page of a list, in every form that docs/service.md "List paging") knows: a bare array, an
 * array with a `Link` header, an envelope such as `{"items": […], "total": n}`; and where the next
 * one is.
 */
import type { HttpReply, ListElement } from './transport.ts';

export type Page = {
  elements: ListElement[];
  /** How many there are in all, when the service says; never fewer than are on the page. */
  total: number | null;
  next: NextLink;
};

export type NextLink =
  /** Nothing was said about a next page. */
  | { kind: 'unsaid' }
  /** The service said that there is no next page. */
  | { kind: 'none' }
  /** On the service's own origin: path and query. */
  | { kind: 'path'; path: string }
  /** Somewhere else; our credentials do not go there. */
  | { kind: 'foreign' };

/**
 * Null: the body holds no list. `url` is the page's own address, against which relative links are
 * resolved.
 */
export function readPage(reply: HttpReply, url: URL): Page | null {
  if (reply.body.form !== 'list' || reply.body.list === null) return null;
  const { elements, fields } = reply.body.list;
  const link = linkNext(reply.headers.link);
  return {
    elements,
    total: totalOf(fields, elements.length),
    next: resolve(link ?? bodyNext(fields), url),
  };
}

/**
 * `count` is the page's own count on some servers and the total on others; as a total it only says
 * something when larger.
 */
function totalOf(fields: Record<string, unknown>, on_page: number): number | null {
  for (const name of ['total', 'total_count', 'count']) {
    const total = fields[name];
    if (
      typeof total === 'number' &&
      Number.isInteger(total) &&
      (total > on_page || (name !== 'count' && total === on_page))
    ) {
      return total;
    }
  }
  return null;
}

/**
 * A `next` next to the list: an address, or null for the last page. Undefined when there is no such
 * field.
 */
function bodyNext(fields: Record<string, unknown>): string | null | undefined {
  if (!('next' in fields)) return undefined;
  const { next } = fields;
  if (next === null || next === '') return null;
  return typeof next === 'string' ? next : undefined;
}

/**
 * The target of `rel=next` in a `Link` header (RFC 8288, 3); null when the header names other pages
 * only, undefined when there is no header.
 */
function linkNext(header: string | string[] | undefined): string | null | undefined {
  if (header === undefined) return undefined;
  const text = Array.isArray(header) ? header.join(', ') : header;
  let names_page = false;
  for (const [, target, parameters] of text.matchAll(
    /<([^<>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"[^"]*"|[^",;\s]*))?)*)/g,
  )) {
    const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^",;\s]*))/i.exec(parameters ?? '');
    const relations = (rel?.[1] ?? rel?.[2] ?? '').toLowerCase().split(/\s+/);
    if (relations.includes('next')) return target ?? '';
    if (relations.some((relation) => ['first', 'prev', 'last'].includes(relation)))
      names_page = true;
  }
  return names_page ? null : undefined;
}

function resolve(target: string | null | undefined, url: URL): NextLink {
  if (target === undefined) return { kind: 'unsaid' };
  if (target === null) return { kind: 'none' };
  const next = URL.parse(target, url.href);
  if (next === null || next.origin !== url.origin) return { kind: 'foreign' };
  return { kind: 'path', path: next.pathname + next.search };
}
