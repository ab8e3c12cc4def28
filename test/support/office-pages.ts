/** Every page of the office, with the data of a clinic, and the statements that it sends. */
import { type CompiledQuery, Kysely, SqliteDialect } from 'kysely';
import { expect } from 'vitest';
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
import type { Db } from '../../src/store/engine/database.ts';
import { openSqlite, type Raw } from '../../src/store/engine/driver.ts';
import type { Tables } from '../../src/store/engine/tables.ts';
import { openWriteQueue } from '../../src/store/engine/write-queue.ts';
import { changeMark } from '../../src/store/views/change-mark.ts';
import { readHealth } from '../../src/store/views/health.ts';
import type { Clinic } from './clinic.ts';
import { visitDay } from './office-visits.ts';

/** Calls `onQuery` with every statement. The caller destroys `db`. */
export async function openOffice(
  clinic: Clinic,
  onQuery: (query: CompiledQuery) => void,
): Promise<{ office: Office; db: Db; raw: Raw }> {
  const raw = openSqlite(`${clinic.state}/eligd.db`);
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: raw }),
    log: ({ query }) => onQuery(query),
  });
  const config = await loadConfig(clinic.file);
  const payers = readPayers(config);
  const env = createEnv({ log: () => {} });
  const store = { db, ...openWriteQueue(db), close: async () => {} };
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
  return { office, db, raw };
}

/** The reads of each page, by name; those of a visit for each of `ids`. */
export function everyPage(
  { office, db }: { office: Office; db: Db },
  ids: readonly number[],
): Record<string, () => Promise<unknown>> {
  const now = Date.now();
  const user = { name: 'maria', role: 'admin', hash: '' } as const;
  const session = { user, csrf: 'x', token: 'x' };
  const pages: Record<string, () => Promise<unknown>> = {
    'what every page says about eligd': () => office.health(),
    'whether something has changed': () => changeMark(db),
    'the files': async () =>
      await scheduleReport(office, await office.health(), now, { for_paper: true }),
  };
  for (const { path, show } of PAGES)
    for (const id of path.includes(':id') ? ids : ids.slice(0, 1)) {
      const visit: Visit = {
        ...{ session, now, form: new URLSearchParams() },
        params: { id: String(id), date: visitDay() },
      };
      pages[`${path} ${id}`] = async () => expect((await show(office, visit)).kind).toBe('page');
    }
  return pages;
}
