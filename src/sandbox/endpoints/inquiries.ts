import {
  type Call,
  invalid,
  invalidAt,
  ok,
  type Reply,
  type Route,
  readJson,
} from '../exchange.ts';
import { readForm } from '../read-form.ts';
import { SPECIALTIES, type Specialty } from '../request.ts';
import type { State } from '../state.ts';
import { rulesOf, validateRequest } from '../validation.ts';
import { createInBulk } from './bulk.ts';
import { listInquiries } from './list.ts';

/** The inquiry endpoints of the three specialties (docs/service.md "Inquiries, per specialty"). */
export function inquiryRoutes(): Route[] {
  return SPECIALTIES.flatMap((specialty): Route[] => {
    const base = `/api/v0/${specialty}`;
    return [
      { method: 'POST', path: `${base}/inquiries`, endpoint: (call) => create(call, specialty) },
      {
        method: 'POST',
        path: `${base}/batch_inquiries`,
        endpoint: (call) => createInBulk(call, specialty),
      },
      {
        method: 'GET',
        path: `${base}/inquiries`,
        endpoint: (call) => listInquiries(call, specialty),
      },
      {
        method: 'GET',
        path: `${base}/inquiries/:id`,
        endpoint: (call) => readOne(call, specialty),
      },
    ];
  });
}

/**
 * Creates an inquiry. Creation is not idempotent: the same content sent twice makes two inquiries
 * and two calls.
 */
function create({ state, body }: Call, specialty: Specialty): Reply {
  const json = readJson(body);
  if (!json.ok) return json.reply;
  const validated = validateRequest(json.value, ['body'], rulesOf(state, specialty));
  if (!validated.ok) return invalid(validated.problems);
  const id = state.newId();
  state.store.addInquiries([
    { id, specialty, request: validated.request, created_ms: state.clock.callNow() },
  ]);
  return ok({ success: true, inquiry_id: id });
}

function readOne({ state, params }: Call, specialty: Specialty): Reply {
  const id = params.id ?? '';
  const inquiry = state.store.inquiryById(id);
  if (inquiry === undefined || inquiry.specialty !== specialty) return unknownId(state);
  const form = readForm(state, inquiry);
  return ok(state.behaviors.read_shape === 'array' ? [form] : form);
}

function unknownId(state: State): Reply {
  switch (state.behaviors.unknown_id) {
    case '404':
      return { status: 404, body: { detail: 'Inquiry not found' } };
    case '422':
      return invalidAt(['path', 'id'], 'No inquiry has this ID', 'value_error');
    case 'null':
      return ok(null);
    case 'empty_array':
      return ok([]);
  }
}
