/** A visit that keeps the office's hold shares a call that is not on hold with another visit. */
import { expect, test } from 'vitest';
import { hold, release, retry, withdraw } from '../../../src/store/bookkeeping/operator.ts';
import { type Installation, install, send } from '../installation.ts';
import { labelsOf, lookUp, loseCreates, refuseNextCall } from '../submit/lost-calls.ts';
import { ADA, COVERAGES, finish, goOn, pass, vanish, visit } from '../submit/merges.ts';

const FIRST = { kind: 'appointment', id: 1 } as const;

const releaseFirst = ({ store, now }: Installation) =>
  store.write((tx) => release(tx, FIRST, now()));

/** A-1 was on hold and canceled; A-2 needs the call, which A-1 shares when it is back. */
async function installShared() {
  const clinic = await install();
  await clinic.planNow();
  const [first, second] = [visit(clinic, 'A-1'), visit(clinic, 'A-2')];
  const plan = async (...visits: (typeof first)[]) => {
    await clinic.read(...visits);
    await clinic.planNow();
  };
  await plan(first);
  await clinic.store.write((tx) => hold(tx, FIRST, clinic.now()));
  await plan({ ...first, status: 'cancelled' });
  await plan(second);
  await plan(first);
  const leave = () => plan({ ...second, status: 'cancelled' });
  return { clinic, leave };
}

async function lookUpAndGoOn(clinic: Installation): Promise<void> {
  for (let time = 0; time < 3; time += 1) {
    await lookUp(clinic);
    await goOn(clinic);
  }
}

test('a lost call that the other visit has left is made only after the release', async () => {
  const { clinic, leave } = await installShared();
  await loseCreates(clinic, 1, 'before');
  await clinic.submitNow();
  await leave();
  await lookUpAndGoOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
  await releaseFirst(clinic);
  await lookUpAndGoOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test.each(['appointment', 'inquiry'] as const)(
  'a refused call that the other visit has left is on hold if the office retries the %s',
  async (kind) => {
    const { clinic, leave } = await installShared();
    await refuseNextCall(clinic);
    await clinic.submitNow();
    await leave();
    await clinic.store.write((tx) => retry(tx, { kind, id: 1 }, clinic.now()));
    await goOn(clinic);
    expect(await labelsOf(clinic)).toEqual([]);
  },
);

test('the call is on hold once the other visit has vanished, and is made if released', async () => {
  const { clinic } = await installShared();
  await vanish(clinic, 'A-2');
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
  await releaseFirst(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(1);
});

test('a lost call that a vanished visit took is made once that is back (G2)', async () => {
  const clinic = await install({ policy: { look_ahead_days: 10 } });
  await clinic.planNow();
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'A-1'));
  const undecidable = { state: 'undecidable', lookup_at: null } as const;
  await clinic.store.db.updateTable('inquiries').set(undecidable).execute();
  await clinic.store.write((tx) => withdraw(tx, FIRST, clinic.now()));
  const far = clinic.visit('A-2', { patient: ADA, coverages: COVERAGES }, 12);
  await clinic.read(far);
  await vanish(clinic, 'A-2');
  await pass(clinic, 4);
  await clinic.planNow();
  await clinic.read(far);
  await clinic.planNow();
  await lookUpAndGoOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(1);
});

test('the hold ends once the call was made, because the other visit needed it (G2)', async () => {
  const { clinic } = await installShared();
  await clinic.submitNow();
  await finish(clinic);
  await clinic.planNow();
  const corrected = [{ ...COVERAGES[0]!, member_id: 'ACTIVE6' }];
  await clinic.read({ ...visit(clinic, 'A-1'), coverages: corrected });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-2', 'A-1']);
});
