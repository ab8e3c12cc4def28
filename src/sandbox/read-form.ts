import { answerOf } from './answers/results.ts';
import { dayOfWire } from './calendar.ts';
import { formatDate, formatTimestamp } from './formats.ts';
import type { Json, JsonObject } from './json.ts';
import { lifeOf, stepAt } from './lifecycle.ts';
import type { Inquiry, Specialty } from './request.ts';
import type { State } from './state.ts';

const COMMON_FIELDS = [
  'group_id',
  'insurance_in_network',
  'npi',
  'billing_npi',
  'rendering_npi',
  'external_id',
  'practice_billing_address',
  'diagnosis_codes',
  'claims_date_of_service',
  'claim_number',
  'additional_info',
  'call_script_id',
  'insurance',
  'benefits_query',
  'benefits_codes',
  'is_specialist',
  'insurance_payor_id',
];
const NON_DENTAL_FIELDS = [
  ...COMMON_FIELDS,
  'benefits_form_name',
  'place_of_service',
  'billed_amount',
];

const OPTIONAL_FIELDS: { readonly [S in Specialty]: readonly string[] } = {
  dental: COMMON_FIELDS,
  medical: [...NON_DENTAL_FIELDS, 'insurance_phone_number', 'beneficiary'],
  mental_health: NON_DENTAL_FIELDS,
};

const DATE_FIELDS = ['desired_completion_date', 'dob', 'claims_date_of_service'];

/**
 * Returns the inquiry as callers read it at an instant of call time (docs/service.md "Inquiry (read
 * form)").
 */
export function readForm(
  state: State,
  inquiry: Inquiry,
  at_ms = state.clock.callNow(),
): JsonObject {
  const { seed, behaviors } = state;
  const life = lifeOf(seed, inquiry, behaviors);
  const step = stepAt(life, at_ms);
  const { summary, results } = answerOf({ seed, behaviors }, inquiry, life, step);
  return {
    id: inquiry.id,
    status: behaviors.status_case === 'lower' ? step.status.toLowerCase() : step.status,
    creation_ts: formatTimestamp(inquiry.created_ms, behaviors.timestamps),
    summary,
    results,
    request: echoedRequest(state, inquiry),
  };
}

function echoedRequest(state: State, inquiry: Inquiry): JsonObject {
  const sent: JsonObject = { ...inquiry.request };
  const echoed = echoAs(state, inquiry.specialty, sent);
  if (state.behaviors.dates === 'mdy_dash') return echoed;
  for (const field of DATE_FIELDS) {
    const text = echoed[field];
    const day = typeof text === 'string' ? dayOfWire(text) : undefined;
    if (day !== undefined) echoed[field] = formatDate(day, state.behaviors.dates);
  }
  return echoed;
}

function echoAs(state: State, specialty: Specialty, sent: JsonObject): JsonObject {
  const nulls = Object.fromEntries(OPTIONAL_FIELDS[specialty].map((field) => [field, null]));
  switch (state.behaviors.echo) {
    case 'as_sent':
      return sent;
    case 'nulls':
      return { ...nulls, ...sent };
    case 'defaults':
      return {
        is_specialist: false,
        insurance: 'UNKNOWN',
        additional_info: '',
        diagnosis_codes: [],
        benefits_codes: [],
        ...sent,
      };
    case 'trimmed_upper':
      return Object.fromEntries(
        Object.entries(sent).map(([field, value]) => [field, trimmedUpper(field, value)]),
      );
  }
}

/** The caller's label is not changed, because a changed label would no longer be found. */
function trimmedUpper(field: string, value: Json): Json {
  return typeof value === 'string' && field !== 'external_id' ? value.trim().toUpperCase() : value;
}
