/** What runs on a schedule, a scrape, or a page stays quick after years of work. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../src/store/engine/database.ts';
import { openStore, type Store } from '../../src/store/engine/store.ts';
import { readHealth } from '../../src/store/views/health.ts';
import { countSituations, oldestWaiting, readStatus } from '../../src/store/views/overview.ts';
import { multiplyVisits } from '../support/many-visits.ts';
import { Clinic, NOW } from './clinic.ts';

const VISITS = 30_000;
/** Those whose visit is still to come; the others are over, and closed. */
const COMING = 600;
const SCRAPE_MS = 50;

let folder: string;
let store: Store;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eligd-scale-'));
  const clinic = await Clinic.open(folder);
  const { appointment, inquiry } = await clinic.planned('visit');
  await clinic.open(inquiry);
  await clinic.answer(inquiry, { deliver_to: [appointment] });
  await clinic.deliver('delivered');
  await clinic.store.close();
  multiplyVisits(clinic.path, VISITS);
  const raw = new Database(clinic.path);
  raw
    .prepare(`update appointments set closed_reason = 'past', closed_at = ? where id > ?`)
    .run(NOW, (COMING + 1) * 1_000);
  raw.close();
  store = await openStore(clinic.path);
}, 120_000);
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

async function quickest(work: (db: Db) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const started_ms = performance.now();
    await work(store.db);
    times.push(performance.now() - started_ms);
  }
  return Math.min(...times);
}

/** What a scrape of /metrics reads. */
async function scrape(db: Db): Promise<void> {
  await readStatus(db, NOW);
  await oldestWaiting(db);
  await readHealth(
    db,
    {
      state_path: join(folder, 'eligd.db'),
      backup: { folder: join(folder, 'backups'), is_scheduled: true },
      limits: { calls_per_day: 10, calls_per_month: 100, time_zone: 'America/Chicago' },
    },
    NOW,
  );
}

test(`${VISITS} delivered visits are counted`, async () => {
  const { delivered, closed } = await countSituations(store.db, NOW);
  expect(delivered + (closed.past ?? 0)).toBe(VISITS + 1);
  expect(delivered).toBeGreaterThan(COMING);
});

test('a scrape is quick', async () => {
  expect(await quickest(scrape)).toBeLessThan(SCRAPE_MS);
});
