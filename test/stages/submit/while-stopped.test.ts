/** What others call while submission is stopped: eligd compares the list again before it calls. */
import { expect, test } from 'vitest';
import { noteMode } from '../../../src/daemon/observing.ts';
import { MINUTE_MS } from '../../../src/domain/time.ts';
import { newSubmitMemory } from '../../../src/stages/submit/deps.ts';
import { beginWithoutComparison } from '../../../src/stages/submit/index.ts';
import { writeLearned } from '../../../src/store/bookkeeping/learned-settings.ts';
import { explainDatabase } from '../../../src/store/bookkeeping/new-database.ts';
import { releaseSubmission } from '../../../src/store/bookkeeping/operator.ts';
import { halt } from '../../../src/store/calls/halts.ts';
import { type Installation, install, reconcile, send } from '../installation.ts';
import {
  about,
  advance,
  haltsOf,
  labelsOf,
  loseCreates,
  TWINS,
  twin,
  withholdTimes,
} from './lost-calls.ts';

/** Another installation, which has other labels, calls for the visit with this member ID. */
const callElsewhere = ({ service }: Installation, member_id: string) =>
  service.createBeside({
    ...TWINS,
    patient_name: 'Ada Example',
    member_id,
    external_id: `other:${member_id}`,
  });

const passMinutes = (clinic: Installation, minutes: number) => advance(clinic, minutes * MINUTE_MS);

const release = ({ store, now }: Installation) => store.write((tx) => releaseSubmission(tx, now()));

/** The machine tells its boot; it is always awake. */
async function installAwake(): Promise<Installation> {
  const clinic = await install();
  const began_at = clinic.now();
  clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() - began_at });
  return clinic;
}

async function read(clinic: Installation, label: string): Promise<void> {
  await clinic.read(clinic.visit(label, { ...twin('Ada'), ...about(label) }));
  await clinic.planNow();
}

/** eligd stops, because another installation has called. */
async function stopForOther(clinic: Installation): Promise<void> {
  await passMinutes(clinic, 20);
  await callElsewhere(clinic, 'C-1');
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual(['foreign']);
  await passMinutes(clinic, 12);
}

async function installWithCall(): Promise<Installation> {
  const clinic = await installAwake();
  await send(clinic, clinic.visit('B-1', about('B-1')));
  await reconcile(clinic);
  return clinic;
}

/** A step of a new process, as with `once` from cron. */
async function once(clinic: Installation): Promise<void> {
  clinic.submit.memory = newSubmitMemory();
  await clinic.submitNow();
}

const STEPS = [
  ['of the same process', (clinic: Installation) => clinic.submitNow()],
  ['of a new process each time', once],
] as const;

test.each(STEPS)(
  'what another installation called serves after the release (steps %s)',
  async (_, step) => {
    const clinic = await installWithCall();
    await stopForOther(clinic);
    await callElsewhere(clinic, 'C-2');
    await read(clinic, 'C-2');
    await passMinutes(clinic, 5);
    await step(clinic);
    await passMinutes(clinic, 1);
    await release(clinic);
    await passMinutes(clinic, 4);
    await step(clinic);
    expect(await labelsOf(clinic)).toEqual(['B-1', 'other:C-1', 'other:C-2']);
    expect(await haltsOf(clinic)).toEqual([]);
  },
);

test('what the former installation called while this one observed serves', async () => {
  const clinic = await installAwake();
  const setMode = async (mode: 'observe' | 'live') => {
    await noteMode(clinic.store, mode, clinic.now());
    clinic.submit.settings.is_observing = mode === 'observe';
  };
  await setMode('observe');
  await read(clinic, 'C-2');
  await once(clinic);
  await passMinutes(clinic, 12);
  await callElsewhere(clinic, 'C-2');
  await passMinutes(clinic, 5);
  await once(clinic);
  await setMode('live');
  await passMinutes(clinic, 5);
  await once(clinic);
  expect(await labelsOf(clinic)).toEqual(['other:C-2']);
  expect(await haltsOf(clinic)).toEqual([]);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open']);
});

test.each(STEPS)(
  'what others called while a new database waited for its release serves (steps %s)',
  async (_, step) => {
    const clinic = await installAwake();
    await explainDatabase(clinic.store, ['a trace'], clinic.now());
    await read(clinic, 'C-2');
    await step(clinic);
    await passMinutes(clinic, 12);
    await callElsewhere(clinic, 'C-2');
    await passMinutes(clinic, 5);
    await step(clinic);
    await release(clinic);
    await passMinutes(clinic, 5);
    await step(clinic);
    expect(await labelsOf(clinic)).toEqual(['other:C-2']);
    expect(await haltsOf(clinic)).toEqual([]);
    expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open']);
  },
);

test('a release counts although the clock was set back since the comparison', async () => {
  const clinic = await installWithCall();
  await stopForOther(clinic);
  await callElsewhere(clinic, 'C-2');
  await read(clinic, 'C-2');
  await clinic.submitNow();
  clinic.pass(-14 * MINUTE_MS);
  await release(clinic);
  await passMinutes(clinic, 20);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['B-1', 'other:C-1', 'other:C-2']);
});

test('what another installation called serves if the release comes during a lookup', async () => {
  const clinic = await installWithCall();
  await loseCreates(clinic, 1, 'before');
  await send(clinic, clinic.visit('L-1', about('L-1')));
  await stopForOther(clinic);
  await callElsewhere(clinic, 'C-2');
  await read(clinic, 'C-2');
  await passMinutes(clinic, 5);
  const { list } = clinic.client;
  clinic.client.list = async (...given) => {
    clinic.client.list = list;
    await release(clinic);
    return await list(...given);
  };
  for (let step = 0; step < 3; step += 1) await clinic.submitNow();
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await labelsOf(clinic)).not.toContain('C-2');
});

test('without times in the list, one release is enough', async () => {
  const clinic = await installWithCall();
  withholdTimes(clinic);
  await stopForOther(clinic);
  await callElsewhere(clinic, 'C-2');
  await passMinutes(clinic, 30);
  await release(clinic);
  await passMinutes(clinic, 5);
  await read(clinic, 'C-2');
  await clinic.submitNow();
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'other:C-1', 'other:C-2']);
  await passMinutes(clinic, 60);
  await callElsewhere(clinic, 'C-3');
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual(['foreign']);
});

test('without times, one release is enough for a process that had nothing to send', async () => {
  const clinic = await install();
  withholdTimes(clinic);
  await beginWithoutComparison(clinic.submit, 'dental');
  // The list of another specialty stopped submission.
  const why = { reason: 'foreign', detail: '', next_try_at: null } as const;
  const entry = { what: '', next: '' };
  await clinic.store.write((tx) => halt(tx, why, entry, clinic.now()));
  await callElsewhere(clinic, 'C-2');
  await passMinutes(clinic, 30);
  await release(clinic);
  await read(clinic, 'C-2');
  await clinic.submitNow();
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['other:C-2']);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open']);
});

test('a comparison that a version without counts kept is made again (G1)', async () => {
  const clinic = await installAwake();
  await send(clinic, clinic.visit('B-1', about('B-1')));
  await reconcile(clinic);
  await passMinutes(clinic, 12);
  await callElsewhere(clinic, 'C-2');
  await read(clinic, 'C-2');
  // That version stopped submission and resumed it.
  const { db } = clinic.store;
  const name = 'comparison:dental';
  const kept = await db
    .selectFrom('learned_settings')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  const { releases: _, ...rest } = JSON.parse(kept.value);
  const value = JSON.stringify(rest);
  await db.updateTable('learned_settings').set({ value }).where('name', '=', name).execute();
  await passMinutes(clinic, 4);
  await once(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'other:C-2']);
  expect(await haltsOf(clinic)).toEqual([]);
});

test('calls are made although the count of releases is damaged (G2)', async () => {
  const clinic = await install();
  await clinic.store.write((tx) => writeLearned(tx, 'submission_releases', '\0', clinic.now()));
  await send(clinic, clinic.visit('B-1', about('B-1')));
  expect(await labelsOf(clinic)).toEqual(['B-1']);
});
