/** Changes between two exports: a practice repeats, moves, cancels, and corrects appointments. */
import { describe, expect, test } from 'vitest';
import { type Clinic, makeClinic, type Overrides } from '../support/clinic.ts';
import { type MachineClock, setMachineClock } from '../support/machine-clock.ts';
import {
  expectOneCallEach,
  expectOwnAnswers,
  needsOf,
  questionsOf,
  writtenFor,
} from '../support/needs.ts';
import { type Service, startService } from '../support/service.ts';
import { exportOf, type Visit, visits } from '../support/visits.ts';

type Scene = {
  machine: MachineClock;
  service: Service;
  clinic: Clinic;
  drop: (...visits: Visit[]) => Promise<void>;
};

/** `drop` puts an export into the inbox and runs every stage once. */
async function scene(config: Overrides = {}): Promise<Scene> {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config });
  let files = 0;
  const drop = async (...exported: Visit[]) => {
    files += 1;
    clinic.drop(`export-${files}.csv`, exportOf(exported));
    await clinic.once();
  };
  return { machine, service, clinic, drop };
}

const reasonsFor = (clinic: Clinic, id: string) =>
  clinic
    .attention()
    .filter((line) => line.appointment_id === id)
    .map((line) => line.reason);

describe('changes that cause no call', () => {
  test('more rounds, the same file, and the same rows in another file cause no call', async () => {
    const { service, clinic, machine } = await scene();
    const all = visits(6);
    clinic.drop('export.csv', exportOf(all));
    await clinic.once();
    const posts = async () => {
      const routes = Object.entries((await service.traffic()).by_route);
      return routes.filter(([route]) => route.startsWith('POST') && !route.includes('token'));
    };
    const before = await posts();
    await clinic.once();
    clinic.drop('export.csv', exportOf(all));
    await clinic.once();
    clinic.drop('again.csv', exportOf([...all].reverse()));
    machine.pass({ days: 1, hours: 1 });
    await clinic.once();
    expect(await posts()).toEqual(before);
    expectOneCallEach(await service.ledger(), needsOf(questionsOf(all)));
  });

  test('a moved appointment causes no call, and its answer has the new time', async () => {
    const { service, clinic, drop } = await scene();
    const [visit] = visits(1) as [Visit];
    await drop(visit);
    await drop({ ...visit, appointment_at: '2030-01-16T14:15' });
    await service.advance({ days: 10 });
    await clinic.once();
    expect(await service.ledger()).toHaveLength(1);
    expect(clinic.written().map((line) => line.appointment_at)).toEqual([
      '2030-01-16T14:15:00-06:00',
    ]);
    // The appointment moves again, after the answer.
    await drop({ ...visit, appointment_at: '2030-01-17T09:00' });
    expect(await service.ledger()).toHaveLength(1);
  });

  test('a second visit of the same patient and coverage gets the same record', async () => {
    const { service, clinic, drop } = await scene();
    const [first, second, later] = visits(3, (index) => ({
      patient_id: 'P1',
      patient_name: 'Testpatient One',
      dob: '1970-05-06',
      member_id: 'ACTIVE1',
      appointment_at: `2030-01-${10 + index}T09:00`,
    })) as [Visit, Visit, Visit];
    await drop(first, second);
    await service.advance({ days: 6 });
    await clinic.once();
    expect(await service.ledger()).toHaveLength(1);
    expect(writtenFor(clinic)).toEqual(new Set(['9001/1', '9002/1']));
    // The same answer serves a third visit at once, after it arrived.
    await drop(first, second, later);
    expect(await service.ledger()).toHaveLength(1);
    expect(writtenFor(clinic)).toEqual(new Set(['9001/1', '9002/1', '9003/1']));
    expectOwnAnswers(clinic, await service.ledger());
  });

  test('a different spelling of the name or another group causes no call', async () => {
    const { service, drop } = await scene();
    const [visit] = visits(1) as [Visit];
    await drop(visit);
    await drop({ ...visit, patient_name: 'Testpatient Renamed', group_id: '4711' });
    expect(await service.ledger()).toHaveLength(1);
  });
});

describe('changes to the question', () => {
  test.each([
    ['member id', { member_id: 'ACTIVE999' }],
    ['payer', { payor_id: '62308', carrier: 'Cigna Dental PPO' }],
    ['birth date', { dob: '1971-01-02' }],
  ])(
    'another %s makes a new need, and eligd writes the answer to that one',
    async (_, change: Partial<Visit>) => {
      const { service, clinic, drop } = await scene();
      const [visit] = visits(1) as [Visit];
      const changed = { ...visit, ...change };
      await drop(visit);
      await drop(changed);
      await service.advance({ days: 6 });
      await clinic.once();
      const ledger = await service.ledger();
      expectOneCallEach(ledger, needsOf(questionsOf([visit, changed])));
      expect(clinic.written().map((line) => line.inquiry_id)).toEqual([ledger[1]?.id]);
      expectOwnAnswers(clinic, ledger);
    },
  );

  test('a corrected member ID makes eligd call', async () => {
    const { service, clinic, drop } = await scene();
    const [bad, good] = visits(2) as [Visit, Visit];
    await drop({ ...bad, member_id: '' }, good);
    expect((await service.ledger()).map(({ external_id }) => external_id)).toEqual(['9002']);
    expect(reasonsFor(clinic, '9001')).toEqual(['field_missing']);
    await drop(bad, good);
    expectOneCallEach(await service.ledger(), needsOf(questionsOf([good, bad])));
    expect(reasonsFor(clinic, '9001')).toEqual([]);
  });

  test.each(['bulk', 'single'])(
    'a correction makes eligd resend a row that the service refused (%s)',
    async (mode) => {
      const { machine, service, clinic, drop } = await scene({ service: { submission: { mode } } });
      const all = visits(5);
      const refused = all.map((visit, index) =>
        index === 2 ? { ...visit, member_id: 'REJECT77' } : visit,
      );
      await drop(...refused);
      // eligd looks the other items of a refused batch up twice before it sends them again.
      for (let round = 0; round < 2; round += 1) {
        machine.pass({ seconds: 15 });
        await clinic.once();
      }
      expect(await service.ledger()).toHaveLength(4);
      expect(reasonsFor(clinic, '9003')).toEqual(['refused']);
      const { stdout } = await clinic.run('explain', '9003', '--patients');
      expect(stdout).toMatch(/The service rejected the (?:inquiry|request)/);
      expect(stdout).toMatch(/The carrier knows no member ids of this form/);
      // The same content is not sent again.
      await drop(...refused, ...visits(6).slice(5));
      expect(await service.ledger()).toHaveLength(5);
      await drop(...all, ...visits(6).slice(5));
      const needs = needsOf(questionsOf([...all, ...visits(6).slice(5)]));
      const by_label = (await service.ledger()).map(({ external_id }) => external_id).sort();
      expect(by_label).toEqual(needs.flatMap(({ appointment_ids }) => appointment_ids));
      expect(reasonsFor(clinic, '9003')).toEqual([]);
    },
  );

  test('a correction outside the match key resends a refused row under the same need', async () => {
    const { service, clinic, drop } = await scene();
    const all = visits(2);
    await service.fault({
      method: 'POST',
      path: 'dental/batch_inquiries',
      times: 1,
      when: 'before',
      action: 'status',
      status: 422,
      body: {
        detail: [
          {
            loc: ['body', 0, 'group_id'],
            msg: 'Input should be a group of the carrier',
            type: 'value_error',
          },
        ],
      },
    });
    await drop(...all);
    expect(reasonsFor(clinic, '9001')).toEqual(['refused']);
    await drop(
      ...all.map((visit, index) => (index === 0 ? { ...visit, group_id: '4711' } : visit)),
    );
    await clinic.once();
    expect((await service.ledger()).map(({ external_id }) => external_id).sort()).toEqual([
      '9001',
      '9002',
    ]);
    expect(reasonsFor(clinic, '9001')).toEqual([]);
  });
});

test('an export that equals an earlier one undoes the changes in between', async () => {
  const { service, clinic, drop } = await scene();
  const all = visits(3);
  await drop(...all);
  await drop(
    ...all.map((visit) =>
      visit.appointment_id === '9002' ? { ...visit, status: 'cancelled' } : visit,
    ),
  );
  await drop(...all);
  await service.advance({ days: 6 });
  await clinic.once();
  expectOneCallEach(await service.ledger(), needsOf(questionsOf(all)));
  expect(writtenFor(clinic)).toEqual(new Set(['9001/1', '9002/1', '9003/1']));
});

describe('calls that are no longer needed', () => {
  /** The service cannot be reached, so nothing has been sent. */
  async function unsent(...exported: Visit[]): Promise<Scene> {
    const made = await scene();
    await made.service.fault({ times: 1000, when: 'before', action: 'status', status: 500 });
    made.clinic.drop('first.csv', exportOf(exported));
    await made.clinic.once(75);
    await made.service.clearFaults();
    return made;
  }

  test('eligd withdraws an unsent call when the appointment is canceled', async () => {
    const all = visits(3);
    const { service, clinic, drop } = await unsent(...all);
    await drop(
      ...all.map((visit, index) => (index === 1 ? { ...visit, status: 'cancelled' } : visit)),
    );
    await clinic.once();
    expect((await service.ledger()).map(({ external_id }) => external_id).sort()).toEqual([
      '9001',
      '9003',
    ]);
    expect((await clinic.run('explain', '9002')).stdout).toMatch(
      /The appointment was canceled in the practice management system/,
    );
    // The appointment may be booked again.
    await drop(...all);
    expectOneCallEach(
      await service.ledger(),
      needsOf(questionsOf([all[0], all[2], all[1]] as Visit[])),
    );
  });

  test('eligd keeps a call that also serves another appointment', async () => {
    const both = visits(2, () => ({
      patient_id: 'P1',
      dob: '1970-05-06',
      member_id: 'ACTIVE1',
      patient_name: 'Testpatient One',
    }));
    const { service, clinic, drop } = await unsent(...both);
    await drop({ ...both[0], status: 'cancelled' } as Visit, both[1] as Visit);
    await service.advance({ days: 6 });
    await clinic.once();
    expect((await service.ledger()).map(({ external_id }) => external_id)).toEqual(['9002']);
    expect(writtenFor(clinic)).toEqual(new Set(['9002/1']));
  });

  test('a call waits on the list after two full exports without its visit', async () => {
    const all = visits(4);
    const { service, clinic, drop } = await unsent(...all);
    const others = all.filter((_, index) => index !== 1);
    await service.fault({ times: 1000, when: 'before', action: 'status', status: 500 });
    clinic.drop('second.csv', exportOf(others));
    await clinic.once(75);
    expect(reasonsFor(clinic, '9002')).toEqual([]);
    await service.clearFaults();
    await drop(...others.toReversed());
    expect(reasonsFor(clinic, '9002')).toEqual(['vanished']);
    expect((await service.ledger()).map(({ external_id }) => external_id)).not.toContain('9002');
    expect((await clinic.run('explain', '9002')).stdout).toMatch(
      /missing from the last two exports/,
    );
    await drop(...all);
    expect(reasonsFor(clinic, '9002')).toEqual([]);
    expect((await service.ledger()).map(({ external_id }) => external_id).sort()).toEqual([
      '9001',
      '9002',
      '9003',
      '9004',
    ]);
  });

  test.each([
    [0, 'The call is already made, and its answer will be written back.'],
    [6, 'The insurance company has already answered, and eligd writes the answer back.'],
  ])(
    'a visit that vanishes %i days later is listed as called about or answered',
    async (days, said) => {
      const { machine, service, clinic, drop } = await scene();
      const all = visits(4, () => ({ appointment_at: '2030-01-14T10:30' }));
      await drop(...all);
      expect(await service.ledger()).toHaveLength(4);
      machine.pass({ days });
      if (days > 0) await service.advance({ days });
      await clinic.once();
      const others = all.filter((_, index) => index !== 1);
      await drop(...others);
      await drop(...others.toReversed());
      const entry = clinic.attention().find(({ appointment_id }) => appointment_id === '9002');
      expect(entry).toMatchObject({ reason: 'vanished' });
      expect(Object.values(entry ?? {}).join(' ')).toContain(said);
    },
  );
});
