/**
 * Reads the result of each item from the reply to a bulk create (docs/service.md "Bulk response
 * shape", docs/service.md "Bulk partial failure"). Assumes nothing: an item without a clear result
 * is `unknown` and needs a lookup by its external_id (G1).
 */
import { canonicalExternalId, matchKey, matchKeyOfEcho } from '../domain/matching.ts';
import type {
  BulkItem,
  BulkResult,
  BulkShape,
  InquiryRequest,
  ServiceFailure,
  ValidationItem,
} from './api.ts';
import { creationResponse, creationResult } from './creates.ts';
import {
  type Answered,
  ambiguous,
  errorsOf,
  fail,
  failureOfStatus,
  otherStatus,
  saysAccepted,
  unsent,
  uselessBody,
} from './failures.ts';
import type { HttpReply } from './transport.ts';
import { type Inquiry, parseInquiry, parseValidationItems, usableId } from './wire.ts';

/** Returns the result of each request from the reply, or the failure of the whole bulk. */
export function readBulk(
  answered: Answered,
  requests: InquiryRequest[],
  shape: BulkShape,
): BulkResult {
  if (answered.outcome === 'none') return fail(answered.failure);
  const { reply, retry_after_ms } = answered;
  if (reply.status === 422) return readRefusal(reply, requests.length, shape);
  if (reply.status === 400 && requests.length === 1) {
    return { ok: true, items: [{ outcome: 'refused', errors: errorsOf(reply) }] };
  }
  const failure = bulkStatus(reply, retry_after_ms, requests.length);
  if (failure !== null) return fail(failure);
  if (reply.body.form !== 'json') return fail(uselessBody(reply, requests.length));
  return readItems(reply, reply.body.value, requests);
}

/**
 * Returns the failure that the status means; null for a 2xx. Like a single create, except that 404,
 * 405, 413 and 501 concern the bulk itself and are unsent, and that a 402 for more than one item is
 * ambiguous: the credit may have covered some of them.
 */
function bulkStatus(
  reply: HttpReply,
  retry_after_ms: number | null,
  count: number,
): ServiceFailure | null {
  const { status } = reply;
  if (status === 404 || status === 405 || status === 501)
    return unsent('bulk_absent', status, retry_after_ms);
  if (status === 413) return unsent('bulk_too_large', status, retry_after_ms);
  if (status === 402 && count > 1) return otherStatus(reply, retry_after_ms);
  return failureOfStatus(reply, retry_after_ms);
}

/** Reads a 422: it may name items by their `loc`, the body itself, or nothing recognizable. */
function readRefusal(reply: HttpReply, count: number, shape: BulkShape): BulkResult {
  const errors = errorsOf(reply);
  const by_item = new Map<number, ValidationItem[]>();
  for (const error of errors) {
    // FastAPI puts the offset of a JSON error where an item's index would be.
    const index = isJsonError(error) ? null : itemIndex(error.loc);
    if (index !== null && index < count) by_item.set(index, [...(by_item.get(index) ?? []), error]);
  }
  if (by_item.size > 0) {
    const items = Array.from({ length: count }, (_, index): BulkItem => {
      const own = by_item.get(index);
      return own === undefined
        ? { outcome: 'unknown', accepted: false }
        : { outcome: 'refused', errors: own };
    });
    return { ok: true, items };
  }
  if (errors.length > 0 && errors.every((error) => isBodyItself(error, shape))) {
    return fail(unsent(bodyCause(errors, count), reply.status));
  }
  if (count === 1) return { ok: true, items: [{ outcome: 'refused', errors }] };
  return fail(ambiguous('unlocated_refusal', { status: reply.status }));
}

/**
 * Returns the index of the item that `["body", 3, "dob"]` or `["body", "inquiries", 3, "dob"]`
 * names.
 */
function itemIndex(loc: ValidationItem['loc']): number | null {
  if (loc[0] !== 'body') return null;
  const index = loc[1] === 'inquiries' ? loc[2] : loc[1];
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 ? index : null;
}

/**
 * Returns whether the error is about the body itself: `["body"]`, and also `["body", "inquiries"]`.
 * The latter means the array in the object that was sent, or the field that a server expects when
 * it received a bare array.
 */
function isBodyItself(error: ValidationItem, shape: BulkShape): boolean {
  const { loc, type } = error;
  if (loc[0] !== 'body') return false;
  if (loc.length === 1 || isJsonError(error)) return true;
  return loc.length === 2 && loc[1] === 'inquiries' && (shape === 'object' || /missing/.test(type));
}

function isJsonError(error: ValidationItem): boolean {
  return /json_?(invalid|decode)/.test(error.type);
}

/**
 * Returns the cause, derived from the error types of pydantic 1 and 2, because HTTPValidationError
 * is FastAPI's error.
 */
function bodyCause(
  errors: ValidationItem[],
  count: number,
): 'bulk_too_large' | 'bulk_shape' | 'bulk_body_refused' {
  const types = errors.map((error) => error.type);
  if (count > 1 && types.some((type) => /too_long|max_items|too_large/.test(type)))
    return 'bulk_too_large';
  const is_shape = types.every((type) =>
    /(^|\.)(list|dict|model|missing|type_error)|_type$|_attributes_type/.test(type),
  );
  return count === 1 || is_shape ? 'bulk_shape' : 'bulk_body_refused';
}

/** One entry of a reply of any form. */
type Entry =
  | { kind: 'read_form'; inquiry: Inquiry }
  | { kind: 'id'; id: string; external_id: string }
  | { kind: 'accepted' }
  | { kind: 'refused'; errors: ValidationItem[] }
  | { kind: 'unreadable' };

function readItems(reply: HttpReply, value: unknown, requests: InquiryRequest[]): BulkResult {
  const { status } = reply;
  const found = entriesOf(value, requests.length);
  if (found === null) {
    const creation = creationResult(value);
    if (creation.said === 'success' || creation.said === 'id') {
      return { ok: true, items: requests.map(() => ({ outcome: 'unknown', accepted: true })) };
    }
    const cause = creation.said === 'failure' ? 'contradictory_reply' : 'unreadable_reply';
    return fail(ambiguous(cause, { status, accepted: saysAccepted(status) }));
  }
  const { entries, says_success } = found;
  if (entries.length === 0 && !says_success) return fail(ambiguous('unreadable_reply', { status }));
  if (entries.some((entry) => entry.kind === 'read_form'))
    return { ok: true, items: byContent(entries, requests) };
  // With a different number of entries, they cannot be assigned to requests.
  if (entries.length !== requests.length) {
    return { ok: true, items: requests.map(() => ({ outcome: 'unknown', accepted: true })) };
  }
  return { ok: true, items: byPosition(entries, requests, says_success) };
}

/** Returns the entries; null: the reply contains no list of a known form. */
function entriesOf(
  value: unknown,
  count: number,
): { entries: Entry[]; says_success: boolean } | null {
  if (Array.isArray(value)) return { entries: value.map(toEntry), says_success: false };
  if (typeof value !== 'object' || value === null) return null;
  const fields = value as Record<string, unknown>;
  const says_success = fields.success === true;
  if (Array.isArray(fields.inquiry_ids))
    return { entries: fields.inquiry_ids.map(toEntry), says_success };
  for (const name of ['inquiries', 'results', 'responses', 'items', 'data']) {
    const list = fields[name];
    if (Array.isArray(list)) return { entries: list.map(toEntry), says_success };
  }
  const creation = creationResult(value);
  return count === 1 && creation.said === 'id' ? { entries: [toEntry(value)], says_success } : null;
}

function toEntry(value: unknown): Entry {
  const inquiry = parseInquiry(value);
  if (inquiry !== null) return { kind: 'read_form', inquiry };
  if (typeof value === 'string') {
    const id = usableId(value);
    return id === null ? { kind: 'accepted' } : { kind: 'id', id, external_id: '' };
  }
  const creation = creationResponse(value);
  const fields: Record<string, unknown> =
    typeof value === 'object' && value !== null ? { ...(value as Record<string, unknown>) } : {};
  if (creation.said === 'id')
    return {
      kind: 'id',
      id: creation.inquiry_id,
      external_id: canonicalExternalId(fields.external_id),
    };
  if (creation.said === 'success' || (creation.said === 'failure' && creation.has_id))
    return { kind: 'accepted' };
  const says_error = ['detail', 'error', 'errors'].some(
    (name) => fields[name] !== undefined && fields[name] !== null,
  );
  if (creation.said === 'failure' || says_error)
    return { kind: 'refused', errors: itemErrors(fields) };
  return { kind: 'unreadable' };
}

function itemErrors(fields: Record<string, unknown>): ValidationItem[] {
  for (const source of [
    fields,
    fields.error,
    { detail: fields.errors },
    { detail: fields.error },
  ]) {
    const errors = parseValidationItems(source);
    if (errors.length > 0) return errors;
  }
  return [];
}

function byPosition(
  entries: Entry[],
  requests: InquiryRequest[],
  says_success: boolean,
): BulkItem[] {
  const times = new Map<string, number>();
  for (const entry of entries)
    if (entry.kind === 'id') times.set(entry.id, (times.get(entry.id) ?? 0) + 1);
  return entries.map((entry, index): BulkItem => {
    switch (entry.kind) {
      case 'id': {
        const own = canonicalExternalId(requests[index]?.external_id);
        const is_other = entry.external_id !== '' && entry.external_id !== own;
        const id = usableId(entry.id);
        if (id === null || is_other || times.get(entry.id) !== 1)
          return { outcome: 'unknown', accepted: true };
        return { outcome: 'created', inquiry_id: id, evidence: 'position' };
      }
      case 'refused':
        return refusedAt(entry.errors, index);
      case 'accepted':
        return { outcome: 'unknown', accepted: true };
      default:
        return { outcome: 'unknown', accepted: says_success };
    }
  });
}

/**
 * Reads a refusal by position. An error at one position that names another proves nothing about
 * either.
 */
function refusedAt(errors: ValidationItem[], index: number): BulkItem {
  const is_elsewhere = errors.some((error) => (itemIndex(error.loc) ?? index) !== index);
  return is_elsewhere ? { outcome: 'unknown', accepted: false } : { outcome: 'refused', errors };
}

/**
 * Assigns read forms to requests by match key and external_id, if exactly one of each matches.
 * Refusals among them are assigned by position, but only if every matched read form is at its
 * request's position.
 */
function byContent(entries: Entry[], requests: InquiryRequest[]): BulkItem[] {
  const forms = entries.flatMap((entry, position) =>
    entry.kind === 'read_form' ? [{ ...entry, position }] : [],
  );
  const ids = countBy(forms, (form) => form.inquiry.id);
  const form_keys = countBy(forms, (form) => echoKey(form.inquiry));
  const request_keys = countBy(requests, requestKey);
  const matches = requests.map((request) => {
    const key = requestKey(request);
    if (request_keys.get(key) !== 1 || form_keys.get(key) !== 1) return null;
    const form = forms.find((one) => echoKey(one.inquiry) === key);
    return form !== undefined && ids.get(form.inquiry.id) === 1 ? form : null;
  });
  const matched = matches.filter((form) => form !== null);
  const is_in_order =
    entries.length === requests.length &&
    matches.every((form, index) => (form?.position ?? index) === index);
  // An unmatched read form, or an ID without content, may belong to any of the other requests.
  const is_rest_accepted =
    matched.length < forms.length ||
    entries.some((entry) => entry.kind === 'id' || entry.kind === 'accepted');
  return matches.map((form, index): BulkItem => {
    if (form !== null)
      return { outcome: 'created', inquiry_id: form.inquiry.id, evidence: 'read_form' };
    const entry = entries[index];
    if (is_in_order && entry?.kind === 'refused') return refusedAt(entry.errors, index);
    return { outcome: 'unknown', accepted: is_rest_accepted };
  });
}

function requestKey(request: InquiryRequest): string {
  return `${matchKey(request)}|${canonicalExternalId(request.external_id)}`;
}

function echoKey(inquiry: Inquiry): string | null {
  const key = matchKeyOfEcho(inquiry.request);
  return key === null ? null : `${key}|${canonicalExternalId(inquiry.request.external_id)}`;
}

function countBy<T, K>(values: T[], key: (value: T) => K): Map<K, number> {
  const counts = new Map<K, number>();
  for (const value of values) counts.set(key(value), (counts.get(key(value)) ?? 0) + 1);
  return counts;
}
