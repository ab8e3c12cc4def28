/** When a process relies on a comparison of the list, and when it reads the list again. */
import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { newSubmitMemory } from '../../../src/stages/submit/deps.ts';
import { ensureReconciled, isListWanted } from '../../../src/stages/submit/index.ts';
import { AWAY, type Installation, install, reconcile, send } from '../installation.ts';
import { about } from './lost-calls.ts';

const isWanted = ({ submit }: Installation) => isListWanted(submit, 'dental');

test('a list that was read while the clock was ahead is read again', async () => {
  const clinic = await install();
  clinic.pass(HOUR_MS);
  await ensureReconciled(clinic.submit, 'dental');
  clinic.pass(-HOUR_MS);
  expect(await isWanted(clinic)).toBe(true);
});

test('while the service is down, a new process asks it once a minute', async () => {
  const clinic = await install();
  const began_at = clinic.now();
  clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() - began_at });
  await send(clinic, clinic.visit('A-1'));
  await reconcile(clinic);
  clinic.submit.memory = newSubmitMemory();
  let requests = 0;
  clinic.client.list = clinic.client.getSubscription = async () => {
    requests += 1;
    return AWAY;
  };
  await send(clinic, clinic.visit('B-1', about('B-1')));
  const at_once = requests;
  expect(at_once).toBeGreaterThan(0);
  clinic.pass(10_000);
  await clinic.submitNow();
  expect(requests).toBe(at_once);
  clinic.pass(MINUTE_MS);
  await clinic.submitNow();
  expect(requests).toBe(2 * at_once);
});
