import { verificationsOf } from '../answers/verifications.ts';
import { type Call, invalidAt, ok, type Reply, type Route } from '../exchange.ts';
import type { JsonObject } from '../json.ts';
import { lifeOf } from '../lifecycle.ts';
import type { Inquiry } from '../request.ts';
import type { State } from '../state.ts';

/** Transcript verifications (docs/service.md "Transcript verifications"). */
export function verificationRoutes(): Route[] {
  return [{ method: 'GET', path: '/api/v0/verification', endpoint: readVerifications }];
}

/** An unknown inquiry has no verifications; the specification answers with an empty array. */
function readVerifications({ state, query }: Call): Reply {
  const id = query.get('inquiry_id') ?? '';
  if (id === '' && state.behaviors.verification_inquiry_id === 'required') {
    return invalidAt(['query', 'inquiry_id'], 'Field required', 'missing');
  }
  const verifications =
    id === '' ? newestFirst(state) : ofInquiry(state, state.store.inquiryById(id));
  return ok({ success: true, count: verifications.length, verifications });
}

function ofInquiry(state: State, inquiry: Inquiry | undefined): JsonObject[] {
  if (inquiry === undefined) return [];
  const life = lifeOf(state.seed, inquiry, state.behaviors);
  return verificationsOf(state, inquiry, life, state.clock.callNow());
}

function newestFirst(state: State): JsonObject[] {
  const all = [...state.store.ledger()].flatMap((inquiry) => ofInquiry(state, inquiry));
  return all.sort((a, b) => (String(a.creation_ts) < String(b.creation_ts) ? 1 : -1));
}
