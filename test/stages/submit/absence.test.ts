import { expect, test } from 'vitest';
import { MINUTE_MS } from '../../../src/domain/time.ts';
import { retry } from '../../../src/store/bookkeeping/operator.ts';
import { aCoverage } from '../../domain/examples.ts';
import { install, SETTLE_MS, send } from '../installation.ts';
import { hideCalls, loseAndHide } from './lost-calls.ts';

test('a lost call that the operator retries at once is not made again (G1)', async () => {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, 1);
  await send(clinic, clinic.visit('A-1'));
  const [{ id } = { id: 0 }] = await clinic.inquiries();
  for (let tries = 0; tries < 3; tries += 1) {
    clinic.pass(1_000);
    const now = clinic.now();
    await clinic.store.write((tx) => retry(tx, { kind: 'inquiry', id }, now));
    await clinic.submitNow();
    await clinic.submitNow();
  }
  expect(await clinic.service.ledger()).toHaveLength(1);
  clinic.pass(1.5 * SETTLE_MS);
  await clinic.submitNow();
  await show(0);
  clinic.pass(SETTLE_MS + 1);
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toHaveLength(1);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open']);
});

test('a call whose ID proved wrong may be listed as late as any other', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-1'));
  const [first] = await clinic.service.ledger();
  const { show } = hideCalls(clinic);
  await show(0);
  const { create, read } = clinic.client;
  clinic.client.create = async (...call) => {
    const result = await create(...call);
    return result.ok ? { ok: true, value: { inquiry_id: 'other' as never } } : result;
  };
  clinic.client.read = async (specialty, id, ...rest) =>
    await read(specialty, id === 'other' ? (first!.id as never) : id, ...rest);
  await send(clinic, clinic.visit('A-2', { coverages: [aCoverage({ member_id: 'W2' })] }));
  clinic.pass(2 * MINUTE_MS);
  await clinic.collectAll();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open', 'uncertain']);
  await clinic.submitNow();
  clinic.pass(SETTLE_MS + 1);
  await clinic.submitNow();
  await show(1);
  clinic.pass(SETTLE_MS + 1);
  await clinic.submitNow();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open', 'open']);
  expect(await clinic.attention()).toEqual([]);
});
