import { Dice } from '../dice.ts';
import { type Call, invalidAt, ok, type Reply } from '../exchange.ts';
import type { Json } from '../json.ts';
import { readForm } from '../read-form.ts';
import type { Specialty } from '../request.ts';
import type { State } from '../state.ts';

/**
 * Answers GET inquiries. The specification does not show filter, order, and paging, so each is a
 * behavior.
 */
export function listInquiries({ state, query, url }: Call, specialty: Specialty): Reply {
  const { behaviors } = state;
  for (const [name, minimum] of [
    ['limit', 1],
    ['offset', 0],
    ['page', 1],
    ['cursor', 0],
  ] as const) {
    const text = query.get(name);
    if (text === null || (/^\d{1,9}$/.test(text) && Number(text) >= minimum)) continue;
    return invalidAt(
      ['query', name],
      `Input should be an integer, ${minimum} or more`,
      'int_parsing',
    );
  }
  if (behaviors.list_filter === 'refused' && query.has('external_id'))
    return invalidAt(['query', 'external_id'], 'Extra inputs are not permitted', 'extra_forbidden');
  const label =
    behaviors.list_filter === 'external_id' ? (query.get('external_id') ?? undefined) : undefined;
  const until_ms = state.clock.callNow() - behaviors.list_delay_seconds * 1000;
  const seqs = inOrder(state, state.store.listSeqs(specialty, label, until_ms));
  const listed = behaviors.list_truncate > 0 ? seqs.slice(0, behaviors.list_truncate) : seqs;
  if (behaviors.list_paging === 'none') return ok(formsOf(state, listed));

  const asked = Number(query.get('limit') ?? Number.POSITIVE_INFINITY);
  if (behaviors.list_paging === 'limit') {
    const most = Number.isFinite(asked) ? asked : behaviors.list_page_size;
    return ok(formsOf(state, listed.slice(0, most)));
  }
  const size = Math.min(behaviors.list_page_size, asked);
  const start = startOfPage(state, query, size);
  const page = formsOf(state, listed.slice(start, start + size));
  if (behaviors.list_paging === 'items_total') return ok({ items: page, total: listed.length });
  if (behaviors.list_paging === 'link' && start + size < listed.length) {
    return {
      status: 200,
      body: page,
      headers: { link: `<${nextUrl(url, start + size)}>; rel="next"` },
    };
  }
  return ok(page);
}

function startOfPage(state: State, query: URLSearchParams, size: number): number {
  const pages_before = Number(query.get('page') ?? 1) - 1;
  switch (state.behaviors.list_paging) {
    case 'none':
    case 'limit':
      return 0;
    case 'limit_offset':
      return Number(query.get('offset') ?? 0);
    case 'page':
      return pages_before * size;
    case 'link':
      return Number(query.get('cursor') ?? 0);
    case 'items_total':
      return query.has('offset') ? Number(query.get('offset')) : pages_before * size;
  }
}

/** Returns a relative reference, as allowed in a Link header; it keeps the filter. */
function nextUrl(url: string, cursor: number): string {
  const next = new URL(url, 'http://sandbox.invalid');
  next.searchParams.set('cursor', String(cursor));
  return next.pathname + next.search;
}

function inOrder(state: State, seqs: number[]): number[] {
  switch (state.behaviors.list_order) {
    case 'created':
      return seqs;
    case 'reverse':
      return seqs.reverse();
    case 'random': {
      const dice = new Dice(state.seed, 'list order');
      return seqs.sort((a, b) => dice.fraction(String(a)) - dice.fraction(String(b)));
    }
  }
}

function formsOf(state: State, seqs: readonly number[]): Json[] {
  return seqs.flatMap((seq) => {
    const inquiry = state.store.inquiryBySeq(seq);
    return inquiry === undefined ? [] : [readForm(state, inquiry)];
  });
}
