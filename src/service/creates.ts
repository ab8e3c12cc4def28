/**
 * What the reply to a single create says (docs/service.md "Creation response"; docs/service.md
 * "Other errors").
 */
import type { InquiryId } from '../domain/ids.ts';
import type { Result } from './api.ts';
import { type Answered, ambiguous, fail, settle, uselessBody } from './failures.ts';
import { creationResponseSchema, parseInquiry, usableId } from './wire.ts';

/**
 * The id of the created inquiry. Taken from a creation response, from the read form of the new
 * inquiry, or from an array of one of either. A reply that says success without a usable id is
 * *ambiguous* and `accepted`: it never goes back to planned.
 */
export function readCreation(answered: Answered): Result<{ inquiry_id: InquiryId }> {
  const settled = settle(answered);
  if (!settled.ok) return settled;
  const { reply } = settled;
  if (reply.body.form !== 'json') return fail(uselessBody(reply));
  const { status } = reply;
  const { value } = reply.body;
  const one: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const word = creationWord(one);
  if (word.said === 'id') return { ok: true, value: { inquiry_id: word.inquiry_id } };
  if (word.said === 'success') return fail(ambiguous('no_usable_id', { status, accepted: true }));
  // An id next to "success": false may well be an inquiry that was made.
  if (word.said === 'failure')
    return fail(ambiguous('contradictory_reply', { status, accepted: word.has_id }));
  return fail(
    ambiguous('unreadable_reply', { status, accepted: status === 201 || status === 202 }),
  );
}

export type CreationWord =
  | { said: 'id'; inquiry_id: InquiryId }
  /** Success, but no id that could be used. */
  | { said: 'success' }
  | { said: 'failure'; has_id: boolean }
  | { said: 'nothing' };

/** What one object says about the creation of one inquiry. */
export function creationWord(value: unknown): CreationWord {
  const read_form = parseInquiry(value);
  if (read_form !== null) return { said: 'id', inquiry_id: read_form.id };
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
