/** A list that says that it is complete, and is not. */
import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { newSubmitMemory } from '../../../src/stages/submit/deps.ts';
import { demandReconciliation, ensureReconciled } from '../../../src/stages/submit/index.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, reconcile, send } from '../installation.ts';
import { CUT_OFF, cutLists, failLabels, minutesPass, PROVEN, watchLabels } from './cut-lists.ts';
import { anOldCall, labelsOf, lookUp, loseCreates, TWINS, twin } from './lost-calls.ts';

test('a list that falsely says it is complete hides no call of a lost database (G1)', async () => {
  const clinic = await install();
  clinic.submit.settings.is_shared_account = true;
  const other = { ...TWINS, member_id: 'X9', patient_name: 'Bea Example', external_id: 'Z-9' };
  await clinic.service.createBeside(other);
  const [unknown] = await clinic.service.ledger();
  await anOldCall(clinic, 'A-1');
  cutLists(clinic, [unknown?.id], PROVEN);
  await ensureReconciled(clinic.submit, 'dental');
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await labelsOf(clinic)).toEqual(['Z-9', 'A-1']);
});

test('a call under the label of a canceled visit serves the next one of the patient', async () => {
  const clinic = await install();
  clinic.submit.settings.is_shared_account = true;
  await anOldCall(clinic, 'A-1');
  cutLists(clinic, [], CUT_OFF);
  await ensureReconciled(clinic.submit, 'dental');
  await clinic.read(clinic.visit('A-1', { ...twin('Ada'), status: 'cancelled' }));
  await send(clinic, clinic.visit('A-2', twin('Ada')));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a call under an ID that the PMS gave to another patient serves the next visit', async () => {
  const clinic = await install();
  clinic.submit.settings.is_shared_account = true;
  await anOldCall(clinic, 'A-1');
  cutLists(clinic, [], CUT_OFF);
  await ensureReconciled(clinic.submit, 'dental');
  const patient = { id: 'P-9', first_name: 'Eve', last_name: 'Other', birth_date: '1990-05-06' };
  await clinic.read(clinic.visit('A-1', twin('Ada')));
  const coverages = [aCoverage({ member_id: 'X9' })];
  await clinic.read(clinic.visit('A-1', { patient, coverages, status: 'cancelled' }));
  await send(clinic, clinic.visit('A-2', twin('Ada')));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a database that lacks a send hides no call behind a list that seems complete', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, clinic.visit('B-1', { coverages: [aCoverage({ member_id: 'W9' })] }));
  const [known] = await clinic.service.ledger();
  await anOldCall(clinic, 'A-1');
  // The lock file has counted one send more than the database, which an older one has replaced.
  clinic.submit.sends.write(clinic.submit.sends.read() + 1);
  cutLists(clinic, [known?.id], PROVEN);
  demandReconciliation(clinic.submit);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1']);
});

test('a machine of which nobody knows if it was rolled back queries labels, too (G1)', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, clinic.visit('B-1', { coverages: [aCoverage({ member_id: 'W9' })] }));
  const [known] = await clinic.service.ledger();
  await anOldCall(clinic, 'A-1');
  cutLists(clinic, [known?.id], PROVEN);
  demandReconciliation(clinic.submit);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1']);
});

test('a send that a crash kept from being counted costs no query by label', async () => {
  const clinic = await install();
  booted(clinic);
  await clinic.planNow();
  for (const id of ['B-1', 'B-2', 'B-3'])
    await send(clinic, clinic.visit(id, { coverages: [aCoverage({ member_id: id })] }));
  await reconcile(clinic);
  await loseCreates(clinic, 1, 'before');
  await send(clinic, clinic.visit('B-4', { coverages: [aCoverage({ member_id: 'B-4' })] }));
  const { sends } = clinic.submit;
  sends.write(sends.read() - 1);
  const labels = watchLabels(clinic);
  demandReconciliation(clinic.submit);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(labels).not.toContain('A-1');
  expect(await labelsOf(clinic)).toEqual(['B-1', 'B-2', 'B-3', 'A-1']);
});

/** The machine as its boot clock shows it; it sleeps while the other clocks go on. */
function booted(clinic: Installation) {
  const boot = { id: 'one boot', asleep_ms: 0 };
  const begun_at = clinic.now();
  clinic.submit.env.boot = () => ({
    id: boot.id,
    awake_ms: HOUR_MS + clinic.now() - begun_at - boot.asleep_ms,
  });
  return boot;
}

test('a machine that was rolled back before its first call queries labels (G1)', async () => {
  const clinic = await install();
  const boot = booted(clinic);
  await ensureReconciled(clinic.submit, 'dental');
  await anOldCall(clinic, 'A-1');
  clinic.pass(10 * MINUTE_MS);
  boot.asleep_ms = 10 * MINUTE_MS;
  cutLists(clinic, [], PROVEN);
  demandReconciliation(clinic.submit);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test.each([
  // The snapshot brings an older boot clock back, with the lock file.
  ['is rolled back', { asleep_ms: 10 * MINUTE_MS }, ['A-1']],
  ['is started again', { id: 'another boot' }, ['A-1']],
  ['runs all the time', {}, []],
])('the end of a list after the machine %s (G1)', async (_, change, queried) => {
  const clinic = await install();
  const boot = booted(clinic);
  await clinic.planNow();
  await send(clinic, clinic.visit('B-1', { coverages: [aCoverage({ member_id: 'W9' })] }));
  const [known] = await clinic.service.ledger();
  await reconcile(clinic);
  if (queried.length > 0) await anOldCall(clinic, 'A-1');
  const labels = watchLabels(clinic);
  cutLists(clinic, [known?.id], { is_complete: true, is_end_proven: false });
  clinic.pass(20 * MINUTE_MS);
  Object.assign(boot, change);
  demandReconciliation(clinic.submit);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(labels).toEqual(queried);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1']);
});

/** Replies to creates are cut off after the acceptance, and no list shows these calls. */
function loseFromSight({ client }: Installation): () => void {
  const { create, list } = client;
  client.create = async (...given) => {
    await create(...given);
    const failure = { cause: 'truncated', status: 200, retry_after_ms: null } as const;
    return { ok: false, failure: { class: 'ambiguous', accepted: true, ...failure } };
  };
  client.list = async (...given) => {
    const result = await list(...given);
    return result.ok ? { ok: true, value: { ...result.value, inquiries: [] } } : result;
  };
  return () => {
    client.list = list;
  };
}

test('a call that a list hides leaves the attention list once its label shows it', async () => {
  const clinic = await install();
  await clinic.planNow();
  const showAgain = loseFromSight(clinic);
  await send(clinic, clinic.visit('A-1'));
  await lookUp(clinic);
  expect(await clinic.attention()).toEqual(['undecidable']);
  showAgain();
  cutLists(clinic, [], CUT_OFF);
  demandReconciliation(clinic.submit);
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('the office hears of calls that wait for a failing query by label (G2)', async () => {
  const clinic = await install();
  const { list } = clinic.client;
  cutLists(clinic, [], CUT_OFF);
  const { list: cut } = clinic.client;
  clinic.client.list = async (specialty, filter, options) =>
    filter.external_id === undefined
      ? await cut(specialty, filter, options)
      : {
          ok: false,
          failure: {
            class: 'ambiguous',
            cause: 'http_status',
            status: 500,
            retry_after_ms: null,
            accepted: false,
          },
        };
  await send(clinic, clinic.visit('A-1'));
  for (let minute = 0; minute < 75; minute += 1) {
    clinic.pass(MINUTE_MS);
    await clinic.submitNow();
  }
  expect(await labelsOf(clinic)).toEqual([]);
  const [entry, ...others] = await openAttention(clinic.store.db);
  expect(others).toEqual([]);
  expect(entry?.what).toContain(
    'the query for the inquiries of one visit fails, because it answered 500',
  );
  expect(entry?.next).toContain('external_id');
  expect(clinic.events.filter((event) => event === 'label_check_failed')).toHaveLength(1);
  clinic.client.list = list;
  clinic.pass(11 * MINUTE_MS);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(await clinic.attention()).toEqual([]);
});

test('a label that cannot be queried delays only its call, and is told (G2, G7)', async () => {
  const clinic = await install();
  const queried = failLabels(clinic, ['A-0', 'B-0'], 500);
  for (const [one, first_name] of [
    ['A', 'Ada'],
    ['B', 'Ben'],
    ['C', 'Cleo'],
  ] as const) {
    await clinic.read(clinic.visit(`${one}-0`, { ...twin(first_name), status: 'cancelled' }));
    await clinic.read(clinic.visit(`${one}-1`, twin(first_name)));
  }
  await clinic.planNow();
  await clinic.submitNow();
  await minutesPass(clinic, 75);
  expect(await labelsOf(clinic)).toEqual(['C-1']);
  expect(queried.filter((label) => label === 'A-0').length).toBeLessThan(20);
  expect((await openAttention(clinic.store.db)).map(({ what }) => what)).toEqual([
    expect.stringContaining('the query for the inquiries of one visit fails'),
  ]);
  expect(clinic.events.filter((event) => event === 'label_check_failed')).toHaveLength(1);
});

test('after a rejected login, no label is queried for a quarter of an hour', async () => {
  const clinic = await install();
  const queried = failLabels(clinic, ['A-1', 'B-1'], 401);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await minutesPass(clinic, 2);
  await send(clinic, clinic.visit('B-1', twin('Ben')));
  await minutesPass(clinic, 10);
  expect(queried).toEqual(['A-1']);
  expect(await clinic.attention()).toEqual(['submission_stopped']);
});

test('a label that failed days ago and fails once again is no long outage', async () => {
  const clinic = await install();
  const labels = ['A-1'];
  failLabels(clinic, labels, 500);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await clinic.read(clinic.visit('A-1', { ...twin('Ada'), status: 'cancelled' }));
  await clinic.planNow();
  clinic.pass(2 * DAY_MS);
  demandReconciliation(clinic.submit);
  await clinic.submitNow();
  await send(clinic, clinic.visit('A-1', twin('Ada'), 5));
  expect(await clinic.attention()).toEqual([]);
});

test('a label whose query the service forbids delays only its own call (G7)', async () => {
  const clinic = await install();
  failLabels(clinic, ['A-1'], 403);
  await send(clinic, clinic.visit('A-1', twin('Ada'), 3));
  await send(clinic, clinic.visit('B-1', twin('Ben'), 5));
  expect(await labelsOf(clinic)).toEqual(['B-1']);
  expect(await clinic.attention()).toEqual(['submission_stopped']);
});

test('the entry about a label ends when its call is made without it', async () => {
  const clinic = await install();
  failLabels(clinic, ['A-1'], 500);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await minutesPass(clinic, 75);
  expect(await clinic.attention()).toEqual(['submission_stopped']);
  const { list } = clinic.client;
  clinic.client.list = async (...given) => {
    const result = await list(...given);
    return result.ok ? { ok: true, value: { ...result.value, ...PROVEN } } : result;
  };
  demandReconciliation(clinic.submit);
  await minutesPass(clinic, 20);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(await clinic.attention()).toEqual([]);
});

test('the entry about a label ends with the visit, and not before', async () => {
  const clinic = await install();
  failLabels(clinic, ['A-1'], 500);
  await send(clinic, clinic.visit('A-1', twin('Ada'), 6));
  await minutesPass(clinic, 75);
  clinic.pass(8 * HOUR_MS);
  demandReconciliation(clinic.submit);
  await minutesPass(clinic, 1);
  await send(clinic, clinic.visit('B-1', twin('Ben'), 6));
  expect(await labelsOf(clinic)).toEqual(['B-1']);
  expect(await clinic.attention()).toEqual(['submission_stopped']);
  await clinic.read(clinic.visit('A-1', { ...twin('Ada'), status: 'cancelled' }));
  await clinic.planNow();
  await minutesPass(clinic, 1);
  expect(await clinic.attention()).toEqual([]);
});

test('while no label can be queried, eligd tries few of them a minute', async () => {
  const clinic = await install();
  const names = Array.from({ length: 30 }, (_, index) => `V-${index}`);
  const queried = failLabels(clinic, names, 500);
  for (const name of names) {
    const coverages = [aCoverage({ member_id: name })];
    await clinic.read(clinic.visit(name, { ...twin(name), coverages }));
  }
  await clinic.planNow();
  for (let step = 0; step < 10; step += 1) await clinic.submitNow();
  expect(queried).toHaveLength(2);
});

test.each([
  ['a label that fails does', ['A-1'], 'B-1'],
  ['two labels that fail do', ['A-1', 'B-1'], 'C-1'],
])('%s not keep eligd from asking about another lost call', async (_, failing, other) => {
  const clinic = await install();
  await clinic.planNow();
  const showAgain = loseFromSight(clinic);
  for (const label of [...failing, other]) {
    const coverages = [aCoverage({ member_id: label })];
    await send(clinic, clinic.visit(label, { ...twin(label), coverages }, 7));
  }
  for (let round = 0; round <= failing.length; round += 1) await lookUp(clinic);
  expect(await clinic.attention()).toEqual([...failing, other].map(() => 'undecidable'));
  showAgain();
  failLabels(clinic, failing, 500);
  await reconcile(clinic);
  expect(await clinic.attention()).toEqual(failing.map(() => 'undecidable'));
  expect(clinic.events.filter((event) => event === 'label_check_failed')).toHaveLength(1);
});

test('labels that fail first in every process do not keep a later call from its turn', async () => {
  const clinic = await install();
  failLabels(clinic, ['A-1', 'B-1'], 500);
  await clinic.read(clinic.visit('A-1', twin('Ada'), 3));
  await clinic.read(clinic.visit('B-1', twin('Ben'), 3));
  await clinic.read(clinic.visit('C-1', twin('Cleo'), 5));
  await clinic.planNow();
  for (let run = 0; run < 2; run += 1) {
    clinic.submit.memory = newSubmitMemory();
    await clinic.submitNow();
    clinic.pass(HOUR_MS);
  }
  expect(await labelsOf(clinic)).toEqual(['C-1']);
});

test('the label of a visit that is read during the queries is queried, too (G1)', async () => {
  const clinic = await install();
  clinic.submit.settings.is_shared_account = true;
  await anOldCall(clinic, 'A-1');
  cutLists(clinic, [], CUT_OFF);
  await ensureReconciled(clinic.submit, 'dental');
  const { list } = clinic.client;
  clinic.client.list = async (specialty, filter, options) => {
    const result = await list(specialty, filter, options);
    if (filter.external_id === 'A-2') {
      // The next file of the first import.
      await clinic.read(clinic.visit('A-1', twin('Ada')));
      await clinic.planNow();
    }
    return result;
  };
  await clinic.read(clinic.visit('A-2', twin('Ada'), 4));
  await clinic.planNow();
  // It goes on at once.
  expect((await clinic.submitNow()).did).toBeGreaterThan(0);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a list that leaves out a known call may hide others whatever its end says (G1)', async () => {
  const clinic = await install();
  await clinic.submitNow();
  await send(clinic, clinic.visit('B-1', { coverages: [aCoverage({ member_id: 'W9' })] }));
  await clinic.collectAll();
  clinic.submit.settings.is_shared_account = true;
  await anOldCall(clinic, 'A-1');
  cutLists(clinic, [], PROVEN);
  demandReconciliation(clinic.submit);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1']);
});
