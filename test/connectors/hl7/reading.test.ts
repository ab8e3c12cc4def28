/**
 * The content of messages: the samples as they are, and the ways in which senders write the same
 * data differently.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { appointment } from '../../../connectors/conformance/examples.ts';
import { messageReader } from '../../../connectors/hl7/in/reading.ts';
import type { Content, ReadingSettings } from '../../../connectors/hl7/in/result.ts';
import { MessageSplitter, splitMessages } from '../../../connectors/hl7/v2/batches.ts';
import { parseMessage } from '../../../connectors/hl7/v2/message.ts';
import type { AppointmentInput } from '../../../src/domain/appointment.ts';
import { adt, insurance, msh, siu, whole } from './messages.ts';

const SETTINGS: ReadingSettings = {
  fields: {},
  statuses: {},
  without_insurance: 'unknown',
  time_zone: 'America/Chicago',
};

function read(bytes: string | Buffer, settings: Partial<ReadingSettings> = {}) {
  const [found] = splitMessages(Buffer.from(bytes));
  const message = parseMessage(found?.text ?? '');
  if (message === null) throw new Error('It is no message.');
  return whole(messageReader({ ...SETTINGS, ...settings })(message));
}

function contentOf(bytes: string | Buffer, settings: Partial<ReadingSettings> = {}): Content {
  const reading = read(bytes, settings);
  if (reading.kind !== 'content') throw new Error(`It is ${reading.kind}.`);
  return reading.content;
}

function visitOf(
  bytes: string | Buffer,
  settings: Partial<ReadingSettings> = {},
): AppointmentInput {
  const [visit] = contentOf(bytes, settings).appointments;
  if (visit === undefined) throw new Error('There is no appointment in it.');
  return visit;
}

const sample = (name: string) =>
  readFileSync(join(import.meta.dirname, `../../fixtures/hl7/${name}.hl7`));

const ADAM = {
  id: 'PATID1234',
  first_name: 'ADAM',
  last_name: 'EVERYMAN',
  birth_date: '1988-08-18',
  // PID-30.
  is_deceased: true,
};

describe('the samples', () => {
  test.each([
    ['SIU-S12-01', 'booked'],
    ['SIU-S13-01', 'booked'],
    ['SIU-S15-01', 'cancelled'],
    ['SIU-S26-01', 'cancelled'],
  ])('the sample %s is an appointment, %s', (name, status) => {
    expect(contentOf(sample(name))).toEqual({
      appointments: [
        {
          source_id: '36996',
          // TQ1-7 at +02:15; SCH-11 still has the previous year.
          starts_at: '2021-09-24T07:15:00.000Z',
          status,
          patient: ADAM,
          coverages: [],
          insurance: 'of_patient',
          provider: {
            rendering_npi: '',
            billing_npi: '',
            tax_id: '',
            is_specialist: null,
            in_network: null,
          },
          location: 'GH Clinic',
          specialty: null,
          // SNOMED, which payers do not know.
          procedure_codes: [],
          diagnosis_codes: [],
          problems: [],
        },
      ],
      // The patient has died.
      patients: [{ kind: 'described', patient: ADAM, coverages: null }],
      cancelled_ids: [],
      claims: [],
      rejected: [],
    });
  });

  test.each(['ADT-A04-01', 'ADT-A08-01'])('the sample %s is the insurance of a patient', (name) => {
    const subscriber = { name: 'Rosallie Doe', birth_date: '1975-02-28', relationship: 'spouse' };
    const coverage = {
      carrier: 'Blue Cross Blue Shield of Texas',
      payor_id: 'IC-1.31',
      member_id: 'PN-145',
      group_id: 'PUBSUMB',
      period: { from: '1989-10-01T05:00:00.000Z', until: '2050-10-02T05:00:00.000Z' },
      subscriber,
    };
    expect(contentOf(sample(name))).toEqual({
      appointments: [],
      patients: [{ kind: 'described', patient: ADAM, coverages: [coverage] }],
      cancelled_ids: [],
      claims: [],
      rejected: [],
    });
  });

  test('values are read from other fields if the configuration names them', () => {
    const fields = { member_id: 'IN1-49', patient_id: 'PID-2', payor_id: ['IN1-99', 'IN1-2.1'] };
    const [update] = contentOf(sample('ADT-A08-01'), { fields }).patients;
    expect(update).toMatchObject({
      patient: { id: '1234567' },
      coverages: [{ member_id: 'HMO-12345', payor_id: 'BAV' }],
    });
    expect(
      visitOf(sample('SIU-S12-01'), { fields: { appointment_id: 'SCH-1', starts_at: 'SCH-11.4' } }),
    ).toMatchObject({
      source_id: '12345',
      starts_at: '2020-10-01T09:11:00.000Z',
    });
  });
});

const visit = appointment(1);
const lines = (...more: string[]) =>
  [msh('SIU^S14', 'C1'), 'SCH||A-1', 'PID|1||P-1^^^X^MR||Roe^Jane||19800203', ...more].join('\r');

describe('the state of an appointment', () => {
  test.each([
    ['S12', 'Booked', 'booked'],
    ['S14', '', 'booked'],
    ['S14', 'No-Show', 'cancelled'],
    ['S13', 'Cancelled', 'cancelled'],
    // At its new time; in any other message, it is the old place of a visit that moved.
    ['S13', 'Rescheduled', 'booked'],
    ['S12', 'Rescheduled', 'cancelled'],
    ['S14', 'Rescheduled', 'cancelled'],
    ['S14', 'Waitlist', 'cancelled'],
    ['S14', 'Blocked', 'cancelled'],
    ['S14', 'Dc', 'cancelled'],
    ['S14', 'Complete', 'completed'],
    ['S14', 'Started', 'booked'],
    ['S14', 'Overbooked', 'booked'],
    ['S14', 'Pending', 'booked'],
    ['S15', 'Booked', 'cancelled'],
    ['S16', '', 'cancelled'],
    ['S17', '', 'cancelled'],
    ['S20', 'Booked', 'booked'],
    ['S26', 'Noshow', 'cancelled'],
    ['S14', 'Whatever that is', 'booked'],
  ])('%s with "%s" is read as %s', (event, word, status) => {
    const text = [
      msh(`SIU^${event}`, 'C1'),
      `SCH||A-1${'|'.repeat(23)}${word}`,
      'PID|1||P-1',
      'AIS|1||D0120|202611240900',
    ].join('\r');
    expect(visitOf(text).status).toBe(status);
  });

  test('the sender’s own words for a state count', () => {
    const text = lines('AIS|1||D0120|202611240900').replace(
      'SCH||A-1',
      `SCH||A-1${'|'.repeat(23)}Cancelled^Web`,
    );
    expect(visitOf(text, { statuses: { web: 'booked' } }).status).toBe('booked');
    // A state that the sender did not change does not undo the event.
    expect(visitOf(text.replace('S14', 'S15'), { statuses: { web: 'booked' } }).status).toBe(
      'cancelled',
    );
  });

  test('a cancellation needs only the ID', () => {
    const only = (event: string) => [msh(`SIU^${event}`, 'C1'), 'SCH||A-1'].join('\r');
    for (const event of ['S15', 'S16', 'S17', 'S26'])
      expect(contentOf(only(event)).cancelled_ids).toEqual(['A-1']);
  });
});

describe('the start of an appointment', () => {
  test.each([
    ['SCH||A-1|||||||||^^60^202611240900', '2026-11-24T15:00:00.000Z'],
    ['AIS|1||D0120|202611240900-0500', '2026-11-24T14:00:00.000Z'],
    ['TQ1|||||||20261124090000.1234+0000', '2026-11-24T09:00:00.123Z'],
    ['AIL|1||ROOM|||202611240900', '2026-11-24T15:00:00.000Z'],
    ['AIP|1||5^X|||202611240900', '2026-11-24T15:00:00.000Z'],
    ['AIG|1||5^X|||||202611240900', '2026-11-24T15:00:00.000Z'],
    ['AIS|1||D0120|2026-11-24T09:00', '2026-11-24T15:00:00.000Z'],
    // Daylight saving: a time in the gap moves forward, in an overlap the first counts.
    ['AIS|1||D0120|202603080230', '2026-03-08T08:30:00.000Z'],
    ['AIS|1||D0120|202611010130', '2026-11-01T06:30:00.000Z'],
    // A date without a time is skipped if another field has a time.
    ['TQ1|||||||20261124\rAIS|1||D0120|202611240900', '2026-11-24T15:00:00.000Z'],
  ])('the start in %j is %s', (segments, starts_at) => {
    const text = segments.startsWith('SCH')
      ? lines().replace('SCH||A-1', segments)
      : lines(segments);
    expect(visitOf(text).starts_at).toBe(starts_at);
  });

  test.each([
    ['AIS|1||D0120|20261124', 'a day without a time'],
    ['AIS|1||D0120|202613240900', 'an impossible time'],
    ['AIS|1||D0120|tomorrow', 'not a time'],
    ['AIS|1||D0120|', 'empty'],
  ])('the start in %j is reported as %s, with the ID', (segment, value_class) => {
    const reading = read(lines(segment));
    expect(reading.kind).toBe('faulty');
    expect(reading).toMatchObject({ content: { rejected: [{ source_id: 'A-1', value_class }] } });
    expect(JSON.stringify(reading)).not.toContain('tomorrow');
  });
});

describe('insurance', () => {
  const second = {
    ...visit.coverages[0]!,
    carrier: 'Cigna',
    payor_id: '62308',
    member_id: 'SECOND',
  };

  test('insurance in a SIU is the patient’s, primary first', () => {
    const both = { ...visit, coverages: [visit.coverages[0]!, second] };
    expect(contentOf(siu(both)).patients).toEqual([
      { kind: 'described', patient: visit.patient, coverages: both.coverages },
    ]);
    // In the opposite order, with COB priorities.
    const [first, other] = insurance(both).map((line, index) =>
      line
        .split('|')
        .with(22, String(index + 1))
        .join('|'),
    );
    const turned = siu({ ...visit, coverages: [] }).replace(
      'RGS|1',
      [other, first, 'RGS|1'].join('\r'),
    );
    expect(contentOf(turned).patients).toMatchObject([{ coverages: both.coverages }]);
  });

  test('insurance that is absent from an ADT is unknown, or self-pay if configured so', () => {
    const text = adt('A08', { ...visit, coverages: [] });
    expect(contentOf(text).patients).toMatchObject([{ coverages: null }]);
    expect(contentOf(text, { without_insurance: 'self_pay' }).patients).toMatchObject([
      { coverages: [] },
    ]);
  });

  test('deleted insurance counts as none', () => {
    expect(
      contentOf(adt('A08', { ...visit, coverages: [] }, { rest: ['IN1|1|""'] })).patients,
    ).toMatchObject([{ coverages: [] }]);
  });

  test('insurance with only a plan does not count as none', () => {
    const text = adt('A08', { ...visit, coverages: [] }, { rest: ['IN1|1|BAV'] });
    expect(contentOf(text).patients).toMatchObject([
      { coverages: [{ carrier: 'BAV', member_id: '' }] },
    ]);
  });

  test('a coverage has the period of IN1-12 and IN1-13', () => {
    const line = (first: string, last: string) =>
      contentOf(
        adt(
          'A08',
          { ...visit, coverages: [] },
          { rest: [`IN1|1||A1|Alpha||||||||${first}|${last}`] },
        ),
      ).patients;
    const period = { from: '2024-01-01T06:00:00.000Z', until: '2025-01-01T06:00:00.000Z' };
    expect(line('20240101', '20241231235959')).toMatchObject([{ coverages: [{ period }] }]);
    expect(line('', '20241231')).toMatchObject([
      { coverages: [{ period: { from: null, until: period.until } }] },
    ]);
    for (const [first, last] of [
      ['', ''],
      ['00000000', '99991231'],
      ['""', ''],
    ] as const)
      expect(JSON.stringify(line(first, last))).not.toContain('period');
  });

  test('an IN2 belongs to the IN1 before it', () => {
    const rest = [
      'IN1|1||A1|Alpha',
      `IN2|${'|'.repeat(60)}M-ALPHA`,
      'IN1|2||B1|Beta',
      `IN2|${'|'.repeat(60)}M-BETA`,
    ];
    const [update] = contentOf(adt('A28', { ...visit, coverages: [] }, { rest })).patients;
    expect(update).toMatchObject({
      coverages: [{ member_id: 'M-ALPHA' }, { member_id: 'M-BETA' }],
    });
  });

  test('insurance of a SIU without a patient ID is the visit’s own', () => {
    const text = siu({ ...visit, patient: { ...visit.patient, id: null } });
    expect(contentOf(text).patients).toEqual([]);
    expect(visitOf(text)).toMatchObject({ coverages: visit.coverages });
    expect(visitOf(text)).not.toHaveProperty('insurance');
  });
});

describe('patients', () => {
  test('patients are merged, several pairs in one message', () => {
    const text = [
      msh('ADT^A40', 'C1'),
      'EVN',
      'PID|1||P-2',
      'MRG|P-1',
      'PID|2||P-4^^^X^MR||Roe',
      'MRG|9~P-3^^^X^MR',
    ].join('\r');
    expect(contentOf(text).patients).toMatchObject([
      { kind: 'merged', from_id: 'P-1', into: { id: 'P-2' } },
      { kind: 'merged', from_id: 'P-3', into: { id: 'P-4', last_name: 'Roe' } },
    ]);
    expect(read([msh('ADT^A40', 'C1'), 'PID|1||P-2'].join('\r')).kind).toBe('faulty');
    expect(read(text.replace('|P-1\r', '|\r'))).toMatchObject({
      kind: 'faulty',
      content: { patients: [{ from_id: 'P-3' }] },
    });
  });

  test('patients are deleted', () => {
    expect(contentOf([msh('ADT^A29', 'C1'), 'PID|1||P-2'].join('\r')).patients).toEqual([
      { kind: 'deleted', patient_id: 'P-2' },
    ]);
  });

  test.each([
    ['||Y', true],
    ['|20260301', true],
    ['||N', false],
    ['||F', false],
    ['||U', undefined],
    ['||', undefined],
    ['|00000000', false],
  ])('patients with PID-29 and PID-30 %j have died: %s', (fields, expected) => {
    const text = [msh('ADT^A08', 'C1'), `PID|1||P-2${'|'.repeat(25)}${fields}`].join('\r');
    expect(contentOf(text).patients).toMatchObject([{ patient: { id: 'P-2' } }]);
    const [update] = contentOf(text).patients;
    expect(update?.kind === 'described' ? update.patient.is_deceased : null).toBe(expected);
  });

  test('a death in one visit’s message counts for the patient’s other visits', () => {
    const [text, died] = ['', '|'.repeat(23).concat('Y')].map((more) =>
      lines('AIS|1||D0120|202611240900').replace('19800203', `19800203${more}`),
    );
    expect(contentOf(text ?? '').patients).toEqual([]);
    expect(contentOf(died ?? '').patients).toMatchObject([
      { kind: 'described', patient: { id: 'P-1', is_deceased: true }, coverages: null },
    ]);
  });

  test('an impossible birth date is left out and reported', () => {
    const text = lines('AIS|1||D0120|202611240900').replace('19800203', '19800231');
    expect(visitOf(text).patient.birth_date).toBeNull();
    expect(visitOf(text).problems).toMatchObject([
      { field: 'PID-7', value_class: 'an impossible date' },
    ]);
  });

  test('further patients of a visit are reported', () => {
    const text = lines('AIS|1||D0120|202611240900', 'PID|2||P-9');
    expect(visitOf(text).patient.id).toBe('P-1');
    expect(contentOf(text).rejected).toHaveLength(1);
    // A visit that does not take place needs no call.
    expect(contentOf(text.replace('S14', 'S15')).rejected).toEqual([]);
  });
});

test.each([
  ['ADT^A01', 'ignored'],
  ['SIU^S23', 'ignored'],
  ['ACK', 'ignored'],
  ['ORU^R01', 'refused'],
  ['', 'refused'],
])('a message %s is %s', (type, kind) => {
  expect(read([msh(type, 'C1'), 'SCH||A-1'].join('\r')).kind).toBe(kind);
});

test('a message without a control ID is refused, because it could not be acknowledged', () => {
  expect(read(msh('ADT^A08', '')).kind).toBe('refused');
});

test('a code in two segments is two procedures, unless PR1 repeats it', () => {
  const procedures = (...codes: string[]) => siu({ ...appointment(1), procedure_codes: codes });
  const counted = (text: string) => {
    const { procedure_codes, procedure_counts } = visitOf(text);
    return [procedure_codes, procedure_counts];
  };
  const twice = procedures('D2392', 'd2392', 'D0120');
  expect(counted(twice)).toEqual([['D2392', 'D0120'], { D2392: 2 }]);
  const said_again = ['PR1|1||D2392', 'PR1|2||D2392', 'PR1|3||D0120'].join('\r');
  expect(counted(`${twice}\r${said_again}`)).toEqual([['D2392', 'D0120'], { D2392: 2 }]);
  expect(counted(procedures('D2392', 'D0120'))).toEqual([['D2392', 'D0120'], undefined]);
});

test('a service in two resource groups is one procedure', () => {
  const counted = (...codes: string[]) => {
    const [header = '', schedule = '', patient = ''] = siu(visit).split('\r');
    const resources = codes.map((code) =>
      code === 'RGS' ? 'RGS|1' : `AIS|1||${code}|202611240900`,
    );
    return visitOf([header, schedule, patient, ...resources].join('\r')).procedure_counts;
  };
  expect(counted('RGS', 'D2392', 'RGS', 'D2392')).toBeUndefined();
  expect(counted('RGS', 'D2392', 'D2392', 'RGS', 'D2392', 'D0120')).toEqual({ D2392: 2 });
  expect(counted('D2392', 'D2392', 'RGS', 'D0120')).toEqual({ D2392: 2 });
});

describe('the form of a message', () => {
  test.each(['\r', '\n', '\r\n'])('a message may have lines that end with %j', (end) => {
    expect(visitOf(siu(visit).replaceAll('\r', end)).source_id).toBe('A-1');
  });

  test('a message may have other delimiters', () => {
    const text = siu(visit)
      .replaceAll('|', '$')
      .replaceAll('^', '*')
      .replace('MSH$*~\\&', 'MSH$*:!@');
    expect(contentOf(text)).toEqual(contentOf(siu(visit)));
  });

  test('a message may have unknown segments, and segments in another order', () => {
    const text = siu({ ...visit, procedure_codes: ['D0120'] }, { with_insurance: false });
    const [header = '', ...rest] = text.split('\r');
    expect(contentOf([header, 'ZZZ|1|x', ...rest.toReversed()].join('\r')).appointments).toEqual(
      contentOf(text).appointments,
    );
  });

  test('a message may have line ends within a value, and escapes', () => {
    const text = lines('NTE|1||first line', 'second line', 'AIS|1||D0120|202611240900').replace(
      'Roe^Jane',
      'R\\T\\oe\\X41\\^Ja\\.br\\ne',
    );
    expect(visitOf(text).patient).toMatchObject({ last_name: 'R&oeA', first_name: 'Ja\nne' });
  });

  test.each([
    ['', Buffer.from('Müller', 'utf8')],
    ['', Buffer.from('Müller', 'latin1')],
    ['8859/1', Buffer.from('Müller', 'latin1')],
    ['UNICODE UTF-8', Buffer.from('Müller', 'utf8')],
    // Not the stated character set.
    ['UNICODE UTF-8', Buffer.from('Müller', 'latin1')],
    ['ASCII', Buffer.from('Müller', 'utf8')],
    ['no such charset', Buffer.from('Müller', 'utf8')],
    ['8859/2', Buffer.from('Müller', 'latin1')],
  ])('a message may be in the character set %j', (charset, name) => {
    const [before = '', after = ''] = lines('AIS|1||D0120|202611240900')
      .replace('|P|2.5.1', `|P|2.5.1||||||${charset}`)
      .split('Roe');
    expect(
      visitOf(Buffer.concat([Buffer.from(before), name, Buffer.from(after)])).patient.last_name,
    ).toBe('Müller');
  });

  test('a message is the same however its text is cut', () => {
    const line = fc.constantFrom(
      'MSH|^~\\&|A',
      'MSH|^~\\&|\xe4',
      'PID|1||P',
      'more',
      '',
      'BHS|^~\\&',
      'BTS|1',
      'BTS was',
      '\xef\xbb\xbfMSH|B',
      'in: \x0bMSH|C',
      'a \x0b tab',
    );
    const text = fc
      .array(fc.tuple(line, fc.constantFrom('\r', '\n', '\r\n', '\x1c\r', '')))
      .map((lines) => lines.flat().join(''));
    const found = (pieces: readonly string[]) => {
      const splitter = new MessageSplitter(40);
      const messages = [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
      return { messages, batch_fault: splitter.batch_fault };
    };
    fc.assert(
      fc.property(text, fc.array(fc.nat(200)), (whole, cuts) => {
        const places = [
          0,
          ...cuts.map((cut) => cut % (whole.length + 1)).toSorted((a, b) => a - b),
          whole.length,
        ];
        expect(found(places.slice(1).map((end, index) => whole.slice(places[index], end)))).toEqual(
          found([whole]),
        );
      }),
    );
  });

  test('a message may be a batch', () => {
    const text = [
      'FHS|^~\\&',
      'BHS|^~\\&',
      siu(appointment(1)),
      siu(appointment(2)),
      'BTS|2',
      'FTS|1',
    ].join('\r');
    expect(splitMessages(Buffer.from(text))).toMatchObject([
      { text: siuStart(1) },
      { text: siuStart(2) },
    ]);
  });
});

const siuStart = (number: number) =>
  expect.stringMatching(new RegExp(`^MSH[^]*\\rSCH\\|\\|A-${number}\\r[^]*D1110[^\\r]*$`));
