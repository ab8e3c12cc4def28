/**
 * Generates answers in the service's form. First it draws a tree of placeholders; then
 * `materialize` puts a unique value into each, and lists the values that the record must contain
 * ("needle").
 */
import * as fc from 'fast-check';
import type { Specialty } from '../../src/domain/specialty.ts';
import { type NormalizeInput, normalizeEligibility } from '../../src/records/normalize.ts';

export const NOTHING_ASKED = { benefits_query: [], benefits_codes: [] };

/** An inquiry around some results, as simple as possible. */
export function inputOf(
  results: unknown,
  more: {
    specialty?: Specialty;
    asked?: NormalizeInput['asked'];
    inquiry?: Partial<NormalizeInput['inquiry']>;
  } = {},
): NormalizeInput {
  return {
    inquiry: {
      id: '7b0f8d8e-58a4-4d2c-9f0e-4f4f3f0e9a11',
      status: 'SUCCESS',
      creation_ts: '2026-11-20T15:00:00Z',
      summary: '',
      results,
      request: { type: 'BENEFITS' },
      ...more.inquiry,
    },
    specialty: more.specialty ?? 'dental',
    asked: more.asked ?? NOTHING_ASKED,
  };
}

export const recordOf = (...args: Parameters<typeof inputOf>) =>
  normalizeEligibility(inputOf(...args));

type Kind =
  | 'text'
  | 'amount'
  | 'percent'
  | 'age'
  | 'bool'
  | 'date'
  | 'timestamp'
  | 'code'
  | 'tooth'
  | 'odd'
  | 'transcript';

class Placeholder {
  readonly kind: Kind;
  readonly variant: number;
  constructor(kind: Kind, variant: number) {
    this.kind = kind;
    this.variant = variant;
  }
}

type Made = { raw: unknown; needle: string | null };

const two = (value: number) => String(value).padStart(2, '0');

/**
 * The forms of each kind of value; from `readable` on, a record cannot hold them as the intended
 * type.
 */
const FORMS: Record<Kind, { readable: number; forms: ((id: number, key: string) => Made)[] }> = {
  text: {
    readable: 2,
    forms: [
      (id) => ({ raw: `text m${id}.`, needle: `text m${id}.` }),
      (id) => ({ raw: 7_000_000 + id, needle: String(7_000_000 + id) }),
      () => ({ raw: '', needle: null }),
      () => ({ raw: null, needle: null }),
      (id) => ({ raw: [`list m${id}.`], needle: `list m${id}.` }),
      (id) => ({ raw: { inner: `object m${id}.` }, needle: `object m${id}.` }),
    ],
  },
  amount: {
    readable: 5,
    forms: [
      (id) => ({ raw: Number(`${1000 + id}.37`), needle: `${1000 + id}.37` }),
      (id) => ({ raw: `${1000 + id}.37`, needle: `${1000 + id}.37` }),
      (id) => ({
        raw: `$1,${String(id).padStart(3, '0')}.37`,
        needle: `1${String(id).padStart(3, '0')}.37`,
      }),
      () => ({ raw: 'unlimited', needle: '{"text":"unlimited"}' }),
      () => ({ raw: 0, needle: '"0.00"' }),
      () => ({ raw: '', needle: null }),
      (id) => ({ raw: `see page m${id}.`, needle: `see page m${id}.` }),
      (id) => ({ raw: -1000 - id, needle: String(-1000 - id) }),
      (id) => ({ raw: { inner: `object m${id}.` }, needle: `object m${id}.` }),
    ],
  },
  percent: {
    readable: 3,
    forms: [
      (id) => ({ raw: 20 + (id * 10 + 1) / 100_000, needle: String(20 + (id * 10 + 1) / 100_000) }),
      (id) => ({
        raw: `20.${String(id).padStart(4, '0')}1%`,
        needle: `20.${String(id).padStart(4, '0')}1`,
      }),
      () => ({ raw: '0', needle: '_percent":0' }),
      () => ({ raw: null, needle: null }),
      (id) => ({ raw: 0.5 + id / 10_000, needle: String(0.5 + id / 10_000) }),
      (id) => ({ raw: `after deductible m${id}.`, needle: `after deductible m${id}.` }),
      (id) => ({ raw: [`m${id}.`], needle: `m${id}.` }),
    ],
  },
  age: {
    readable: 2,
    forms: [
      (id) => ({ raw: 1 + (id % 100), needle: `"age_limit":${1 + (id % 100)}` }),
      (id) => ({ raw: String(1 + (id % 100)), needle: `"age_limit":${1 + (id % 100)}` }),
      (id) => ({ raw: `until m${id}.`, needle: `until m${id}.` }),
      (id) => ({ raw: 5000 + id, needle: String(5000 + id) }),
      (id) => ({ raw: { inner: `object m${id}.` }, needle: `object m${id}.` }),
    ],
  },
  bool: {
    readable: 5,
    forms: [
      (_, key) => ({ raw: true, needle: `"${key}":true` }),
      (_, key) => ({ raw: false, needle: `"${key}":false` }),
      (_, key) => ({ raw: 'Yes', needle: `"${key}":true` }),
      (_, key) => ({ raw: 'N', needle: `"${key}":false` }),
      (_, key) => ({ raw: 'true', needle: `"${key}":true` }),
      () => ({ raw: '', needle: null }),
      (id) => ({ raw: `maybe m${id}.`, needle: `maybe m${id}.` }),
      (id) => ({ raw: 7_000_000 + id, needle: String(7_000_000 + id) }),
    ],
  },
  date: {
    readable: 3,
    forms: [
      (id) => ({
        raw: `03-${two((id % 28) + 1)}-${2000 + id}`,
        needle: `${2000 + id}-03-${two((id % 28) + 1)}`,
      }),
      (id) => ({ raw: `${2000 + id}-03-07`, needle: `${2000 + id}-03-07` }),
      (id) => ({ raw: `03/07/${2000 + id}`, needle: `${2000 + id}-03-07` }),
      () => ({ raw: '', needle: null }),
      (id) => ({ raw: `02-30-${2000 + id}`, needle: `02-30-${2000 + id}` }),
      (id) => ({ raw: `spring m${id}.`, needle: `spring m${id}.` }),
      (id) => ({ raw: 20_000_000 + id, needle: String(20_000_000 + id) }),
    ],
  },
  timestamp: {
    readable: 3,
    forms: [
      (id) => ({ raw: `${2000 + id}-03-07T10:00:00Z`, needle: `${2000 + id}-03-07T10:00:00.000Z` }),
      (id) => ({
        raw: `${2000 + id}-03-07T10:00:00-06:00`,
        needle: `${2000 + id}-03-07T16:00:00.000Z`,
      }),
      (id) => ({
        raw: `${2000 + id}-03-07T10:00:00.123456`,
        needle: `${2000 + id}-03-07T10:00:00.123Z`,
      }),
      (id) => ({ raw: `noon m${id}.`, needle: `noon m${id}.` }),
      (id) => ({ raw: 20_000_000 + id, needle: String(20_000_000 + id) }),
    ],
  },
  code: {
    readable: 2,
    forms: [
      (id) => ({ raw: `D${1000 + id}`, needle: `D${1000 + id}` }),
      (id) => ({ raw: String(1000 + id), needle: String(1000 + id) }),
      (id) => ({ raw: `crown m${id}.`, needle: `crown m${id}.` }),
      (id) => ({ raw: [`m${id}.`], needle: `m${id}.` }),
      () => ({ raw: null, needle: null }),
    ],
  },
  tooth: {
    readable: 2,
    forms: [
      (id) => ({ raw: `T${id}.`, needle: `"T${id}."` }),
      (id) => ({ raw: 30_000 + id, needle: `"${30_000 + id}"` }),
      (id) => ({ raw: { inner: `object m${id}.` }, needle: `object m${id}.` }),
    ],
  },
  odd: {
    readable: 0,
    forms: [
      (id) => ({ raw: `odd m${id}.`, needle: `odd m${id}.` }),
      (id) => ({ raw: 7_000_000 + id, needle: String(7_000_000 + id) }),
      (id) => ({ raw: [{ deep: `odd m${id}.` }], needle: `odd m${id}.` }),
    ],
  },
  transcript: { readable: 1, forms: [(id) => ({ raw: `Hello ${id}`, needle: null })] },
};

/** Names of yes-or-no fields on the wire that the record spells differently. */
const RENAMED: Record<string, string> = {
  preventative_applies_to_maximum: 'preventive_applies_to_maximum',
};

/** A value of an answer, and the text of the record's JSON that shows it in its field. */
export type Said = { raw: unknown; needle: string };

/** Values for the placeholders of a drawn tree, and the values that the record must contain. */
export function materialize(tree: unknown): { raw: unknown; said: Said[] } {
  const said: Said[] = [];
  let id = 0;
  const visit = (node: unknown, key: string): unknown => {
    if (node instanceof Placeholder) {
      id += 1;
      const made = FORMS[node.kind].forms[node.variant]!(id, RENAMED[key] ?? key);
      if (made.needle !== null) said.push({ raw: made.raw, needle: made.needle });
      return made.raw;
    }
    if (Array.isArray(node)) return node.map((element) => visit(element, key));
    if (typeof node === 'object' && node !== null) {
      return Object.fromEntries(
        Object.entries(node).map(([name, value]) => [name, visit(value, name)]),
      );
    }
    return node;
  };
  return { raw: visit(tree, ''), said };
}

export type AnswerOptions = { isClean: boolean };

/**
 * A tree of placeholders in the form of a results record. Clean: only what a record holds, without
 * malformed shapes or unknown fields.
 */
export function answerTree({ isClean }: AnswerOptions): fc.Arbitrary<Record<string, unknown>> {
  const leaf = (kind: Kind) => {
    const { readable, forms } = FORMS[kind];
    const last = (isClean ? readable : forms.length) - 1;
    return fc
      .integer({ min: 0, max: Math.max(last, 0) })
      .map((variant) => new Placeholder(kind, variant));
  };
  const fields = (kinds: Record<string, fc.Arbitrary<unknown>>) =>
    fc.record(isClean ? kinds : { ...kinds, zz_unknown: leaf('odd') }, { requiredKeys: [] });
  const mostly = (good: fc.Arbitrary<unknown>, malformed: fc.Arbitrary<unknown>) =>
    isClean ? good : fc.oneof({ weight: 12, arbitrary: good }, { weight: 1, arbitrary: malformed });
  const odd = leaf('odd');
  const customAnswers = mostly(
    fc.dictionary(fc.constantFrom('Q one', 'Q two', '3'), leaf('text'), { maxKeys: 2 }),
    odd,
  );
  const benefits = mostly(fields(benefitKinds(leaf)), odd);
  const info = fields({ procedure_name: leaf('text') });
  const pair = mostly(
    fc.tuple(
      fc.tuple(leaf('code'), info).map(([procedure_code, rest]) => ({ ...rest, procedure_code })),
      benefits,
    ),
    fc.oneof(
      fc.tuple(fields({ procedure_code: leaf('code') })),
      fc.tuple(info, benefits, odd),
      fields({ procedure_code: leaf('code') }),
      odd,
    ),
  );
  const item = fields({
    procedure_code: leaf('code'),
    tooth_numbers: mostly(fc.array(leaf('tooth'), { maxLength: 3 }), odd),
    surfaces: fc.array(leaf('tooth'), { maxLength: 2 }),
    quadrant_numbers: fc.array(leaf('tooth'), { maxLength: 2 }),
  });
  const dates = isClean
    ? ['01-02-2024', '2023-05-06']
    : ['01-02-2024', '2023-05-06', '07/08/2022', '13-13-2020', 'last year', ''];
  const call = fields({ ...callKinds(leaf), custom_answers: customAnswers });
  return fields({
    call_details: mostly(fc.oneof(fc.array(call, { maxLength: 2 }), call), odd),
    plan_information: mostly(fields({ ...planKinds(leaf), custom_answers: customAnswers }), odd),
    maximums: mostly(fields(maximumKinds(leaf)), odd),
    treatment_history: mostly(
      fc.dictionary(
        fc.constantFrom(...dates),
        mostly(fc.array(mostly(item, odd), { maxLength: 3 }), odd),
      ),
      odd,
    ),
    procedure_classes: mostly(
      fc.dictionary(fc.constantFrom('DIAGNOSTIC', 'IMPLANTS', 'a class', '2'), benefits, {
        maxKeys: 3,
      }),
      odd,
    ),
    procedure_codes: mostly(fc.array(pair, { maxLength: 4 }), odd),
    extra_info: mostly(fields(clauseKinds(leaf)), odd),
  }) as fc.Arbitrary<Record<string, unknown>>;
}

type Leaf = (kind: Kind) => fc.Arbitrary<unknown>;

const each = (leaf: Leaf, kind: Kind, names: string) =>
  Object.fromEntries(names.split(' ').map((name) => [name, leaf(kind)]));

const benefitKinds = (leaf: Leaf) => ({
  ...each(leaf, 'bool', 'is_covered is_prior_auth_required is_deductible_waived is_downgraded'),
  ...each(
    leaf,
    'text',
    'prior_auth_info frequency_limitations more_info downgraded_info limitations',
  ),
  ...each(leaf, 'percent', 'coverage_percentage coinsurance_percentage'),
  copay_amount: leaf('amount'),
  age_limit: leaf('age'),
});

const callKinds = (leaf: Leaf) => ({
  call_end_time: leaf('timestamp'),
  ...each(
    leaf,
    'text',
    'representative_name reference_number call_recording_url call_transcript_url',
  ),
  ...each(leaf, 'transcript', 'call_transcript transcript'),
});

const planKinds = (leaf: Leaf) => ({
  ...each(
    leaf,
    'bool',
    'is_active is_calendar_year_plan is_provider_in_network is_primary_insurance is_provider_pcp',
  ),
  ...each(
    leaf,
    'bool',
    'has_other_insurance is_self_funded has_out_of_state_coverage referral_required',
  ),
  ...each(leaf, 'text', 'plan_type plan_name referral_info out_of_network_benefits'),
  ...each(leaf, 'date', 'effective_date termination_date'),
});

const maximumKinds = (leaf: Leaf) => ({
  name: leaf('text'),
  individual_deductible_resets_each_calendar_year: leaf('bool'),
  ...each(
    leaf,
    'amount',
    'individual_deductible individual_deductible_used family_deductible family_deductible_used',
  ),
  ...each(leaf, 'amount', 'coverage_limit coverage_limit_remaining orthodontics_coverage_limit'),
  ...each(leaf, 'amount', 'individual_out_of_pocket_maximum individual_out_of_pocket_maximum_used'),
  ...each(leaf, 'amount', 'family_out_of_pocket_maximum family_out_of_pocket_maximum_used'),
});

const clauseKinds = (leaf: Leaf) => ({
  ...each(leaf, 'text', 'waiting_periods missing_tooth_clause'),
  ...each(
    leaf,
    'bool',
    'deductible_applies_to_preventive preventative_applies_to_maximum has_pending_claims',
  ),
});

/** Any specialty with any of its queries, and codes that some answers have. */
export const specialtyAndAsked: fc.Arbitrary<{
  specialty: Specialty;
  asked: NormalizeInput['asked'];
}> = fc.constantFrom<Specialty>('dental', 'medical', 'mental_health').chain((specialty) =>
  fc.record({
    specialty: fc.constant(specialty),
    asked: fc.record({
      benefits_query: fc.subarray([
        ...[
          'STANDARD',
          'DEDUCTIBLES_AND_MAXIMUMS',
          'TREATMENT_HISTORY',
          'PLAN_INFO',
          'PSYCHOTHERAPY',
          'A_CUSTOM_ONE',
        ],
        ...[
          'CODE_LOOKUP_BENEFITS',
          'CODE_LOOKUP_FREQUENCIES',
          'CODE_LOOKUP_PRIOR_AUTH',
          '__proto__',
          'constructor',
        ],
      ]),
      benefits_codes: fc.subarray(['D1001', '1002', 'd1003', ' ', '99213']),
    }),
  }),
);
