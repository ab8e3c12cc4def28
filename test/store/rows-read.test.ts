/**
 * The work of schedules, scrapes, and pages has a limit in a clinic with 30,000 visits. SQLite
 * counts the steps of each statement: its WebAssembly build does so, and has the same version as
 * the driver, which does not.
 */
import sqlite3InitModule from '@sqlite.org/sqlite-wasm';
import Database from 'better-sqlite3';
import { afterEach, expect, test } from 'vitest';
import { growDatabase } from '../faults/grow.ts';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { freePort } from '../support/free-port.ts';
import { everyPage, openOffice } from '../support/office-pages.ts';
import { fillOffice } from '../support/office-visits.ts';
import { startService } from '../support/service.ts';

const VISITS = 30_000;
/** Steps of SQLite's virtual machine; reading a row takes five to ten. */
const STEPS_MAX = 100_000;
/** Counts for people and monitoring: each reads one index of the visits, and no row. */
const COUNTS = [
  'select "state", count(*) as "count" from "deliveries" group by "state"',
  'select "kind", "situation", case situation',
];
const STEPS_OF_COUNT_MAX = 8 * VISITS;
/** The daemon does due work at its start, so this is a day of its schedule. */
const RUNS_MS = 5_000;
/** If statements differ only in their values, the test tries this many. */
const TRIED = 5;

/** The statements, with the values of each time. */
type Asked = Map<string, unknown[][]>;

const driver = Object.getPrototypeOf(new Database(':memory:').prepare('select 1')) as Record<
  string,
  (...values: unknown[]) => unknown
>;
const original = { ...driver };

afterEach(() => {
  Object.assign(driver, original);
});

/** Listens at the driver, so that it sees every statement to `file`, whoever sends it. */
function listen(file: string): Asked {
  const asked: Asked = new Map();
  for (const name of ['all', 'get', 'run', 'iterate']) {
    const before = driver[name];
    if (before === undefined) throw new Error(`The driver has no ${name}.`);
    driver[name] = function (this: Database.Statement, ...values: unknown[]) {
      if (this.database.name !== file) return before.apply(this, values);
      const times = asked.get(this.source) ?? [];
      asked.set(this.source, [...times.slice(1 - TRIED), values.flat()]);
      return before.apply(this, values);
    };
  }
  return asked;
}

async function runDaemon(clinic: Clinic, port: number): Promise<void> {
  const daemon = await clinic.daemon({}, { idle_ms: 500 });
  const stop = new AbortController();
  const ended = daemon.run(stop.signal);
  await new Promise((resolve) => setTimeout(resolve, RUNS_MS));
  for (const page of ['metrics', 'readyz']) {
    const { status } = await fetch(`http://127.0.0.1:${port}/${page}`);
    expect(status).toBe(200);
  }
  stop.abort();
  await ended;
  await daemon.close();
}

async function showPages(clinic: Clinic): Promise<void> {
  const { office, db } = await openOffice(clinic, () => {});
  const visits = await db.selectFrom('appointments').select('id').limit(3).execute();
  const ids = visits.map(({ id }) => id);
  for (const show of Object.values(everyPage({ office, db }, ids))) await show();
  await db.destroy();
}

/** The file as a database in memory, in which statements count their steps. */
async function openCounting(file: string) {
  const raw = new Database(file, { readonly: true });
  const bytes = new Uint8Array(raw.serialize());
  raw.close();
  // Not in WAL mode, because a database in memory has no second file (SQLite, file format, 1.3.3).
  bytes.set([1, 1], 18);
  const { capi, wasm, oo1 } = await sqlite3InitModule();
  const db = new oo1.DB(':memory:');
  const flags = capi.SQLITE_DESERIALIZE_FREEONCLOSE | capi.SQLITE_DESERIALIZE_RESIZEABLE;
  const held = wasm.allocFromTypedArray(bytes);
  const { pointer } = db;
  if (pointer === undefined) throw new Error('The database is not open.');
  capi.sqlite3_deserialize(pointer, 'main', held, bytes.length, bytes.length, flags);
  /** The steps of a statement; rolls its changes back. */
  const steps = (sql: string, values: readonly unknown[]): number => {
    db.exec('savepoint before');
    const statement = db.prepare(sql);
    if (values.length > 0) statement.bind(values as number[]);
    while (statement.step());
    const at = statement.pointer;
    const taken =
      at === undefined ? 0 : capi.sqlite3_stmt_status(at, capi.SQLITE_STMTSTATUS_VM_STEP, 0);
    statement.finalize();
    db.exec('rollback to before; release before');
    return taken;
  };
  return steps;
}

test('no statement of a schedule, a scrape, or a page takes more steps than its limit', {
  timeout: 300_000,
}, async () => {
  const service = await startService();
  const port = await freePort();
  const clinic = makeClinic({
    base_url: service.url,
    config: { monitoring: { listen: `127.0.0.1:${port}` }, prices: { per_inquiry: 12.5 } },
  });
  await fillOffice(clinic, service);
  const file = `${clinic.state}/eligd.db`;
  growDatabase(file, VISITS);
  const asked = listen(file);
  await runDaemon(clinic, port);
  await showPages(clinic);
  const steps = await openCounting(file);
  const many: string[] = [];
  let counted = 0;
  for (const [sql, times] of asked) {
    if (!/^\s*(select|with|insert|update|delete)/i.test(sql)) continue;
    const most = Math.max(...times.map((values) => steps(sql, values)));
    const max = COUNTS.some((each) => sql.startsWith(each)) ? STEPS_OF_COUNT_MAX : STEPS_MAX;
    counted += 1;
    if (most > max) many.push(`${most} steps: ${sql}`);
  }
  expect(counted).toBeGreaterThan(80);
  expect(many).toEqual([]);
});
