import { type Day, dayOf, dayOfWire, HOUR_MS } from './calendar.ts';
import { isObject, type JsonObject } from './json.ts';
import type { InquiryRequest, Specialty } from './request.ts';
import { scenarioOf } from './scenarios.ts';
import type { State } from './state.ts';

type Where = readonly (string | number)[];

/** A problem and its location within the checked value. */
type Problem = { at: Where; msg: string; type: string };

type Check = (value: unknown) => Problem[];

export type Validated =
  | { ok: true; request: InquiryRequest }
  | { ok: false; problems: JsonObject[] };

type ValidationRules = {
  specialty: Specialty;
  today: Day;
  strict: boolean;
  strict_account?: boolean;
};

/**
 * Questions that the specification lists for dental; others are a customer's own and must have its
 * prefix.
 */
const DENTAL_QUESTIONS = new Set([
  'STANDARD',
  'CODE_LOOKUP_BENEFITS',
  'CODE_LOOKUP_FREQUENCIES',
  'TREATMENT_HISTORY',
  'DEDUCTIBLES_AND_MAXIMUMS',
  'UNKNOWN',
]);

const REQUIRED = [
  'type',
  'desired_completion_date',
  'patient_name',
  'dob',
  'member_id',
  'tax_id',
] as const;
const REQUIRED_WHEN_STRICT = ['insurance', 'billing_npi'] as const;

const REQUIRED_OF_ACCOUNT = ['npi', 'insurance'] as const;

const anyText = text(/^/, '');
const filledText = text(/\S/, 'Input should not be empty');
const tenDigits = text(/^\d{10}$/, 'Input should be a ten-digit NPI');
const flag: Check = (value) =>
  typeof value === 'boolean' ? [] : problem('Input should be a valid boolean', 'bool_type');
const amount: Check = (value) =>
  typeof value === 'number' && value >= 0
    ? []
    : problem('Input should be a number, 0 or more', 'float_type');
const date: Check = (value) => {
  if (typeof value !== 'string') return problem('Input should be a valid string', 'string_type');
  return dayOfWire(value) === undefined
    ? problem('Input should be a date in the form MM-DD-YYYY', 'date_parsing')
    : [];
};

const COMMON_CHECKS: { [field: string]: Check } = {
  type: oneOf('BENEFITS', 'CLAIMS_STATUS', 'UNKNOWN'),
  desired_completion_date: date,
  patient_name: filledText,
  dob: date,
  member_id: filledText,
  tax_id: text(/^\d{9}$/, 'Input should be a nine-digit tax id'),
  group_id: anyText,
  // The specification allows a blank field, which a form may send as empty text.
  insurance_in_network: (value) => (value === '' ? [] : flag(value)),
  npi: tenDigits,
  billing_npi: tenDigits,
  rendering_npi: tenDigits,
  external_id: anyText,
  practice_billing_address: anyText,
  diagnosis_codes: listOf(text(/^[A-Z]\w[\w.]{1,6}$/i, 'Input should be a diagnosis code')),
  claims_date_of_service: date,
  claim_number: anyText,
  additional_info: anyText,
  call_script_id: text(/^script-/, 'The call script is not one that this team created'),
  insurance: anyText,
  benefits_query: listOf(filledText),
  benefits_codes: listOf(
    text(/^[A-Z0-9]{3,7}(-[A-Z0-9]{2})?$/i, 'Input should be a procedure code'),
  ),
  is_specialist: flag,
  insurance_payor_id: anyText,
};

const NON_DENTAL_CHECKS: { [field: string]: Check } = {
  ...COMMON_CHECKS,
  benefits_form_name: anyText,
  place_of_service: anyText,
  billed_amount: amount,
};

const CHECKS: { readonly [S in Specialty]: { [field: string]: Check } } = {
  dental: {
    ...COMMON_CHECKS,
    insurance: text(
      /^[A-Z0-9]+(_[A-Z0-9]+)*$/,
      'Input should be a carrier identifier in upper-case snake form, or UNKNOWN',
      'enum',
    ),
    benefits_query: listOf((value) =>
      typeof value === 'string' && (DENTAL_QUESTIONS.has(value) || value.startsWith('CUSTOM_'))
        ? []
        : problem(
            `Input should be one of ${[...DENTAL_QUESTIONS].join(', ')}, or a query set up ` +
              'for the customer',
            'enum',
          ),
    ),
    benefits_codes: listOf(
      text(/^D?\d{4}$/i, 'Input should be a dental procedure code: four digits, after a D or not'),
    ),
  },
  medical: { ...NON_DENTAL_CHECKS, insurance_phone_number: anyText, beneficiary: anyText },
  mental_health: NON_DENTAL_CHECKS,
};

/**
 * Checks one inquiry request (docs/service.md "Inquiry request" and docs/service.md "Validation
 * error"). The problems are elements of `detail`; their `loc` begins with `prefix`. For an optional
 * field, null means absent.
 */
export function validateRequest(body: unknown, prefix: Where, rules: ValidationRules): Validated {
  if (!isObject(body)) {
    return {
      ok: false,
      problems: [detail(prefix, { at: [], msg: 'Input should be an object', type: 'dict_type' })],
    };
  }
  const required: readonly string[] = [
    ...REQUIRED,
    ...(rules.strict && rules.specialty !== 'dental' ? REQUIRED_WHEN_STRICT : []),
    ...(rules.strict_account ? REQUIRED_OF_ACCOUNT : []),
  ];
  const problems: Problem[] = required
    .filter((field) => body[field] === undefined || body[field] === null)
    .map((field) => ({ at: [field], msg: 'Field required', type: 'missing' }));
  for (const [field, check] of Object.entries(CHECKS[rules.specialty])) {
    const value = body[field];
    if (value === undefined || value === null) continue;
    for (const found of check(value)) problems.push({ ...found, at: [field, ...found.at] });
  }
  problems.push(...checkTogether(body, rules.today));
  if (problems.length > 0)
    return { ok: false, problems: problems.map((found) => detail(prefix, found)) };
  return { ok: true, request: body as InquiryRequest };
}

/** Checks conditions that involve several fields. */
function checkTogether(body: { [field: string]: unknown }, today: Day): Problem[] {
  const problems: Problem[] = [];
  const asksNothing = !Array.isArray(body.benefits_query) || body.benefits_query.length === 0;
  if (body.type === 'BENEFITS' && asksNothing && (body.call_script_id ?? '') === '') {
    problems.push({
      at: ['benefits_query'],
      msg: 'A BENEFITS inquiry needs benefits_query or call_script_id',
      type: 'missing',
    });
  }
  const born = typeof body.dob === 'string' ? dayOfWire(body.dob) : undefined;
  if (born !== undefined && born > today) {
    problems.push({
      at: ['dob'],
      msg: 'A birth date cannot be in the future',
      type: 'value_error',
    });
  }
  if (typeof body.member_id === 'string' && scenarioOf(body.member_id) === 'REJECT') {
    problems.push({
      at: ['member_id'],
      msg: 'The carrier knows no member ids of this form',
      type: 'value_error',
    });
  }
  return problems;
}

/** Returns one element of a validation error's `detail`. */
function detail(prefix: Where, found: Problem): JsonObject {
  return { loc: [...prefix, ...found.at], msg: found.msg, type: found.type };
}

/** The facts by which requests are checked at this moment. */
export function rulesOf(state: State, specialty: Specialty): ValidationRules {
  return {
    specialty,
    // The date in UTC+14: no time zone's "today" may count as the future.
    today: dayOf(state.clock.callNow() + 14 * HOUR_MS),
    strict: state.behaviors.medical_requires === 'strict',
    strict_account: state.behaviors.account_requires === 'npi_and_insurance',
  };
}

function text(pattern: RegExp, msg: string, type = 'string_pattern_mismatch'): Check {
  return (value) => {
    if (typeof value !== 'string') return problem('Input should be a valid string', 'string_type');
    return pattern.test(value) ? [] : problem(msg, type);
  };
}

function oneOf(...values: readonly string[]): Check {
  return (value) =>
    typeof value === 'string' && values.includes(value)
      ? []
      : problem(`Input should be ${values.join(' or ')}`, 'enum');
}

function listOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return problem('Input should be a valid list', 'list_type');
    return value.flatMap((item, index) =>
      check(item).map((found) => ({ ...found, at: [index, ...found.at] })),
    );
  };
}

function problem(msg: string, type: string): Problem[] {
  return [{ at: [], msg, type }];
}
