/** No answer is written for a visit that has changed until planning has seen the change (G8). */
import { expect, test } from 'vitest';
import { HOUR_MS } from '../../../src/domain/time.ts';
import { retry, withdraw } from '../../../src/store/bookkeeping/operator.ts';
import { planAllAgain } from '../../../src/store/calls/plan-due.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, send } from '../installation.ts';
import { ADA, finish, visit, written } from '../submit/merges.ts';

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
