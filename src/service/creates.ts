/**
 * Reads the reply to a single create (docs/service.md "Creation response"; docs/service.md "Other
 * errors").
 */
import type { InquiryId } from '../domain/ids.ts';
import type { Result } from './api.ts';
import { type Answered, ambiguous, fail, saysAccepted, settle, uselessBody } from './failures.ts';
import { creationResponseSchema, parseInquiry, usableId } from './wire.ts';

/**
 * Returns the ID of the created inquiry: from a creation response, from the read form of the new
 * inquiry, or from an array of one of these. A reply that reports success without a usable ID is
 * *ambiguous* and `accepted`: the inquiry never returns to planned.
 */
export function readCreation(answered: Answered): Result<{ inquiry_id: InquiryId }> {
  const settled = settle(answered);
  if (!settled.ok) return settled;
  const { reply } = settled;
  if (reply.body.form !== 'json') return fail(uselessBody(reply));
  const { status } = reply;
  const { value } = reply.body;
  const one: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const creation = creationResult(one);
  if (creation.said === 'id') return { ok: true, value: { inquiry_id: creation.inquiry_id } };
  if (creation.said === 'success')
    return fail(ambiguous('no_usable_id', { status, accepted: true }));
  // With an ID next to "success": false, the service may have created an inquiry.
  if (creation.said === 'failure')
    return fail(ambiguous('contradictory_reply', { status, accepted: creation.has_id }));
  return fail(ambiguous('unreadable_reply', { status, accepted: saysAccepted(status) }));
}

type CreationResult =
  | { said: 'id'; inquiry_id: InquiryId }
  /** Success without a usable ID. */
  | { said: 'success' }
  | { said: 'failure'; has_id: boolean }
  | { said: 'nothing' };

/** Reads the result of one creation from an object: a creation response, or a read form. */
export function creationResult(value: unknown): CreationResult {
  const read_form = parseInquiry(value);
  return read_form === null ? creationResponse(value) : { said: 'id', inquiry_id: read_form.id };
}

/** Reads a creation response, for an object that is no read form. */
export function creationResponse(value: unknown): CreationResult {
  const parsed = creationResponseSchema.safeParse(value);
  if (!parsed.success) return { said: 'nothing' };
  const { success, inquiry_id } = parsed.data;
  const id = usableId(inquiry_id);
  if (success === false) return { said: 'failure', has_id: id !== null };
  if (id !== null) return { said: 'id', inquiry_id: id };
  return success === true || typeof inquiry_id === 'string'
    ? { said: 'success' }
    : { said: 'nothing' };
}
