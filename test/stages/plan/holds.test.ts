/** Which calls are on hold, and which the office can release. */
import { expect, test } from 'vitest';
import { hold, release } from '../../../src/store/bookkeeping/operator.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, send } from '../installation.ts';
import { labelsOf, lookUp, loseCreates, refuseCreates } from '../submit/lost-calls.ts';
import { goOn, merge, OTHER_ADA, visit } from '../submit/merges.ts';

const VISIT = { kind: 'appointment', id: 1 } as const;

/** The visit has vanished from the exports, and the office has released its call. */
async function installReleased(): Promise<Installation> {
  const clinic = await install();
  await clinic.planNow();
  await clinic.read(visit(clinic, 'A-1'));
  await clinic.planNow();
  await clinic.store.db
    .updateTable('appointments')
    .set({ missing_since: clinic.now(), plan_due_at: 1 })
    .execute();
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual([]);
  await clinic.store.write((tx) => release(tx, VISIT, clinic.now()));
  return clinic;
}

test('a released call of a vanished visit stays released if it comes back unsent', async () => {
  const clinic = await installReleased();
  refuseCreates(clinic, 1);
  await clinic.submitNow();
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a released call of a vanished visit stays released if it is lost', async () => {
  const clinic = await installReleased();
  await loseCreates(clinic, 1, 'before');
  await clinic.submitNow();
  await lookUp(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

/** The member IDs that the service is asked about. */
const asked = async ({ service }: Installation) =>
  (await service.ledger()).map(({ request }) => request.member_id);

const [HELD, NEW] = ['ACTIVE7', 'ACTIVE8'].map((member_id) => aCoverage({ member_id })) as [
  ReturnType<typeof aCoverage>,
  ReturnType<typeof aCoverage>,
];
test.each([
  ['the held one goes to the second place', [NEW, HELD], ['ACTIVE8']],
  ['the held one is corrected', [NEW], []],
])('a hold follows its coverage: %s', async (...given) => {
  const [, coverages, expected] = given;
  const clinic = await install();
  await clinic.planNow();
  const booked = visit(clinic, 'A-1');
  await clinic.read({ ...booked, coverages: [HELD] });
  await clinic.planNow();
  await clinic.store.write((tx) => hold(tx, VISIT, clinic.now()));
  await clinic.read({ ...booked, coverages });
  await goOn(clinic);
  expect(await asked(clinic)).toEqual(expected);
});

test('the office releases a refused call that a merge has put on hold', async () => {
  const clinic = await install();
  await clinic.planNow();
  const first = { ...visit(clinic, 'A-1'), procedure_codes: ['D2740'] };
  await clinic.read(first);
  await clinic.planNow();
  await clinic.store.write((tx) => hold(tx, VISIT, clinic.now()));
  const { create } = clinic.client;
  clinic.client.create = async () => {
    clinic.client.create = create;
    await merge(clinic);
    return { ok: false, failure: { class: 'refused', status: 422, errors: [] } };
  };
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await clinic.planNow();
  const words: string[] = [];
  for (const id of [1, 2]) {
    const released = { kind: 'appointment' as const, id };
    const done = await clinic.store.write((tx) => release(tx, released, clinic.now()));
    words.push(...done.map(({ what }) => what));
  }
  expect(words.join()).toContain('and you have corrected it');
  await clinic.read({ ...first, procedure_codes: ['D2740', 'D0274'] });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(1);
});
