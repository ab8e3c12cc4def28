import { expect, test } from 'vitest';
import { mergeNeed } from '../../src/domain/merged-needs.ts';

type Attempt = Parameters<typeof mergeNeed>[0][number] & { id: string };

const STATES = {
  S: 'answered',
  U: 'answered',
  P: 'planned',
  N: 'planned',
  R: 'rejected',
  O: 'open',
  W: 'withdrawn',
  L: 'uncertain',
} as const;
const STATUSES: Record<string, string> = { S: 'SUCCESS', U: 'UNSUCCESSFUL' };

/** Attempts in their order: `S` is successful, `U` unsuccessful, `N` the next attempt after it. */
const attempts = (record: string, letters: string): Attempt[] =>
  [...letters].map((letter, index) => ({
    id: `${record}${index + 1}`,
    attempt: index + 1,
    retry: letter === 'N' ? 1 : 0,
    state: STATES[letter as keyof typeof STATES],
    service_status: STATUSES[letter] ?? null,
    answered_at: letter in STATUSES ? index + 1 : null,
  }));

test.each([
  ['a planned call after a success wins over one after a failure', 'UP', 'SP', 'm2', ['s2']],
  ['it does so if it stands', 'SP', 'UP', 's2', ['m2']],
  ['of two after a success, the standing one wins', 'SP', 'SP', 's2', ['m2']],
  ['the last answer counts', 'UP', 'SUP', 's2', ['m3']],
  ['an earlier failure does not', 'UP', 'USP', 'm3', ['s2']],
  ['a withdrawn attempt does not, either', 'UP', 'SWP', 'm3', ['s2']],
  ['a planned call without an answer does not win', 'UP', 'P', 's2', ['m1']],
  ['the next attempt after a failure stays', 'UN', 'SP', 's2', ['m2']],
  ['the next attempt wins over a first one (G2)', 'P', 'UN', 'm2', ['s1']],
  ['it gives way to a standing call after a success', 'SP', 'UN', 's2', ['m2']],
  ['a refused call does not win', 'UP', 'SR', 's2', ['m2']],
  ['a lost call after a success wins over one after a failure', 'UL', 'SL', 'm2', []],
  ['an open call wins over a planned one', 'O', 'SP', 's1', ['m2']],
  ['a planned call gives way to an open one', 'UP', 'SO', 'm2', ['s2']],
  ['an answer wins over a planned call', 'S', 'P', 's1', ['m1']],
  ['a success before a planned call wins over a failure', 'U', 'SP', 'm1', ['m2']],
  ['of two answers, the one before a planned call does not', 'S', 'UP', 's1', ['m2']],
])('%s', (_, standing, moving, last, unneeded) => {
  const merged = mergeNeed(attempts('s', standing), attempts('m', moving));
  expect(merged.order.at(-1)?.id).toBe(last);
  expect(merged.unneeded.map(({ id }) => id)).toEqual(unneeded);
  expect(merged.order).toHaveLength(standing.length + moving.length);
});
