/** Exports with several rows for one appointment: one per procedure, or one per person. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dropFolder, openCsv, readOne } from './support.ts';

const HEADER =
  'Appt ID,appointment_at,status,patient_id,Last,First,DOB,Carrier,Member ID,Procedures,Dx,Fee\r\n';
const read = (...rows: string[]) => readOne(HEADER + rows.map((row) => `${row}\r\n`).join(''));

const ANN = 'P1,Alpha,Ann,1990-01-01,Delta,M-ANN';
const BOB = 'P2,Alpha,Bob,1992-02-02,Delta,M-BOB';
const AT = '2026-11-24 9:00';

describe('rows with the same appointment ID', () => {
  it('rows with one appointment ID are one appointment with the codes of all', async () => {
    const { appointments, rejected } = await read(
      `1,${AT},,${ANN},D0120,K02.1,`,
      `1,${AT},,${ANN},D1110,,`,
      `2,${AT},,${BOB},D2740,,`,
      // Not sorted by the ID.
      `1,${AT},,${ANN},D0274,K02.2,`,
    );
    expect(rejected).toEqual([]);
    expect(appointments).toHaveLength(2);
    expect(appointments).toMatchObject([
      {
        source_id: '1',
        procedure_codes: ['D0120', 'D1110', 'D0274'],
        diagnosis_codes: ['K02.1', 'K02.2'],
        coverages: [{ member_id: 'M-ANN' }],
      },
      { source_id: '2', procedure_codes: ['D2740'], coverages: [{ member_id: 'M-BOB' }] },
    ]);
  });

  it('rows keep a value that only one of them has', async () => {
    const { appointments } = await read(`1,${AT},,${ANN},D0120,,`, `1,${AT},,P1,,,,,,D1110,,`);
    expect(appointments).toMatchObject([
      {
        patient: { last_name: 'Alpha', birth_date: '1990-01-01' },
        coverages: [{ member_id: 'M-ANN' }],
        procedure_codes: ['D0120', 'D1110'],
      },
    ]);
  });

  it('rows keep a death, a cancellation, fees, and values that only one has', async () => {
    const header =
      'Appt ID,appointment_at,status,patient_id,Last,First,DOB,deceased,pos,Carrier,Member ID,' +
      'carrier_2,member_id_2,Procedures,Procedure Fees\r\n';
    const who = 'P1,Alpha,Ann,1990-01-01';
    const rows = [
      `1,${AT},Cancelled,${who},Y,11,Delta,M-ANN,Cigna,S-ANN,D0120,50`,
      `1,${AT},,${who},,,Delta,,,,D1110,70`,
    ];
    for (const order of [rows, rows.toReversed()]) {
      const { appointments } = await readOne(`${header}${order.join('\r\n')}\r\n`);
      expect(appointments).toMatchObject([
        {
          status: 'cancelled',
          patient: { is_deceased: true },
          place_of_service: '11',
          coverages: [
            { carrier: 'Delta', member_id: 'M-ANN' },
            { carrier: 'Cigna', member_id: 'S-ANN' },
          ],
          procedure_fees: { D0120: '50.00', D1110: '70.00' },
        },
      ]);
    }
  });

  it('two fees of one code add up; an equal fee may be the same procedure', async () => {
    const header = 'Appt ID,appointment_at,patient_id,Last,First,DOB,Procedures,Procedure Fees\r\n';
    const rows = ['200', '210.50'].map((fee) => `1,${AT},P1,Alpha,Ann,1990-01-01,D2392,${fee}`);
    const again = ['200', '200'].map((fee) => `2,${AT},P2,Beta,Bob,1990-01-01,D2392,${fee}`);
    rows.splice(1, 0, `1,${AT},P1,Alpha,Ann,1990-01-01,D1110,98`);
    const { appointments } = await readOne(`${header}${[...rows, ...again].join('\r\n')}\r\n`);
    expect(
      appointments.map(({ procedure_fees, procedure_counts }) => [
        procedure_fees,
        procedure_counts,
      ]),
    ).toEqual([
      [{ D2392: '410.50', D1110: '98.00' }, { D2392: 2 }],
      [{}, undefined],
    ]);
  });

  it('rows with two insurances are not mixed', async () => {
    const { appointments } = await read(
      `1,${AT},,P1,Alpha,Ann,1990-01-01,Delta,M-ANN,D0120,,`,
      `1,${AT},,P1,Alpha,Ann,1990-01-01,Cigna,,D1110,,`,
    );
    expect(appointments).toMatchObject([{ coverages: [{ carrier: 'Cigna', member_id: '' }] }]);
  });

  it('the last row counts, and a row with another time counts alone', async () => {
    const { appointments } = await read(
      `1,${AT},scheduled,${ANN},D0120,,`,
      `1,${AT},cancelled,${ANN},D0120,,`,
      `2,${AT},scheduled,${BOB},D0120,,`,
      `2,2026-11-25 9:00,scheduled,${BOB},D1110,,`,
    );
    expect(appointments).toMatchObject([
      { source_id: '1', status: 'cancelled' },
      { source_id: '2', starts_at: '2026-11-25T15:00:00.000Z', procedure_codes: ['D1110'] },
    ]);
  });

  it('different amounts add up; an equal one may be for the whole visit', async () => {
    const { appointments } = await read(
      `1,${AT},,${ANN},D0120,,50.00`,
      `1,${AT},,${ANN},D1110,,70.00`,
      `2,${AT},,${BOB},D0120,,120`,
      `2,${AT},,${BOB},D1110,,120`,
    );
    expect(appointments.map(({ billed_amount }) => billed_amount)).toEqual(['120.00', undefined]);
  });

  it('rows stay together where a batch ends between them', async () => {
    const folder = await dropFolder();
    const rows = Array.from({ length: 1100 }, (_, index) => {
      const id = Math.floor((index + 1) / 3);
      return `${id},${AT},,P${id},Last,First,1990-01-01,Delta,M-${id},D${1000 + index},,\r\n`;
    });
    await folder.drop('export.csv', HEADER + rows.join(''));
    const opened = openCsv(folder);
    await opened.pull();
    await folder.remove();
    const ids = opened.appointments.map(({ source_id }) => source_id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(opened.appointments.flatMap(({ procedure_codes }) => procedure_codes)).toHaveLength(
      1100,
    );
  });

  it('the number of rows of one appointment is limited', async () => {
    const rows = Array.from({ length: 260 }, (_, index) => `1,${AT},,${ANN},D${1000 + index},,`);
    const { appointments, rejected } = await read(...rows);
    expect(appointments[0]?.procedure_codes).toHaveLength(200);
    expect(rejected).toHaveLength(60);
  });
});

describe('a row with another person’s appointment ID', () => {
  it.each([
    ['another id', BOB],
    ['another birth date', 'P1,Alpha,Ann,1992-02-02,Delta,M-BOB'],
    ['another name and a shared account number', 'P1,Alpha,Bob,,Delta,M-BOB'],
    ['Renaming the file is not enough', ',Alpha,Bob,,Delta,M-BOB'],
  ])('the row is reported, and its insurance is not used for another: %s', async (_, other) => {
    const { appointments, rejected } = await read(
      `1,${AT},,${ANN},D0120,K02.1,`,
      `1,${AT},,${other},D2740,K02.9,`,
      `1,${AT},,${ANN},D1110,,`,
    );
    expect(appointments).toMatchObject([
      {
        patient: { first_name: 'Ann' },
        coverages: [{ member_id: 'M-ANN' }],
        procedure_codes: ['D0120', 'D1110'],
        diagnosis_codes: ['K02.1'],
      },
    ]);
    expect(rejected).toMatchObject([{ position: 'row 3', field: 'appointment_id' }]);
  });

  it('no value appears under another person, in any order of rows', async () => {
    const row = fc.record({
      id: fc.integer({ min: 1, max: 3 }),
      person: fc.integer({ min: 1, max: 4 }),
      is_insured: fc.boolean(),
      code: fc.integer({ min: 10, max: 99 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 12 }), async (rows) => {
        const { appointments, rejected } = await read(
          ...rows.map(({ id, person, is_insured, code }) => {
            const insurance = is_insured ? `C${person},M-${person}` : ',';
            const who = `P${person},L${person},F,1990-01-0${person},${insurance}`;
            return `${id},${AT},,${who},D${person}0${code},K0${person}.1,`;
          }),
        );
        for (const { patient, coverages, procedure_codes, diagnosis_codes } of appointments) {
          const number = patient.id?.slice(1);
          expect(patient.last_name).toBe(`L${number}`);
          for (const { member_id } of coverages) expect(member_id).toBe(`M-${number}`);
          for (const code of procedure_codes) expect(code.slice(0, 2)).toBe(`D${number}`);
          expect(diagnosis_codes).toEqual([`K0${number}.1`]);
        }
        const first = new Map<number, number>();
        for (const { id, person } of rows) if (!first.has(id)) first.set(id, person);
        expect(rejected).toHaveLength(
          rows.filter(({ id, person }) => first.get(id) !== person).length,
        );
      }),
      { numRuns: 40 },
    );
  });
});
