/**
 * Insurance that arrives with the patient instead of the appointment: waits, joins, merges, and
 * deletions.
 */
import { describe, expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import type { CoverageInput } from '../../../src/domain/appointment.ts';
import type { ClaimInput } from '../../../src/domain/claim.ts';
import type { InquiryDraft } from '../../../src/domain/inquiry.ts';
import type { IdentifiedPatient, PatientUpdate } from '../../../src/domain/patient-update.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { addPlanned } from '../../../src/store/calls/inquiries.ts';
import { acceptBatch } from '../../../src/store/intake/intake.ts';
import { aCoverage } from '../../domain/examples.ts';
import { connector, endCalls, type Installation, install, send } from '../installation.ts';
import { lookUp, loseCreates } from '../submit/lost-calls.ts';

const ADA = { id: 'P-1', first_name: 'Ada', last_name: 'Example', birth_date: '1980-01-02' };
const OF_PATIENT = { coverages: [], insurance: 'of_patient' as const };

let keys = 0;

async function say(clinic: Installation, ...patients: PatientUpdate[]): Promise<void> {
  keys += 1;
  const source = {
    key: `adt:${keys}`,
    name: 'message',
    is_last: true,
    completeness: 'changes' as const,
  };
  await clinic.store.write((tx) =>
    acceptBatch(
      tx,
      'front-desk',
      { source, appointments: [], patients, rejected: [], cursor: null },
      clinic.now(),
    ),
  );
}

const described = (
  coverages: CoverageInput[] | null,
  patient: IdentifiedPatient = ADA,
): PatientUpdate => ({
  kind: 'described',
  patient,
  coverages,
});

const states = async (clinic: Installation) => (await clinic.inquiries()).map(({ state }) => state);

async function appointment(clinic: Installation) {
  return await clinic.store.db
    .selectFrom('appointments')
    .selectAll()
    .orderBy('id')
    .executeTakeFirstOrThrow();
}

describe('an appointment whose insurance has not arrived', () => {
  test('a visit without insurance data waits, and eligd plans it when it arrives', async () => {
    const clinic = await install();
    await clinic.read(clinic.visit('A-1', OF_PATIENT));
    await clinic.planNow();
    expect((await appointment(clinic)).plan_wait).toBe('insurance_awaited');
    expect(await clinic.attention()).toEqual(['insurance_awaited']);
    await say(clinic, described([aCoverage()]));
    await clinic.planNow();
    expect(await states(clinic)).toEqual(['planned']);
    expect(await clinic.attention()).toEqual([]);
  });

  test('a visit without insurance data is not listed before the day of its call', async () => {
    const clinic = await install();
    await clinic.read(clinic.visit('A-1', OF_PATIENT, 20));
    await clinic.planNow();
    expect((await appointment(clinic)).plan_wait).toBe('insurance_awaited');
    expect(await clinic.attention()).toEqual([]);
  });

  test('a visit is not self-pay until the PMS says that the patient has no insurance', async () => {
    const clinic = await install();
    await clinic.read(clinic.visit('A-1', OF_PATIENT));
    await say(clinic, described(null));
    await clinic.planNow();
    expect((await appointment(clinic)).closed_reason).toBeNull();
    await say(clinic, described([]));
    await clinic.planNow();
    expect((await appointment(clinic)).closed_reason).toBe('no_coverage');
    // The patient has insurance after all.
    await say(clinic, described([aCoverage()]));
    await clinic.planNow();
    expect(await states(clinic)).toEqual(['planned']);
  });
});

describe('known insurance', () => {
  test('known insurance serves a later visit, unless that names its own coverage', async () => {
    const clinic = await install();
    await say(clinic, described([aCoverage({ member_id: 'OF-PATIENT' })]));
    await clinic.read(
      clinic.visit('A-1', OF_PATIENT),
      clinic.visit('A-2', { coverages: [aCoverage({ member_id: 'OWN' })] }),
    );
    await clinic.planNow();
    const asked = (await clinic.inquiries()).map(
      ({ draft }) => (JSON.parse(draft) as { member_id: string }).member_id,
    );
    expect(asked).toEqual(['OF-PATIENT', 'OWN']);
  });

  test('after a coverage has ended, the other one is primary and gets the call', async () => {
    const clinic = await install();
    const period = { from: '2023-01-01T06:00:00.000Z', until: '2025-01-01T06:00:00.000Z' };
    const both = [aCoverage({ member_id: 'ENDED', period }), aCoverage({ member_id: 'HOLDS' })];
    await say(clinic, described(both));
    await clinic.read(
      clinic.visit('A-1', OF_PATIENT),
      clinic.visit('A-2', { coverages: [...both, aCoverage({ member_id: 'SECOND' })] }),
    );
    await clinic.planNow();
    const asked = (await clinic.inquiries()).map(
      ({ draft }) => (JSON.parse(draft) as { member_id: string }).member_id,
    );
    expect(asked.toSorted()).toEqual(['HOLDS', 'SECOND']);
    const links = await clinic.store.db
      .selectFrom('inquiry_appointments')
      .select(['appointment', 'coverage_rank'])
      .orderBy('appointment')
      .orderBy('coverage_rank')
      .execute();
    expect(links.map(({ coverage_rank }) => coverage_rank)).toEqual([1, 1, 2]);
  });

  test('a change before the call withdraws the old inquiry for a new one', async () => {
    const clinic = await install();
    await say(clinic, described([aCoverage()]));
    await clinic.read(clinic.visit('A-1', OF_PATIENT));
    await clinic.planNow();
    await say(clinic, described([aCoverage({ member_id: 'W999' })]));
    await clinic.planNow();
    expect(await states(clinic)).toEqual(['withdrawn', 'planned']);
  });

  test('an unchanged repetition changes nothing', async () => {
    const clinic = await install();
    await say(clinic, described([aCoverage()]));
    await clinic.read(clinic.visit('A-1', OF_PATIENT));
    await clinic.planNow();
    const before = await appointment(clinic);
    await say(clinic, described([aCoverage()]));
    expect(await appointment(clinic)).toEqual(before);
  });

  test('insurance stays with its patient if another ID begins with the same text', async () => {
    const clinic = await install();
    await clinic.read(clinic.visit('A-1', { ...OF_PATIENT, patient: { ...ADA, id: 'P-1|x' } }));
    await say(clinic, described([aCoverage()]));
    await clinic.planNow();
    expect(await states(clinic)).toEqual([]);
  });
});

describe('two merged records of one person', () => {
  const merged: PatientUpdate = { kind: 'merged', from_id: 'P-1', into: { ...ADA, id: 'P-2' } };

  test('merged records keep the call that was made under the old ID', async () => {
    const clinic = await install();
    await say(clinic, described([aCoverage()]));
    await clinic.read(clinic.visit('A-1', OF_PATIENT));
    await clinic.planNow();
    await clinic.submitNow();
    await clinic.submitNow();
    await say(clinic, merged);
    await clinic.read(clinic.visit('A-2', { ...OF_PATIENT, patient: { ...ADA, id: 'P-2' } }, 4));
    await clinic.planNow();
    await clinic.submitNow();
    expect(await clinic.service.ledger()).toHaveLength(1);
    const links = await clinic.store.db
      .selectFrom('inquiry_appointments')
      .select('appointment')
      .execute();
    expect(links).toHaveLength(2);
    expect(JSON.parse((await appointment(clinic)).content)).toMatchObject({
      patient: { id: 'P-2' },
      insurance: 'of_patient',
    });
  });

  test('two planned calls, one for each merged record, become one', async () => {
    const clinic = await install();
    await say(clinic, described([aCoverage()]), described([aCoverage()], { ...ADA, id: 'P-2' }));
    await clinic.read(
      clinic.visit('A-1', OF_PATIENT),
      clinic.visit('A-2', { ...OF_PATIENT, patient: { ...ADA, id: 'P-2' } }, 4),
    );
    await clinic.planNow();
    expect(await states(clinic)).toEqual(['planned', 'planned']);
    await say(clinic, merged);
    expect((await states(clinic)).toSorted()).toEqual(['planned', 'withdrawn']);
    await clinic.planNow();
    await clinic.submitNow();
    await clinic.submitNow();
    expect(await clinic.service.ledger()).toHaveLength(1);
  });

  test('a call that was made takes the place of one that was only planned', async () => {
    const clinic = await install();
    await say(clinic, described([aCoverage()]), described([aCoverage()], { ...ADA, id: 'P-2' }));
    await clinic.read(clinic.visit('A-1', OF_PATIENT));
    await clinic.planNow();
    await clinic.submitNow();
    await clinic.submitNow();
    await clinic.read(clinic.visit('A-2', { ...OF_PATIENT, patient: { ...ADA, id: 'P-2' } }, 4));
    await clinic.planNow();
    await say(clinic, merged);
    await clinic.planNow();
    await clinic.submitNow();
    expect(await clinic.service.ledger()).toHaveLength(1);
    expect((await states(clinic)).toSorted()).toEqual(['open', 'withdrawn']);
  });
});

test('a lost call for a record merged into one that has its answer is not made again', async () => {
  const clinic = await install();
  await clinic.planNow();
  const other = { ...ADA, id: 'P-2' };
  const coverages = [aCoverage({ member_id: 'ACTIVE0' })];
  await send(clinic, clinic.visit('A-1', { patient: ADA, coverages }));
  await loseCreates(clinic, 1, 'before');
  await send(clinic, clinic.visit('B-1', { patient: other, coverages }));
  await say(clinic, { kind: 'merged', from_id: 'P-2', into: ADA });
  // Planning returns to the visits only after the lookups.
  const plan_due_at = clinic.now() + DAY_MS;
  await clinic.store.db.updateTable('appointments').set({ plan_due_at }).execute();
  await lookUp(clinic);
  clinic.pass(DAY_MS);
  await clinic.service.advance({ days: 2 });
  await clinic.submitNow();
  await clinic.collectAll();
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.service.ledger()).map(({ external_id }) => external_id)).toEqual(['A-1']);
  const visits: string[] = [];
  await clinic.deliverNow(connector(({ appointment }) => visits.push(appointment.source_id)));
  expect(visits.toSorted()).toEqual(['A-1', 'B-1']);
});

test('of two lost calls for merged records, the one that arrived serves both', async () => {
  const clinic = await install();
  await clinic.planNow();
  const coverages = [aCoverage({ member_id: 'ACTIVE0' })];
  await loseCreates(clinic, 1, 'before');
  await send(clinic, clinic.visit('A-1', { patient: ADA, coverages }));
  await loseCreates(clinic, 1, 'after');
  await send(clinic, clinic.visit('B-1', { patient: { ...ADA, id: 'P-2' }, coverages }));
  await say(clinic, { kind: 'merged', from_id: 'P-2', into: ADA });
  await clinic.planNow();
  await lookUp(clinic);
  clinic.pass(DAY_MS);
  await clinic.service.advance({ days: 2 });
  await clinic.planNow();
  await clinic.submitNow();
  await clinic.collectAll();
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.service.ledger()).map(({ external_id }) => external_id)).toEqual(['B-1']);
  const visits: string[] = [];
  await clinic.deliverNow(connector(({ appointment }) => visits.push(appointment.source_id)));
  expect(visits.toSorted()).toEqual(['A-1', 'B-1']);
});

test('after a merge, a call under way serves in place of an answer that is too old', async () => {
  const clinic = await install({ policy: { reverify_after_days: 2 } });
  await clinic.planNow();
  const coverages = [aCoverage({ member_id: 'ACTIVE0' })];
  await send(clinic, clinic.visit('A-1', { patient: ADA, coverages }));
  await clinic.service.advance({ days: 2 });
  clinic.pass(DAY_MS);
  await clinic.collectAll();
  clinic.pass(3 * DAY_MS);
  await send(clinic, clinic.visit('B-1', { patient: { ...ADA, id: 'P-2' }, coverages }, 6));
  await say(clinic, { kind: 'merged', from_id: 'P-2', into: ADA });
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.service.ledger()).map(({ external_id }) => external_id)).toEqual([
    'A-1',
    'B-1',
  ]);
  const ends = (await clinic.service.ledgerWithSteps()).map(({ steps }) =>
    Date.parse(steps.at(-1)?.at ?? ''),
  );
  await clinic.service.advanceTo(new Date(Math.max(...ends) + DAY_MS).toISOString());
  clinic.pass(Math.max(...ends) + DAY_MS - clinic.now());
  await clinic.collectAll();
  await clinic.planNow();
  const visits: string[] = [];
  await clinic.deliverNow(connector(({ appointment }) => visits.push(appointment.source_id)));
  expect(visits).toContain('B-1');
  expect(await clinic.service.ledger()).toHaveLength(2);
});

describe('an answer that waits to be written when two records are merged', () => {
  test('an answer that waits during a merge is written once (G4)', async () => {
    const clinic = await install();
    await endCalls(clinic, 1);
    await clinic.collectNow();
    const { patient } = JSON.parse((await appointment(clinic)).content);
    await say(clinic, { kind: 'merged', from_id: patient.id, into: { ...patient, id: 'P-2' } });
    await clinic.planNow();
    const written: string[] = [];
    await clinic.deliverNow(
      connector(({ appointment }) => written.push(`${appointment.patient.id}`)),
    );
    await clinic.read(clinic.visit('A-0', { patient: { ...patient, first_name: 'Adda' } }));
    await clinic.planNow();
    await clinic.deliverNow(connector(() => written.push('again')));
    expect(written).toEqual(['P-2']);
  });

  test('a backup without the answer gives it the same key after the merge (G4)', async () => {
    const clinic = await install();
    await endCalls(clinic, 1);
    await clinic.collectNow();
    const keys = new Set<string>();
    await clinic.deliverNow(connector(({ key }) => keys.add(key)));
    await clinic.store.db.deleteFrom('deliveries').execute();
    const { patient } = JSON.parse((await appointment(clinic)).content);
    await say(clinic, { kind: 'merged', from_id: patient.id, into: { ...patient, id: 'P-2' } });
    await clinic.planNow();
    let count = 0;
    await clinic.deliverNow(
      connector(({ key }) => {
        count += 1;
        keys.add(key);
      }),
    );
    expect([count, keys.size]).toEqual([1, 1]);
  });

  test('an answer that an earlier version has written keeps its key (G4)', async () => {
    const clinic = await install();
    await endCalls(clinic, 1);
    await clinic.collectNow();
    await clinic.store.db.updateTable('deliveries').set({ key: 'of-version-0-1' }).execute();
    const keys: string[] = [];
    const pms = connector(({ key }) => keys.push(key));
    await clinic.deliverNow(pms);
    const visit = JSON.parse((await appointment(clinic)).content);
    await clinic.read({ ...visit, patient: { ...visit.patient, first_name: 'Adda' } });
    await clinic.planNow();
    await clinic.deliverNow(pms);
    expect(keys).toEqual(['of-version-0-1']);
  });
});

describe('messages under an ID that was merged into another', () => {
  const merged: PatientUpdate = { kind: 'merged', from_id: 'P-1', into: { ...ADA, id: 'P-2' } };
  const other = { ...ADA, id: 'P-2' };

  async function called(clinic: Installation): Promise<void> {
    await say(clinic, described([aCoverage()]));
    await clinic.read(clinic.visit('A-1', OF_PATIENT));
    await clinic.planNow();
    await clinic.submitNow();
    await clinic.submitNow();
    await say(clinic, merged);
  }

  const patientsOf = async (clinic: Installation) =>
    (
      await clinic.store.db.selectFrom('appointments').select('content').orderBy('id').execute()
    ).map(({ content }) => JSON.parse(content).patient.id);

  test('a late visit under the old ID causes no second call (G1)', async () => {
    const clinic = await install();
    await called(clinic);
    await clinic.read(clinic.visit('A-2', OF_PATIENT, 4));
    await clinic.read(clinic.visit('A-3', { ...OF_PATIENT, patient: other }, 5));
    await clinic.planNow();
    await clinic.submitNow();
    await clinic.submitNow();
    expect(await clinic.service.ledger()).toHaveLength(1);
    expect(await patientsOf(clinic)).toEqual(['P-2', 'P-2', 'P-2']);
  });

  test('a late visit belongs to the remaining record, even if the old one was wrong', async () => {
    const clinic = await install();
    await called(clinic);
    const wrong = { ...ADA, first_name: 'Adda', birth_date: '1980-02-01' };
    await clinic.read(clinic.visit('A-2', { ...OF_PATIENT, patient: wrong }, 4));
    await clinic.planNow();
    await clinic.submitNow();
    await clinic.submitNow();
    expect(await clinic.service.ledger()).toHaveLength(1);
  });

  test('late insurance does not replace the known insurance', async () => {
    const clinic = await install();
    await called(clinic);
    await say(clinic, described([aCoverage({ member_id: 'LATE' })], ADA));
    await clinic.planNow();
    await clinic.submitNow();
    expect(await clinic.service.ledger()).toHaveLength(1);
    // Deleting the old ID deletes no patient: systems do that after a merge.
    await say(clinic, { kind: 'deleted', patient_id: 'P-1' });
    await clinic.planNow();
    expect((await appointment(clinic)).closed_reason).toBeNull();
  });

  test('eligd follows a chain of merges, and one that is reversed', async () => {
    const clinic = await install();
    await called(clinic);
    await say(clinic, { kind: 'merged', from_id: 'P-2', into: { ...ADA, id: 'P-3' } });
    await clinic.read(clinic.visit('A-2', OF_PATIENT, 4));
    expect(await patientsOf(clinic)).toEqual(['P-3', 'P-3']);
    await say(clinic, { kind: 'merged', from_id: 'P-3', into: ADA });
    await clinic.read(clinic.visit('A-3', { ...OF_PATIENT, patient: other }, 5));
    expect(await patientsOf(clinic)).toEqual(['P-1', 'P-1', 'P-1']);
    await clinic.planNow();
    await clinic.submitNow();
    await clinic.submitNow();
    expect(await clinic.service.ledger()).toHaveLength(1);
  });
});

test('a patient who has died gets no call, whichever message comes last', async () => {
  const clinic = await install();
  await say(clinic, described([aCoverage()], { ...ADA, is_deceased: true }));
  await clinic.read(clinic.visit('A-1', OF_PATIENT));
  await clinic.planNow();
  expect(await states(clinic)).toEqual([]);
  expect(await clinic.attention()).toEqual(['patient_deceased']);
  await say(clinic, described(null, { ...ADA, is_deceased: false }));
  await clinic.planNow();
  expect(await states(clinic)).toEqual(['planned']);
  expect(await clinic.attention()).toEqual([]);
});

test.each([
  ['by the record that went', { ...ADA, is_deceased: true }, {}],
  ['by the message', ADA, { is_deceased: true }],
])('a merged patient who has died %s gets no call', async (_, patient, told) => {
  const clinic = await install();
  await say(clinic, described([aCoverage()], patient));
  await say(clinic, { kind: 'merged', from_id: 'P-1', into: { ...ADA, id: 'P-2', ...told } });
  const visitor = { ...ADA, id: 'P-2' };
  await clinic.read(clinic.visit('A-1', { ...OF_PATIENT, patient: visitor }));
  await clinic.planNow();
  expect(await states(clinic)).toEqual([]);
  expect(await clinic.attention()).toEqual(['patient_deceased']);
});

describe('claims of a patient', () => {
  async function claimed(clinic: Installation, over: Partial<ClaimInput> = {}) {
    const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
    await clinic.readClaims({ ...claim(1), date_of_service, patient: ADA, ...over });
    await clinic.planNow();
    await clinic.submitNow();
    await clinic.submitNow();
  }

  test('claims of a merged patient move without a second call (G1)', async () => {
    const clinic = await install();
    await claimed(clinic);
    await say(clinic, { kind: 'merged', from_id: 'P-1', into: { ...ADA, id: 'P-2' } });
    await clinic.planNow();
    await clinic.submitNow();
    expect(await clinic.service.ledger()).toHaveLength(1);
    expect(await states(clinic)).toEqual(['open']);
    const row = await appointment(clinic);
    expect([JSON.parse(row.content).patient.id, row.patient_key]).toEqual([
      'P-2',
      'front-desk|P-2|1980-01-02',
    ]);
  });

  test('claims of a deleted patient are settled', async () => {
    const clinic = await install();
    await claimed(clinic, { insurance: 'of_patient' });
    expect(await clinic.attention()).toEqual(['insurance_awaited']);
    await say(clinic, { kind: 'deleted', patient_id: 'P-1' });
    await clinic.planNow();
    expect((await appointment(clinic)).closed_reason).toBe('settled');
    expect(await clinic.attention()).toEqual([]);
  });

  test('claims wait for the birth date, then cause a call', async () => {
    const clinic = await install();
    await claimed(clinic, { patient: { ...ADA, birth_date: null } });
    expect(await clinic.attention()).toEqual(['field_missing']);
    await say(clinic, described(null));
    await clinic.planNow();
    expect(await clinic.attention()).toEqual([]);
    expect(await states(clinic)).toEqual(['planned']);
  });

  test('an answer that arrives while its claim is closed is written later (G2)', async () => {
    const clinic = await install();
    await claimed(clinic, { claim_number: 'PAID-1' });
    const before = JSON.parse((await appointment(clinic)).content) as ClaimInput;
    await clinic.readClaims({ ...before, status: 'settled' });
    await clinic.planNow();
    clinic.pass(6 * DAY_MS);
    await clinic.service.advance({ days: 6 });
    await clinic.collectAll();
    expect(await clinic.deliveries()).toEqual([]);
    await clinic.readClaims(before);
    await clinic.planNow();
    expect(await clinic.deliveries()).toHaveLength(1);
  });

  test.each(['before', 'after'])(
    'a call lost %s its claim was settled is an entry once the claim is open again (G2)',
    async (when) => {
      const clinic = await install();
      await claimed(clinic);
      const before = JSON.parse((await appointment(clinic)).content) as ClaimInput;
      const settle = async () => {
        await clinic.readClaims({ ...before, status: 'settled' });
        await clinic.planNow();
      };
      if (when === 'after') await settle();
      clinic.client.read = async () => ({ ok: true, value: null });
      for (let hour = 0; hour < 6; hour += 1) {
        clinic.pass(HOUR_MS);
        await clinic.collectAll();
      }
      if (when === 'before') {
        expect(await clinic.attention()).toEqual(['lost_at_service']);
        await settle();
      }
      expect(await clinic.attention()).toEqual([]);
      await clinic.readClaims(before);
      await clinic.planNow();
      expect(await clinic.attention()).toEqual(['lost_at_service']);
    },
  );

  test('a clock that may be wrong makes no answer about a claim too old (G1)', async () => {
    const clinic = await install();
    await claimed(clinic, { claim_number: 'PENDING-1' });
    await clinic.service.advance({ days: 5 });
    clinic.pass(5 * DAY_MS);
    await clinic.collectAll();
    const { facts } = clinic.plan;
    clinic.plan.facts = () => ({ ...facts(), is_clock_trusted: false });
    clinic.pass(40 * DAY_MS);
    await clinic.planNow();
    await clinic.submitNow();
    expect(await clinic.service.ledger()).toHaveLength(1);
    clinic.plan.facts = facts;
    clinic.pass(10 * MINUTE_MS);
    await clinic.planNow();
    await clinic.submitNow();
    expect(await clinic.service.ledger()).toHaveLength(2);
  });

  test('claims keep the insurance that they were sent to', async () => {
    const clinic = await install();
    await say(clinic, described([aCoverage()]));
    await claimed(clinic, { insurance: 'of_patient' });
    await say(clinic, described([aCoverage({ member_id: 'NEW-1' })]));
    await clinic.planNow();
    await clinic.submitNow();
    expect((await clinic.service.ledger()).map(({ request }) => request.member_id)).toEqual([
      aCoverage().member_id,
    ]);
  });
});

test('a merged patient keeps the next attempt that is planned', async () => {
  const clinic = await install();
  await say(clinic, described([aCoverage()]));
  await clinic.read(clinic.visit('A-1', OF_PATIENT));
  await clinic.planNow();
  const [first] = await clinic.inquiries();
  await clinic.store.write(async (tx) => {
    await tx
      .updateTable('inquiries')
      .set({ state: 'answered', service_status: 'UNSUCCESSFUL' })
      .execute();
    const { connector, need_base, benefit_year, patient_key, specialty } = first!;
    const { retry, external_id, match_key, due_at, visit_at } = first!;
    const need = { connector, need_base, benefit_year, patient_key, specialty };
    const asked = { retry, external_id, match_key, due_at, visit_at };
    const draft = JSON.parse(first!.draft) as InquiryDraft;
    await addPlanned(tx, { ...need, ...asked, attempt: 2, draft }, 'Again.', clinic.now());
  });
  await say(clinic, { kind: 'merged', from_id: 'P-1', into: { ...ADA, id: 'P-2' } });
  const after = (await clinic.inquiries()).map(({ state, attempt, patient_key }) => [
    state,
    attempt,
    patient_key,
  ]);
  expect(after).toEqual([
    ['answered', 1, 'front-desk|P-2|1980-01-02'],
    ['planned', 2, 'front-desk|P-2|1980-01-02'],
  ]);
});

test('a deleted patient has no appointments any more', async () => {
  const clinic = await install();
  await say(clinic, described([aCoverage()]));
  await clinic.read(clinic.visit('A-1', OF_PATIENT));
  await clinic.planNow();
  await say(clinic, { kind: 'deleted', patient_id: 'P-1' });
  await clinic.planNow();
  expect(await states(clinic)).toEqual(['withdrawn']);
  expect((await appointment(clinic)).closed_reason).toBe('cancelled');
});
