import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EligibilityRecord, eligibilityRecordSchema } from '../../src/records/eligibility.ts';
import { normalizeEligibility } from '../../src/records/normalize.ts';
import { summarizeEligibility } from '../../src/records/summary.ts';
import { answerTree, inputOf, materialize, type Said, specialtyAndAsked } from './answers.ts';
import { differences, type Key, odd, pathsOf, replaced, textsOf } from './oddities.ts';

const RUNS = { numRuns: 300 };

/** Puts any JSON at a known place, so that the random values reach every reader. */
const anyResults = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(
    fc.constantFrom(
      ...[
        'call_details',
        'plan_information',
        'maximums',
        'treatment_history',
        'procedure_classes',
        'procedure_codes',
        'extra_info',
      ],
      ...['__proto__', 'constructor', 'toString'],
    ),
    fc.jsonValue({ maxDepth: 4 }),
  ),
);

function expectValid(record: EligibilityRecord): void {
  expect(() => eligibilityRecordSchema.parse(record)).not.toThrow();
}

type Node = Record<string, unknown>;

/**
 * The objects of an answer whose keys are field names: not the maps by class, date, or question.
 */
function objectsOf(raw: unknown, key = ''): Node[] {
  if (Array.isArray(raw)) return raw.flatMap((element) => objectsOf(element));
  if (typeof raw !== 'object' || raw === null) return [];
  const isMap = ['treatment_history', 'procedure_classes', 'custom_answers'].includes(key);
  return [
    ...(isMap ? [] : [raw as Node]),
    ...Object.entries(raw).flatMap(([name, value]) => objectsOf(value, name)),
  ];
}

/** How often the record says no, or nothing, for each field name. */
function negativesOf(record: EligibilityRecord): Map<string, number> {
  const counts = new Map<string, number>();
  const visit = (node: unknown, path: string): void => {
    if (node === false || node === 0 || (typeof node === 'string' && /^0+(\.0+)?$/.test(node))) {
      counts.set(path, (counts.get(path) ?? 0) + 1);
    } else if (Array.isArray(node)) {
      for (const element of node) visit(element, path);
    } else if (typeof node === 'object' && node !== null) {
      for (const [name, value] of Object.entries(node)) {
        if (
          !['answered', 'asked', 'has_transcript', 'unparsed', 'question', 'answer'].includes(name)
        )
          visit(value, `${path}.${name}`);
      }
    }
  };
  visit(record, '');
  return counts;
}

/** Names in the record that differ from the answer's; an amount and its used part are together. */
const NAMES: Record<string, string> = {
  preventative_applies_to_maximum: 'preventive_applies_to_maximum',
  call_end_time: 'ended_at',
  representative_name: 'representative',
  call_recording_url: 'recording_url',
  call_transcript_url: 'transcript_url',
  call_transcript: 'has_transcript',
  transcript: 'has_transcript',
  procedure_name: 'name',
  coverage_percentage: 'plan_pays_percent',
  coinsurance_percentage: 'pays_percent',
  copay_amount: 'copay',
  tooth_numbers: 'teeth',
  quadrant_numbers: 'quadrants',
};

const PARTS: Record<string, string> = {
  call_details: '/calls',
  plan_information: '/plan',
  maximums: '/maximums',
  treatment_history: '/treatment_history',
  procedure_classes: '/procedure_classes',
  procedure_codes: '/procedure_codes',
  extra_info: '/clauses',
};

/**
 * The record's own place for a value of the answer, if it can be named: the field, its element, or
 * its part.
 */
function placeOf([part, ...inner]: readonly Key[], results: Record<string, unknown>): RegExp {
  const whole = PARTS[String(part)] ?? '';
  const field = inner.map(String).findLast((key) => !/^\d+$/.test(key)) ?? '';
  const name = NAMES[field] ?? field.replace(/_(?:used|remaining)$/, '');
  if (part === 'plan_information' || part === 'extra_info' || part === 'maximums') {
    return inner.length === 0
      ? new RegExp(`^${whole}/`)
      : new RegExp(`^${whole}/${inner[0] === 'custom_answers' ? 'custom_answers' : name}(?:/|$)`);
  }
  if (part === 'call_details' && inner.length > 0) {
    const is_list = Array.isArray(results.call_details);
    const at = is_list ? Number(inner[0]) : 0;
    if (is_list && inner.length === 1) return /^\/calls\//;
    return new RegExp(
      `^/calls/${at}/${inner.includes('custom_answers') ? 'custom_answers' : name}(?:/|$)`,
    );
  }
  if (part === 'procedure_codes' && inner.length > 2 && name !== 'procedure_code') {
    const place = inner[1] === 0 ? name : `benefits/[^/]*${name}`;
    return new RegExp(`^/procedure_codes/codes/${inner[0]}/${place}(?:/|$)`);
  }
  if (part === 'procedure_classes' && inner.length > 1) {
    const at = Object.keys(results.procedure_classes as object).indexOf(String(inner[0]));
    return new RegExp(`^/procedure_classes/classes/${at}/benefits/[^/]*${name}(?:/|$)`);
  }
  // The changed value identifies a treatment or a code, so other values of the part may move.
  return new RegExp(`^${whole}/`);
}

describe('the record of any answer', () => {
  it('any JSON in the results gives a valid record with a summary', () => {
    fc.assert(
      fc.property(anyResults, specialtyAndAsked, (results, more) => {
        const record = normalizeEligibility(inputOf(results, more));
        expectValid(record);
        expect(summarizeEligibility(record).status).toBe('SUCCESS');
      }),
      RUNS,
    );
  });

  it('any strings around the results and in the request give a valid record', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        fc.option(fc.string()),
        fc.jsonValue(),
        (status, creation_ts, summary, request) => {
          const inquiry = {
            status,
            creation_ts,
            summary,
            request: request as Record<string, unknown> | null,
          };
          expectValid(normalizeEligibility(inputOf(null, { inquiry })));
        },
      ),
      RUNS,
    );
  });

  it('the record has every value of the answer, in its fields or under unparsed', () => {
    fc.assert(
      fc.property(answerTree({ isClean: false }), specialtyAndAsked, (tree, more) => {
        const { raw, said } = materialize(tree);
        const record = normalizeEligibility(inputOf(raw, more));
        expectValid(record);
        const { asked, inquiry_id, inquiry_created_at, unparsed, ...fields } = record;
        const text = JSON.stringify(fields);
        const rest = JSON.stringify(unparsed.map(({ value }) => value));
        const isFound = ({ raw, needle }: Said) =>
          `${text}${rest}`.includes(needle) || rest.includes(JSON.stringify(raw));
        expect(said.filter((one) => !isFound(one))).toEqual([]);
      }),
      RUNS,
    );
  });

  it('the record has nothing under unparsed if the answer has documented forms', () => {
    fc.assert(
      fc.property(answerTree({ isClean: true }), specialtyAndAsked, (tree, more) => {
        const record = normalizeEligibility(inputOf(materialize(tree).raw, more));
        expect(record.unparsed.filter(({ why }) => why !== 'more than the whole')).toEqual([]);
      }),
      RUNS,
    );
  });

  it('a missing field never becomes a no or a zero', () => {
    fc.assert(
      fc.property(
        answerTree({ isClean: true }),
        specialtyAndAsked,
        fc.nat(),
        fc.nat(),
        (tree, more, pick, pickField) => {
          const { raw } = materialize(tree);
          const before = negativesOf(normalizeEligibility(inputOf(raw, more)));
          const pruned = structuredClone(raw);
          const objects = objectsOf(pruned).filter((node) => Object.keys(node).length > 0);
          const node = objects[pick % Math.max(objects.length, 1)];
          if (node === undefined) return;
          delete node[Object.keys(node)[pickField % Object.keys(node).length]!];
          const after = negativesOf(normalizeEligibility(inputOf(pruned, more)));
          for (const [path, count] of after)
            expect(count, path).toBeLessThanOrEqual(before.get(path) ?? 0);
        },
      ),
      RUNS,
    );
  });

  it('an unanswered inquiry has no "no" anywhere, whatever eligd asked', () => {
    fc.assert(
      fc.property(
        specialtyAndAsked,
        fc.constantFrom<unknown>(null, undefined, {}, '', [], { call_details: [] }),
        (more, results) => {
          const record = normalizeEligibility(inputOf(results, more));
          expect([...negativesOf(record).keys()]).toEqual([]);
          expect(record.completeness).toBe('none');
        },
      ),
      { numRuns: 100 },
    );
  });

  it('an unknown field anywhere adds only its unparsed entry', () => {
    const unknown = fc
      .jsonValue({ maxDepth: 2 })
      .filter((value) => value !== null && !(typeof value === 'string' && value.trim() === ''));
    fc.assert(
      fc.property(
        answerTree({ isClean: true }),
        specialtyAndAsked,
        fc.nat(),
        unknown,
        (tree, more, pick, value) => {
          const { raw } = materialize(tree);
          const { unparsed: before, ...record } = normalizeEligibility(inputOf(raw, more));
          const widened = structuredClone(raw);
          const objects = objectsOf(widened);
          objects[pick % objects.length]!.zz_new = value;
          const { unparsed: after, ...same } = normalizeEligibility(inputOf(widened, more));
          expect(same).toEqual(record);
          const added = after.filter(({ path }) => path.endsWith('.zz_new'));
          expect(added).toEqual([{ path: added[0]?.path, value, why: 'unknown field' }]);
          expect(after.filter((entry) => !added.includes(entry))).toEqual(before);
        },
      ),
      RUNS,
    );
  });

  it('an odd value changes one place of the record, which keeps it', () => {
    fc.assert(
      fc.property(
        answerTree({ isClean: true }),
        specialtyAndAsked,
        fc.nat(),
        odd,
        (tree, more, pick, value) => {
          const results = materialize(tree).raw as Record<string, unknown>;
          const paths = pathsOf(results);
          const path = paths[pick % Math.max(paths.length, 1)];
          if (path === undefined) return;
          const bent = replaced(results, path, value);
          const before = normalizeEligibility(inputOf(results, more));
          const record = normalizeEligibility(inputOf(bent, more));
          expectValid(record);
          const place = placeOf(path, results);
          expect(differences(before, record).filter((one) => !place.test(one))).toEqual([]);
          // The text of a transcript stays in the stored answer.
          if (/transcript$/.test(String(path.at(-1))) && typeof value === 'string') return;
          const text = JSON.stringify(record);
          expect(
            textsOf(value).filter((said) => !text.toLowerCase().includes(said.toLowerCase())),
          ).toEqual([]);
        },
      ),
      { numRuns: 600 },
    );
  });

  it('an odd value in the verification changes only the verification', () => {
    const item = {
      name: 'a',
      description: 'd',
      status: 'MET',
      evidence: 'e',
      reasoning: 'r',
      validation: { ok: true },
    };
    const verifications = [
      {
        id: 'v-1',
        inquiry_id: 'i-1',
        call_log_id: 'c-1',
        creation_ts: '2026-11-20T16:00:00Z',
        verification_items: [item, item],
      },
      {
        id: 'v-2',
        inquiry_id: 'i-1',
        call_log_id: 'c-2',
        creation_ts: '2026-11-20T17:00:00Z',
        verification_items: [item],
      },
    ];
    fc.assert(
      fc.property(fc.constantFrom(...pathsOf(verifications)), odd, (path, value) => {
        const input = inputOf({ plan_information: { is_active: true } });
        const before = normalizeEligibility({ ...input, verifications });
        const record = normalizeEligibility({
          ...input,
          verifications: replaced(verifications, path, value),
        });
        expectValid(record);
        expect(
          differences(before, record).filter(
            (one) => !/^\/(?:verification\/|confidence$)/.test(one),
          ),
        ).toEqual([]);
        if (path.at(-1) === 'id' || path.at(-1) === 'inquiry_id') return;
        const text = JSON.stringify(record);
        expect(textsOf(value).filter((said) => !text.includes(said))).toEqual([]);
      }),
      RUNS,
    );
  });

  it('the record is the same each time, leaves the answer alone, and survives JSON', () => {
    fc.assert(
      fc.property(answerTree({ isClean: false }), specialtyAndAsked, (tree, more) => {
        const input = inputOf(materialize(tree).raw, more);
        const copy = structuredClone(input);
        const record = normalizeEligibility(input);
        expect(input).toEqual(copy);
        expect(normalizeEligibility(copy)).toEqual(record);
        expect(JSON.parse(JSON.stringify(record))).toStrictEqual(record);
      }),
      { numRuns: 150 },
    );
  });
});
