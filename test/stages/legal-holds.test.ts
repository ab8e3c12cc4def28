/** A legal hold keeps everything about its patient, also what serves no visit of the patient. */
import { expect, test } from 'vitest';
import { claim } from '../../connectors/conformance/examples.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { addLegalHold, storedOfPatient } from '../../src/store/bookkeeping/legal-holds.ts';
import { countOld, purge } from '../../src/store/bookkeeping/purge.ts';
import { aCoverage } from '../domain/examples.ts';
import { connector, type Installation, install, send } from './installation.ts';

const ADA = { id: 'P-1', first_name: 'Ada', last_name: 'Example', birth_date: '1980-01-02' };
const BEN = { ...ADA, id: 'P-9', first_name: 'Ben' };

const covered = (member_id: string) => ({ coverages: [aCoverage({ member_id })] });

const hold = ({ store, now }: Installation, patient_id = 'P-1') =>
  store.write((tx) => {
    const held = { connector: 'front-desk', patient_id };
    return addLegalHold(tx, held, { reason: 'Audit', actor: 'admin' }, now());
  });

async function answer(clinic: Installation, days: number): Promise<void> {
  await clinic.service.advance({ days });
  clinic.pass(days * DAY_MS);
  await clinic.collectAll();
}

function limitsOf({ now }: Installation) {
  const before = now() - 300 * DAY_MS;
  return { visits: before, logs: before, answers: null, requests: null, recordings: null };
}

/** A claim was asked about for Ada, and then for Ben. */
async function movedClaim(): Promise<Installation> {
  const clinic = await install();
  const { coverage, ...rest } = claim(1);
  const about = { ...rest, date_of_service: '2037-12-10', claim_number: 'PAID-1' };
  for (const [patient, member_id] of [
    [ADA, 'ACTIVE0'],
    [BEN, 'ACTIVE1'],
  ] as const) {
    await clinic.readClaims({ ...about, coverage: { ...coverage, member_id }, patient });
    await clinic.planNow();
    await clinic.submitNow();
    await answer(clinic, 6);
  }
  await clinic.planNow();
  return clinic;
}

test('a hold keeps the call about a claim that now is of another patient', async () => {
  const clinic = await movedClaim();
  await clinic.deliverNow(connector(() => {}));
  const before = await clinic.deliveries();
  await hold(clinic);
  clinic.pass(1_000 * DAY_MS);
  await purge(clinic.store, { ...limitsOf(clinic), answers: clinic.now() }, clinic.now());
  expect((await clinic.inquiries()).map(({ id }) => id)).toContain(1);
  expect(before.length).toBeGreaterThan(0);
  expect(await clinic.deliveries()).toEqual(before);
  const answers = clinic.store.db.selectFrom('answers').select('raw').where('inquiry', '=', 1);
  expect(JSON.stringify(await answers.execute())).toContain('PAID');
});

test('a hold keeps the trail of an inquiry that serves no visit', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, clinic.visit('A-1', { patient: ADA, ...covered('ACTIVE0') }));
  await answer(clinic, 2);
  await clinic.read(clinic.visit('A-1', { patient: BEN, ...covered('ACTIVE1') }));
  await clinic.planNow();
  clinic.pass(400 * DAY_MS);
  await hold(clinic);
  clinic.pass(400 * DAY_MS);
  await purge(clinic.store, limitsOf(clinic), clinic.now());
  const trail = clinic.store.db.selectFrom('audit').select('id').where('subject', '=', 'inquiry:1');
  expect(await trail.execute()).not.toEqual([]);
});

test('the dry run counts the entries that a purge of unneeded calls deletes', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, clinic.visit('A-1', { patient: ADA, ...covered('ACTIVE0') }));
  await answer(clinic, 2);
  await clinic.read(clinic.visit('A-1', { patient: ADA, ...covered('ACTIVE1') }, 390));
  await clinic.planNow();
  clinic.pass(380 * DAY_MS);
  const limits = limitsOf(clinic);
  const { logs } = await countOld(clinic.store.db, limits);
  expect((await purge(clinic.store, limits, clinic.now())).log_entries).toBe(logs.count);
});

test.each(['before', 'after'])('a hold %s a merge keeps the merged closed visits', async (when) => {
  const clinic = await install();
  const visit = clinic.visit('A-1', { patient: BEN, ...covered('ACTIVE0') });
  await send(clinic, visit);
  await answer(clinic, 2);
  await clinic.read({ ...visit, status: 'cancelled' });
  await clinic.read(clinic.visit('A-0', { patient: BEN, status: 'cancelled' }));
  await clinic.planNow();
  await send(clinic, clinic.visit('A-2', { patient: ADA, ...covered('ACTIVE0') }));
  if (when === 'before') await hold(clinic);
  await clinic.merge(ADA, BEN);
  if (when === 'after') await hold(clinic);
  clinic.pass(1_000 * DAY_MS);
  await purge(clinic.store, limitsOf(clinic), clinic.now());
  const visits = clinic.store.db.selectFrom('appointments').select('source_id');
  expect((await visits.execute()).map(({ source_id }) => source_id).toSorted()).toEqual([
    'A-0',
    'A-1',
    'A-2',
  ]);
});

test('a purge keeps the answer that a younger visit shares with an old one', async () => {
  const clinic = await install();
  const about = { patient: ADA, ...covered('ACTIVE0') };
  await send(clinic, clinic.visit('A-1', about, 1));
  await answer(clinic, 2);
  await clinic.read(clinic.visit('A-2', about));
  await clinic.planNow();
  clinic.pass(299 * DAY_MS);
  await purge(clinic.store, limitsOf(clinic), clinic.now());
  const visits = clinic.store.db.selectFrom('appointments').select('source_id');
  expect((await visits.execute()).map(({ source_id }) => source_id)).toEqual(['A-2']);
  expect((await clinic.inquiries()).map(({ id }) => id)).toEqual([1]);
});

test('a hold on the patient who has a claim now keeps its former answers', async () => {
  const clinic = await movedClaim();
  await hold(clinic, 'P-9');
  const raw = () => clinic.store.db.selectFrom('answers').select('raw').orderBy('id').execute();
  const before = await raw();
  clinic.pass(1_000 * DAY_MS);
  await purge(clinic.store, { ...limitsOf(clinic), answers: clinic.now() }, clinic.now());
  expect(await raw()).toEqual(before);
  expect(before).toHaveLength(2);
  const ben = { connector: 'front-desk', patient_id: 'P-9' };
  expect((await storedOfPatient(clinic.store.db, ben)).subjects).toContain('inquiry:1');
});
