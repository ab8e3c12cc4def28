import { Dice } from '../dice.ts';
import { type Call, invalid, invalidAt, ok, type Reply, readJson } from '../exchange.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { readForm } from '../read-form.ts';
import type { Inquiry, Specialty } from '../request.ts';
import type { State } from '../state.ts';
import { rulesOf, type Validated, validateRequest } from '../validation.ts';

/** The result for one item of a bulk. */
type Outcome = { kind: 'created'; inquiry: Inquiry } | { kind: 'refused'; problems: JsonObject[] };

/**
 * Answers POST batch_inquiries. The specification shows neither request nor response, so both are
 * behaviors.
 */
export function createInBulk({ state, body }: Call, specialty: Specialty): Reply {
  const { behaviors } = state;
  if (behaviors.bulk_absent !== 'no') return absent(behaviors.bulk_absent);
  const json = readJson(body);
  if (!json.ok) return json.reply;
  const found = itemsOf(state, json.value);
  if (!found.ok) return found.reply;
  const { items, prefix } = found;
  if (behaviors.bulk_max > 0 && items.length > behaviors.bulk_max) return tooMany(state);

  const rules = rulesOf(state, specialty);
  const validated = items.map((item, index) => validateRequest(item, [...prefix, index], rules));
  const problems = validated.flatMap((one) => (one.ok ? [] : one.problems));
  const is_partial =
    behaviors.bulk_partial !== 'all_or_nothing' || behaviors.bulk_response === 'mixed';
  if (problems.length > 0 && !is_partial) return invalid(problems);

  const outcomes = createGood(state, specialty, validated);
  if (problems.length > 0 && behaviors.bulk_partial === 'some_422') return invalid(problems);
  return ok(responseBody(state, outcomes));
}

type Items = { ok: true; items: unknown[]; prefix: string[] } | { ok: false; reply: Reply };

function itemsOf(state: State, value: unknown): Items {
  const shape = state.behaviors.bulk_request_shape;
  if (Array.isArray(value) && shape !== 'object')
    return { ok: true, items: value, prefix: ['body'] };
  const inner = isObject(value) ? value.inquiries : undefined;
  if (Array.isArray(inner) && shape !== 'array')
    return { ok: true, items: inner, prefix: ['body', 'inquiries'] };
  const reply =
    shape === 'object'
      ? invalidAt(['body'], 'Input should be an object with the list "inquiries"', 'dict_type')
      : invalidAt(['body'], 'Input should be a valid list', 'list_type');
  return { ok: false, reply };
}

function createGood(
  state: State,
  specialty: Specialty,
  validated: readonly Validated[],
): Outcome[] {
  const created_ms = state.clock.callNow();
  const requests = validated.flatMap((one) => (one.ok ? [one.request] : []));
  const created = state.store
    .addInquiries(
      requests.map((request) => ({ id: state.newId(), specialty, request, created_ms })),
    )
    .values();
  return validated.map((one): Outcome => {
    if (!one.ok) return { kind: 'refused', problems: one.problems };
    const { value: inquiry } = created.next();
    if (inquiry === undefined) throw new Error('Fewer inquiries were created than were valid.');
    return { kind: 'created', inquiry };
  });
}

function responseBody(state: State, outcomes: readonly Outcome[]): Json {
  const inquiries = outcomes.flatMap((outcome) =>
    outcome.kind === 'created' ? [outcome.inquiry] : [],
  );
  switch (state.behaviors.bulk_response) {
    case 'creation_responses':
      return outcomes.map(creationResponse);
    case 'wrapped_creations':
      return { inquiries: outcomes.map(creationResponse) };
    case 'mixed':
      return outcomes.map((outcome) =>
        outcome.kind === 'created'
          ? creationResponse(outcome)
          : { success: false, detail: outcome.problems },
      );
    case 'inquiry_ids':
      return { success: true, inquiry_ids: inquiries.map(({ id }) => id) };
    case 'read_forms':
      return inquiries.map((inquiry) => readForm(state, inquiry));
    case 'success_only':
      return { success: true };
    case 'shuffled_ids':
      return inOtherOrder(inquiries).map((inquiry) => ({ success: true, inquiry_id: inquiry.id }));
  }
}

function creationResponse(outcome: Outcome): JsonObject {
  return outcome.kind === 'created'
    ? { success: true, inquiry_id: outcome.inquiry.id }
    : { success: false, inquiry_id: null };
}

/** Returns the inquiries in another order than the request, if there are two or more. */
function inOtherOrder(inquiries: readonly Inquiry[]): Inquiry[] {
  const dice = new Dice('shuffle');
  const [first, ...rest] = inquiries;
  if (first === undefined) return [];
  return [...rest.sort((a, b) => dice.fraction(a.id) - dice.fraction(b.id)), first];
}

function absent(status: '404' | '405' | '501'): Reply {
  const words = { '404': 'Not Found', '405': 'Method Not Allowed', '501': 'Not Implemented' };
  return { status: Number(status), body: { detail: words[status] } };
}

function tooMany(state: State): Reply {
  const sentence = `A bulk may hold at most ${state.behaviors.bulk_max} inquiries`;
  if (state.behaviors.bulk_max_status === '422') return invalidAt(['body'], sentence, 'too_long');
  return { status: 413, body: { detail: sentence } };
}
