import { CLOCKS_DIFFER_MS } from '../../domain/clock-watch.ts';
import { givenNameOf } from '../../domain/inquiry.ts';
import {
  canonicalExternalId,
  givenName,
  matchKeyOfEcho,
  mayBeEchoOf,
} from '../../domain/matching.ts';
import type { ListedInquiry } from '../../service/api.ts';
import { parseWireTimestamp } from '../../service/dates.ts';
import type { SeenInquiry } from '../../store/calls/calls.ts';
import type { InquiryRow } from '../../store/calls/inquiries.ts';

/** Returns what eligd saves of a listed inquiry: labels, keys and times, no results. */
export function seenInquiry(inquiry: ListedInquiry): SeenInquiry {
  return {
    service_id: inquiry.id,
    external_id: canonicalExternalId(inquiry.request.external_id),
    match_key: matchKeyOfEcho(inquiry.request) ?? '',
    given_name: givenName(inquiry.request.patient_name),
    service_status: inquiry.status,
    created_at: inquiry.creation_ts === null ? null : parseWireTimestamp(inquiry.creation_ts),
  };
}

/**
 * Returns whether the inquiry may be the call of the row, which has no ID, although its echo leaves
 * out what would tell: the label, or a part of the question.
 */
export function mayBeCallOf(row: InquiryRow, seen: SeenInquiry): boolean {
  const { external_id, match_key, given_name, created_at } = seen;
  const is_named = ['', givenNameOf(row)].includes(given_name);
  const is_open =
    external_id === canonicalExternalId(row.external_id)
      ? match_key !== row.match_key
      : external_id === '' && (match_key === '' || is_named);
  const sent_at = (row.sent_service_at ?? Number.NEGATIVE_INFINITY) - CLOCKS_DIFFER_MS;
  return (
    is_open &&
    mayBeEchoOf(row.match_key, match_key) &&
    (created_at === null || created_at >= sent_at)
  );
}
