/** A visit or claim whose stored text is damaged does not stop the others, and can be repaired. */
import { expect, test } from 'vitest';
import { claim } from '../../connectors/conformance/examples.ts';
import type { PatientUpdate } from '../../src/domain/patient-update.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { recordsOfInquiries } from '../../src/store/bookkeeping/access-log.ts';
import { acceptBatch } from '../../src/store/intake/intake.ts';
import { aCoverage } from '../domain/examples.ts';
import { connector, endCalls, type Installation, install } from './installation.ts';

async function damageFirst({ store }: Installation): Promise<void> {
  const damaged = { content: '{"damaged' };
  await store.db.updateTable('appointments').set(damaged).where('id', '=', 1).execute();
}

const OTHER = { id: 'P-9', first_name: 'Wilma', last_name: 'Stone', birth_date: '1990-02-03' };

const ofOther = ({ visit }: Installation, source_id: string) =>
  visit(source_id, { patient: OTHER, coverages: [aCoverage({ member_id: 'W9' })] });

const recentClaim = ({ now }: Installation) => ({
  ...claim(1),
  date_of_service: new Date(now() - 30 * DAY_MS).toISOString().slice(0, 10),
});

async function accept(
  { store, now }: Installation,
  batch: { cancelled_ids?: string[]; patients?: PatientUpdate[] },
): Promise<void> {
  const source = {
    key: 'message',
    name: 'message',
    is_last: true,
    completeness: 'changes' as const,
  };
  const empty = { source, appointments: [], rejected: [], cursor: null };
  await store.write((tx) => acceptBatch(tx, 'front-desk', { ...empty, ...batch }, now()));
}

const callsMade = async ({ service }: Installation) =>
  (await service.ledger()).map(({ external_id }) => external_id);

test('reading a damaged visit or claim again repairs it, changed or not (G2, G7)', async () => {
  for (const over of [{}, { procedure_codes: ['D0120'] }]) {
    const clinic = await install();
    const visit = clinic.visit('A-1');
    await clinic.read(visit);
    await damageFirst(clinic);
    await clinic.planNow();
    expect(await clinic.attention()).toEqual(['planning_failed']);
    await clinic.read({ ...visit, ...over }, ofOther(clinic, 'A-2'));
    await clinic.planNow();
    expect(await clinic.attention()).toEqual([]);
    await clinic.submitNow();
    expect(await callsMade(clinic)).toEqual(['A-1', 'A-2']);
  }
  const clinic = await install();
  await clinic.readClaims(recentClaim(clinic));
  await damageFirst(clinic);
  await clinic.readClaims(recentClaim(clinic));
  await clinic.planNow();
  expect(await clinic.attention()).toEqual([]);
});

test('a damaged visit or claim whose ID has another patient is replaced', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1'));
  await damageFirst(clinic);
  await clinic.read(ofOther(clinic, 'A-1'));
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toMatchObject([{ request: { member_id: 'W9' } }]);

  const office = await install();
  await office.readClaims(recentClaim(office));
  await damageFirst(office);
  await office.readClaims({ ...recentClaim(office), patient: OTHER });
  const rows = await office.store.db
    .selectFrom('appointments')
    .select('closed_reason')
    .orderBy('id')
    .execute();
  expect(rows).toEqual([{ closed_reason: 'replaced' }, { closed_reason: null }]);
});

test('no call is made for a damaged visit that a message cancels', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1'), ofOther(clinic, 'A-2'));
  await clinic.planNow();
  await damageFirst(clinic);
  await accept(clinic, { cancelled_ids: ['A-1', 'A-2'] });
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual(['planning_failed']);
  expect(await callsMade(clinic)).toEqual([]);
});

test('no call is made for damaged visits and claims of a patient who has changed', async () => {
  const person = { ...OTHER, id: 'P-1' };
  const coverages = [aCoverage({ member_id: 'W8' })];
  const updates: PatientUpdate[] = [
    { kind: 'described', patient: person, coverages },
    { kind: 'merged', from_id: 'P-1', into: OTHER },
    { kind: 'deleted', patient_id: 'P-1' },
  ];
  for (const update of updates) {
    const clinic = await install();
    await clinic.read(clinic.visit('A-1', { patient: person }));
    await clinic.readClaims({ ...recentClaim(clinic), patient: person });
    await clinic.planNow();
    await clinic.store.db.updateTable('appointments').set({ content: '{"damaged' }).execute();
    await accept(clinic, { patients: [update] });
    await clinic.planNow();
    await clinic.submitNow();
    expect([update.kind, await callsMade(clinic)]).toEqual([update.kind, []]);
    expect(await clinic.attention()).toEqual(['planning_failed', 'planning_failed']);
  }
});

test('a damaged visit does not stop the answers about others (G2, G7)', async () => {
  for (const when of ['before the answer', 'before it is written']) {
    const clinic = await install();
    await endCalls(clinic, 2);
    if (when === 'before the answer') await damageFirst(clinic);
    await clinic.collectAll();
    await clinic.collectAll();
    await damageFirst(clinic);
    const written: string[] = [];
    const pms = connector(({ appointment }) => void written.push(appointment.source_id));
    await clinic.deliverNow(pms);
    expect(written).toEqual(['A-1']);
    expect(await clinic.attention()).toEqual(['delivery_parked']);
  }
});

test('commands about calls list the call of a damaged visit', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  await clinic.submitNow();
  await damageFirst(clinic);
  const [{ id } = { id: '' }] = await clinic.service.ledger();
  const records = await recordsOfInquiries(clinic.store.db, [{ id, external_id: 'A-1' }]);
  expect(records).toEqual([{ connector: 'front-desk', source_id: 'A-1', patient_id: null }]);
});
