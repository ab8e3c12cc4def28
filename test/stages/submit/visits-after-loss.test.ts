/** After a database was lost, eligd queries the labels of all coming visits before it calls. */
import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { newSubmitMemory } from '../../../src/stages/submit/deps.ts';
import { demandReconciliation, submitStep } from '../../../src/stages/submit/index.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install } from '../installation.ts';
import { failLabels, minutesPass, stopDuringQuery } from './cut-lists.ts';
import { anOldCall, labelsOf, TWINS, twin } from './lost-calls.ts';

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
  expect(new Set(queried)).toEqual(new Set(['D-1']));
  noteLoss(clinic);
  await clinic.read(clinic.visit('E-1', twin('Eli'), 3));
  await clinic.planNow();
  await clinic.submitNow();
  expect(new Set(queried)).toEqual(new Set(['A-1', 'A-2', 'B-1', 'C-1', 'D-1', 'E-1']));
});

/** A query by label fails whenever `fails` says so of its label and its number. */
function failWhen(
  { client }: Installation,
  fails: (label: string, number: number) => boolean,
): string[] {
  const { list } = client;
  const queried: string[] = [];
  client.list = async (specialty, filter, options) => {
    if (filter.external_id === undefined) return await list(specialty, filter, options);
    queried.push(filter.external_id);
    if (!fails(filter.external_id, queried.length)) return await list(specialty, filter, options);
    const lost = { status: 503, retry_after_ms: null, accepted: false };
    return { ok: false, failure: { class: 'ambiguous', cause: 'http_status', ...lost } };
  };
  return queried;
}

/** Other visits, which are due for a call. */
async function readDue(clinic: Installation, labels: readonly string[]): Promise<void> {
  for (const label of labels) {
    const coverages = [aCoverage({ member_id: label })];
    await clinic.read(clinic.visit(label, { ...twin(label), coverages }, 6));
  }
  await clinic.planNow();
}

const labels = (count: number, letter: string) =>
  Array.from({ length: count }, (_, index) => `${letter}-${index + 1}`);

/** Each run is a new process, as with `once` from cron. */
async function runsPass(clinic: Installation, runs: number): Promise<void> {
  for (let run = 0; run < runs; run += 1) {
    clinic.pass(15 * MINUTE_MS);
    clinic.submit.memory = newSubmitMemory();
    while ((await clinic.submitNow()).did > 0);
  }
}

test('all calls wait for a label that fails for a moment (G1)', async () => {
  const clinic = await lose(['B-1']);
  await readDue(clinic, ['F-1']);
  failLabels(clinic, [], 500);
  let is_failing = true;
  const queried = failWhen(clinic, (label) => is_failing && label === 'A-1');
  await clinic.submitNow();
  is_failing = false;
  await minutesPass(clinic, 3);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'F-1']);
  expect(queried.filter((label) => label === 'B-1')).toHaveLength(1);
});

test('failures in a row at first let no call go before the others are queried (G1)', async () => {
  const clinic = await lose();
  failLabels(clinic, [], 500);
  failWhen(clinic, (_, number) => number <= 3);
  await minutesPass(clinic, 3);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('an outage is not the fault of a label (G1)', async () => {
  const clinic = await lose(['B-1']);
  failLabels(clinic, [], 500);
  let is_failing = true;
  failWhen(clinic, () => is_failing);
  await minutesPass(clinic, 60);
  is_failing = false;
  await minutesPass(clinic, 15);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('calls wait a while for labels that always fail, and the others are queried', async () => {
  const failing = ['X-1', 'X-2', 'X-3'];
  const clinic = await lose(failing);
  await readDue(clinic, ['F-1']);
  failLabels(clinic, [], 500);
  const queried = failWhen(clinic, (label) => failing.includes(label));
  await minutesPass(clinic, 9);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(queried).toContain('A-1');
  await minutesPass(clinic, 15);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'F-1']);
});

test('one label that fails does not slow down the others in single runs (G7)', async () => {
  const clinic = await lose(labels(200, 'V'));
  await readDue(clinic, ['F-1']);
  failLabels(clinic, [], 500);
  failWhen(clinic, (label) => label === 'V-7');
  await runsPass(clinic, 2);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'F-1']);
});

test('labels that fail block no calls of single runs (G7)', async () => {
  const clinic = await lose(labels(80, 'V'));
  await readDue(clinic, labels(5, 'R'));
  failLabels(clinic, [], 500);
  const queried = failWhen(clinic, (label, number) => label === 'V-7' || number % 8 === 0);
  await runsPass(clinic, 12);
  expect((await labelsOf(clinic)).toSorted()).toEqual(['A-1', ...labels(5, 'R')]);
  expect(queried.length).toBeLessThan(150);
});

test.each([
  [30, 503],
  [8, 400],
])(
  '%s due calls whose labels always fail (%s) block no other for long (G7)',
  async (count, status) => {
    const clinic = await lose();
    await clinic.read(clinic.visit('A-2', { ...twin('Ada'), status: 'cancelled' }, 3));
    const failing = labels(count, 'X');
    await readDue(clinic, [...failing, 'F-1']);
    failLabels(clinic, failing, status);
    await minutesPass(clinic, 35);
    expect(await labelsOf(clinic)).toEqual(['A-1', 'F-1']);
  },
);

test('a label that fails is queried again only later', async () => {
  const clinic = await lose(['X-1', 'V-1']);
  failLabels(clinic, [], 500);
  const queried = failWhen(clinic, (label) => label === 'X-1');
  for (let step = 0; step < 5; step += 1) await clinic.submitNow();
  expect(queried.filter((label) => label === 'X-1')).toHaveLength(1);
});

test('runs that end early keep what they have queried', async () => {
  const clinic = await lose(labels(40, 'V'));
  failLabels(clinic, [], 500);
  let aborter = new AbortController();
  let number = 0;
  failWhen(clinic, () => {
    number += 1;
    if (number === 30) aborter.abort();
    return false;
  });
  for (let run = 0; run < 4; run += 1) {
    aborter = new AbortController();
    number = 0;
    clinic.pass(10 * MINUTE_MS);
    clinic.submit.memory = newSubmitMemory();
    const options = { external_id_template: '{appointment}', signal: aborter.signal };
    let did = 1;
    while (did > 0 && !aborter.signal.aborted) ({ did } = await submitStep(clinic.submit, options));
  }
  await readDue(clinic, ['F-1']);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1', 'F-1']);
});

test('a stop during these queries is no failure', async () => {
  const clinic = await lose(['B-1']);
  await stopDuringQuery(clinic);
  expect(clinic.events).not.toContain('label_check_failed');
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open']);
});

test('a visit that is over only by a clock that is ahead counts as coming (G1)', async () => {
  const clinic = await lose();
  await clinic.read(clinic.visit('A-2', twin('Ada'), 6));
  const eve = { id: 'P-9', first_name: 'Eve', last_name: 'Other', birth_date: '1990-05-06' };
  await clinic.read(clinic.visit('A-1', { patient: eve, status: 'cancelled' }, 2));
  await clinic.planNow();
  failLabels(clinic, [], 500);
  clinic.pass(3 * DAY_MS);
  clinic.submit.clockSkew = () => 3 * DAY_MS;
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a clock that jumps ahead does not make eligd give up a label (G1)', async () => {
  const clinic = await lose();
  const failing = ['A-1'];
  failLabels(clinic, failing, 500);
  await clinic.submitNow();
  clinic.pass(HOUR_MS);
  clinic.submit.clockSkew = () => HOUR_MS;
  await clinic.submitNow();
  failing.pop();
  await minutesPass(clinic, 2);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('new visits whose labels fail do not hold up the calls one after another (G7)', async () => {
  const clinic = await lose(['X-0', 'V-1']);
  failLabels(clinic, [], 500);
  failWhen(clinic, (label) => label.startsWith('X'));
  for (let number = 1; number < 5; number += 1) {
    const label = `X-${number}`;
    await clinic.read(clinic.visit(label, { ...twin(label), status: 'cancelled' }, 5));
    if (number === 3) await readDue(clinic, ['F-1']);
    await minutesPass(clinic, 9);
  }
  expect(await labelsOf(clinic)).toEqual(['A-1', 'F-1']);
});

test.each([400, 503])(
  'a new label that fails (%s) costs minutes and no entry (G7)',
  async (status) => {
    const clinic = await lose(['X-0', 'V-1']);
    await clinic.read(clinic.visit('A-2', { ...twin('Ada'), status: 'cancelled' }, 3));
    failLabels(clinic, labels(9, 'X').concat('X-0'), status);
    await readDue(clinic, ['F-0']);
    await minutesPass(clinic, 15);
    expect(await labelsOf(clinic)).toEqual(['A-1', 'F-0']);
    await clinic.read(clinic.visit('X-1', { ...twin('X-1'), status: 'cancelled' }, 5));
    await readDue(clinic, ['F-1']);
    await minutesPass(clinic, 4);
    expect(await labelsOf(clinic)).toEqual(['A-1', 'F-0', 'F-1']);
    expect(await clinic.attention()).toEqual([]);
    expect(clinic.events.filter((event) => event === 'label_check_failed')).toHaveLength(2);
  },
);

test('a label that worked once and fails now does not block the others (G7)', async () => {
  const clinic = await lose(['V-1', 'V-2', 'V-3']);
  failLabels(clinic, [], 500);
  let is_later = false;
  failWhen(clinic, (label) => is_later && /^[XA]/.test(label));
  await clinic.submitNow();
  is_later = true;
  for (const label of ['X-1', 'X-2'])
    await clinic.read(clinic.visit(label, { ...twin(label), status: 'cancelled' }, 1));
  await readDue(clinic, ['F-1']);
  await minutesPass(clinic, 30);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'F-1']);
});

test('a failure that was noted by a clock that was ahead delays no call for long', async () => {
  const clinic = await lose(['X-1', 'V-1']);
  failLabels(clinic, [], 500);
  failWhen(clinic, (label) => label === 'X-1');
  clinic.submit.clockSkew = () => -5 * HOUR_MS;
  await clinic.submitNow();
  clinic.submit.clockSkew = () => 0;
  await readDue(clinic, ['F-1']);
  await minutesPass(clinic, 20);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'F-1']);
});

test('calls wait for a label that fails briefly although another was given up (G1)', async () => {
  const clinic = await install();
  await clinic.submitNow();
  await anOldCall(clinic, 'A-1');
  noteLoss(clinic);
  await clinic.read(clinic.visit('X-1', { ...twin('Xavier'), status: 'cancelled' }, 5));
  await readDue(clinic, ['F-1']);
  failLabels(clinic, [], 500);
  let is_failing = true;
  failWhen(clinic, (label) => label === 'X-1' || (is_failing && label === 'A-1'));
  await minutesPass(clinic, 15);
  const eve = { id: 'P-9', first_name: 'Eve', last_name: 'Other', birth_date: '1990-05-06' };
  await clinic.read(clinic.visit('A-1', { patient: eve, status: 'cancelled' }, 4));
  await clinic.read(clinic.visit('A-2', twin('Ada'), 3));
  await clinic.planNow();
  await clinic.submitNow();
  is_failing = false;
  await minutesPass(clinic, 5);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'F-1']);
});

test('visits that are read after the first queries are queried, too (G1)', async () => {
  const clinic = await lose();
  failLabels(clinic, [], 500);
  await clinic.read(clinic.visit('A-2', { ...twin('Ada'), status: 'cancelled' }, 3));
  const dan = { ...TWINS, patient_name: 'Dan Example', external_id: 'D-1' };
  await clinic.service.createBeside(dan);
  await readDue(clinic, ['F-1']);
  await clinic.submitNow();
  const eve = { id: 'P-9', first_name: 'Eve', last_name: 'Other', birth_date: '1990-05-06' };
  await clinic.read(clinic.visit('D-1', { patient: eve, status: 'cancelled' }, 4));
  await clinic.read(clinic.visit('D-2', twin('Dan'), 3));
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1', 'D-1', 'F-1']);
});

test('a new loss during the queries begins them again', async () => {
  const clinic = await lose(['B-1', 'C-1']);
  failLabels(clinic, [], 500);
  const queried = failWhen(clinic, (label) => label === 'C-1');
  await clinic.submitNow();
  queried.length = 0;
  clinic.pass(2 * MINUTE_MS);
  noteLoss(clinic);
  await minutesPass(clinic, 2);
  expect(queried).toContain('B-1');
});

test('lookups get their turn between many queries', async () => {
  const clinic = await lose(labels(120, 'V'));
  const queried = failLabels(clinic, [], 500);
  await clinic.submitNow();
  expect(queried.length).toBeLessThan(60);
  for (let step = 0; step < 4; step += 1) await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(new Set(queried).size).toBe(122);
});

test('while no label can be queried, few are tried after a loss', async () => {
  const clinic = await lose(['B-1', 'C-1', 'D-1']);
  const queried = failLabels(clinic, ['A-1', 'A-2', 'B-1', 'C-1', 'D-1'], 500);
  for (let step = 0; step < 5; step += 1) await clinic.submitNow();
  expect(queried).toHaveLength(3);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('while no label can be queried, few are tried for many calls', async () => {
  const clinic = await lose(labels(40, 'V'));
  // The first bulk of an installation carries one item.
  clinic.submit.settings.mode = 'auto';
  await readDue(clinic, labels(20, 'R'));
  failLabels(clinic, [], 500);
  const queried = failWhen(clinic, () => true);
  for (let step = 0; step < 20; step += 1) await clinic.submitNow();
  expect(queried.length).toBeLessThan(10);
});

test('if the filter does nothing, the whole list decides, although labels fail', async () => {
  const clinic = await lose();
  const ways = { list_paging: 'limit_offset', list_page_size: 10, list_filter: 'ignored' };
  await clinic.service.behave(ways);
  for (const label of ['X-1', 'X-2'])
    await clinic.read(clinic.visit(label, { ...twin(label), status: 'cancelled' }, 1));
  await readDue(clinic, ['F-1']);
  failWhen(clinic, (label) => label.startsWith('X'));
  await minutesPass(clinic, 2);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'F-1']);
});

test('after a rejected login, no other label is tried', async () => {
  const clinic = await lose(['B-1', 'C-1', 'D-1']);
  await readDue(clinic, ['F-1']);
  const queried = failLabels(clinic, ['A-1', 'A-2', 'B-1', 'C-1', 'D-1'], 401);
  for (let step = 0; step < 5; step += 1) await clinic.submitNow();
  expect(queried).toHaveLength(1);
});
