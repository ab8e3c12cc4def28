/** The questions about a patient whose plan is known, with the real sandbox. */
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, type Visit, visits } from '../support/visits.ts';

type Request = { benefits_query: string[]; benefits_codes?: string[]; dob: string };

const EVERYTHING = [
  'STANDARD',
  'DEDUCTIBLES_AND_MAXIMUMS',
  'TREATMENT_HISTORY',
  'CODE_LOOKUP_BENEFITS',
  'CODE_LOOKUP_FREQUENCIES',
];

async function practice(policy: Record<string, unknown> = {}, questions?: unknown) {
  const machine = setMachineClock();
  const service = await startService();
  const config = { policy, ...(questions === undefined ? {} : { questions }) };
  const clinic = makeClinic({ base_url: service.url, config });
  let exports = 0;
  return {
    machine,
    service,
    clinic,
    /** Drops an export and returns the requests that it causes. */
    async day(...rows: Visit[]) {
      exports += 1;
      clinic.drop(`export-${exports}.csv`, exportOf(rows));
      await clinic.once();
      machine.pass({ days: 3, hours: 12 });
      await clinic.once();
    },
    later: (days: number) => machine.pass({ days }),
    asked: async () => (await service.ledger()).map(({ request }) => request as unknown as Request),
  };
}

const [CHECKUP] = visits(1, () => ({
  member_id: 'ACTIVE2000',
  procedure_codes: 'D0120;D1110',
})) as [Visit];

const visit = (over: Partial<Visit>): Visit => ({ ...CHECKUP, ...over });

test('half a year later, eligd asks the shorter set and only about the unknown codes', async () => {
  const made = await practice();
  await made.day(CHECKUP);
  made.later(182);
  const second = visit({
    appointment_id: '9100',
    appointment_at: '2030-07-15T10:00',
    procedure_codes: 'D1110;D2740',
  });
  await made.day(second);
  expect(await made.asked()).toMatchObject([
    { benefits_query: EVERYTHING, benefits_codes: ['D0120', 'D1110'] },
    {
      benefits_query: ['STANDARD', 'CODE_LOOKUP_BENEFITS', 'CODE_LOOKUP_FREQUENCIES'],
      benefits_codes: ['D2740'],
    },
  ]);
  const record = made.clinic
    .written()
    .findLast(({ appointment_id }) => appointment_id === '9100')?.record;
  expect(record).toMatchObject({
    procedure_codes: { codes: [{ code: 'D2740' }] },
    earlier: expect.arrayContaining([
      expect.objectContaining({
        name: 'D1110',
        about: 'patient',
        said_on: expect.stringMatching(/^2030-01-/),
      }),
    ]),
  });
  expect(made.clinic.attention()).toEqual([]);
});

test('eligd carries nothing over into the next plan year', async () => {
  const made = await practice();
  await made.day(CHECKUP);
  made.later(362);
  await made.day(visit({ appointment_id: '9101', appointment_at: '2031-01-14T10:00' }));
  const [, next_year] = await made.asked();
  expect(next_year).toMatchObject({
    benefits_query: EVERYTHING,
    benefits_codes: ['D0120', 'D1110'],
  });
  const record = made.clinic.written().at(-1)?.record;
  expect(record).not.toHaveProperty('earlier');
});

test('eligd asks again about benefits older than policy.benefits_days', async () => {
  const made = await practice({ benefits_days: 90 });
  await made.day(CHECKUP);
  made.later(182);
  await made.day(visit({ appointment_id: '9102', appointment_at: '2030-07-15T10:00' }));
  expect(await made.asked()).toMatchObject([
    { benefits_query: EVERYTHING },
    { benefits_query: EVERYTHING, benefits_codes: ['D0120', 'D1110'] },
  ]);
});

test('rules choose questions by payer, patient, and age of the answers', async () => {
  const dental = [
    { name: 'brief', when_eligibility_days: 200, benefits_query: ['STANDARD'], with_codes: false },
    {
      name: 'by-payer',
      when_payers: [CHECKUP.payor_id],
      benefits_query: ['STANDARD', 'TREATMENT_HISTORY'],
      with_codes: false,
    },
    { name: 'all', benefits_query: ['STANDARD', 'CODE_LOOKUP_BENEFITS'] },
  ];
  const made = await practice({}, { dental });
  const other = { patient_id: 'P-9', member_id: 'ACTIVE2001', payor_id: '62308' };
  await made.day(CHECKUP, visit({ appointment_id: '9103', ...other }));
  made.later(182);
  await made.day(visit({ appointment_id: '9104', appointment_at: '2030-07-15T10:00' }));
  expect((await made.asked()).map(({ benefits_query }) => benefits_query)).toEqual([
    ['STANDARD', 'TREATMENT_HISTORY'],
    ['STANDARD', 'CODE_LOOKUP_BENEFITS'],
    ['STANDARD'],
  ]);
});

test('a group’s plan terms serve its other adults and not its children', async () => {
  const made = await practice();
  const group = { group_id: 'G-4711' };
  const spouse = { ...group, patient_id: 'P-SPOUSE', dob: '1979-08-09' };
  const child = { ...group, patient_id: 'P-CHILD', dob: '2020-02-03' };
  await made.day(
    visit({ ...group, procedure_codes: 'D0120;D2740' }),
    visit({ ...spouse, appointment_id: '9110' }),
    visit({ ...child, appointment_id: '9111' }),
  );
  made.later(182);
  const crown = { appointment_at: '2030-07-15T10:00', procedure_codes: 'D1110;D2740' };
  await made.day(
    visit({ ...spouse, ...crown, appointment_id: '9112' }),
    visit({ ...child, ...crown, appointment_id: '9113' }),
  );
  const in_july = (await made.asked()).slice(3);
  expect(
    in_july.map(({ dob, benefits_query, benefits_codes = [] }) => [
      dob,
      benefits_query,
      benefits_codes,
    ]),
  ).toEqual([
    ['08-09-1979', ['STANDARD'], []],
    // The plan may have other terms for a child.
    ['02-03-2020', ['STANDARD', 'CODE_LOOKUP_BENEFITS', 'CODE_LOOKUP_FREQUENCIES'], ['D2740']],
  ]);
  const record = made.clinic
    .written()
    .findLast(({ appointment_id }) => appointment_id === '9112')?.record;
  expect(record?.earlier).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: 'D1110', about: 'patient' }),
      expect.objectContaining({ name: 'D2740', about: 'plan', inquiry_id: null }),
    ]),
  );
  expect(made.clinic.attention()).toEqual([]);
});

test('a first visit leaves out the codes that a call about the plan answered', async () => {
  const made = await practice();
  const group = { group_id: 'G-4711' };
  await made.day(visit({ ...group, procedure_codes: 'D1110;D2740' }));
  made.later(42);
  const newcomer = visit({
    ...group,
    ...{ patient_id: 'P-NEW', dob: '1979-08-09', appointment_id: '9120' },
    ...{ appointment_at: '2030-02-26T10:00', procedure_codes: 'D0120;D2740' },
  });
  await made.day(newcomer);
  made.later(1);
  await made.clinic.once();
  const [first, second] = await made.asked();
  expect(first).toMatchObject({ benefits_query: EVERYTHING, benefits_codes: ['D1110', 'D2740'] });
  expect(second).toMatchObject({ benefits_query: EVERYTHING, benefits_codes: ['D0120'] });
  const delivery = made.clinic.written().findLast((each) => each.appointment_id === '9120');
  expect(delivery?.record).toMatchObject({
    procedure_codes: { codes: [{ code: 'D0120' }] },
    earlier: expect.arrayContaining([
      expect.objectContaining({ name: 'D2740', about: 'plan', inquiry_id: null }),
    ]),
  });
  expect(JSON.stringify(delivery)).toMatch(
    /Said on 01\/\d\d\/2030, about the same plan, and not asked again: code D2740/,
  );
  expect(made.clinic.attention()).toEqual([]);
});
