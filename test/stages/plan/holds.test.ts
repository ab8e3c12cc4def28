/** Which calls stay on hold until the office releases them. */
import { expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { hold, release, retry } from '../../../src/store/bookkeeping/operator.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, send } from '../installation.ts';
import { callsBringNothing, labelsOf, lookUp, loseCreates } from '../submit/lost-calls.ts';
import { ADA, finish, goOn, merge, OTHER_ADA, pass, visit } from '../submit/merges.ts';

const VISIT = { kind: 'appointment', id: 1 } as const;

/** The member IDs that the service is asked about. */
const asked = async ({ service }: Installation) =>
  (await service.ledger()).map(({ request }) => request.member_id);

const HELD = aCoverage({ member_id: 'ACTIVE7' });
const FIXED = aCoverage({ member_id: 'ACTIVE6' });
const OTHER = aCoverage({ member_id: 'ACTIVE8' });

/** The visit's only coverage, whose call the office holds. */
async function installHeld(policy = {}) {
  const clinic = await install({ policy });
  await clinic.planNow();
  const booked = visit(clinic, 'A-1');
  await clinic.read({ ...booked, coverages: [HELD] });
  await clinic.planNow();
  await clinic.store.write((tx) => hold(tx, VISIT, clinic.now()));
  return { clinic, booked };
}

/** A second coverage has come later, and was asked about. */
async function installHalfHeld(policy = {}) {
  const { clinic, booked } = await installHeld(policy);
  await clinic.read({ ...booked, coverages: [HELD, OTHER] });
  await clinic.planNow();
  await clinic.submitNow();
  expect(await asked(clinic)).toEqual(['ACTIVE8']);
  return { clinic, booked };
}

test.each([
  ['the held one goes to the second place', [OTHER, HELD], ['ACTIVE8']],
  ['the held one is corrected', [OTHER], []],
])('a hold follows its coverage: %s', async (...given) => {
  const [, coverages, expected] = given;
  const { clinic, booked } = await installHeld();
  await clinic.read({ ...booked, coverages });
  await goOn(clinic);
  expect(await asked(clinic)).toEqual(expected);
});

test('a hold follows its coverage although the visit moves to another record, too', async () => {
  const { clinic, booked } = await installHalfHeld();
  await clinic.read({ ...booked, patient: OTHER_ADA, coverages: [OTHER, HELD] });
  await goOn(clinic);
  expect(await asked(clinic)).not.toContain('ACTIVE7');
});

test('a hold follows its coverage although the birth date is corrected, too', async () => {
  const clinic = await install();
  await clinic.planNow();
  const booked = visit(clinic, 'A-1');
  await send(clinic, { ...booked, coverages: [OTHER] });
  await clinic.read({ ...booked, coverages: [OTHER, HELD] });
  await clinic.planNow();
  await clinic.store.write((tx) => hold(tx, VISIT, clinic.now()));
  const patient = { ...ADA, birth_date: '1980-02-01' };
  await clinic.read({ ...booked, patient, coverages: [OTHER, FIXED, HELD] });
  await goOn(clinic);
  expect(new Set(await asked(clinic))).toEqual(new Set(['ACTIVE8', 'ACTIVE6']));
});

test('a held coverage that is corrected and goes to the second place stays on hold', async () => {
  const { clinic, booked } = await installHalfHeld();
  await clinic.read({ ...booked, coverages: [OTHER, FIXED] });
  await goOn(clinic);
  expect(await asked(clinic)).toEqual(['ACTIVE8']);
});

test('the hold of a coverage that is gone does not pass to another one (G2)', async () => {
  const { clinic, booked } = await installHalfHeld({ new_codes: 'call' });
  await finish(clinic);
  await clinic.read({ ...booked, coverages: [OTHER], procedure_codes: ['D2740'] });
  await goOn(clinic);
  expect(await asked(clinic)).toEqual(['ACTIVE8', 'ACTIVE8']);
});

test('a held visit stays on hold although its member ID is missing for a moment', async () => {
  const { clinic, booked } = await installHeld();
  await clinic.read({ ...booked, coverages: [{ ...HELD, member_id: '' }] });
  await clinic.planNow();
  await clinic.read({ ...booked, coverages: [HELD] });
  await goOn(clinic);
  expect(await asked(clinic)).toEqual([]);
});

/** The practice has the claim with this member ID, and eligd plans it. */
function claimReader(clinic: Installation) {
  const { coverage, ...rest } = claim(1);
  const given = { ...rest, patient: ADA, date_of_service: '2037-12-10' };
  return async (member_id: string) => {
    await clinic.readClaims({ ...given, coverage: { ...coverage, member_id } });
    await clinic.planNow();
  };
}

test('another visit gets its call although the office held a canceled one’s (G2)', async () => {
  const { clinic, booked } = await installHeld();
  await clinic.read({ ...booked, coverages: [HELD], status: 'cancelled' });
  await clinic.planNow();
  await clinic.read({ ...visit(clinic, 'A-2'), coverages: [HELD] });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-2']);
});

test.each([
  ['is corrected', ['ACTIVE5']],
  ['is missing for a moment', ['', 'ACTIVE0']],
])('a held claim stays on hold if its member ID %s', async (_, member_ids) => {
  const clinic = await install();
  await clinic.submitNow();
  const read = claimReader(clinic);
  await read('ACTIVE0');
  await clinic.store.write((tx) => hold(tx, VISIT, clinic.now()));
  for (const member_id of member_ids) await read(member_id);
  await goOn(clinic);
  expect(await asked(clinic)).toEqual([]);
  await clinic.store.write((tx) => release(tx, VISIT, clinic.now()));
  await goOn(clinic);
  expect(await asked(clinic)).toEqual([member_ids.at(-1)]);
});

test.each([
  ['is gone', [HELD]],
  ['has no member ID', [HELD, { ...FIXED, member_id: '' }]],
])('both held coverages stay on hold if the second %s for a moment', async (...given) => {
  const [, between] = given;
  const clinic = await install();
  await clinic.planNow();
  const booked = { ...visit(clinic, 'A-1'), coverages: [HELD, FIXED] };
  await clinic.read(booked);
  await clinic.planNow();
  await clinic.store.write((tx) => hold(tx, VISIT, clinic.now()));
  await clinic.read({ ...booked, coverages: between });
  await clinic.planNow();
  await clinic.read(booked);
  await goOn(clinic);
  expect(await asked(clinic)).toEqual([]);
});

test.each(['before', 'after'])(
  'a released visit stays released if its correction is taken back %s the call',
  async (when) => {
    const { clinic, booked } = await installHeld();
    await clinic.read({ ...booked, coverages: [FIXED] });
    await clinic.planNow();
    await clinic.store.write((tx) => release(tx, VISIT, clinic.now()));
    await clinic.planNow();
    if (when === 'after') await clinic.submitNow();
    await clinic.read({ ...booked, coverages: [HELD] });
    await goOn(clinic);
    expect((await asked(clinic)).at(-1)).toBe('ACTIVE7');
  },
);

test('a released claim stays released if its correction is taken back', async () => {
  const clinic = await install();
  await clinic.submitNow();
  const read = claimReader(clinic);
  await read('ACTIVE0');
  await clinic.store.write((tx) => hold(tx, VISIT, clinic.now()));
  await read('ACTIVE5');
  await clinic.store.write((tx) => release(tx, VISIT, clinic.now()));
  await clinic.planNow();
  await read('ACTIVE0');
  await goOn(clinic);
  expect(await asked(clinic)).toEqual(['ACTIVE0']);
});

test('a claim whose call was released after a merge gets its next call, too (G2)', async () => {
  const clinic = await install({ collecting: { attempts: 1 } });
  await clinic.submitNow();
  const { coverage, ...rest } = claim(1);
  const about = { date_of_service: '2037-12-10', coverage: { ...coverage, member_id: 'ACTIVE0' } };
  const read = async (patient: typeof ADA, claim_number: string) => {
    await clinic.readClaims({ ...rest, ...about, patient, claim_number });
    await clinic.planNow();
  };
  await read(OTHER_ADA, 'N1');
  await loseCreates(clinic, 1, 'before');
  await clinic.submitNow();
  await read(ADA, 'N2');
  await clinic.store.write((tx) => hold(tx, VISIT, clinic.now()));
  await merge(clinic);
  await clinic.planNow();
  await clinic.store.write((tx) => release(tx, VISIT, clinic.now()));
  await clinic.planNow();
  await lookUp(clinic);
  callsBringNothing(clinic);
  for (let day = 0; day < 40; day += 1) {
    await clinic.planNow();
    await clinic.submitNow();
    await clinic.collectAll();
    await pass(clinic, 1);
  }
  expect((await labelsOf(clinic)).length).toBeGreaterThan(1);
});

/** The service refuses a call that a merge has put on hold meanwhile. */
async function installRefusedAndHeld() {
  const clinic = await install();
  await clinic.planNow();
  const first = { ...visit(clinic, 'A-1'), procedure_codes: ['D2740'] };
  await clinic.read(first);
  await clinic.planNow();
  await clinic.store.write((tx) => hold(tx, VISIT, clinic.now()));
  const { create } = clinic.client;
  clinic.client.create = async () => {
    clinic.client.create = create;
    await merge(clinic);
    return { ok: false, failure: { class: 'refused', status: 422, errors: [] } };
  };
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  return { clinic, first };
}

test('the office releases a refused call that a merge has put on hold', async () => {
  const { clinic, first } = await installRefusedAndHeld();
  await clinic.planNow();
  const words: string[] = [];
  for (const id of [1, 2]) {
    const released = { kind: 'appointment' as const, id };
    const done = await clinic.store.write((tx) => release(tx, released, clinic.now()));
    words.push(...done.map(({ what }) => what));
  }
  expect(words.join()).toContain('and you have corrected it');
  await clinic.read({ ...first, procedure_codes: ['D2740', 'D0274'] });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toHaveLength(1);
});

test('"eligd retry" does not release a refused call, and the entry says how to', async () => {
  const { clinic } = await installRefusedAndHeld();
  const refused = (await openAttention(clinic.store.db)).find(({ reason }) => reason === 'refused');
  expect(refused?.next).toContain('if it is on hold, after "eligd release"');
  const refused_call = { kind: 'inquiry', id: 2 } as const;
  const [done] = await clinic.store.write((tx) => retry(tx, refused_call, clinic.now()));
  expect(done?.what).toContain('after "eligd release"');
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual([]);
  await clinic.store.write((tx) => release(tx, refused_call, clinic.now()));
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toHaveLength(1);
});
