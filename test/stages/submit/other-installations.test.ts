/** A list shows a call that this installation did not make. */
import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { currentHalts, endHalt } from '../../../src/store/calls/halts.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, reconcile, send } from '../installation.ts';
import { CUT_OFF, cutLists } from './cut-lists.ts';
import {
  acceptAndHide,
  anOldCall,
  labelsOf,
  lookUp,
  loseCreates,
  TWINS,
  twin,
  withhold,
  withholdTimes,
} from './lost-calls.ts';

const about = (member_id: string) => ({ coverages: [aCoverage({ member_id })] });

const CALL = { ...TWINS, patient_name: 'Ada Example' };

/** The list shows one call of two, and all of a label. */
async function cutOff(clinic: Installation): Promise<void> {
  await clinic.service.behave({ list_paging: 'none', list_truncate: 1 });
  for (const label of ['B-1', 'B-2']) await send(clinic, clinic.visit(label, about(label)));
  await clinic.collectAll();
  await reconcile(clinic);
}

async function passAnHour(clinic: Installation): Promise<void> {
  clinic.pass(HOUR_MS);
  await clinic.service.advance({ hours: 1 });
}

const statesOf = async (clinic: Installation) =>
  (await clinic.inquiries()).map(({ state }) => state);

const haltsOf = async ({ store }: Installation) =>
  (await currentHalts(store.db)).map(({ reason }) => reason);

test.each(['in the same boot', 'in an unknown one'])(
  'one that is newer than the last comparison stops submission (%s)',
  async (boot) => {
    const clinic = await install();
    if (boot === 'in the same boot')
      clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
    await cutOff(clinic);
    await passAnHour(clinic);
    await anOldCall(clinic, 'C-1');
    // D-1 has no call, and waits in the same step.
    await clinic.read(clinic.visit('C-1', twin('Ada')), clinic.visit('D-1', about('D-1')));
    await clinic.planNow();
    await clinic.submitNow();
    expect(await haltsOf(clinic)).toEqual(['foreign']);
    expect(await clinic.attention()).toEqual(['submission_stopped']);
    expect(await labelsOf(clinic)).toEqual(['B-1', 'B-2', 'C-1']);
  },
);

test('after the release, older ones serve, and a newer one stops submission again', async () => {
  const clinic = await install();
  clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
  await cutOff(clinic);
  await passAnHour(clinic);
  const call = (label: string) =>
    clinic.service.createBeside({ ...CALL, member_id: label, external_id: label });
  for (const label of ['C-1', 'C-2']) await call(label);
  await send(clinic, clinic.visit('C-1', { ...twin('Ada'), ...about('C-1') }));
  expect(await haltsOf(clinic)).toEqual(['foreign']);
  await clinic.store.write((tx) => endHalt(tx, 'foreign'));
  await send(clinic, clinic.visit('C-2', { ...twin('Ada'), ...about('C-2') }));
  expect(await haltsOf(clinic)).toEqual([]);
  await passAnHour(clinic);
  await call('C-3');
  await send(clinic, clinic.visit('C-3', { ...twin('Ada'), ...about('C-3') }));
  expect(await haltsOf(clinic)).toEqual(['foreign']);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'B-2', 'C-1', 'C-2', 'C-3']);
});

test('one that the list hid shortly before the last comparison serves', async () => {
  const clinic = await install();
  clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
  await anOldCall(clinic, 'C-1');
  await clinic.service.advance({ seconds: 180 });
  clinic.pass(3 * MINUTE_MS);
  await cutOff(clinic);
  await passAnHour(clinic);
  await send(clinic, clinic.visit('C-1', twin('Ada')));
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['C-1', 'B-1', 'B-2']);
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
])('one %s serves', async (_, change) => {
  const clinic = await install();
  change(clinic);
  await cutOff(clinic);
  await passAnHour(clinic);
  await anOldCall(clinic, 'C-1');
  await send(clinic, clinic.visit('C-1', twin('Ada')));
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'B-2', 'C-1']);
  expect(await statesOf(clinic)).toEqual(['open', 'open', 'open']);
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

test('while submission is stopped, eligd finds all calls that it could not find', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('B-1', about('B-1')));
  await clinic.collectAll();
  const { list } = clinic.client;
  const labels = ['D-1', 'D-2', 'D-3'];
  const calls = labels.map((label) => clinic.visit(label, about(label), 4));
  await acceptAndHide(clinic, () => send(clinic, ...calls));
  for (let count = 0; count < 4; count += 1) await lookUp(clinic);
  expect(await statesOf(clinic)).toEqual(['open', ...labels.map(() => 'undecidable')]);
  clinic.client.list = list;
  await anOldCall(clinic, 'Z-1');
  await passAnHour(clinic);
  cutLists(clinic, [(await clinic.service.ledger()).at(-1)?.id], CUT_OFF);
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual(['foreign']);
  expect(await statesOf(clinic)).toEqual(['open', 'open', 'open', 'open']);
});

test.each(['open', 'answered'] as const)(
  'a request that another call has replaced explains none (%s)',
  async (state) => {
    const clinic = await install();
    clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
    await send(clinic, clinic.visit('B-1', about('B-1')));
    await clinic.collectAll();
    await passAnHour(clinic);
    await reconcile(clinic);
    await loseCreates(clinic, 1, 'before');
    await send(clinic, clinic.visit('A-1', twin('Ada')));
    await lookUp(clinic);
    expect(await statesOf(clinic)).toEqual(['open', 'open']);
    await clinic.store.db.updateTable('inquiries').set({ state }).execute();
    await anOldCall(clinic, 'Z-1');
    withhold(clinic, 'external_id');
    await reconcile(clinic);
    expect(await haltsOf(clinic)).toEqual(['foreign']);
  },
);
