/** Known visits and earlier exports, against which eligd judges an export. */
import { beforeEach, expect, test } from 'vitest';
import { DAY_MS } from '../../src/domain/time.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { lastArrivals, readBook } from '../../src/store/intake/arrivals.ts';
import { acceptBatch } from '../../src/store/intake/intake.ts';
import { anAppointment, FRIDAY_MS } from '../domain/examples.ts';
import { temporaryStore } from './temporary.ts';

const DESK = 'front-desk';
const TIME_ZONE = 'America/Chicago';

let store: Store;
beforeEach(async () => {
  store = await temporaryStore();
});

/** An export at `at`, with one visit at 9:00 Chicago time on each of these days of December. */
async function exportOf(at: number, ...days: number[]): Promise<void> {
  const appointments = days.map((day) =>
    anAppointment({
      source_id: `A-${day}`,
      starts_at: new Date(Date.UTC(2026, 11, day, 15)).toISOString(),
    }),
  );
  const source = { key: `sha256:${at}`, name: 'export.csv', is_last: true };
  await store.write((tx) =>
    acceptBatch(
      tx,
      DESK,
      {
        source: { ...source, completeness: 'unknown' },
        appointments,
        rejected: [],
        cursor: null,
      },
      at,
    ),
  );
}

async function bookAt(now: number) {
  const arrivals = await lastArrivals(store.db, DESK);
  return await readBook(store.db, { connector: DESK, arrivals, time_zone: TIME_ZONE }, now);
}

test('the store says which known visits an export named again', async () => {
  await exportOf(FRIDAY_MS, 1, 2, 3, 4);
  const next_day = FRIDAY_MS + DAY_MS;
  expect(await bookAt(next_day)).toMatchObject({ known_later: 4, named_again: 0, has_later: true });
  await exportOf(next_day, 2, 3, 4, 7);
  // The visit of the 7th is new, and does not count as left out.
  expect(await bookAt(next_day)).toMatchObject({ known_later: 4, named_again: 3 });
});

test('the store says on which days since the last export there are visits', async () => {
  await exportOf(Date.parse('2026-11-30T13:00:00Z'), 1, 3);
  const { visit_days, known_later, has_later } = await bookAt(Date.parse('2026-12-03T18:00:00Z'));
  expect([...visit_days]).toEqual(['2026-12-01', '2026-12-03']);
  expect({ known_later, has_later }).toEqual({ known_later: 0, has_later: false });
});

test('an export of claims does not count as an export of appointments', async () => {
  const source = { key: 'sha256:claims', name: 'claims.csv', is_last: true };
  await store.write((tx) =>
    acceptBatch(
      tx,
      DESK,
      {
        source: { ...source, completeness: 'changes' },
        appointments: [],
        claims: [],
        rejected: [],
        cursor: null,
      },
      FRIDAY_MS,
    ),
  );
  expect(await lastArrivals(store.db, DESK)).toEqual([]);
});
