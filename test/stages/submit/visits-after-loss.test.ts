/** After a database was lost, eligd queries the labels of all coming visits before it calls. */
import { expect, test } from 'vitest';
import { newSubmitMemory } from '../../../src/stages/submit/deps.ts';
import { demandReconciliation } from '../../../src/stages/submit/index.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install } from '../installation.ts';
import { failLabels, minutesPass } from './cut-lists.ts';
import { anOldCall, labelsOf, twin } from './lost-calls.ts';

/**
 * The database has lost Ada's call, whose label is A-1. The PMS has given that ID to Eve, whose
 * visit is canceled. Ada's visit is A-2 now; `others` have visits, too.
 */
async function lose(others: readonly string[] = []): Promise<Installation> {
  const clinic = await install();
  await clinic.submitNow();
  await anOldCall(clinic, 'A-1');
  noteLoss(clinic);
  const eve = { id: 'P-9', first_name: 'Eve', last_name: 'Other', birth_date: '1990-05-06' };
  const coverages = [aCoverage({ member_id: 'X9' })];
  await clinic.read(clinic.visit('A-1', { patient: eve, coverages, status: 'cancelled' }, 4));
  await clinic.read(clinic.visit('A-2', twin('Ada'), 3));
  for (const label of others)
    await clinic.read(clinic.visit(label, { ...twin(label), status: 'cancelled' }, 5));
  await clinic.planNow();
  return clinic;
}

/** The lock file has counted more sends than the database. */
function noteLoss(clinic: Installation): void {
  clinic.submit.settings.is_shared_account = true;
  clinic.submit.sends.write(clinic.submit.sends.read() + 2);
  demandReconciliation(clinic.submit);
}

test('a lost call serves its patient although its visit is another’s now (G1)', async () => {
  const clinic = await lose();
  failLabels(clinic, [], 500);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('the labels of all coming visits are queried once for each loss', async () => {
  const clinic = await lose(['B-1', 'C-1']);
  const queried = failLabels(clinic, [], 500);
  await clinic.submitNow();
  expect(new Set(queried)).toEqual(new Set(['A-1', 'A-2', 'B-1', 'C-1']));
  queried.length = 0;
  clinic.submit.memory = newSubmitMemory();
  await clinic.read(clinic.visit('D-1', twin('Dan'), 3));
  await clinic.planNow();
  await clinic.submitNow();
  expect(queried).toEqual(['D-1']);
  noteLoss(clinic);
  await clinic.read(clinic.visit('E-1', twin('Eli'), 3));
  await clinic.planNow();
  await clinic.submitNow();
  expect(new Set(queried)).toEqual(new Set(['A-1', 'A-2', 'B-1', 'C-1', 'D-1', 'E-1']));
});

test('calls wait for a label that fails for a while, and for none that always fails', async () => {
  const clinic = await lose(['B-1', 'C-1', 'D-1']);
  const failing = ['A-1', 'D-1'];
  const queried = failLabels(clinic, failing, 500);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  failing.shift();
  await minutesPass(clinic, 3);
  expect(queried.filter((label) => label === 'B-1')).toHaveLength(1);
  // The call under A-1 serves Ada. The next one is made although D-1 fails.
  await clinic.read(clinic.visit('F-1', twin('Fay'), 3));
  await clinic.planNow();
  await minutesPass(clinic, 3);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'F-1']);
});

test('while no label can be queried, few are tried after a loss', async () => {
  const clinic = await lose(['B-1', 'C-1', 'D-1']);
  const queried = failLabels(clinic, ['A-1', 'A-2', 'B-1', 'C-1', 'D-1'], 500);
  for (let step = 0; step < 5; step += 1) await clinic.submitNow();
  expect(queried).toHaveLength(4);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('after a rejected login, no other label is tried', async () => {
  const clinic = await lose(['B-1', 'C-1', 'D-1']);
  const queried = failLabels(clinic, ['A-1', 'A-2', 'B-1', 'C-1', 'D-1'], 401);
  for (let step = 0; step < 5; step += 1) await clinic.submitNow();
  expect(queried).toHaveLength(1);
});
