/** Which visits and claims keep the office's hold while no call has it, and when it ends. */
import { expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { hold, release, withdraw } from '../../../src/store/bookkeeping/operator.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, send } from '../installation.ts';
import { labelsOf, lookUp, loseCreates } from '../submit/lost-calls.ts';
import { ADA, COVERAGES, finish, goOn, merge, OTHER_ADA, pass, visit } from '../submit/merges.ts';
import { plan } from './shared-visits.ts';

const VISIT = { kind: 'appointment', id: 1 } as const;
const HELD = [aCoverage({ member_id: 'ACTIVE7' })];

/** The member IDs that the service is asked about. */
const asked = async ({ service }: Installation) =>
  (await service.ledger()).map(({ request }) => request.member_id);

const holdNow = (clinic: Installation, operand: { kind: 'appointment'; id: number } = VISIT) =>
  clinic.store.write((tx) => hold(tx, operand, clinic.now()));
const releaseNow = (clinic: Installation, id = 1) =>
  clinic.store.write((tx) => release(tx, { kind: 'appointment', id }, clinic.now()));

/** A visit whose only call the office holds. */
async function installHeld(policy = {}) {
  const clinic = await install({ policy });
  await clinic.planNow();
  const booked = { ...visit(clinic, 'A-1'), coverages: HELD };
  await plan(clinic, booked);
  await holdNow(clinic);
  return { clinic, booked };
}

/** The practice has the claim with this member ID, for this record of the patient. */
function claimReader(clinic: Installation) {
  const { coverage, ...rest } = claim(1);
  const given = { ...rest, date_of_service: '2037-12-10' };
  return async (member_id: string, patient = ADA) => {
    await clinic.readClaims({ ...given, patient, coverage: { ...coverage, member_id } });
    await clinic.planNow();
  };
}

test('a visit whose corrected call has to wait for another one stays on hold', async () => {
  const clinic = await install();
  await clinic.planNow();
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'A-1', OTHER_ADA));
  const booked = visit(clinic, 'A-1');
  await plan(clinic, { ...booked, coverages: HELD });
  await holdNow(clinic);
  await plan(clinic, booked);
  await lookUp(clinic);
  await goOn(clinic);
  expect(await asked(clinic)).toEqual([]);
});

test('a claim whose corrected call has to wait for another one stays on hold', async () => {
  const clinic = await install();
  await clinic.submitNow();
  const read = claimReader(clinic);
  await read('ACTIVE0', OTHER_ADA);
  await loseCreates(clinic, 1, 'before');
  await clinic.submitNow();
  await read('ACTIVE7');
  await holdNow(clinic);
  await read('ACTIVE0');
  await lookUp(clinic);
  await goOn(clinic);
  expect(await asked(clinic)).toEqual([]);
});

test('a visit stays on hold if its member ID is corrected in two exports', async () => {
  const { clinic, booked } = await installHeld();
  for (const member_id of ['', 'ACTIVE6'])
    await plan(clinic, { ...booked, coverages: [aCoverage({ member_id })] });
  await goOn(clinic);
  expect(await asked(clinic)).toEqual([]);
  await releaseNow(clinic);
  await goOn(clinic);
  expect(await asked(clinic)).toEqual(['ACTIVE6']);
});

test('a claim stays on hold if its member ID is corrected in two exports', async () => {
  const clinic = await install();
  await clinic.submitNow();
  const read = claimReader(clinic);
  await read('ACTIVE7');
  await holdNow(clinic);
  for (const member_id of ['', 'ACTIVE6']) await read(member_id);
  await goOn(clinic);
  expect(await asked(clinic)).toEqual([]);
  await releaseNow(clinic);
  await goOn(clinic);
  expect(await asked(clinic)).toEqual(['ACTIVE6']);
});

/** Two visits share a held call, and are canceled. The call has the label of the first one. */
async function installBothAway() {
  const { clinic, booked } = await installHeld();
  const second = { ...visit(clinic, 'A-2'), coverages: HELD };
  await plan(clinic, second);
  const canceled = { status: 'cancelled' as const };
  await plan(clinic, { ...booked, ...canceled }, { ...second, ...canceled });
  return { clinic, first: booked, second };
}

test.each(['first', 'second'] as const)(
  'of two visits that share a held call and were away, the %s stays on hold',
  async (which) => {
    const { clinic, ...visits } = await installBothAway();
    await plan(clinic, visits[which]);
    await goOn(clinic);
    expect(await labelsOf(clinic)).toEqual([]);
  },
);

test('a released call is released for the visits of its need that are away, too', async () => {
  const { clinic, first, second } = await installBothAway();
  await plan(clinic, first);
  await releaseNow(clinic);
  await plan(clinic, { ...first, status: 'cancelled' });
  await plan(clinic, second);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-2']);
});

test.each(['the same export', 'the next export'])(
  'a held visit stays on hold if it is booked as another one in %s',
  async (when) => {
    const { clinic, booked } = await installHeld();
    const canceled = { ...booked, status: 'cancelled' as const };
    const instead = { ...visit(clinic, 'A-2'), coverages: HELD, replaces: 'A-1' };
    if (when === 'the same export') await plan(clinic, canceled, instead);
    else for (const each of [canceled, instead]) await plan(clinic, each);
    await goOn(clinic);
    expect(await labelsOf(clinic)).toEqual([]);
    await releaseNow(clinic, 2);
    await goOn(clinic);
    expect(await labelsOf(clinic)).toEqual(['A-2']);
  },
);

test('a held call about new codes is on hold when it is planned again after a merge', async () => {
  const policy = { new_codes: 'call', look_ahead_days: 90, reverify_after_days: 90 };
  const clinic = await install({ policy });
  await clinic.planNow();
  const about = { coverages: COVERAGES, procedure_codes: ['D0120'] };
  const codes = { procedure_codes: ['D0120', 'D2740'] };
  await plan(clinic, clinic.visit('A-1', { ...about, ...codes, patient: ADA }, 80));
  const soon = clinic.visit('A-2', { ...about, patient: ADA });
  await clinic.store.write((tx) => withdraw(tx, VISIT, clinic.now()));
  await send(clinic, soon);
  await finish(clinic);
  await plan(clinic, clinic.visit('A-1', { ...about, ...codes, patient: ADA }, 80));
  await holdNow(clinic);
  await send(clinic, clinic.visit('B-1', { ...about, patient: OTHER_ADA }));
  await merge(clinic);
  await clinic.planNow();
  await finish(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-2', 'B-1']);
  await releaseNow(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-2', 'B-1', 'A-1']);
});

test('the office releases a visit whose held call is taken back, and hears so', async () => {
  const { clinic, booked } = await installHeld();
  await plan(clinic, { ...booked, coverages: [aCoverage({ member_id: '' })] });
  const done = await releaseNow(clinic);
  expect(done.map(({ what }) => what).join()).toContain('no longer on hold');
  await plan(clinic, booked);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a visit is released with the number of its held call that was taken back', async () => {
  const { clinic, booked } = await installHeld();
  await plan(clinic, { ...booked, status: 'cancelled' });
  const done = await clinic.store.write((tx) =>
    release(tx, { kind: 'inquiry', id: 1 }, clinic.now()),
  );
  expect(done.map(({ what }) => what)).toEqual([
    'The next call for this visit or claim is no longer on hold.',
  ]);
  await plan(clinic, { ...booked, coverages: COVERAGES });
  await goOn(clinic);
  expect(await asked(clinic)).toEqual(['ACTIVE0']);
});

test('a hold ends when the office withdraws the visit; a change plans it again (G2)', async () => {
  const { clinic, booked } = await installHeld();
  await clinic.store.write((tx) => withdraw(tx, VISIT, clinic.now()));
  await plan(clinic, { ...booked, procedure_codes: ['D2740'] });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a kept hold ends once an answer serves the coverage (G2)', async () => {
  const { clinic, booked } = await installHeld({ reverify_after_days: 3 });
  await plan(clinic, { ...booked, status: 'cancelled' });
  await send(clinic, { ...visit(clinic, 'A-2'), coverages: HELD });
  await finish(clinic);
  await plan(clinic, booked);
  await plan(clinic, { ...booked, coverages: [aCoverage({ member_id: 'ACTIVE6' })] });
  await goOn(clinic);
  expect(await asked(clinic)).toEqual(['ACTIVE7', 'ACTIVE6']);
});

const CANCELED = { status: 'cancelled' } as const;
const of = (...member_ids: string[]) => ({
  coverages: member_ids.map((member_id) => aCoverage({ member_id })),
});

test('a held visit stays on hold when it joins a call that its other visit leaves', async () => {
  const { clinic, booked } = await installHeld();
  await plan(clinic, { ...booked, ...CANCELED });
  const other = { ...visit(clinic, 'A-2'), coverages: HELD };
  await plan(clinic, other);
  await plan(clinic, booked);
  await plan(clinic, { ...other, ...CANCELED });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
});

test('a held visit that is corrected to another visit’s coverage stays on hold alone', async () => {
  const { clinic, booked } = await installHeld();
  const other = { ...visit(clinic, 'A-2'), ...of('ACTIVE0') };
  await plan(clinic, other);
  await plan(clinic, { ...booked, ...of('ACTIVE0') });
  await plan(clinic, { ...other, ...CANCELED });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
});

test('a held visit waits if it is corrected to a lost call that the office withdrew', async () => {
  const clinic = await install();
  await clinic.planNow();
  await loseCreates(clinic, 1, 'before');
  const booked = visit(clinic, 'A-1');
  await send(clinic, booked);
  const undecidable = { state: 'undecidable', lookup_at: null } as const;
  await clinic.store.db.updateTable('inquiries').set(undecidable).execute();
  await clinic.store.write((tx) => withdraw(tx, VISIT, clinic.now()));
  await plan(clinic, { ...booked, coverages: HELD });
  await holdNow(clinic);
  await plan(clinic, booked);
  for (let time = 0; time < 3; time += 1) {
    await lookUp(clinic);
    await goOn(clinic);
  }
  expect(await labelsOf(clinic)).toEqual([]);
});

test('a held visit that is replaced twice stays on hold', async () => {
  const { clinic, booked } = await installHeld({ look_ahead_days: 10 });
  const far = clinic.visit('A-2', { patient: ADA, coverages: HELD, replaces: 'A-1' }, 40);
  await plan(clinic, { ...booked, ...CANCELED }, far);
  const last = { ...visit(clinic, 'A-3'), coverages: HELD, replaces: 'A-2' };
  await plan(clinic, { ...far, ...CANCELED }, last);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
});

test('a visit has no hold of the one that it replaced if that is booked again (G2)', async () => {
  const clinic = await install();
  await clinic.planNow();
  const first = { ...visit(clinic, 'A-1'), coverages: HELD };
  const instead = { ...visit(clinic, 'A-2'), ...of('ACTIVE8'), replaces: 'A-1' };
  await plan(clinic, first);
  await plan(clinic, { ...first, ...CANCELED }, instead);
  await plan(clinic, first);
  await holdNow(clinic);
  await plan(clinic, { ...first, ...of('') });
  await plan(clinic, { ...instead, ...of('ACTIVE6') });
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-2']);
});

test('the release of one call does not end the hold of another visit that is away', async () => {
  const clinic = await install({ policy: { reverify_after_days: 1 } });
  await clinic.planNow();
  const first = { ...visit(clinic, 'A-1'), coverages: HELD };
  await send(clinic, first);
  await finish(clinic);
  await pass(clinic, 3);
  const second = { ...visit(clinic, 'A-2'), coverages: HELD };
  await plan(clinic, second);
  await holdNow(clinic, { kind: 'appointment', id: 2 });
  await plan(clinic, { ...second, ...CANCELED });
  await plan(clinic, { ...first, ...of('ACTIVE7', 'ACTIVE6') });
  await holdNow(clinic);
  await releaseNow(clinic);
  await plan(clinic, second);
  await goOn(clinic);
  expect(await asked(clinic)).toEqual(['ACTIVE7', 'ACTIVE6']);
});

test('the office hears that it has withdrawn a visit that only keeps a hold', async () => {
  const { clinic, booked } = await installHeld();
  await plan(clinic, { ...booked, ...CANCELED });
  const done = await clinic.store.write((tx) => withdraw(tx, VISIT, clinic.now()));
  expect(done.some(({ did }) => did)).toBe(true);
  await plan(clinic, booked);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});
