/** No answer is written for a visit that has changed until planning has seen the change (G8). */
import { expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { DAY_MS, HOUR_MS } from '../../../src/domain/time.ts';
import { retry, withdraw } from '../../../src/store/bookkeeping/operator.ts';
import { planAllAgain } from '../../../src/store/calls/plan-due.ts';
import { aCoverage } from '../../domain/examples.ts';
import { connector, type Installation, install, send } from '../installation.ts';
import { ADA, COVERAGES, finish, visit, written } from '../submit/merges.ts';

const BEN = { ...ADA, id: 'P-9', first_name: 'Ben' };
const VISIT = { kind: 'appointment', id: 1 } as const;
const OTHER_MEMBER = { coverages: [aCoverage({ member_id: 'W3' })] };

const reloadPayers = ({ store, now }: Installation) => store.write((tx) => planAllAgain(tx, now()));

const withdrawVisit = ({ store, now }: Installation) =>
  store.write((tx) => withdraw(tx, VISIT, now()));

/** Planning fails once, as it does because of a bug. */
async function failPlanning(clinic: Installation): Promise<void> {
  const setContent = (content: string) =>
    clinic.store.db.updateTable('appointments').set({ content }).execute();
  const [row] = await clinic.store.db.selectFrom('appointments').select('content').execute();
  await setContent('{"damaged');
  await clinic.planNow();
  await setContent(row?.content ?? '');
}

const failPlanningThen = (operate: typeof retry) => async (clinic: Installation) => {
  await failPlanning(clinic);
  await clinic.store.write((tx) => operate(tx, VISIT, clinic.now()));
};

/** A visit whose answer has arrived and is not written yet. */
async function installWithAnswer() {
  const clinic = await install();
  await clinic.planNow();
  const answered = visit(clinic, 'A-1');
  await send(clinic, answered);
  await finish(clinic);
  await clinic.planNow();
  return { clinic, answered };
}

const CHANGES = [
  ['member ID', OTHER_MEMBER],
  ['patient', { patient: BEN, ...OTHER_MEMBER }],
] as const;
const MOMENTS: [string, (clinic: Installation) => unknown][] = [
  ['at once', () => {}],
  ['after the clock was set back', (clinic) => clinic.pass(-2 * HOUR_MS)],
  ['after the payer map changed', reloadPayers],
  ['after planning failed', failPlanning],
  ['after planning failed and a retry', failPlanningThen(retry)],
  ['after planning failed and the office withdrew it', failPlanningThen(withdraw)],
  ['after the office withdrew it', withdrawVisit],
];
test.each(
  CHANGES.flatMap(([of, change]) =>
    MOMENTS.map(([when, passes]) => ({ of, change, when, passes })),
  ),
)('no answer reaches a visit with another $of, $when', async ({ change, passes }) => {
  const { clinic, answered } = await installWithAnswer();
  clinic.pass(2 * HOUR_MS);
  await clinic.read({ ...answered, ...change });
  await passes(clinic);
  expect(await written(clinic)).toEqual({});
  clinic.pass(3 * HOUR_MS);
  await clinic.planNow();
  expect(await written(clinic)).toEqual({});
});

test('the answer of a visit that the office withdrew is written, as before', async () => {
  const { clinic } = await installWithAnswer();
  await withdrawVisit(clinic);
  expect(await written(clinic)).toEqual({ 'A-1': ['A-1'] });
});

test('the answer of an unchanged visit is written before it is planned again', async () => {
  const { clinic } = await installWithAnswer();
  await reloadPayers(clinic);
  expect(await written(clinic)).toEqual({ 'A-1': ['A-1'] });
});

/** What the connector writes for claims: claim and patient. */
async function writtenClaims(clinic: Installation): Promise<string[]> {
  const got: string[] = [];
  await clinic.deliverNow({
    ...connector(() => {}),
    deliverClaims: async ({ deliveries }) =>
      deliveries.map(({ key, claim: { source_id, patient } }) => {
        got.push(`${source_id} ${patient.id}`);
        return { key, outcome: 'delivered' as const };
      }),
  });
  return got;
}

const { coverage } = claim(1);
const CLAIM_CHANGES = [
  ['patient', { patient: { ...BEN, birth_date: '1990-02-03' } }, []],
  ['member ID', { coverage: { ...coverage, member_id: 'ACTIVE-2' } }, []],
  ['first name', { patient: { ...claim(1).patient, first_name: 'Ada Maria' } }, ['C-1 P-1']],
] as const;
test.each(CLAIM_CHANGES)('what is written for a claim with another %s', async (...given) => {
  const [, change, expected] = given;
  const clinic = await install();
  await clinic.submitNow();
  await clinic.planNow();
  const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  const first = { ...claim(1), coverage: { ...coverage, member_id: 'ACTIVE-1' }, date_of_service };
  const asked = [
    { ...first, source_id: 'C-1', claim_number: 'N-1' },
    { ...first, source_id: 'C-2', claim_number: 'N-2' },
  ] as const;
  await clinic.readClaims(asked[0]);
  await clinic.planNow();
  await clinic.submitNow();
  await finish(clinic);
  await clinic.planNow();
  // One changes before its answer is written, the other before its answer arrives.
  await clinic.readClaims(asked[1]);
  await clinic.planNow();
  await clinic.submitNow();
  for (const each of asked) await clinic.readClaims({ ...each, ...change });
  await clinic.planNow();
  await finish(clinic);
  await clinic.planNow();
  const others = expected.map((each) => each.replace('C-1', 'C-2'));
  expect((await writtenClaims(clinic)).toSorted()).toEqual([...expected, ...others]);
  await clinic.store.write((tx) => retry(tx, VISIT, clinic.now()));
  expect(await writtenClaims(clinic)).toEqual([]);
});

test('a claim that moves to a twin’s record gets only the answer about the twin (G8)', async () => {
  const clinic = await install();
  await clinic.submitNow();
  await clinic.planNow();
  const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  const about = { coverage: { ...coverage, member_id: 'ACTIVE-1' }, date_of_service };
  const [asked, moved] = [ADA, BEN].map((patient) => ({ ...claim(1), ...about, patient }));
  for (const each of [asked, moved]) {
    await clinic.readClaims(each!);
    await clinic.planNow();
    await clinic.submitNow();
    await finish(clinic);
    await clinic.planNow();
  }
  expect(await writtenClaims(clinic)).toEqual(['C-1 P-9']);
  const deliveries = await clinic.deliveries();
  expect(deliveries.map(({ state }) => state)).toEqual(['parked', 'delivered']);
});

test('a delivery that waits for planning does not delay the retry of another', async () => {
  const { clinic, answered } = await installWithAnswer();
  const other = { ...ADA, id: 'P-7', birth_date: '1990-01-01' };
  await send(clinic, visit(clinic, 'B-1', other));
  await finish(clinic);
  await clinic.planNow();
  await clinic.read({ ...answered, ...OTHER_MEMBER });
  const failing = {
    ...connector(() => {}),
    deliver: async ({ deliveries }: { deliveries: { key: string }[] }) =>
      deliveries.map(({ key }) => ({
        key,
        outcome: 'failed' as const,
        is_permanent: false,
        what: 'It is locked.',
        next: 'Wait.',
      })),
  };
  await clinic.deliverNow(failing);
  expect((await clinic.deliverNow(failing)).next_at).toBeGreaterThan(clinic.now());
});

test('the schedule shows no answer about the former patient of a visit', async () => {
  const { clinic, answered } = await installWithAnswer();
  const lines: unknown[] = [];
  const pms = {
    ...connector(() => {}),
    publishTable: async (each: Iterable<unknown> | AsyncIterable<unknown>) => {
      lines.length = 0;
      for await (const line of each) lines.push(line);
    },
  };
  await clinic.deliverNow(pms);
  const before = JSON.stringify(lines);
  expect(before).toContain('eductible');
  await clinic.read({ ...answered, patient: BEN, ...OTHER_MEMBER });
  clinic.pass(HOUR_MS);
  await clinic.deliverNow(pms);
  expect(JSON.stringify(lines)).toContain('Ben');
  expect(JSON.stringify(lines)).not.toContain('eductible');
});

test('an ID that is another patient’s now gets no answer whose coverage has moved', async () => {
  const clinic = await install();
  await clinic.planNow();
  const coverages = [...COVERAGES, aCoverage({ member_id: 'ACTIVE7' })];
  const booked = { ...visit(clinic, 'A-1'), coverages };
  await send(clinic, booked);
  await finish(clinic);
  await clinic.planNow();
  await clinic.read({ ...booked, coverages: coverages.toReversed() });
  const born = { ...BEN, birth_date: '1990-03-03' };
  await clinic.read({ ...booked, patient: born, ...OTHER_MEMBER });
  await clinic.planNow();
  expect(await written(clinic)).toEqual({});
});
