/**
 * No page reads a whole table: every statement behind every page, on the books of a clinic in which
 * everything happens that the pages have a word for.
 */
import { type CompiledQuery, Kysely, SqliteDialect } from 'kysely';
import { expect, test } from 'vitest';
import { Access } from '../../src/office/access.ts';
import type { Office, Visit } from '../../src/office/context.ts';
import { scheduleReport } from '../../src/office/report.ts';
import { PAGES } from '../../src/office/server.ts';
import { UserFile } from '../../src/office/users.ts';
import { loadConfig } from '../../src/ops/config.ts';
import { createEnv } from '../../src/ops/env.ts';
import { readFees } from '../../src/ops/fees.ts';
import { healthSettings } from '../../src/ops/health-text.ts';
import { readPayers } from '../../src/ops/payer-file.ts';
import { budgetRules } from '../../src/ops/prices.ts';
import { clinicProfile, policyOf } from '../../src/ops/profile.ts';
import { openSqlite } from '../../src/store/engine/driver.ts';
import type { Tables } from '../../src/store/engine/tables.ts';
import { openWriteQueue } from '../../src/store/engine/write-queue.ts';
import { changeMark } from '../../src/store/views/change-mark.ts';
import { readHealth } from '../../src/store/views/health.ts';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { fillOffice, visitDay } from '../support/office-visits.ts';
import { startService } from '../support/service.ts';

/**
 * What may be walked through from end to end: lists that are short by what they are. `attention`
 * by its index of open entries, because the page shows them; of the calls that were timed some are
 * kept for each payer; `names` are the connectors, found one by one; of alerts it is
 * the index of open ones; a halt is one row.
 */
const SHORT = [
  'attention USING INDEX attention_',
  'attention USING COVERING INDEX attention_',
  'turnarounds',
  'names',
  'alerts USING INDEX alerts_open',
  'halts',
];

const isWhole = (detail: string) =>
  detail.startsWith('SCAN ') &&
  !detail.startsWith('SCAN CONSTANT ROW') &&
  !SHORT.some((each) => detail.startsWith(`SCAN ${each}`));

async function openPages(clinic: Clinic) {
  const raw = openSqlite(`${clinic.state}/eligd.db`);
  const asked: CompiledQuery[] = [];
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: raw }),
    log: ({ query }) => void asked.push(query),
  });
  const config = await loadConfig(clinic.file);
  const payers = readPayers(config);
  const env = createEnv({ log: () => {} });
  const store = { db, write: openWriteQueue(db).write, close: async () => {} };
  const users = new UserFile(`${clinic.state}/office-users`);
  const budget = () => budgetRules(config, payers);
  const health = () => readHealth(db, healthSettings(config, payers), env.clock.now());
  const office: Office = {
    ...{ store, env, config, budget, health, sign_on: null, is_secure: false },
    access: new Access({ store, clock: env.clock, users, idle_ms: 1 }),
    fees: () => readFees(config),
    planning: () => ({
      ...{ clinic: clinicProfile(config), policy: policyOf(config), payers },
      is_clock_trusted: true,
    }),
    secrets: () => [],
    wake: () => {},
  };
  const plans = () =>
    asked
      .splice(0)
      .filter(({ sql }) => /^\s*(select|with)/i.test(sql))
      .flatMap(({ sql, parameters }) =>
        (raw.prepare(`explain query plan ${sql}`).all(...parameters) as { detail: string }[]).map(
          ({ detail }) => ({ detail, sql }),
        ),
      );
  return { office, db, plans };
}

test('no statement behind a page reads a whole table', { timeout: 120_000 }, async () => {
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: {
      policy: { attempts: 1, look_ahead_days: 14, attention: { limit_reached: true } },
      prices: { per_inquiry: 12.5 },
    },
  });
  await fillOffice(clinic, service);
  const { office, db, plans } = await openPages(clinic);
  const now = Date.now();
  const user = { name: 'maria', role: 'admin', hash: '' } as const;
  const session = { user, csrf: 'x', token: 'x' };
  const read: Record<string, () => Promise<unknown>> = {
    'what every page says about eligd': () => office.health(),
    'whether something has changed': () => changeMark(db),
    'the files': async () => await scheduleReport(office, await office.health(), now),
  };
  const visits = await db.selectFrom('appointments').select('id').execute();
  expect(visits.length).toBeGreaterThan(5);
  for (const { path, show } of PAGES)
    for (const { id } of path.includes(':id') ? visits : visits.slice(0, 1)) {
      const visit: Visit = {
        ...{ session, now, form: new URLSearchParams() },
        params: { id: String(id), date: visitDay() },
      };
      read[`${path} ${id}`] = async () => expect((await show(office, visit)).kind).toBe('page');
    }
  plans();
  const whole: string[] = [];
  let steps = 0;
  for (const [page, work] of Object.entries(read)) {
    await work();
    for (const { detail, sql } of plans()) {
      steps += 1;
      if (isWhole(detail)) whole.push(`${page}: ${detail} of ${sql}`);
    }
  }
  expect(steps).toBeGreaterThan(200);
  expect(whole).toEqual([]);
  await db.destroy();
});
