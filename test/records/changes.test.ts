import { describe, expect, test } from 'vitest';
import { changesBetween } from '../../src/records/changes.ts';
import { recordOf } from './answers.ts';

const call = {
  representative_name: 'Ann',
  reference_number: '1',
  call_end_time: '2026-11-20T15:00:00Z',
};

function answer(more: Record<string, unknown> = {}, status = 'SUCCESS') {
  return recordOf({ call_details: [call], ...more }, { inquiry: { status } });
}

const code = (procedure_code: string, benefits: object) => [
  { procedure_code, procedure_name: 'x' },
  benefits,
];

describe('the text of a revision', () => {
  test('a revision states the old and the new value in words, with the exact amount', () => {
    const before = answer({
      plan_information: { is_active: true },
      maximums: { coverage_limit: '1500.00', coverage_limit_remaining: '900.00' },
    });
    const after = answer({
      plan_information: { is_active: false },
      maximums: { coverage_limit: '1500.00', coverage_limit_remaining: '0' },
    });
    expect(changesBetween(before, after)).toEqual([
      'Revised: is active changed from yes to no.',
      'Revised: coverage limit used changed from 600.00 to 1500.00.',
      'Revised: coverage limit remaining changed from 900.00 to 0.00.',
    ]);
  });

  test('a revision says that an unknown value is now known, and the reverse (G8)', () => {
    const known = answer({ plan_information: { is_active: true, plan_name: 'Gold' } });
    const unknown = answer({ plan_information: { is_active: true, plan_name: null } });
    expect(changesBetween(unknown, known)).toEqual([
      'Revised: plan name changed from unknown to Gold.',
    ]);
    expect(changesBetween(known, unknown)).toEqual([
      'Revised: plan name changed from Gold to unknown.',
    ]);
  });

  test('a revision names the code, whatever the order of the codes', () => {
    const before = answer({
      procedure_codes: [
        code('D0120', { is_covered: true }),
        code('D1110', { coverage_percentage: 80 }),
      ],
    });
    const after = answer({
      procedure_codes: [
        code('D1110', { coverage_percentage: 50 }),
        code('D0120', { is_covered: true }),
      ],
    });
    expect(changesBetween(before, after)).toEqual([
      'Revised: D1110 plan pays percent changed from 80 to 50.',
    ]);
  });

  test('a revision says that a treatment was added or removed', () => {
    const visit = (day: string) => ({ [day]: [{ procedure_code: 'D1110', tooth_numbers: [] }] });
    const [one, two] = [
      answer({ treatment_history: visit('01-02-2026') }),
      answer({ treatment_history: visit('03-04-2026') }),
    ];
    const told = changesBetween(one, two).join(' ');
    expect(told).toContain('2026-01-02');
    expect(told).toMatch(/2026-03-04.* was added/);
    expect(told).toMatch(/2026-01-02.* was removed/);
  });

  test('a revision says that the call’s outcome has changed', () => {
    expect(changesBetween(answer(), answer({}, 'UNSUCCESSFUL'))).toContain(
      'Revised: status changed from SUCCESS to UNSUCCESSFUL.',
    );
  });

  test('a revision lists as much as a person reads, and counts the rest', () => {
    const codes = (percent: number) => ({
      procedure_codes: Array.from({ length: 30 }, (_, index) =>
        code(`D${1000 + index}`, { coverage_percentage: percent }),
      ),
    });
    const told = changesBetween(answer(codes(80)), answer(codes(50)));
    expect(told).toHaveLength(13);
    expect(told.at(-1)).toBe('Revised: 18 more values.');
  });

  test('a revision says when only the call has changed', () => {
    const again = recordOf(
      { call_details: [call, { ...call, reference_number: '2' }] },
      { inquiry: { summary: 'Called again.' } },
    );
    expect(changesBetween(answer(), again)).toEqual([
      'Revised: the calling service changed its answer; no benefit has changed.',
    ]);
  });
});
