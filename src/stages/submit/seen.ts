import { CLOCKS_DIFFER_MS } from '../../domain/clock-watch.ts';
import {
  canonicalExternalId,
  givenName,
  matchKeyOfEcho,
  mayBeEchoOf,
} from '../../domain/matching.ts';
import type { ListedInquiry } from '../../service/api.ts';
import { parseWireTimestamp } from '../../service/dates.ts';
import type { CallRow, SeenInquiry } from '../../store/calls/calls.ts';

/** A request of ours. The label and the name are normalized. */
type Sent = Pick<CallRow, 'external_id' | 'match_key' | 'given_name' | 'sent_service_at'>;

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
 * Returns whether the inquiry may be this call, which has no ID, although its echo leaves out what
 * would tell: the label, or a part of the question.
 */
export function mayBeCall(sent: Sent, seen: SeenInquiry): boolean {
  const { external_id, match_key, given_name, created_at } = seen;
  const is_open =
    external_id === sent.external_id
      ? match_key !== sent.match_key
      : external_id === '' && (match_key === '' || ['', sent.given_name].includes(given_name));
  const sent_at = (sent.sent_service_at ?? Number.NEGATIVE_INFINITY) - CLOCKS_DIFFER_MS;
  return (
    is_open &&
    mayBeEchoOf(sent.match_key, match_key) &&
    (created_at === null || created_at >= sent_at)
  );
}
