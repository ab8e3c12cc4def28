/** Labels whose query fails, so that the calls that must come after it wait. */
import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { newSubmitMemory } from '../../../src/stages/submit/deps.ts';
import { demandReconciliation } from '../../../src/stages/submit/index.ts';
import { checkUndecidable } from '../../../src/stages/submit/label-check.ts';
import { hold } from '../../../src/store/bookkeeping/operator.ts';
import { aCoverage, NO_BUDGET } from '../../domain/examples.ts';
import { type Installation, install, reconcile, send } from '../installation.ts';
import { failLabels, minutesPass, stopDuringQuery, watchLabels } from './cut-lists.ts';
import { acceptUnlisted, labelsOf, twin } from './lost-calls.ts';

/** Each run is a new process, as with `once` from cron. */
async function runsPass(clinic: Installation, runs: number, apart_ms: number): Promise<void> {
  for (let run = 0; run < runs; run += 1) {
    clinic.pass(apart_ms);
    clinic.submit.memory = newSubmitMemory();
    while ((await clinic.submitNow()).did > 0);
  }
}

test('the office hears of failing labels although each run is a new process (G2)', async () => {
  const clinic = await install();
  failLabels(clinic, ['A-1'], 500);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await runsPass(clinic, 3, 15 * MINUTE_MS);
  expect(await clinic.attention()).toEqual([]);
  await runsPass(clinic, 2, 15 * MINUTE_MS);
  expect(await clinic.attention()).toEqual(['submission_stopped']);
  expect(clinic.events.filter((event) => event === 'label_check_failed')).toHaveLength(1);
});

test('the entry of an earlier process stays while its call waits for a label (G2)', async () => {
  const clinic = await install();
  const labels = ['A-1'];
  failLabels(clinic, labels, 403);
  await send(clinic, clinic.visit('A-1', twin('Ada'), 3));
  await clinic.read(clinic.visit('B-1', twin('Ben'), 5));
  await clinic.planNow();
  await runsPass(clinic, 1, MINUTE_MS);
  expect(await labelsOf(clinic)).toEqual(['B-1']);
  expect(await clinic.attention()).toEqual(['submission_stopped']);
  labels.pop();
  await runsPass(clinic, 1, HOUR_MS);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1']);
  expect(await clinic.attention()).toEqual([]);
});

test('the entry of an earlier process ends with the visit, also if no list is read', async () => {
  const clinic = await install();
  failLabels(clinic, ['A-1'], 403);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await clinic.attention()).toEqual(['submission_stopped']);
  await clinic.read(clinic.visit('A-1', { ...twin('Ada'), status: 'cancelled' }));
  await clinic.planNow();
  await runsPass(clinic, 1, MINUTE_MS);
  expect(await clinic.attention()).toEqual([]);
});

/** Reads a visit for each label; the first ones are the nearest. */
async function readVisits(clinic: Installation, labels: readonly string[]): Promise<void> {
  for (const [index, label] of labels.entries()) {
    const coverages = [aCoverage({ member_id: label })];
    const days = 3 + index / 100;
    await clinic.read(clinic.visit(label, { ...twin(label), coverages }, days));
  }
  await clinic.planNow();
}

const labelsOfVisits = (count: number) => Array.from({ length: count }, (_, index) => `V-${index}`);

test('calls whose labels fail come after all others, whatever their number (G7)', async () => {
  const clinic = await install();
  const failing = labelsOfVisits(30);
  const queried = failLabels(clinic, failing, 500);
  await readVisits(clinic, [...failing, 'Z-1']);
  await minutesPass(clinic, 20);
  expect(await labelsOf(clinic)).toEqual(['Z-1']);
  await readVisits(clinic, ['Z-2']);
  await minutesPass(clinic, 2);
  expect(await labelsOf(clinic)).toEqual(['Z-1', 'Z-2']);
  // Nor do the nearest of them keep the rest from being queried again.
  queried.length = 0;
  await minutesPass(clinic, 20);
  expect(new Set(queried)).toEqual(new Set(failing));
});

test('a new process also queries the failing labels last, and each in turn (G7)', async () => {
  // Until the service has accepted a bulk request, each one carries one inquiry.
  const clinic = await install({ settings: { mode: 'auto' } });
  const failing = labelsOfVisits(6);
  await clinic.submitNow();
  const queried = failLabels(clinic, failing, 500);
  await readVisits(clinic, [...failing, 'Z-1']);
  await runsPass(clinic, 4, HOUR_MS);
  expect(await labelsOf(clinic)).toEqual(['Z-1']);
  queried.length = 0;
  await runsPass(clinic, 3, HOUR_MS);
  expect(queried.toSorted()).toEqual(failing);
});

test('the entry about a label ends when the office holds its call', async () => {
  const clinic = await install();
  failLabels(clinic, ['A-1'], 403);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await clinic.attention()).toEqual(['submission_stopped']);
  await clinic.store.write((tx) => hold(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual([]);
});

test('after two labels fail, the other lost calls wait for the next comparison (G7)', async () => {
  const clinic = await install();
  await clinic.submitNow();
  await readVisits(clinic, labelsOfVisits(5));
  await clinic.submitNow();
  await clinic.store.db.updateTable('inquiries').set({ state: 'undecidable' }).execute();
  const queried = failLabels(clinic, labelsOfVisits(5), 500);
  await reconcile(clinic);
  expect(queried).toHaveLength(2);
});

test('eligd does not query the label of a lost call whose visit is over', async () => {
  const clinic = await install();
  await clinic.submitNow();
  await readVisits(clinic, ['V-0']);
  await clinic.submitNow();
  await clinic.store.db.updateTable('inquiries').set({ state: 'undecidable' }).execute();
  const queried = watchLabels(clinic);
  await reconcile(clinic);
  expect(queried).toEqual(['V-0']);
  clinic.pass(4 * DAY_MS);
  await reconcile(clinic);
  expect(queried).toEqual(['V-0']);
});

test('a stop during a query is no failure, and delays no call', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('B-1', twin('Ben')));
  await reconcile(clinic);
  await readVisits(clinic, ['A-1']);
  await stopDuringQuery(clinic);
  expect(clinic.events).not.toContain('label_check_failed');
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1']);
});

test('a stop during a query about a call that the office decides is no failure', async () => {
  const clinic = await install();
  await acceptUnlisted(clinic, () => send(clinic, clinic.visit('A-1', twin('Ada'))));
  expect(await clinic.attention()).toEqual(['undecidable']);
  demandReconciliation(clinic.submit);
  await stopDuringQuery(clinic);
  expect(clinic.events).not.toContain('label_check_failed');
});

test('while a label fails, the budget allows as many calls as without it', async () => {
  const limits = { ...NO_BUDGET.limits, calls_per_day: 1 };
  const clinic = await install({ settings: { budget: { ...NO_BUDGET, limits } } });
  failLabels(clinic, ['V-0'], 403);
  await readVisits(clinic, ['V-0']);
  await clinic.submitNow();
  await readVisits(clinic, ['V-0', 'Z-1', 'Z-2']);
  await minutesPass(clinic, 2);
  expect(await labelsOf(clinic)).toEqual(['Z-1']);
});

test('a call that the office decides is sought only in the list of its specialty', async () => {
  const clinic = await install();
  await acceptUnlisted(clinic, () => send(clinic, clinic.visit('A-1', twin('Ada'))));
  const queried = watchLabels(clinic);
  await checkUndecidable(clinic.submit, 'medical', new AbortController().signal);
  expect(queried).toEqual([]);
  await checkUndecidable(clinic.submit, 'dental', new AbortController().signal);
  expect(queried).toEqual(['A-1']);
});

test('two labels that fail with another between them delay no further one (G7)', async () => {
  const clinic = await install();
  failLabels(clinic, ['V-0', 'V-2'], 500);
  await readVisits(clinic, labelsOfVisits(4));
  while ((await clinic.submitNow()).did > 0);
  expect(await labelsOf(clinic)).toEqual(['V-1', 'V-3']);
});

test('the entry about a label ends once its query works, even if the call must wait', async () => {
  const terms = { per_inquiry_cents: 1000, per_code_cents: 0, urgent_factor: 1, free_outcomes: [] };
  const limits = { ...NO_BUDGET.limits, dollars_per_day: 15 };
  const budget = { limits, prices: { termsFor: () => terms } };
  const clinic = await install({ settings: { budget } });
  const labels = ['V-0'];
  failLabels(clinic, labels, 403);
  await readVisits(clinic, labelsOfVisits(2));
  while ((await clinic.submitNow()).did > 0);
  expect(await labelsOf(clinic)).toEqual(['V-1']);
  expect(await clinic.attention()).toEqual(['submission_stopped']);
  labels.pop();
  clinic.pass(HOUR_MS);
  await clinic.submitNow();
  // $5 are left for a call of $10.
  expect(await labelsOf(clinic)).toEqual(['V-1']);
  expect(await clinic.attention()).toEqual([]);
});
