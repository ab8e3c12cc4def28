import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EligibilityRecord, eligibilityRecordSchema } from '../../src/records/eligibility.ts';
import { normalizeEligibility } from '../../src/records/normalize.ts';
import { isObject, pathTo } from '../../src/records/reader.ts';
import { summarizeEligibility } from '../../src/records/summary.ts';
import { answerTree, inputOf, materialize, type Said, specialtyAndAsked } from './answers.ts';

const RUNS = { numRuns: 300 };

/** Plants any JSON at a known place, so that the random values reach every reader. */
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

/** The objects of an answer whose keys are field names: not the maps from class, date or question. */
function objectsOf(raw: unknown, key = ''): Node[] {
  if (Array.isArray(raw)) return raw.flatMap((element) => objectsOf(element));
  if (typeof raw !== 'object' || raw === null) return [];
  const isMap = ['treatment_history', 'procedure_classes', 'custom_answers'].includes(key);
  return [...(isMap ? [] : [raw as Node]), ...Object.entries(raw).flatMap(([name, value]) => objectsOf(value, name))];
}

/** How often the record says no, or nothing of it, per field name. */
function negativesOf(record: EligibilityRecord): Map<string, number> {
  const counts = new Map<string, number>();
  const visit = (node: unknown, path: string): void => {
    if (node === false || node === 0 || (typeof node === 'string' && /^0+(\.0+)?$/.test(node))) {
      counts.set(path, (counts.get(path) ?? 0) + 1);
    } else if (Array.isArray(node)) {
      for (const element of node) visit(element, path);
    } else if (typeof node === 'object' && node !== null) {
      for (const [name, value] of Object.entries(node)) {
        if (!['answered', 'asked', 'has_transcript', 'unparsed', 'question', 'answer'].includes(name))
          visit(value, `${path}.${name}`);
      }
    }
  };
  visit(record, '');
  return counts;
}

/** Every leaf of a record by its path, without what any field may change by being answered or not. */
function leavesOf(node: unknown, path = ''): Map<string, unknown> {
  if (typeof node !== 'object' || node === null) return new Map([[path, node]]);
  return new Map(
    Object.entries(node)
      .filter(([name]) => !['unparsed', 'answered', 'completeness', 'next_eligible'].includes(name))
      .flatMap(([name, value]) => [...leavesOf(value, `${path}/${name}`)]),
  );
}

/** Whether a value stands in the record: whole, or, where the answer has a map, each of its entries at its own path. */
function isKept(record: EligibilityRecord, path: string, value: unknown): boolean {
  if (JSON.stringify(record).includes(JSON.stringify(value))) return true;
  if (!path.endsWith('.custom_answers') || !isObject(value)) return false;
  const questions = new Set(record.plan?.custom_answers?.map(({ question }) => question));
  return Object.entries(value).every(
    ([question, answer]) =>
      questions.has(question) &&
      record.unparsed.some((entry) => entry.path === pathTo(path, question) && isDeepStrictEqual(entry.value, answer)),
  );
}

describe('the record of any answer', () => {
  it('is valid whatever JSON the results are, and its summary is made', () => {
    fc.assert(
      fc.property(anyResults, specialtyAndAsked, (results, more) => {
        const record = normalizeEligibility(inputOf(results, more));
        expectValid(record);
        expect(summarizeEligibility(record).status).toBe('SUCCESS');
      }),
      RUNS,
    );
  });

  it('is valid whatever the strings around the results and the echoed request are', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.option(fc.string()), fc.jsonValue(), (status, creation_ts, summary, request) => {
        const inquiry = { status, creation_ts, summary, request: request as Record<string, unknown> | null };
        expectValid(normalizeEligibility(inputOf(null, { inquiry })));
      }),
      RUNS,
    );
  });

  it('holds every value that was said, in its fields or under unparsed', () => {
    fc.assert(
      fc.property(answerTree({ isClean: false }), specialtyAndAsked, (tree, more) => {
        const { raw, said } = materialize(tree);
        const record = normalizeEligibility(inputOf(raw, more));
        expectValid(record);
        const { asked, inquiry_id, inquiry_created_at, unparsed, ...fields } = record;
        const text = JSON.stringify(fields);
        const rest = JSON.stringify(unparsed.map(({ value }) => value));
        const isFound = ({ raw, needle }: Said) => `${text}${rest}`.includes(needle) || rest.includes(JSON.stringify(raw));
        expect(said.filter((one) => !isFound(one))).toEqual([]);
      }),
      RUNS,
    );
  });

  it('leaves nothing under unparsed when everything was said in a form that the specification allows', () => {
    fc.assert(
      fc.property(answerTree({ isClean: true }), specialtyAndAsked, (tree, more) => {
        const record = normalizeEligibility(inputOf(materialize(tree).raw, more));
        expect(record.unparsed.filter(({ why }) => why !== 'more than the whole')).toEqual([]);
      }),
      RUNS,
    );
  });

  it('never says no, or nothing, because a field is missing', () => {
    fc.assert(
      fc.property(answerTree({ isClean: true }), specialtyAndAsked, fc.nat(), fc.nat(), (tree, more, pick, pickField) => {
        const { raw } = materialize(tree);
        const before = negativesOf(normalizeEligibility(inputOf(raw, more)));
        const pruned = structuredClone(raw);
        const objects = objectsOf(pruned).filter((node) => Object.keys(node).length > 0);
        const node = objects[pick % Math.max(objects.length, 1)];
        if (node === undefined) return;
        delete node[Object.keys(node)[pickField % Object.keys(node).length]!];
        const after = negativesOf(normalizeEligibility(inputOf(pruned, more)));
        for (const [path, count] of after) expect(count, path).toBeLessThanOrEqual(before.get(path) ?? 0);
      }),
      RUNS,
    );
  });

  it('says no nowhere when nothing was answered, whatever was asked', () => {
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

  it('is the same but for its unparsed entry when an unknown field is added anywhere', () => {
    const unknown = fc
      .jsonValue({ maxDepth: 2 })
      .filter((value) => value !== null && !(typeof value === 'string' && value.trim() === ''));
    fc.assert(
      fc.property(answerTree({ isClean: true }), specialtyAndAsked, fc.nat(), unknown, (tree, more, pick, value) => {
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
      }),
      RUNS,
    );
  });

  it('changes in one field alone when that field of the answer has an odd shape, which is kept', () => {
    const odd = fc.constantFrom<unknown>([['x']], { inner: { deep: 1 } }, [{}], 'no such thing');
    fc.assert(
      fc.property(
        answerTree({ isClean: true }),
        specialtyAndAsked,
        fc.nat(),
        fc.nat(),
        odd,
        (tree, more, pick, pickField, value) => {
          const { raw } = materialize(tree);
          const results = raw as Record<string, Node>;
          const part = ['plan_information', 'maximums', 'extra_info'].filter(
            (name) => Object.keys(results[name] ?? {}).length > 0,
          );
          const name = part[pick % Math.max(part.length, 1)];
          if (name === undefined) return;
          const fields = Object.keys(results[name]!);
          const field = fields[pickField % fields.length]!;
          const bent = structuredClone(results);
          bent[name]![field] = value;
          const record = normalizeEligibility(inputOf(bent, more));
          const [before, after] = [leavesOf(normalizeEligibility(inputOf(results, more))), leavesOf(record)];
          const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
            (path) => before.get(path) !== after.get(path),
          );
          // An amount and what is used of it stand together, and one is computed of the others.
          const place = field.replace(/_(?:used|remaining)$/, '').replace('preventative', 'preventive');
          expect(changed.filter((path) => !path.includes(`/${place}`))).toEqual([]);
          expect(isKept(record, `results.${name}.${field}`, value)).toBe(true);
        },
      ),
      RUNS,
    );
  });

  it('is the same each time, does not touch the answer, and survives JSON', () => {
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
