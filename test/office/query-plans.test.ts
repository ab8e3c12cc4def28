/**
 * No page scans a whole table: every statement of every page, with the data of a clinic in which
 * everything happens that the pages can show.
 */
import type { CompiledQuery } from 'kysely';
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { everyPage, openOffice } from '../support/office-pages.ts';
import { fillOffice } from '../support/office-visits.ts';
import { startService } from '../support/service.ts';

/**
 * Tables that pages may read completely, because they are always short: `attention` by its index of
 * open entries, which the page shows; a few timed calls for each payer; `names`, which are the
 * connectors, found one by one; alerts by the index of open ones; and halts, which have one row.
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

test('no statement behind a page scans a whole table', { timeout: 120_000 }, async () => {
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: {
      policy: { attempts: 1, look_ahead_days: 14, attention: { limit_reached: true } },
      prices: { per_inquiry: 12.5 },
    },
  });
  await fillOffice(clinic, service);
  const asked: CompiledQuery[] = [];
  const { office, db, raw } = await openOffice(clinic, (query) => void asked.push(query));
  const plans = () =>
    asked
      .splice(0)
      .filter(({ sql }) => /^\s*(select|with)/i.test(sql))
      .flatMap(({ sql, parameters }) =>
        (raw.prepare(`explain query plan ${sql}`).all(...parameters) as { detail: string }[]).map(
          ({ detail }) => ({ detail, sql }),
        ),
      );
  const visits = await db.selectFrom('appointments').select('id').execute();
  expect(visits.length).toBeGreaterThan(5);
  const ids = visits.map(({ id }) => id);
  plans();
  const whole: string[] = [];
  let steps = 0;
  for (const [page, work] of Object.entries(everyPage({ office, db }, ids))) {
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
