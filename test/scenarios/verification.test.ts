/** The service's checks of its calls' transcripts, and what eligd does with them. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/store/engine/driver.ts';
import { type Clinic, makeClinic, type Overrides } from '../support/clinic.ts';
import { type MachineClock, setMachineClock } from '../support/machine-clock.ts';
import { type Service, startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

type Scene = { machine: MachineClock; service: Service; clinic: Clinic };

/**
 * One visit, sent on Monday morning and answered three days later, with the sandbox's verification
 * behavior.
 */
async function answered(
  prefix: string,
  config: Overrides = {},
  verification_after_minutes = 3,
): Promise<Scene> {
  const machine = setMachineClock();
  const service = await startService();
  await service.behave({ verification_after_minutes });
  const clinic = makeClinic({ base_url: service.url, config });
  clinic.drop('export.csv', exportOf(visits(1, () => ({ member_id: `${prefix}-77` }))));
  await clinic.once();
  machine.pass({ days: 3, hours: 6 });
  await clinic.once();
  return { machine, service, clinic };
}

const lines = (clinic: Clinic) =>
  clinic.written().map(({ revision, confidence }) => [revision, confidence]);
const reasons = (clinic: Clinic) =>
  clinic
    .attention()
    .filter(({ appointment_id }) => appointment_id !== '')
    .map(({ reason }) => reason);
const REQUIRE = { verification: { require: ['reference_number_asked'] } };

async function asked(service: Service): Promise<number> {
  return (await service.traffic()).by_route['GET /api/v0/verification'] ?? 0;
}

describe('the checks of a call', () => {
  test('checks that arrive with the answer are in its first record', async () => {
    const { clinic, service } = await answered('ACTIVE');
    expect(lines(clinic)).toEqual([['1', 'high']]);
    const verification = clinic.written()[0]?.record.verification as { checks: unknown[] };
    expect(verification.checks).toHaveLength(4);
    expect(verification.checks[0]).toMatchObject({
      name: 'payer_reached',
      status: 'MET',
      is_met: true,
      evidence: expect.any(String),
    });
    expect(await asked(service)).toBe(1);
    await clinic.once();
    expect(await asked(service)).toBe(1);
  });

  test('eligd polls for later checks and writes the record again', async () => {
    const { clinic, service, machine } = await answered('ACTIVE', {}, 60 * 36);
    expect(lines(clinic)).toEqual([['1', '']]);
    machine.pass({ hours: 14 });
    await clinic.once();
    expect(lines(clinic)).toEqual([
      ['1', ''],
      ['2', 'high'],
    ]);
    expect(clinic.written()[1]?.notes).toMatch(/call checks arrived/);
    // The service's answer is the same, and stored once.
    const raw = openSqlite(join(clinic.state, 'eligd.db'), { readonly: true });
    const stored = raw.prepare('select length(raw) > 100 from answers order by id').pluck();
    expect(stored.all()).toEqual([0, 1]);
    raw.close();
    const times = await asked(service);
    machine.pass({ days: 3 });
    await clinic.once();
    expect(await asked(service)).toBe(times);
    expect(lines(clinic)).toHaveLength(2);
  });

  test('eligd delays no answer of many, and adds the checks in the same run', async () => {
    const machine = setMachineClock();
    const service = await startService();
    const clinic = makeClinic({ base_url: service.url });
    clinic.drop(
      'export.csv',
      exportOf(visits(70, (index) => ({ member_id: `ACTIVE-${1000 + index}` }))),
    );
    await clinic.once();
    machine.pass({ days: 3, hours: 6 });
    await clinic.once();
    const first = clinic.written().filter(({ revision }) => revision === '1');
    expect(first).toHaveLength(70);
    const without = first.flatMap(({ appointment_id, confidence }) =>
      confidence === '' ? [appointment_id] : [],
    );
    expect(without.length).toBeGreaterThan(0);
    const again = clinic
      .written()
      .filter(({ revision, confidence }) => revision === '2' && confidence !== '');
    expect(again.map(({ appointment_id }) => appointment_id).sort()).toEqual(without.sort());
    expect(await asked(service)).toBe(70);
  });

  test('if the service refuses the checks of one inquiry, eligd reads the others', async () => {
    const machine = setMachineClock();
    const service = await startService();
    const clinic = makeClinic({ base_url: service.url });
    clinic.drop(
      'export.csv',
      exportOf(visits(6, (index) => ({ member_id: `ACTIVE-${1000 + index}` }))),
    );
    await clinic.once();
    machine.pass({ days: 3, hours: 6 });
    await service.fault({
      method: 'GET',
      path: 'verification',
      times: 1,
      when: 'before',
      action: 'status',
      status: 404,
    });
    await clinic.once();
    expect(lines(clinic).filter(([, confidence]) => confidence !== '')).toHaveLength(5);
    machine.pass({ hours: 2 });
    await clinic.once();
    expect(await asked(service)).toBe(7);
    expect(lines(clinic).filter(([, confidence]) => confidence !== '')).toHaveLength(6);
  });

  test('eligd stops polling for missing checks, without a word if none is required', async () => {
    const { clinic, service, machine } = await answered('ACTIVE', {}, 60 * 24 * 365);
    for (let day = 0; day < 4; day += 1) {
      machine.pass({ days: 1 });
      await clinic.once();
    }
    const times = await asked(service);
    machine.pass({ days: 1 });
    await clinic.once();
    expect(await asked(service)).toBe(times);
    expect(lines(clinic)).toEqual([['1', '']]);
    expect(reasons(clinic)).toEqual([]);
  });

  test('a failed check lowers the confidence, and the notes name it', async () => {
    const { clinic } = await answered('NOTMET');
    expect(lines(clinic)).toEqual([['1', 'low']]);
    expect(clinic.written()[0]?.notes).toMatch(
      /The call failed a check: reference_number_asked \(NOT_MET\)\./,
    );
    expect(reasons(clinic)).toEqual([]);
  });

  test('an answer does not wait while the service cannot return its checks', async () => {
    const machine = setMachineClock();
    const service = await startService();
    const clinic = makeClinic({ base_url: service.url });
    clinic.drop('export.csv', exportOf(visits(3)));
    await clinic.once();
    machine.pass({ days: 3, hours: 6 });
    await service.fault({
      method: 'GET',
      path: 'verification',
      times: 50,
      when: 'before',
      action: 'status',
      status: 500,
    });
    await clinic.once();
    expect(lines(clinic).map(([, confidence]) => confidence)).toEqual(['', '', '']);
    await service.clearFaults();
    machine.pass({ minutes: 20 });
    await clinic.once();
    expect(lines(clinic).filter(([revision]) => revision === '2')).toHaveLength(3);
  });

  test('with verification.ask_for_hours 0, eligd does not ask for checks', async () => {
    const { clinic, service } = await answered('ACTIVE', { verification: { ask_for_hours: 0 } });
    expect(lines(clinic)).toEqual([['1', '']]);
    expect(await asked(service)).toBe(0);
  });

  test('late checks of an unsuccessful call cause no further attempt', async () => {
    const { clinic, service, machine } = await answered(
      'UNSUCC',
      { policy: { attempts: 1 } },
      60 * 12,
    );
    machine.pass({ hours: 14 });
    await clinic.once();
    expect(clinic.written().map(({ status, revision }) => [status, revision])).toEqual([
      ['UNSUCCESSFUL', '1'],
      ['UNSUCCESSFUL', '2'],
    ]);
    expect(await service.ledger()).toHaveLength(1);
    expect(reasons(clinic)).toEqual(['unsuccessful']);
  });
});

describe('verification.require', () => {
  test('an answer whose required check failed goes on the attention list', async () => {
    const { clinic } = await answered('NOTMET', REQUIRE);
    expect(reasons(clinic)).toEqual(['verification_failed']);
    expect(clinic.attention()[0]?.what_happened).toMatch(/reference_number_asked is NOT_MET/);
  });

  test('an answer whose required check passed is not listed for other checks', async () => {
    expect(reasons((await answered('ACTIVE', REQUIRE)).clinic)).toEqual([]);
    expect(
      reasons((await answered('NOTMET', { verification: { require: ['payer_reached'] } })).clinic),
    ).toEqual([]);
  });

  test('an answer without checks is listed once eligd no longer polls for them', async () => {
    const { clinic, machine } = await answered('ACTIVE', REQUIRE, 60 * 24 * 365);
    expect(reasons(clinic)).toEqual([]);
    for (let day = 0; day < 4; day += 1) {
      machine.pass({ days: 1 });
      await clinic.once();
    }
    expect(reasons(clinic)).toEqual(['verification_failed']);
    expect(clinic.attention()[0]?.what_happened).toMatch(
      /reference_number_asked was never checked/,
    );
  });

  test('a name that the service does not use is listed with the names it uses', async () => {
    const { clinic } = await answered('ACTIVE', { verification: { require: ['reference_asked'] } });
    expect(reasons(clinic)).toEqual(['verification_failed']);
    expect(clinic.attention()[0]?.what_happened).toContain(
      'reference_asked was never checked (the service checks payer_reached, purpose_stated, ' +
        'reference_number_asked, questions_completed; verification.require must use these names)',
    );
  });

  test.each([
    ['UNSUCC', 'unsuccessful'],
    ['CANCEL', 'cancelled_by_service'],
  ])('a call that got no answer is not listed twice (%s)', async (prefix, reason) => {
    const { clinic } = await answered(prefix, { ...REQUIRE, policy: { attempts: 1 } });
    expect(reasons(clinic)).toEqual([reason]);
  });
});
