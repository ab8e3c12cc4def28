import { describe, expect, it } from 'vitest';
import { coordinate } from '../../src/records/coordination.ts';
import { recordOf } from './answers.ts';

type Said = boolean | null;

function joined(...coverages: { primary: Said; active?: Said }[]) {
  return coordinate(
    coverages.map(({ primary, active = true }, index) => ({
      rank: index + 1,
      record: recordOf({ plan_information: { is_primary_insurance: primary, is_active: active } }),
    })),
  );
}

describe('several coverages of an appointment', () => {
  it('one coverage needs no coordination', () => {
    expect(joined({ primary: true })).toBeNull();
  });

  it.each([
    ['as the PMS has them', joined({ primary: true }, { primary: false }), 1, null],
    [
      'the other way round',
      joined({ primary: false }, { primary: true }),
      2,
      /lists coverage 1 before coverage 2/,
    ],
    [
      'both first',
      joined({ primary: true }, { primary: true }),
      null,
      /coverage 1 and coverage 2 each say that they pay first/,
    ],
    [
      'neither first',
      joined({ primary: false }, { primary: false }),
      null,
      /all say that they do not pay first/,
    ],
    [
      'unknown and first',
      joined({ primary: null }, { primary: true }),
      2,
      /lists coverage 1 before coverage 2/,
    ],
    ['first and unknown', joined({ primary: true }, { primary: null }), 1, null],
    ['unknown and not first', joined({ primary: null }, { primary: false }), null, null],
    ['both unknown', joined({ primary: null }, { primary: null }), null, null],
    [
      'first, but ended, and first',
      joined({ primary: true, active: false }, { primary: true }),
      2,
      null,
    ],
  ])('two coverages are coordinated: %s', (_, coordination, primary_rank, conflict) => {
    expect(coordination?.primary_rank).toBe(primary_rank);
    if (conflict === null) expect(coordination?.conflict).toBeNull();
    else expect(coordination?.conflict).toMatch(conflict);
  });

  it('coverages are coordinated as far as their answers allow', () => {
    const record = recordOf({ plan_information: { is_primary_insurance: true, is_active: true } });
    expect(
      coordinate([
        { rank: 2, record: null },
        { rank: 1, record },
      ]),
    ).toEqual({
      coverages: [
        { rank: 1, inquiry_id: record.inquiry_id, is_primary: true, is_active: true },
        { rank: 2, inquiry_id: null, is_primary: null, is_active: null },
      ],
      primary_rank: 1,
      conflict: null,
    });
  });
});
