/**
 * Reads the replies to GET and DELETE requests: one inquiry, verifications, the subscription
 * (docs/service.md "Endpoints").
 */
import type { InquiryId } from '../domain/ids.ts';
import { isTooDeep } from '../domain/json-limits.ts';
import type { Inquiry, Result, Subscription } from './api.ts';
import { type Answered, ambiguous, fail, type Settled, settle, uselessRead } from './failures.ts';
import {
  parseInquiry,
  subscriptionSchema,
  verificationReplySchema,
  verificationSchema,
} from './wire.ts';

/**
 * Reads one inquiry, as an object or an array of one (docs/service.md "Read by ID"). Null when it
 * is absent: 404, 422, or a 2xx with null, `[]` or nothing. A 404 with a web page comes from a
 * proxy and proves nothing: *ambiguous*. Never returns another inquiry than the requested one.
 */
export function readInquiry(answered: Answered, id: InquiryId): Result<Inquiry | null> {
  const settled = settleRead(answered);
  if (settled === 'absent') return { ok: true, value: null };
  if (!settled.ok) return settled;
  const { reply } = settled;
  if (isNothing(settled)) return { ok: true, value: null };
  if (reply.body.form !== 'json') return fail(uselessRead(settled.reply));
  const { value } = reply.body;
  if (isTooDeep(value)) return fail(ambiguous('too_deep', { status: reply.status }));
  const candidates = (Array.isArray(value) ? value : [value]).map(parseInquiry);
  const own = candidates.find((inquiry) => inquiry?.id.toLowerCase() === id.toLowerCase());
  if (own) return { ok: true, value: own };
  const cause = candidates.some((inquiry) => inquiry !== null)
    ? 'other_inquiry'
    : 'unreadable_reply';
  return fail(ambiguous(cause, { status: reply.status }));
}

/**
 * Reads `{"success", "count", "verifications"}`, or the array alone. An inquiry unknown to the
 * service has none. Skips a record that names another inquiry, because it quotes another patient's
 * call.
 */
export function readVerifications(answered: Answered, id: InquiryId): Result<unknown[]> {
  const settled = settleRead(answered);
  if (settled === 'absent') return { ok: true, value: [] };
  if (!settled.ok) return settled;
  if (isNothing(settled)) return { ok: true, value: [] };
  const { body, status } = settled.reply;
  if (body.form !== 'json') return fail(uselessRead(settled.reply));
  if (isTooDeep(body.value)) return fail(ambiguous('too_deep', { status }));
  const parsed = verificationReplySchema.safeParse(
    Array.isArray(body.value) ? { verifications: body.value } : body.value,
  );
  if (!parsed.success) return fail(ambiguous('unreadable_reply', { status }));
  const isOurs = (record: unknown) => {
    const { inquiry_id } = verificationSchema.catch({}).parse(record);
    return inquiry_id == null || inquiry_id.trim().toLowerCase() === id.toLowerCase();
  };
  return { ok: true, value: parsed.data.verifications.filter(isOurs) };
}

/**
 * Reads the subscription; null when there is none: 404, 204, null, `{}`, `[]`, or an object whose
 * `callback_url` is null or empty (docs/service.md "Subscription bodies").
 */
export function readSubscription(answered: Answered): Result<Subscription | null> {
  const settled = settle(answered);
  if (!settled.ok) return isAbsent(answered) ? { ok: true, value: null } : settled;
  if (isNothing(settled)) return { ok: true, value: null };
  const { body, status } = settled.reply;
  if (body.form !== 'json') return fail(uselessRead(settled.reply));
  const one: unknown = Array.isArray(body.value) ? body.value[0] : body.value;
  if (typeof one === 'object' && one !== null && Object.keys(one).length === 0)
    return { ok: true, value: null };
  const inner =
    typeof one === 'object' && one !== null && 'subscription' in one ? one.subscription : one;
  if (inner === null || hasNoAddress(inner)) return { ok: true, value: null };
  const parsed = subscriptionSchema.safeParse(inner);
  return parsed.success
    ? { ok: true, value: parsed.data }
    : fail(ambiguous('unreadable_reply', { status }));
}

function hasNoAddress(subscription: unknown): boolean {
  if (typeof subscription !== 'object' || subscription === null) return false;
  return 'callback_url' in subscription && ['', null].includes(subscription.callback_url as string);
}

/** Returns success for any 2xx, and for a 404: the subscription does not exist, as wanted. */
export function readDeletion(answered: Answered): Result<null> {
  const settled = settle(answered);
  return settled.ok || isAbsent(answered) ? { ok: true, value: null } : settled;
}

function settleRead(answered: Answered): Settled | 'absent' {
  const settled = settle(answered);
  if (settled.ok) return settled;
  if (isAbsent(answered)) return 'absent';
  if (answered.outcome === 'none') return settled;
  const { reply } = answered;
  if (reply.status === 422) return 'absent';
  if (reply.status === 404) return fail(ambiguous('unreadable_reply', { status: 404 }));
  return settled;
}

/** Returns whether the reply is a 404 of the service itself, not the page of a proxy. */
function isAbsent(answered: Answered): boolean {
  if (answered.outcome === 'none' || answered.reply.status !== 404) return false;
  return answered.reply.body.form !== 'html' && answered.reply.body.form !== 'broken';
}

function isNothing(settled: Settled & { ok: true }): boolean {
  const { body, status } = settled.reply;
  if (body.form === 'empty') return status === 204;
  return (
    body.form === 'json' &&
    (body.value === null || (Array.isArray(body.value) && body.value.length === 0))
  );
}
