/** Calls that were due earlier, and what a step says about those that are due later. */
import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import type { ServiceFailure } from '../../../src/service/api.ts';
import { type Installation, install, send } from '../installation.ts';
import { about, advance } from './lost-calls.ts';

/** The next create fails like this. */
function failCreate({ client }: Installation, over: object): void {
  const { create } = client;
  client.create = async () => {
    client.create = create;
    const failure = { class: 'unsent', status: null, retry_after_ms: null, ...over };
    return { ok: false, failure: failure as ServiceFailure };
  };
}

test('a call that has waited past its completion date asks for the next business day', async () => {
  const clinic = await install();
  // A visit on Friday, so the call is wanted by Thursday.
  await clinic.read(clinic.visit('A-1', about('A-1')));
  await clinic.planNow();
  await advance(clinic, 2 * DAY_MS + 18 * HOUR_MS);
  await clinic.submitNow();
  const [call] = await clinic.service.ledger();
  expect(call?.request).toMatchObject({ desired_completion_date: '01-15-2038' });
  const [row] = await clinic.inquiries();
  expect(JSON.parse(row!.draft).desired_completion_date).toBe('2038-01-15');
});

test('a call waits as long as the service asks, and the step says until when (G2)', async () => {
  const clinic = await install();
  await clinic.submitNow();
  failCreate(clinic, { cause: 'rate_limited', status: 429, retry_after_ms: HOUR_MS });
  await clinic.read(clinic.visit('A-1', about('A-1')));
  await clinic.planNow();
  const begun_at = clinic.now();
  const { did, next_at } = await clinic.submitNow();
  expect(did).toBe(0);
  expect(next_at! - begun_at).toBeGreaterThanOrEqual(HOUR_MS);
  expect(next_at! - begun_at).toBeLessThan(HOUR_MS + MINUTE_MS);
  await advance(clinic, 59 * MINUTE_MS);
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toEqual([]);
  await advance(clinic, 2 * MINUTE_MS);
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toHaveLength(1);
});

test.each(['aborted', 'closed'])(
  'a call whose request was %s by eligd leaves in the next step',
  async (cause) => {
    const clinic = await install();
    await clinic.submitNow();
    failCreate(clinic, { cause });
    await send(clinic, clinic.visit('A-1', about('A-1')));
    expect(await clinic.service.ledger()).toEqual([]);
    await clinic.submitNow();
    expect(await clinic.service.ledger()).toHaveLength(1);
  },
);
