import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { attribute } from '../../src/domain/attribution.ts';
import type { Account, Clock, ListedCall, Verdict } from '../../src/domain/attribution-account.ts';
import { CLOCKS_DIFFER_MS, DATE_ERROR_MS } from '../../src/domain/clock-watch.ts';
import { isUnnumberedClaim, mayBeEchoOf } from '../../src/domain/matching.ts';
import { finalOutcome } from '../../src/domain/outcome.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { CLAUSES } from '../simulation/clauses.ts';
import {
  at,
  type Case,
  CLOCK,
  call,
  listed,
  need,
  CASES as OWN_CASES,
} from './attribution-cases.ts';
import { STRANGER_CASES } from './stranger-cases.ts';

type Attribute = (account: Account, clock: Clock) => ReadonlyMap<string, Verdict>;

const CASES = [...OWN_CASES, ...STRANGER_CASES];
const NOTHING: Account = { listed: [], calls: [], needs: [], sought: [], is_whole: true };

function verdictsOf(decide: Attribute, { account, clock }: Case): Record<string, Verdict> {
  return Object.fromEntries(decide({ ...NOTHING, ...account }, { ...CLOCK, ...clock }));
}

test.each(CASES)('$what', (one) => {
  expect(verdictsOf(attribute, one)).toEqual(one.verdicts);
});

const SOURCE = resolve(import.meta.dirname, '../../src/domain/attribution.ts');

/** The function with another text in its source. */
function changed(find: string, put: string): Attribute {
  const source = readFileSync(SOURCE, 'utf8');
  expect(source.split(find)).toHaveLength(2);
  const text = stripTypeScriptTypes(source.replace(find, () => put))
    .replaceAll(/^import .*$/gm, '')
    .replaceAll(/^export /gm, '');
  return runInNewContext(`${text}\nattribute`, {
    CLOCKS_DIFFER_MS,
    DATE_ERROR_MS,
    DAY_MS,
    finalOutcome,
    isUnnumberedClaim,
    mayBeEchoOf,
  }) as Attribute;
}

test('the function that is read from its source decides every case correctly', () => {
  const decide = changed('const verdicts = new Map', 'const verdicts = new Map');
  for (const one of CASES) expect(verdictsOf(decide, one)).toEqual(one.verdicts);
});

describe('without one clause', () => {
  test.each(Object.entries(CLAUSES))('without the clause %s, a case fails', (_, { find, put }) => {
    const decide = changed(find, put);
    const fails = (one: Case) => {
      try {
        expect(verdictsOf(decide, one)).toEqual(one.verdicts);
        return false;
      } catch {
        return true;
      }
    };
    expect(CASES.some(fails)).toBe(true);
  });
});

const label = fc.constantFrom('A-1', 'A-2', 'B-1');
const key = fc.constantFrom('KEY', 'OTHER');
const name = fc.constantFrom('ADA', 'BEN', '');
const minutes = fc.integer({ min: -90, max: 90 });
const STAGES = ['planned', 'calling', 'out', 'sought', 'served', 'over'] as const;

/** Needs 1 to 4, their calls without an ID, and the inquiries on the list. */
const account = fc
  .record({
    is_whole: fc.boolean(),
    sought: fc.array(fc.record({ external_id: label, match_key: key, given_name: name, minutes }), {
      maxLength: 2,
    }),
    stages: fc.array(fc.constantFrom(...STAGES), { minLength: 1, maxLength: 4 }),
    asked: fc.array(fc.tuple(label, key, name), { minLength: 4, maxLength: 4 }),
    calls: fc.array(
      fc.record({ of: fc.nat(3), minutes, is_absent: fc.boolean(), external_id: label }),
      { maxLength: 5 },
    ),
    listed: fc.array(
      fc.record({
        external_id: label,
        match_key: key,
        given_name: name,
        minutes: fc.option(minutes),
        of: fc.option(fc.nat(3)),
        is_new: fc.boolean(),
        shown_after: fc.nat(5),
      }),
      { maxLength: 6 },
    ),
  })
  .map((drawn): Account => {
    const needs = drawn.stages.map((stage, index) => {
      const [external_id = '', match_key = '', given_name = ''] = drawn.asked[index] ?? [];
      return need(index + 1, stage, { external_id, match_key, given_name });
    });
    const ownerOf = (of: number) => needs[of % needs.length];
    return {
      ...NOTHING,
      needs,
      is_whole: drawn.is_whole,
      sought: drawn.sought.map(({ minutes: sent, ...asked }, index) =>
        call(100 + index, 100, { ...asked, sent_at: at(sent), sent_service_at: at(sent) }),
      ),
      calls: drawn.calls.map(({ of, minutes: sent, is_absent, external_id }, index) => {
        const { inquiry = 0, match_key = '', given_name = '' } = ownerOf(of) ?? {};
        const asked = { external_id, match_key, given_name };
        return call(index + 1, inquiry, { ...asked, is_absent, sent_at: at(sent) });
      }),
      listed: drawn.listed.map(({ minutes: made, of, shown_after, ...each }, index) => {
        const inquiry = of === null ? undefined : ownerOf(of)?.inquiry;
        return listed(`L${index}`, {
          ...each,
          id: shown_after + 0.5,
          created_at: made === null ? null : at(made),
          owner: inquiry === undefined ? null : { inquiry, role: 'duplicate' },
        });
      }),
    };
  });
const clock = fc.record({ compared_at: fc.option(minutes.map(at)) }).map((drawn) => ({
  ...CLOCK,
  ...drawn,
}));

const sorted = (verdicts: ReadonlyMap<string, Verdict>) =>
  [...verdicts].sort(([a], [b]) => (a < b ? -1 : 1));

/** The account after its verdicts were carried out. */
function carriedOut(
  { listed: shown, calls, needs, ...rest }: Account,
  verdicts: Map<string, Verdict>,
) {
  const used = new Set<number | null>();
  const served = new Set<number>();
  const claimed = shown.map((each): ListedCall => {
    const verdict = verdicts.get(each.service_id);
    if (verdict?.is !== 'call' && verdict?.is !== 'duplicate') return each;
    used.add(verdict.call);
    if (verdict.is === 'call') served.add(verdict.inquiry);
    const role = verdict.is === 'call' ? 'serves' : 'duplicate';
    return { ...each, owner: { inquiry: verdict.inquiry, role } };
  });
  return {
    ...rest,
    listed: claimed,
    calls: calls
      .filter(({ id }) => !used.has(id))
      .map((each) => ({ ...each, is_absent: each.is_absent || served.has(each.inquiry) })),
    needs: needs.map((each) =>
      served.has(each.inquiry) ? { ...each, stage: 'served' as const } : each,
    ),
  };
}

describe('for any account', () => {
  test('every listed inquiry gets one verdict, whatever the order of the list', () => {
    fc.assert(
      fc.property(account, clock, (one, when) => {
        const verdicts = attribute(one, when);
        expect(verdicts.size).toBe(one.listed.length);
        const turned = { ...one, listed: one.listed.toReversed() };
        expect(sorted(attribute(turned, when))).toEqual(sorted(verdicts));
      }),
    );
  });

  test('no call gets two IDs, and no need is served by two calls', () => {
    fc.assert(
      fc.property(account, clock, (one, when) => {
        const verdicts = [...attribute(one, when).values()];
        const calls = verdicts.flatMap((each) => ('call' in each ? (each.call ?? []) : []));
        expect(new Set(calls).size).toBe(calls.length);
        const served = verdicts.flatMap((each) => (each.is === 'call' ? each.inquiry : []));
        expect(new Set(served).size).toBe(served.length);
      }),
    );
  });

  test('an inquiry that asks something else changes no other verdict', () => {
    fc.assert(
      fc.property(account, clock, minutes, (one, when, made) => {
        const before = attribute(one, when);
        const unrelated = listed('UNRELATED', { match_key: 'UNRELATED', created_at: at(made) });
        const after = attribute({ ...one, listed: [...one.listed, unrelated] }, when);
        after.delete('UNRELATED');
        expect(sorted(after)).toEqual(sorted(before));
      }),
    );
  });

  test('the same list again changes nothing that a need already has', () => {
    fc.assert(
      fc.property(account, clock, (one, when) => {
        const verdicts = attribute(one, when);
        const again = attribute(carriedOut(one, verdicts), when);
        for (const [id, verdict] of verdicts) {
          if (verdict.is !== 'call' && verdict.is !== 'duplicate') continue;
          // Whose call it was before is told once.
          const { is, inquiry } = verdict;
          expect(again.get(id)).toEqual({ is, inquiry, call: null });
        }
      }),
    );
  });
});
