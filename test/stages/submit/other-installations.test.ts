/** A query by label shows a call that this installation did not make. */
import { expect, test } from 'vitest';
import { HOUR_MS } from '../../../src/domain/time.ts';
import { currentHalts } from '../../../src/store/calls/halts.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, reconcile, send } from '../installation.ts';
import { anOldCall, labelsOf, twin, withholdTimes } from './lost-calls.ts';

/** The list shows one call of two, and all of a label. */
async function cutOff(clinic: Installation): Promise<void> {
  await clinic.service.behave({ list_paging: 'none', list_truncate: 1 });
  for (const label of ['B-1', 'B-2'])
    await send(clinic, clinic.visit(label, { coverages: [aCoverage({ member_id: label })] }));
  await clinic.collectAll();
  await reconcile(clinic);
}

async function passAnHour(clinic: Installation): Promise<void> {
  clinic.pass(HOUR_MS);
  await clinic.service.advance({ hours: 1 });
}

const haltsOf = async ({ store }: Installation) =>
  (await currentHalts(store.db)).map(({ reason }) => reason);

test('one that is newer than the last comparison stops submission', async () => {
  const clinic = await install();
  await cutOff(clinic);
  await passAnHour(clinic);
  await anOldCall(clinic, 'C-1');
  await send(clinic, clinic.visit('C-1', twin('Ada')));
  expect(await haltsOf(clinic)).toEqual(['foreign']);
  expect(await clinic.attention()).toEqual(['submission_stopped']);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'B-2', 'C-1']);
});

test.each<[string, (clinic: Installation) => void]>([
  ['without its time', withholdTimes],
  [
    'on a shared account',
    ({ submit }) => {
      submit.settings.is_shared_account = true;
    },
  ],
  [
    'while nobody knows the service’s time',
    ({ submit }) => {
      submit.clockSkew = () => null;
    },
  ],
])('one %s serves, because it may be ours', async (_, change) => {
  const clinic = await install();
  change(clinic);
  await cutOff(clinic);
  await passAnHour(clinic);
  await anOldCall(clinic, 'C-1');
  await send(clinic, clinic.visit('C-1', twin('Ada')));
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'B-2', 'C-1']);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open', 'open', 'open']);
});

test('one that is older than the last comparison serves: the list did not show it', async () => {
  const clinic = await install();
  await anOldCall(clinic, 'C-1');
  await passAnHour(clinic);
  await cutOff(clinic);
  await send(clinic, clinic.visit('C-1', twin('Ada')));
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['C-1', 'B-1', 'B-2']);
});
