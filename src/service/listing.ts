/**
 * Reads a list to its end without knowing how the server pages (docs/service.md "List paging",
 * docs/service.md "List filter", docs/service.md "List order").
 *
 * A next link is followed. Without any link, the end is not assumed: a bare array of three may be a
 * whole list, or the first page with a page size of three. So a further page is requested.
 * `offset=<n>&limit=<n>` returns
 *
 * - nothing: the server knows `offset`, and the list is complete;
 * - new inquiries: it knows `offset`, and there are more; repeated until a page is empty;
 * - the first page again, or a refusal: it does not know `offset`. Then `page=2` is tried in the
 *   same way, and also `page=1` if pages work, in case they count from zero.
 *
 * If neither parameter works, the first page may still be cut, and `limit` may raise a cap. It is
 * doubled until nothing new arrives. The end of such a list is assumed and never proven, because a
 * fixed cap looks the same; the caller decides how far to rely on an assumed end (G1).
 *
 * The caller keeps what was learned about a server (`PagingMemory`), so that these extra requests
 * are made once and not for every list. A server that pages is always asked for the empty page
 * after the last one: an unproven absence may cost a paid phone call (G1), while a request costs
 * nothing.
 */

import { createHash } from 'node:crypto';
import { canonicalExternalId } from '../domain/matching.ts';
import type { InquiryList, ListedInquiry, ServiceFailure } from './api.ts';
import { type Answered, fail, settle, uselessRead } from './failures.ts';
import { type NextLink, type Page, readPage } from './pages.ts';

/** No real list has more pages; one that has counts as incomplete. */
export const PAGES_MAX = 10_000;

/**
 * `none`: the server pages by neither of these parameters; links and totals may still work. `page`:
 * it pages by `page`, counted from one, and not by `offset`.
 */
export type PagingMemory = { known: 'nothing' | 'none' | 'page' };

type PageSource = {
  /** The first page's path and query, without the origin. */
  path: string;
  origin: string;
  fetchPage: (path: string) => Promise<Answered>;
  memory: PagingMemory;
  /** Called once, when a link leads to another origin. */
  onForeignLink: () => void;
};

type Fetched = { ok: true; page: Page } | { ok: false; failure: ServiceFailure };

/** Reads all pages of a list. Returns a failure when any page fails. */
export async function readList(source: PageSource, external_id: string): Promise<Listed> {
  const walk = new Walk(source);
  const failure = await walk.run();
  return failure === null ? { ok: true, value: walk.list(external_id) } : fail(failure);
}

type Listed = { ok: true; value: InquiryList } | { ok: false; failure: ServiceFailure };

/** The pages of one list, and what they have shown so far. */
class Walk {
  readonly #source: PageSource;
  /** Null: the element is unreadable. */
  readonly #elements = new Map<string, ListedInquiry | null>();
  readonly #fingerprints = new Set<string>();
  #received = 0;
  #pages = 0;
  #total: number | null = null;
  #is_ended = false;
  #is_end_proven = true;

  constructor(source: PageSource) {
    this.#source = source;
  }

  /** Returns null at the end of the list; a failure of any page fails the whole list. */
  async run(): Promise<ServiceFailure | null> {
    const first = await this.#fetch(this.#source.path);
    if (!first.ok) return first.failure;
    this.#take(first.page);
    if (first.page.next.kind !== 'unstated') return this.#followLinks(first.page.next);
    if (this.#total !== null && this.#elements.size >= this.#total) return this.#end(true);
    if (first.page.elements.length === 0) return this.#end(this.#total === null);
    if (this.#total === null && this.#source.memory.known === 'none') return this.#raiseLimit();
    return this.#probe(first.page.elements.length);
  }

  list(external_id: string): InquiryList {
    const wanted = canonicalExternalId(external_id);
    const inquiries = [...this.#elements.values()].filter((inquiry) => inquiry !== null);
    const own =
      wanted === ''
        ? inquiries
        : inquiries.filter(({ request }) => canonicalExternalId(request.external_id) === wanted);
    const unreadable_count = this.#elements.size - inquiries.length;
    return {
      inquiries: own,
      is_complete:
        this.#is_ended &&
        unreadable_count === 0 &&
        (this.#total === null || this.#elements.size >= this.#total),
      is_end_proven: this.#is_end_proven,
      total_count: this.#elements.size,
      unreadable_count,
      filter: own.length < inquiries.length ? 'ignored' : 'none_or_applied',
    };
  }

  async #followLinks(first: NextLink): Promise<ServiceFailure | null> {
    let next = first;
    const visited = new Set<string>();
    while (next.kind === 'path') {
      if (this.#pages >= PAGES_MAX || visited.has(next.path)) return this.#end(false);
      visited.add(next.path);
      const fetched = await this.#fetch(next.path);
      if (!fetched.ok) return fetched.failure;
      // A link back to an earlier page hides what follows.
      if (this.#take(fetched.page) === 'repeated') return this.#end(false);
      next = fetched.page.next;
    }
    if (next.kind === 'foreign') this.#source.onForeignLink();
    return this.#end(next.kind !== 'foreign');
  }

  async #probe(page_size: number): Promise<ServiceFailure | null> {
    const { memory } = this.#source;
    if (memory.known !== 'page') {
      const by_offset = await this.#walkBy(() => ({
        offset: String(this.#received),
        limit: String(page_size),
      }));
      if (by_offset !== 'unknown') return by_offset.failure;
    }
    let page_number = 1;
    const by_page = await this.#walkBy(() => {
      page_number += 1;
      return { page: String(page_number) };
    });
    if (by_page !== 'unknown') {
      if (by_page.failure !== null || memory.known === 'page') return by_page.failure;
      const first = await this.#fetch(this.#address({ page: '1' }));
      if (!first.ok) return first.failure;
      if (this.#take(first.page) === 'repeated') memory.known = 'page';
      return null;
    }
    // If the total was not reached, `list` reports the list as incomplete.
    if (this.#total !== null) return this.#end(true);
    memory.known = 'none';
    return this.#raiseLimit();
  }

  /**
   * Doubles `limit` until nothing new arrives, because no parameter pages through the list. This
   * removes a cap that `limit` can raise; a fixed cap looks like the end.
   */
  async #raiseLimit(): Promise<ServiceFailure | null> {
    this.#is_end_proven = false;
    while (this.#pages < PAGES_MAX) {
      const known = this.#elements.size;
      const fetched = await this.#fetch(this.#address({ limit: String(2 * known) }));
      if (!fetched.ok) {
        // If the server refuses the limit, the list stays as it is; any other failure leaves its
        // end open.
        const is_unknown =
          fetched.failure.class === 'refused' ||
          (fetched.failure.class === 'stopped' && fetched.failure.status === 404);
        return is_unknown ? this.#end(true) : fetched.failure;
      }
      this.#take(fetched.page);
      if (this.#elements.size === known) return this.#end(true);
    }
    return this.#end(false);
  }

  /**
   * Pages by the given parameters. Returns `unknown` when the first request returns the first page
   * again or is refused: then the server does not know the parameter.
   */
  async #walkBy(
    nextParameters: () => Record<string, string>,
  ): Promise<'unknown' | { failure: ServiceFailure | null }> {
    for (let step = 0; this.#pages < PAGES_MAX; step += 1) {
      const fetched = await this.#fetch(this.#address(nextParameters()));
      if (!fetched.ok) {
        if (fetched.failure.class === 'refused') {
          if (step === 0) return 'unknown';
          return { failure: this.#end(false) };
        }
        // Some servers return 404 for a page after the last one; the path itself has just worked.
        if (fetched.failure.class === 'stopped' && fetched.failure.status === 404)
          return { failure: this.#end(true) };
        return { failure: fetched.failure };
      }
      const taken = this.#take(fetched.page);
      if (taken === 'repeated' && step === 0) return 'unknown';
      // Known inquiries in a new order: the server changes its order while eligd reads, so an
      // inquiry may be missing.
      if (taken !== 'new') return { failure: this.#end(taken === 'empty' || taken === 'repeated') };
      if (this.#total !== null && this.#elements.size >= this.#total)
        return { failure: this.#end(true) };
    }
    return { failure: this.#end(false) };
  }

  /**
   * Adds a page. `repeated`: the same elements as an earlier page. `shuffled`: nothing new, but a
   * different selection.
   */
  #take(page: Page): 'new' | 'empty' | 'repeated' | 'shuffled' {
    this.#total = page.total ?? this.#total;
    if (page.elements.length === 0) return 'empty';
    const fingerprint = fingerprintOf(page.elements.map(({ key }) => key));
    if (this.#fingerprints.has(fingerprint)) return 'repeated';
    this.#fingerprints.add(fingerprint);
    this.#received += page.elements.length;
    const known = this.#elements.size;
    for (const { key, inquiry } of page.elements) this.#elements.set(key, inquiry);
    return this.#elements.size > known ? 'new' : 'shuffled';
  }

  async #fetch(path: string): Promise<Fetched> {
    this.#pages += 1;
    const settled = settle(await this.#source.fetchPage(path));
    if (!settled.ok) return settled;
    const page = readPage(settled.reply, new URL(path, this.#source.origin));
    if (page !== null) return { ok: true, page };
    return fail(uselessRead(settled.reply));
  }

  #address(parameters: Record<string, string>): string {
    const url = new URL(this.#source.path, this.#source.origin);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.pathname + url.search;
  }

  /** Ends the reading; `is_certain`: the list has no further page. Returns null, as no failure. */
  #end(is_certain: boolean): null {
    this.#is_ended = is_certain;
    return null;
  }
}

/** Returns the same text for the same inquiries in any order. */
function fingerprintOf(keys: string[]): string {
  const hash = createHash('sha256');
  for (const key of keys.sort()) hash.update(`${key}\n`);
  return hash.digest('base64');
}
