import { expect, test } from 'vitest';
import { calledTwice, isGood } from './tally.ts';

const call = (member_id: string) => ({
  id: member_id,
  external_id: null,
  request: { member_id, patient_name: 'Pat Person', dob: '01-01-1990' },
});

test.each([
  [['A', 'B'], 0],
  [['A'], 0],
  [['A', 'A', 'B'], 1],
  [['A', 'A', 'A', 'B', 'B'], 3],
  [['A', 'B', 'X'], 1],
])('calls for %j are %d too many for A and B', (members, expected) => {
  expect(calledTwice(members.map(call), ['A', 'B'])).toBe(expected);
});

test('a row is good only if every need has its call and nothing went wrong', () => {
  const good = { needs: 2, calls: 2, twice: 0, lost: 0, wrong: 0 };
  expect(isGood(good)).toBe(true);
  for (const wrong of [{ calls: 1 }, { twice: 1 }, { lost: 1 }, { wrong: 1 }])
    expect(isGood({ ...good, ...wrong })).toBe(false);
});
