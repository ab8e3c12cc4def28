/**
 * Reads one page of a list in every form of docs/service.md "List paging": a bare array, an array
 * with a `Link` header, or an envelope such as `{"items": […], "total": n}`. Finds the next page.
 */
import type { HttpReply, ListElement } from './transport.ts';

export type Page = {
  elements: ListElement[];
  /** The total number of inquiries, if the service states it; never fewer than are on the page. */
  total: number | null;
  next: NextLink;
};

export type NextLink =
  /** The reply says nothing about a next page. */
  | { kind: 'unstated' }
  /** The reply says that there is no next page. */
  | { kind: 'none' }
  /** On the service's own origin: path and query. */
  | { kind: 'path'; path: string }
  /** On another origin; our credentials are not sent there. */
  | { kind: 'foreign' };

/**
 * Reads a page. Null: the body contains no list. `url`: the page's own address, to resolve relative
 * links.
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
 * Returns the total. `count` is the count of the page on some servers and the total on others, so
 * it is used only if it is larger than the page.
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
 * Returns the `next` field of an envelope: an address, or null for the last page. Undefined when
 * there is no such field.
 */
function bodyNext(fields: Record<string, unknown>): string | null | undefined {
  if (!('next' in fields)) return undefined;
  const { next } = fields;
  if (next === null || next === '') return null;
  return typeof next === 'string' ? next : undefined;
}

/**
 * Returns the target of `rel=next` in a `Link` header (RFC 8288, 3); null when the header names
 * only other pages, undefined when there is no header.
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
  if (target === undefined) return { kind: 'unstated' };
  if (target === null) return { kind: 'none' };
  const next = URL.parse(target, url.href);
  if (next === null || next.origin !== url.origin) return { kind: 'foreign' };
  return { kind: 'path', path: next.pathname + next.search };
}
