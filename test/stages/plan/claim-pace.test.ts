/** How soon the payer is asked about an undecided claim again (G1). */
import { expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { DAY_MS, HOUR_MS } from '../../../src/domain/time.ts';
import { type Installation, install } from '../installation.ts';
import { callsBringNothing, labelsOf } from '../submit/lost-calls.ts';
import { goOn, pass } from '../submit/merges.ts';

const BEHIND_MS = 6 * DAY_MS;

/** Has the computer's clock be behind, as the service's replies show, while `work` runs. */
async function whileBehind(clinic: Installation, work: () => Promise<void>): Promise<void> {
  const { clockSkew } = clinic.collect;
  clinic.collect.clockSkew = () => -BEHIND_MS;
  clinic.pass(-BEHIND_MS);
  await work();
  clinic.pass(BEHIND_MS);
  clinic.collect.clockSkew = clockSkew;
}

test('an answer that came while the clock was behind is not older than it is (G1)', async () => {
  const clinic = await install();
  await clinic.planNow();
  const { coverage, ...rest } = claim(1);
  const about = { coverage: { ...coverage, member_id: 'ACTIVE0' }, claim_number: 'PENDING-1' };
  await clinic.readClaims({ ...rest, ...about, date_of_service: '2037-12-10' });
  await clinic.planNow();
  await clinic.submitNow();
  await pass(clinic, 3);
  await whileBehind(clinic, async () => {
    await clinic.collectAll();
    await clinic.planNow();
  });
  expect(await labelsOf(clinic)).toEqual(['C-1']);
  await pass(clinic, 9);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['C-1']);
  await pass(clinic, 3);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['C-1', 'C-1']);
});

test('a claim’s next attempt that comes back waits for its pause', async () => {
  const clinic = await install({ collecting: { attempt_pause_ms: 20 * HOUR_MS } });
  await clinic.submitNow();
  const { coverage, ...rest } = claim(1);
  const read = async (member_id: string) => {
    const about = { date_of_service: '2037-12-10', coverage: { ...coverage, member_id } };
    await clinic.readClaims({ ...rest, ...about });
    await clinic.planNow();
  };
  await read('ACTIVE0');
  await clinic.submitNow();
  callsBringNothing(clinic);
  clinic.pass(6 * HOUR_MS);
  await clinic.collectAll();
  await clinic.planNow();
  await read('');
  await read('ACTIVE0');
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toHaveLength(1);
  clinic.pass(21 * HOUR_MS);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toHaveLength(2);
});
