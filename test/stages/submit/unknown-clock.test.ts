/** Calls of ours on the list of a service that states no time of its own in its replies (G1). */
import { expect, test } from 'vitest';
import { HOUR_MS } from '../../../src/domain/time.ts';
import { type Installation, install, reconcile, send } from '../installation.ts';
import { callTwice, haltsOf, labelsOf, lookUp, loseCreates, twin, withhold } from './lost-calls.ts';

/** eligd does not know the service's clock. Its own is ahead by these hours, or behind. */
async function installUnknown(ahead_hours: number): Promise<Installation> {
  const clinic = await install();
  clinic.submit.clockSkew = () => null;
  if (ahead_hours > 0) clinic.pass(ahead_hours * HOUR_MS);
  if (ahead_hours < 0) await clinic.service.advance({ hours: -ahead_hours });
  return clinic;
}

/** The reply to the call of A-1 is lost, and the list shows it without these fields. */
async function loseAndWithhold(clinic: Installation, ...fields: string[]): Promise<void> {
  await send(clinic, clinic.visit('A-0'));
  await loseCreates(clinic, 1);
  const [other] = await clinic.service.ledger();
  withhold(clinic, ...fields).not_of = other!.id;
  await send(clinic, clinic.visit('A-1', twin('Ada')));
}

test.each([1, 0, -1])(
  'a call that may be ours is not made again: clock %s h ahead',
  async (ahead) => {
    const clinic = await installUnknown(ahead);
    await loseAndWithhold(clinic, 'dob', 'external_id');
    await lookUp(clinic);
    expect(await labelsOf(clinic)).toEqual(['A-0', 'A-1']);
  },
);

test.each([1, 0, -1])('a call that may be ours stops nothing: clock %s h ahead', async (ahead) => {
  const clinic = await installUnknown(ahead);
  await loseAndWithhold(clinic, 'external_id');
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual([]);
  await lookUp(clinic);
  expect(await haltsOf(clinic)).toEqual([]);
});

test.each([1, 0, -1])('a late call of ours is reported: clock %s h ahead', async (ahead) => {
  const clinic = await installUnknown(ahead);
  const { show } = await callTwice(clinic);
  await show(1);
  await reconcile(clinic);
  await show(0);
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
});
