import { canonicalExternalId, givenName, matchKeyOfEcho } from '../../domain/matching.ts';
import type { ListedInquiry } from '../../service/api.ts';
import { parseWireTimestamp } from '../../service/dates.ts';
import type { SeenInquiry } from '../../store/calls/calls.ts';

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
