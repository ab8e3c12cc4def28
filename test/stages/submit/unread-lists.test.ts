/** Lists of the service that cannot be read: when they are read again, and what is said. */
import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import type { ServiceFailure } from '../../../src/service/api.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { AWAY, type Installation, install } from '../installation.ts';

const AMBIGUOUS = { class: 'ambiguous', cause: 'http_status', accepted: false } as const;
const REFUSED: ServiceFailure = { class: 'refused', status: 422, errors: [] };
const LOGIN = { class: 'unsent', cause: 'proxy_login', status: 407, retry_after_ms: null } as const;
const STOPPED = { class: 'stopped', status: 403, retry_after_ms: null } as const;

/** A clinic with a call to make, whose lists fail like this. `asked`: how many were read. */
async function failing(failure: ServiceFailure) {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  let asked = 0;
  clinic.client.list = async () => {
    asked += 1;
    return { ok: false, failure };
  };
  return { ...clinic, asked: () => asked };
}

const entriesOf = async ({ store }: Pick<Installation, 'store'>) =>
  (await openAttention(store.db)).map(({ what }) => what);

test('a list is not read again before the time that the service states', async () => {
  const retry_after_ms = 30 * MINUTE_MS;
  const clinic = await failing({ ...AMBIGUOUS, status: 503, retry_after_ms });
  await clinic.submitNow();
  clinic.pass(29 * MINUTE_MS);
  await clinic.submitNow();
  expect(clinic.asked()).toBe(1);
  clinic.pass(2 * MINUTE_MS);
  await clinic.submitNow();
  expect(clinic.asked()).toBe(2);
});

test('a list that is away is read again after a minute, and the step says so', async () => {
  const clinic = await failing(AWAY.failure);
  const begun_at = clinic.now();
  const { next_at } = await clinic.submitNow();
  expect(next_at! - begun_at).toBeGreaterThanOrEqual(MINUTE_MS);
  expect(next_at! - begun_at).toBeLessThan(2 * MINUTE_MS);
  clinic.pass(MINUTE_MS + 1);
  await clinic.submitNow();
  expect(clinic.asked()).toBe(2);
  expect(clinic.events.filter((event) => event === 'reconciliation_failed')).toHaveLength(1);
});

test.each<[string, ServiceFailure]>([
  ['refuses', REFUSED],
  ['forbids', STOPPED],
  ['does not get, because of the proxy,', LOGIN],
])('the office hears at once of a list that the service %s', async (_, failure) => {
  const clinic = await failing(failure);
  await clinic.submitNow();
  expect(await entriesOf(clinic)).toEqual([expect.stringContaining(`answered ${failure.status}`)]);
  clinic.pass(14 * MINUTE_MS);
  await clinic.submitNow();
  expect(clinic.asked()).toBe(1);
  clinic.pass(2 * MINUTE_MS);
  await clinic.submitNow();
  expect(clinic.asked()).toBe(2);
});

test('the entry about a list that is away for an hour says that nothing answers', async () => {
  const clinic = await failing(AWAY.failure);
  await clinic.submitNow();
  clinic.pass(HOUR_MS);
  await clinic.submitNow();
  expect(await entriesOf(clinic)).toEqual([expect.stringContaining('cannot be reached')]);
});
