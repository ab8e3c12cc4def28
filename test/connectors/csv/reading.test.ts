import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readOne } from './support.ts';

const MAKE = join(import.meta.dirname, '../../fixtures/csv/make.mjs');
const SHAPES = ['opendental', 'semicolon', 'tab'];

function made(shape: string, ...more: string[]): Buffer {
  return execFileSync(process.execPath, [
    MAKE,
    '--shape',
    shape,
    '--count',
    '120',
    '--from',
    '2026-11-23',
    '--seed',
    '7',
    ...more,
  ]);
}

const HEADER = 'Appt ID,appointment_at,status,Patient,DOB,Carrier,Member ID,Group #,Procedures\r\n';
const one = (text: string, settings = {}) => readOne(HEADER + text, settings);

describe.each(SHAPES)('the shape %s of make.mjs', (shape) => {
  it('an export of this shape is read with only the folder configured', async () => {
    const { appointments, rejected, part, left, said } = await readOne(made(shape, '--clean'));
    expect({ accepted: appointments.length, rejected, part, left }).toEqual({
      accepted: 120,
      rejected: [],
      part: 'processed',
      left: [],
    });
    expect(appointments.flatMap(({ problems }) => problems)).toEqual([]);
    for (const { patient, coverages, provider, procedure_codes } of appointments) {
      expect(patient.first_name).not.toBe('');
      expect(patient.last_name).not.toBe('');
      expect(patient.birth_date).toMatch(/^\d{4}-\d\d-\d\d$/);
      expect(coverages[0]?.member_id).toMatch(/^[WU]?\d+$/);
      expect(provider.rendering_npi).toMatch(/^\d{10}$/);
      expect(procedure_codes.length).toBeGreaterThan(0);
    }
    expect(said()).not.toContain("O'Brien");
  });

  it('the faults of a real export lose no row', async () => {
    const { appointments, rejected, reasons } = await readOne(made(shape));
    // One of the 121 rows repeats an appointment.
    expect(appointments).toHaveLength(120);
    expect(rejected).toEqual([]);
    expect(appointments.filter(({ status }) => status === 'cancelled')).toHaveLength(1);
    // This seed's self-pay patient has a second coverage, which only the shape `tab` has columns
    // for.
    const selfPay = appointments.find(({ source_id }) => source_id === '10101');
    expect(selfPay?.coverages.map(({ member_id }) => member_id)).toEqual(
      shape === 'tab' ? ['S'] : [],
    );
    const bad = appointments.filter(({ problems }) => problems.length > 0);
    expect(
      bad.map(({ patient, problems }) => [patient.birth_date, problems[0]?.value_class]),
    ).toEqual([[null, 'impossible date']]);
    expect(reasons).toMatch(
      /^\ufeffrow,column,value_class,remedy,row_used\r\n19,[^,]+,impossible date,"?This day does/,
    );
    expect(reasons).not.toContain('1987');
  });
});

it('exports of all three shapes become the same appointments', async () => {
  const [first, second, third] = await Promise.all(
    SHAPES.map(async (shape) => (await readOne(made(shape, '--clean'))).appointments),
  );
  // The shape without columns for a second coverage has only the first; names in one cell may be
  // split differently.
  const alike = (list: typeof first) =>
    list?.map(({ patient, coverages, ...rest }) => ({
      ...rest,
      patient: {
        ...patient,
        first_name: '',
        last_name: '',
        name: `${patient.first_name} ${patient.last_name}`,
      },
      coverages: coverages.slice(0, 1),
    }));
  expect(alike(second)).toEqual(alike(first));
  expect(alike(third)).toEqual(alike(first));
  expect(third?.filter(({ coverages }) => coverages.length === 2).length).toBeGreaterThan(3);
});

describe('encodings', () => {
  const text = `${HEADER}7,2026-11-24 09:00,,"Müller, Zoë",1987-02-14,Café,W1,,\r\n`;
  const utf16be = () => Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
  it.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16 with a mark', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16 without a mark', Buffer.from(text, 'utf16le')],
    ['UTF-16 big-endian', utf16be()],
    ['Windows-1252', Buffer.from(text, 'latin1')],
  ])('%s is detected automatically', async (_name, bytes) => {
    const { appointments } = await readOne(bytes);
    expect(appointments[0]?.patient).toMatchObject({ first_name: 'Zoë', last_name: 'Müller' });
    expect(appointments[0]?.coverages[0]?.carrier).toBe('Café');
  });

  it('Windows encoding beyond Latin 1 is read', async () => {
    const { appointments } = await readOne(
      Buffer.concat([
        Buffer.from(`${HEADER}7,2026-11-24 09:00,,"D`),
        Buffer.from([0x92]),
        Buffer.from('Arcy, Ann",,,W1,,\r\n'),
      ]),
    );
    expect(appointments[0]?.patient.last_name).toBe('D’Arcy');
  });

  it.each([
    ['a workbook', Buffer.from('PK\x03\x04rest of it'), 'spreadsheet workbook'],
    ['zero bytes', Buffer.from(`${HEADER}\0\0\0`), 'not a text file'],
    [
      'half a character behind a mark',
      Buffer.concat([Buffer.from(`\ufeff${HEADER}`), Buffer.from([0xc3])]),
      'not valid UTF-8',
    ],
    ['nothing', Buffer.from(''), 'empty'],
  ])('%s is rejected with its reason', async (_name, bytes, value_class) => {
    const { part, rejected, reasons, batches } = await readOne(bytes);
    expect(part).toBe('rejected');
    expect(rejected).toMatchObject([{ position: 'file', value_class }]);
    expect(batches).toMatchObject([{ source: { is_last: true, completeness: 'changes' } }]);
    expect(reasons).toContain(value_class);
  });
});

describe('rows', () => {
  it('rows without an ID or a readable time are rejected alone, with row and column', async () => {
    const { appointments, rejected, reasons, part } = await one(
      [
        ',2026-11-24 09:00,,,,,,,',
        '2,soon,,,,,,,',
        '3,2026-11-24,,,,,,,',
        '4,2026-11-24 25:99,,,,,,,',
        '5,2026-11-24 9:00,,,,,,,',
        '1.23E+11,2026-11-24 9:00,,,,,,,',
        '7,2026-11-24 9:00,,',
      ].join('\r\n'),
    );
    expect(appointments.map(({ source_id }) => source_id)).toEqual(['5']);
    expect(
      rejected.map(({ position, field, value_class }) => [position, field, value_class]),
    ).toEqual([
      ['row 2', 'Appt ID', 'empty'],
      ['row 3', 'appointment_at', 'not a date'],
      ['row 4', 'appointment_at', 'no time of day'],
      ['row 5', 'appointment_at', 'not a time'],
      ['row 7', 'Appt ID', 'number in scientific notation'],
      ['row 8', 'row', 'too few cells'],
    ]);
    expect(reasons.split('\r\n').filter((text) => text.endsWith(',no'))).toHaveLength(6);
    expect(part).toBe('processed');
  });

  it('a file without a usable row goes to rejected/', async () => {
    const { part, rejected } = await one('1,soon,,,,,,,\r\n2,later,,,,,,,\r\n');
    expect([part, rejected.length]).toEqual(['rejected', 2]);
  });

  it('a file with only a header is one empty batch', async () => {
    const { batches, part } = await readOne(HEADER);
    expect(batches).toMatchObject([{ appointments: [], rejected: [], source: { is_last: true } }]);
    expect(part).toBe('processed');
  });

  it('rows keep leading zeros, also where a spreadsheet protected them', async () => {
    const { appointments } = await one('0007,2026-11-24 9:00,,,,Aetna,="00123",0012345,\r\n');
    expect(appointments[0]).toMatchObject({
      source_id: '0007',
      coverages: [{ member_id: '00123', group_id: '0012345' }],
    });
  });

  it('a row with an unreadable value is accepted, and the problem names no value', async () => {
    const { appointments, reasons } = await one(
      '1,2026-11-24 9:00,Zonked,,2/30/1987,Aetna,1.23457E+11,,Crown upper\r\n',
    );
    expect(appointments[0]).toMatchObject({
      status: 'booked',
      patient: { birth_date: null },
      coverages: [{ member_id: '' }],
      procedure_codes: [],
    });
    expect(appointments[0]?.problems.map(({ field, value_class }) => [field, value_class])).toEqual(
      [
        ['DOB', 'impossible date'],
        ['status', 'unknown word'],
        ['Member ID', 'number in scientific notation'],
        ['Procedures', 'no code in it'],
      ],
    );
    expect(reasons).not.toMatch(/Zonked|1987|1\.23|Crown/);
  });

  it('rows of self-pay patients have no coverage', async () => {
    const { appointments } = await one('1,2026-11-24 9:00,,,,,,,\r\n');
    expect(appointments[0]?.coverages).toEqual([]);
  });
});

describe('settings', () => {
  it('settings name unknown columns', async () => {
    const { appointments } = await readOne('Vorgang|Wann|Police\n7|2026-11-24 09:00|W1\n', {
      columns: { appointment_id: 'Vorgang', appointment_at: ['Wann'], member_id: 'police' },
    });
    expect(appointments).toMatchObject([{ source_id: '7', coverages: [{ member_id: 'W1' }] }]);
  });

  it('settings say how dates, names, and words are written', async () => {
    const { appointments } = await one('1,24.11.2026 09:00,Zonked,Smith Ann,3/4/1987,,,,\r\n', {
      date_order: 'dmy',
      name_order: 'last_first',
      statuses: { zonked: 'cancelled' },
    });
    expect(appointments).toMatchObject([
      {
        starts_at: '2026-11-24T15:00:00.000Z',
        status: 'cancelled',
        patient: { first_name: 'Ann', last_name: 'Smith', birth_date: '1987-04-03' },
        problems: [],
      },
    ]);
  });

  it('settings say if an export is complete', async () => {
    for (const [value, completeness] of [
      ['auto', 'unknown'],
      ['full', 'full'],
      ['changes', 'changes'],
    ]) {
      const { batches } = await one('1,2026-11-24 9:00,,,,,,,\r\n', { export: value });
      expect(batches[0]?.source.completeness).toBe(completeness);
    }
  });

  it('settings limit the size of a file', async () => {
    const rows = '1,2026-11-24 9:00,,,,,,,\r\n'.repeat(50);
    expect((await one(rows, { max_rows: 20 })).rejected).toMatchObject([
      { position: 'file', value_class: 'too many rows' },
    ]);
    expect((await one(rows, { max_megabytes: 0.001 })).rejected).toMatchObject([
      { position: 'file', value_class: 'too large' },
    ]);
  });
});

describe('the period of a coverage', () => {
  it.each([
    ['Eff Date', 'Term Date'],
    ['Primary Effective Date', 'Primary Termination Date'],
    ['Ins. Start Date', 'Ins End Date'],
    ['coverage_start', 'coverage_end'],
  ])('the period of a coverage is read from %s and %s', async (first, last) => {
    const header = `Appt ID,appointment_at,Patient,Carrier,Member ID,${first},${last}`;
    const { appointments } = await readOne(
      `${header}\r\n1,2026-11-24 9:00,"Smith, Ann",Delta,M1,1/1/2024,12/31/2024\r\n` +
        '2,2026-11-24 9:00,"Smith, Bob",Delta,M2,,\r\n',
    );
    expect(appointments.map(({ coverages }) => coverages[0]?.period)).toEqual([
      { from: '2024-01-01T06:00:00.000Z', until: '2025-01-01T06:00:00.000Z' },
      undefined,
    ]);
  });

  it('a second coverage has its own period', async () => {
    const { appointments } = await readOne(
      'Appt ID,appointment_at,Carrier,Member ID,Carrier 2,Member ID 2,Secondary Term Date\r\n' +
        '1,2026-11-24 9:00,Delta,M1,Cigna,M2,12/31/2024\r\n',
    );
    expect(appointments[0]?.coverages.map(({ period }) => period)).toEqual([
      undefined,
      { from: null, until: '2025-01-01T06:00:00.000Z' },
    ]);
  });
});

describe('the second coverage and the policyholder', () => {
  const header =
    'appointment_id,appointment_date,appointment_time,last_name,first_name,dob,carrier,' +
    'member_id,relationship,subscriber_name,subscriber_dob,carrier_2,member_id_2,' +
    'relationship_2,subscriber_name_2\n';
  const read = async (row: string) => (await readOne(header + row)).appointments[0]?.coverages;

  it('a second coverage and a policyholder need a filled column', async () => {
    expect(await read('1,11/24/2026,2:30 PM,Li,Wei,2015-05-06,Aetna,W1,self,,,,,,\n')).toEqual([
      { carrier: 'Aetna', payor_id: '', member_id: 'W1', group_id: '', subscriber: null },
    ]);
    expect(
      await read(
        '1,11/24/2026,2:30 PM,Li,Wei,2015-05-06,Aetna,W1,Child,"Li, ' +
          'Ann",1980-01-02,,S1,spouse,"Li, Bo"\n',
      ),
    ).toEqual([
      {
        carrier: 'Aetna',
        payor_id: '',
        member_id: 'W1',
        group_id: '',
        subscriber: { name: 'Ann Li', birth_date: '1980-01-02', relationship: 'Child' },
      },
      {
        carrier: '',
        payor_id: '',
        member_id: 'S1',
        group_id: '',
        subscriber: { name: 'Bo Li', birth_date: null, relationship: 'spouse' },
      },
    ]);
  });

  it('the policyholder is left out when it is the patient', async () => {
    const coverages = await read(
      '1,11/24/2026,2:30 PM,Li,Wei,2015-05-06,Aetna,W1,,"LI, WEI",2015-05-06,,,,\n',
    );
    expect(coverages?.[0]?.subscriber).toBeNull();
  });
});
