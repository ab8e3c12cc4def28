/**
 * How many statements one more appointment costs in each stage. Unlike times, statement counts are
 * the same on every machine, and the time for a large export grows with them.
 */
import Database from 'better-sqlite3';
import { afterEach, expect, test } from 'vitest';
import { aCoverage } from '../domain/examples.ts';
import { install } from './installation.ts';

const driver = Object.getPrototypeOf(new Database(':memory:').prepare('select 1')) as Record<
  string,
  (...values: unknown[]) => unknown
>;
const original = { ...driver };

afterEach(() => {
  Object.assign(driver, original);
});

/** Counts every statement to a file; the service's database is in memory. Returns the count. */
function count(): () => number {
  let statements = 0;
  for (const name of ['all', 'get', 'run']) {
    const before = original[name];
    if (before === undefined) throw new Error(`The driver has no ${name}.`);
    driver[name] = function (this: Database.Statement, ...values: unknown[]) {
      if (!this.database.memory) statements += 1;
      return before.apply(this, values);
    };
  }
  return () => statements;
}

/** The statements of each stage for visits that are read, planned, and sent in one batch. */
async function statementsFor(visits: number) {
  const clinic = await install({ settings: { mode: 'bulk', batch_size: 100 } });
  const visit = (id: string) =>
    clinic.visit(id, {
      patient: { id, first_name: 'Ada', last_name: 'Example', birth_date: '1980-01-02' },
      coverages: [aCoverage({ member_id: `W${id}` })],
    });
  // The first batch has one item, and eligd learns from it what the service accepts.
  await clinic.read(visit('1000'));
  await clinic.planNow();
  while ((await clinic.submitNow()).did > 0);
  const all = Array.from({ length: visits }, (_, index) => visit(String(2_000 + index)));
  const counted = count();
  const of = async (work: () => Promise<unknown>) => {
    const before = counted();
    await work();
    return counted() - before;
  };
  const read = await of(() => clinic.read(...all));
  const planned = await of(() => clinic.planNow());
  const sent = await of(() => clinic.submitNow());
  const states = (await clinic.inquiries()).map(({ state }) => state);
  expect(states).toEqual(Array.from({ length: visits + 1 }, () => 'open'));
  return { read, planned, sent };
}

test('one more visit costs few statements in each stage', async () => {
  const few = await statementsFor(16);
  const many = await statementsFor(48);
  const each = (stage: keyof typeof few) => (many[stage] - few[stage]) / 32;
  // Sixteen and 48 rows are one statement of 16, and one of 32 with one of 16.
  expect(each('read')).toBeLessThanOrEqual(4 / 32);
  expect(each('planned')).toBeLessThanOrEqual(16);
  expect(each('sent')).toBeLessThanOrEqual(7 / 32);
});
