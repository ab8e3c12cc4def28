import type { SoughtCall } from '../../domain/attribution.ts';
import { givenNameOf } from '../../domain/inquiry.ts';
import { canonicalExternalId, givenName, matchKeyOfEcho } from '../../domain/matching.ts';
import type { ListedInquiry } from '../../service/api.ts';
import { parseWireTimestamp } from '../../service/dates.ts';
import { sentAt } from '../../store/calls/attempts.ts';
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

/** Returns the call of the row, whose reply was lost. */
export function soughtCall(row: InquiryRow): SoughtCall {
  return {
    external_id: canonicalExternalId(row.external_id),
    match_key: row.match_key,
    given_name: givenNameOf(row),
    sent_at: sentAt(row),
    sent_service_at: row.sent_service_at,
  };
}
