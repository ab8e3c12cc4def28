/**
 * The rows of a procedure agree with the verdict: ZBN-23, and limits that the payer did not name.
 */
import { expect, test } from 'vitest';
import { batchOf } from '../../../connectors/conformance/examples.ts';
import { ROW_FIELDS, rowsOf } from '../../../connectors/hl7/out/z-segments.ts';
import { judge } from '../../../src/records/verdict.ts';
import { recordOf } from '../../records/answers.ts';

const USED = { '01-10-2026': [{ procedure_code: 'D1110' }] };
const COVERED = { is_covered: true, coverage_percentage: 100, is_prior_auth_required: false };

/** The fields of the row for D1110, by name. */
function row(rule: object, more: { plan?: object; history?: object; codes?: string[] } = {}) {
  const [delivery] = batchOf(1, [1]).deliveries;
  const asked = {
    benefits_query: ['CODE_LOOKUP_BENEFITS', 'CODE_LOOKUP_FREQUENCIES', 'TREATMENT_HISTORY'],
    benefits_codes: ['D1110'],
  };
  const record = recordOf(
    {
      plan_information: { is_active: true, is_calendar_year_plan: true, ...more.plan },
      procedure_codes: [[{ procedure_code: 'D1110' }, rule]],
      treatment_history: more.history ?? {},
    },
    { asked },
  );
  const verdict = judge(record, {
    ...{ date: '2026-11-23', birth_date: '1980-04-02', fees: {} },
    procedure_codes: more.codes ?? ['D1110'],
  });
  const [text = ''] = rowsOf({ ...delivery!, record, verdict });
  const values = text.split('|').slice(1);
  return Object.fromEntries(ROW_FIELDS.ZBN.map((name, index) => [name, values[index] ?? '']));
}

test.each<[about: string, rule: object, more: Parameters<typeof row>[1], next: string]>([
  ['the next calendar year', {}, { history: USED }, '2027-01-01'],
  ['the same of a code that is not scheduled', {}, { history: USED, codes: [] }, '2027-01-01'],
  ['nothing, as nothing is used up', {}, {}, ''],
  [
    'nothing, as the plan ends before',
    {},
    { history: USED, plan: { termination_date: '12-31-2026' } },
    '',
  ],
  ['nothing, as the plan is not active', {}, { history: USED, plan: { is_active: false } }, ''],
  ['nothing, as it is not covered', { is_covered: false }, { history: USED }, ''],
  [
    'nothing, as it never comes',
    { frequency_limitations: '1 per lifetime' },
    { history: USED },
    '',
  ],
])('ZBN-23 says %s', (_, rule, more, next) => {
  const said = { ...COVERED, frequency_limitations: '1 per calendar year', ...rule };
  expect(row(said, more).next_eligible).toBe(next);
});

test('a limit that an answer leaves out is empty, and without an answer unknown', () => {
  const limits = ({ frequency, age_limit, is_downgraded }: Record<string, string>) => [
    ...[frequency, age_limit, is_downgraded],
  ];
  const answered = row(COVERED);
  expect(limits(answered)).toEqual(['', '', '']);
  expect(answered.line).toContain('no frequency limit named');
  expect(limits(row({}))).toEqual(['U', 'U', 'U']);
});
