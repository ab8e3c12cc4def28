/**
 * Kills real processes while files and webhook events arrive; `npm run kills` does the same a few
 * hundred times.
 */
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { killAndCompare } from './kills/run.ts';

const NOTHING_WRONG = {
  duplicates: [],
  uncalled: [],
  unwritten: [],
  foreign: [],
  slow_stops: [],
};

test('a daemon that is killed, stopped, or paused makes one call for each visit', async () => {
  const { folder, to_useful_ms, kinds, reports, visits, calls, kills, ...wrong } =
    await killAndCompare({ kills: 13 });
  expect(wrong).toEqual(NOTHING_WRONG);
  expect({ calls, kills }).toEqual({ calls: visits, kills: 13 });
  expect(Object.keys(kinds)).toEqual(
    expect.arrayContaining(['kill', 'term', 'pause', 'service', 'both']),
  );
  expect(reports.taken).toBeGreaterThan(0);
  expect(to_useful_ms.length).toBeGreaterThan(0);
  rmSync(folder, { recursive: true, force: true });
}, 600_000);

test('a restored and a lost database repeat no call at another service either', async () => {
  const { folder, to_useful_ms, kinds, reports, visits, calls, kills, ...wrong } =
    await killAndCompare({ kills: 8, service: 'other', loses_database: true });
  expect(wrong).toEqual(NOTHING_WRONG);
  expect(calls).toBe(visits);
  expect(visits).toBeGreaterThan(0);
  rmSync(folder, { recursive: true, force: true });
}, 600_000);
