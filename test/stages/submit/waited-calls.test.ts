/** Calls that were due earlier, and what a step says about those that are due later. */
import { expect, test } from 'vitest';
import { parseDraft } from '../../../src/domain/inquiry.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { payerKey } from '../../../src/domain/turnaround.ts';
import type { ServiceFailure } from '../../../src/service/api.ts';
import { keepTurnaround } from '../../../src/store/calls/turnarounds.ts';
import { type Installation, install, SETTLE_MS, send } from '../installation.ts';
import { about, advance, labelsOf, loseCreates } from './lost-calls.ts';

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

test('a call that needs no query by label leaves with one that does', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('B-1', about('B-1')));
  await loseCreates(clinic, 1, 'before');
  await send(clinic, clinic.visit('C-1', about('C-1')));
  await advance(clinic, SETTLE_MS + 1_000);
  await clinic.submitNow();
  await clinic.read(clinic.visit('D-1', about('D-1'), 5));
  await clinic.planNow();
  await advance(clinic, SETTLE_MS + 1_000);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['B-1', 'C-1', 'D-1']);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open', 'open', 'open']);
});

test('the first poll comes when the calls to the payer usually end', async () => {
  const clinic = await install();
  const pollAfter = async (label: string) => {
    await send(clinic, clinic.visit(label, about(label), 6));
    const row = (await clinic.inquiries()).at(-1)!;
    return row.poll_at! - clinic.now();
  };
  const before_ms = await pollAfter('A-1');
  const payer = payerKey(parseDraft((await clinic.inquiries())[0]!.draft))!;
  const took = { took_ms: 3 * HOUR_MS, open_ms: 3 * HOUR_MS };
  await clinic.store.write(async (tx) => {
    for (let call = 0; call < 9; call += 1) await keepTurnaround(tx, payer, took, clinic.now());
  });
  expect(before_ms).toBeGreaterThan(12 * HOUR_MS);
  expect(await pollAfter('A-2')).toBeLessThan(4 * HOUR_MS);
});
