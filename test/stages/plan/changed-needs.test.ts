/** A visit asks another question for a while, and then the former one again. */
import { expect, test } from 'vitest';
import { MINUTE_MS } from '../../../src/domain/time.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, send } from '../installation.ts';
import { labelsOf } from '../submit/lost-calls.ts';
import { COVERAGES, finish, OTHER_ADA, visit, written } from '../submit/merges.ts';

/** Planning looks at the visit until nothing changes anymore. */
async function readAndPlan(clinic: Installation, each: ReturnType<typeof visit>): Promise<void> {
  await clinic.read(each);
  for (let time = 0; time < 3; time += 1) {
    await clinic.planNow();
    clinic.pass(2 * MINUTE_MS);
  }
}

/** In ten minutes, everything due is planned and sent. */
async function sendAll(clinic: Installation): Promise<void> {
  for (let minute = 0; minute < 10; minute += 1) {
    await clinic.planNow();
    await clinic.submitNow();
    clinic.pass(MINUTE_MS);
  }
}

test('a visit that moves to another record and back gets one call', async () => {
  const clinic = await install();
  await clinic.submitNow();
  const booked = visit(clinic, 'A-1');
  await readAndPlan(clinic, booked);
  await readAndPlan(clinic, { ...booked, patient: OTHER_ADA });
  await readAndPlan(clinic, booked);
  await sendAll(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('no answer about a former coverage is written while another one goes back (G8)', async () => {
  const clinic = await install();
  await clinic.planNow();
  const booked = visit(clinic, 'A-1');
  await send(clinic, booked);
  await finish(clinic);
  const second = aCoverage({ member_id: 'S1' });
  const elsewhere = { ...second, payor_id: 'OTHER', carrier: 'Other' };
  await readAndPlan(clinic, { ...booked, coverages: [...COVERAGES, second] });
  await readAndPlan(clinic, { ...booked, coverages: [...COVERAGES, elsewhere] });
  await clinic.read({ ...booked, coverages: [aCoverage({ member_id: 'W3' }), second] });
  await clinic.planNow();
  expect(await written(clinic)).toEqual({});
});

test('a call that the service may have is awaited before one for a former record', async () => {
  const clinic = await install();
  await clinic.submitNow();
  const booked = visit(clinic, 'A-1');
  await readAndPlan(clinic, booked);
  await readAndPlan(clinic, { ...booked, patient: OTHER_ADA });
  const { create } = clinic.client;
  clinic.client.create = async (...given) => {
    await create(...given);
    const why = { class: 'ambiguous', cause: 'timeout', status: null } as const;
    return { ok: false, failure: { ...why, retry_after_ms: null, accepted: false } };
  };
  await clinic.submitNow();
  clinic.client.create = create;
  await readAndPlan(clinic, booked);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(clinic.events).not.toContain('stage_failed');
});
