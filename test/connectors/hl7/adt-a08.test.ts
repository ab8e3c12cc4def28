/**
 * ADT^A08 against golden messages: the PMS's data arrives over MLLP, is stored, and returns
 * unchanged except for the result of the call.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { batchOf } from '../../../connectors/conformance/examples.ts';
import type { Connector, Delivery } from '../../../connectors/contract.ts';
import { parseMessage } from '../../../connectors/hl7/v2/message.ts';
import type { AppointmentInput } from '../../../src/domain/appointment.ts';
import type { EligibilityRecord } from '../../../src/records/eligibility.ts';
import { judge } from '../../../src/records/verdict.ts';
import { later, makeConnector, startInterface } from './clinic-interface.ts';
import { msh, nextId, numbered } from './messages.ts';
import { ack, Receiver } from './peers.ts';
import { fullRecord } from './records.ts';

let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.start();
  later(() => receiver.close());
});

const PID =
  'PID|1|OLD-7|P-7^^^CLINIC^MR~999^^^SSA^SS||Van Der Berg&Van Der&Berg^Anna^M^III^Ms^^L|Smith^Eve' +
  '|19890312|F||2106-3|12 \\T\\ Main St^^Springfield^IL^62701||5551234567|||M|CHR|ACC-1';

const DENTAL = {
  1: '1',
  2: 'DDIL77^Delta Premier^PMS',
  3: '05030^^^PAYERS',
  4: 'Delta Dental of Illinois',
  5: '1 Payer Way^^Chicago^IL',
  8: '0012345',
  12: '20240101',
  15: 'PREM',
  16: 'Van Der Berg^Johannes^P^Jr',
  17: 'SPO',
  18: '19850704',
  22: '1',
  25: '',
  28: 'CERT-9',
  36: 'MEMBER001',
  49: 'MEMBER001^^^DD',
};
const MEDICAL = {
  1: '2',
  2: 'BC^Blue',
  3: '62308',
  4: 'Cigna',
  16: 'Van Der Berg^Anna',
  17: 'SEL',
  22: '2',
  36: '00987',
  47: 'kept',
};
const IN2 = 'IN2||888-77-6666|||||||||||||||||||||||||||||||||||||||||||||||||||||||||||MEMBER001';

/** Says that the rest of the message uses these separators too. */
const AS_THEIRS = 'as theirs';
const THEIRS: Readonly<Record<string, string>> = {
  '|': '#',
  '^': '*',
  '~': '@',
  '\\': '!',
  '&': '%',
};
const theirs = (line: string) => line.replaceAll(/[|^~\\&]/g, (found) => THEIRS[found] ?? '');

/** The visit as stored after these segments arrived. */
async function stored(...given: string[]): Promise<AppointmentInput> {
  const segments = given.filter((each) => each !== AS_THEIRS);
  const { sender, appointments } = await startInterface({
    write_back: 'adt_a08',
    send_to: `127.0.0.1:${receiver.port}`,
  });
  const scheduling = await sender();
  const has_theirs = given.includes(AS_THEIRS);
  const rest = [
    msh('SIU^S12^SIU_S12', nextId()),
    'SCH||V-7',
    'RGS|1',
    'AIS|1||D1110|20261124143000+0000',
  ].map((line) => (has_theirs ? theirs(line) : line));
  const [header = '', schedule = '', ...resources] = rest;
  await scheduling.ask([header, schedule, ...segments, ...resources].join('\r'));
  const [visit] = await appointments();
  if (visit === undefined) throw new Error('Nothing was stored.');
  return visit;
}

function answered(over: Partial<EligibilityRecord> = {}): EligibilityRecord {
  return { ...fullRecord(), ...over };
}

function delivery(visit: AppointmentInput, rank: number, record = answered()): Delivery {
  const { source_id, starts_at, patient, location, procedure_codes, coverages } = visit;
  return {
    key: `d-${rank}-${record.inquiry_id}`,
    appointment: {
      source_id,
      starts_at,
      patient,
      location,
      procedure_codes,
      coverage_rank: rank,
      coverage: coverages[rank - 1]!,
      all_coverages: [...coverages, ...(visit.other_coverages ?? [])],
    },
    record,
    revision: 1,
    notes: [],
    verdict: judge(record, { date: '2026-11-24', birth_date: null, procedure_codes: [], fees: {} }),
  };
}

const a08 = () =>
  makeConnector({
    folder: '/nonexistent',
    send_to: `127.0.0.1:${receiver.port}`,
    reply_seconds: 1,
    write_back: 'adt_a08',
  });

const deliver = (to: Connector, ...deliveries: Delivery[]) =>
  to.deliver({ ...batchOf(1, []), deliveries }, new AbortController().signal);

const sent = () => receiver.messages.map((message) => message.split('\r').filter(Boolean));
const insuranceIn = (message: readonly string[]) =>
  message.filter((line) => /^IN[123]\|/.test(line));

const RESULT = { 25: 'Y', 26: '20261122', 29: '20261122090000-0600', 30: '^Pat' };
const IN3 = 'IN3|1|REF-1||||20261122090000-0600';

describe('the golden messages', () => {
  test('two coverages are one message, each as the PMS wrote it', async () => {
    const visit = await stored(PID, numbered('IN1', DENTAL), IN2, numbered('IN1', MEDICAL));
    const second = answered({ inquiry_id: 'inq-2', plan: { answered: true, is_active: false } });
    const outcomes = await deliver(a08(), delivery(visit, 1), delivery(visit, 2, second));
    expect(outcomes.map(({ key, outcome }) => [key, outcome])).toEqual([
      ['d-1-inq-1', 'delivered'],
      ['d-2-inq-2', 'delivered'],
    ]);
    const [message = [], ...more] = sent();
    expect(more).toEqual([]);
    expect(message.slice(1)).toEqual([
      'EVN|A08|20261123120000-0600',
      PID,
      'PV1|1|N',
      numbered('IN1', { ...DENTAL, ...RESULT }),
      IN2,
      IN3,
      numbered('IN1', { ...MEDICAL, ...RESULT, 25: 'N' }),
      IN3,
    ]);
  });

  test('a subscriber’s compound last name and the PMS’s plan ID stay', async () => {
    const visit = await stored(PID, numbered('IN1', DENTAL));
    await deliver(a08(), delivery(visit, 1));
    const [line = ''] = insuranceIn(sent()[0] ?? []);
    const fields = line.split('|');
    expect([fields[2], fields[16], fields[17]]).toEqual([
      'DDIL77^Delta Premier^PMS',
      'Van Der Berg^Johannes^P^Jr',
      'SPO',
    ]);
  });

  const RELATIONSHIPS = (
    'SEL SPO DOM CHD GCH NCH SCH FCH DEP WRD PAR MTH FTH CGV GRD EXF SIB BRO SIS FND OAD EME EMR ' +
    'ASC EMC OWN TRA MGR NON UNK OTH 18 01 19 G8'
  ).split(' ');
  test.each(RELATIONSHIPS)('the relationship %s returns as it arrived', async (code) => {
    const written = { ...DENTAL, 17: `${code}^in words^HL70063` };
    const visit = await stored(PID, numbered('IN1', written));
    await deliver(a08(), delivery(visit, 1));
    expect(insuranceIn(sent()[0] ?? [])).toEqual([numbered('IN1', { ...written, ...RESULT }), IN3]);
  });
});

test('a PIN^I07 also has the PMS’s name, code, and plan ID', async () => {
  const visit = await stored(PID, numbered('IN1', DENTAL));
  const pin = makeConnector({
    folder: '/nonexistent',
    send_to: `127.0.0.1:${receiver.port}`,
    write_back: 'pin_i07',
  });
  await deliver(pin, delivery(visit, 1));
  const [line = ''] = insuranceIn(sent()[0] ?? []);
  const fields = line.split('|');
  expect([2, 16, 17, 18, 25].map((number) => fields[number])).toEqual([
    'DDIL77^Delta Premier^PMS',
    'Van Der Berg^Johannes^P^Jr',
    'SPO',
    '19850704',
    'Y',
  ]);
});

describe('data that eligd has not found out', () => {
  test('a coverage without a call and an ended one stay byte for byte', async () => {
    const ended = { ...MEDICAL, 1: '3', 13: '20251231', 22: '3', 36: 'OLD' };
    const odd = { ...MEDICAL, 25: 'N', 26: '20260101', 30: '007^Desk' };
    const visit = await stored(
      PID,
      ...[DENTAL, odd, ended].map((each) => numbered('IN1', each)),
      'IN3|1|PRECERT-5||||20260101',
    );
    expect(visit.coverages).toHaveLength(2);
    await deliver(a08(), delivery(visit, 1));
    expect(insuranceIn(sent()[0] ?? [])).toEqual([
      numbered('IN1', { ...DENTAL, ...RESULT }),
      IN3,
      numbered('IN1', odd),
      numbered('IN1', ended),
      'IN3|1|PRECERT-5||||20260101',
    ]);
  });

  test('an answer without "active" leaves the coverage byte for byte', async () => {
    const visit = await stored(PID, numbered('IN1', { ...DENTAL, 25: 'Y' }));
    const record = answered({ plan: { answered: true, is_active: null } });
    await deliver(a08(), delivery(visit, 1, record));
    expect(insuranceIn(sent()[0] ?? [])).toEqual([numbered('IN1', { ...DENTAL, 25: 'Y' })]);
  });

  test('other separators become the usual ones, and mean the same', () => {
    const textOf = (line: string, header = 'MSH#*@!%#A') =>
      parseMessage(`${header}\r${line}`)?.first('IN1')?.text;
    expect(textOf('IN1#1#a|b*c@d%e')).toBe('IN1|1|a\\F\\b^c~d&e');
    // Escaped there, plain characters here; and the other way round.
    expect(textOf('IN1#!F!S!S!T!T!R!R!E!E#')).toBe('IN1|#S*T%R@E!E|');
    expect(textOf('IN1#a\\F\\b^c~d&e#')).toBe('IN1|a\\E\\F\\E\\b\\S\\c\\R\\d\\T\\e|');
    expect(textOf('IN1#x!X0D!y!.br!z!H!!N!!ZPMS1!')).toBe(
      'IN1|x\\X0D\\y\\.br\\z\\H\\\\N\\\\ZPMS1\\',
    );
    // A mark that opens no sequence is a character of the name.
    expect(textOf('IN1#Yahoo! Inc#Wow! no!F!')).toBe('IN1|Yahoo! Inc|Wow! no#');
    // Without an escape and a subcomponent separator, both are plain characters.
    expect(textOf('IN1|a\\F\\b & c^d', 'MSH|^~|A')).toBe('IN1|a\\E\\F\\E\\b \\T\\ c^d');
  });

  test('a message with other separators keeps the meaning of each value', async () => {
    const named = { ...DENTAL, 4: 'Smith \\T\\ Sons \\X0D\\', 9: 'a~b^c&d' };
    const visit = await stored(...[PID, numbered('IN1', named), IN2].map(theirs), AS_THEIRS);
    await deliver(a08(), delivery(visit, 1));
    const [message = []] = sent();
    // What is escaped there is their own separator.
    const meant = (line: string) => line.replaceAll('\\T\\', '%');
    expect(message.slice(2)).toEqual([
      ...[meant(PID), 'PV1|1|N', meant(numbered('IN1', { ...named, ...RESULT })), IN2, IN3],
    ]);
    expect(parseMessage(message.join('\r'))?.first('IN1')?.value(4)).toBe('Smith % Sons');
  });

  test('the payer’s words are escaped with the separators of the message', async () => {
    const visit = await stored(PID, numbered('IN1', DENTAL));
    const [call] = answered().calls;
    const calls = [{ ...call!, representative: 'Pat|Lee & ^Co', reference_number: 'R~1\\2#3' }];
    await deliver(a08(), delivery(visit, 1, answered({ calls })));
    const message = parseMessage((sent()[0] ?? []).join('\r'));
    expect(message?.first('IN1')?.value(30, 2)).toBe('Pat|Lee & ^Co');
    expect(message?.first('IN3')?.value(2)).toBe('R~1\\2#3');
  });

  test('escapes stay', async () => {
    const line = numbered('IN1', { ...DENTAL, 4: 'Smith \\T\\ Sons \\X0D\\', 9: 'a~b^c&d' });
    const visit = await stored(PID, line);
    await deliver(a08(), delivery(visit, 1));
    expect(insuranceIn(sent()[0] ?? [])[0]).toContain('|Smith \\T\\ Sons \\X0D\\|');
    expect(insuranceIn(sent()[0] ?? [])[0]).toContain('|a~b^c&d|');
  });

  test('set IDs stay, and equal ones are made different', async () => {
    const visit = await stored(
      PID,
      numbered('IN1', { ...DENTAL, 1: '1' }),
      numbered('IN1', { ...MEDICAL, 1: '1' }),
    );
    await deliver(a08(), delivery(visit, 2));
    const ids = insuranceIn(sent()[0] ?? []).flatMap((line) =>
      line.startsWith('IN1') ? [line.split('|')[1]] : [],
    );
    expect(ids).toEqual(['1', '2']);
  });
});

describe('answers about two coverages, one after the other', () => {
  test('the second message has both answers', async () => {
    const visit = await stored(PID, numbered('IN1', DENTAL), numbered('IN1', MEDICAL));
    const to = a08();
    await deliver(to, delivery(visit, 1));
    await deliver(to, delivery(visit, 2, answered({ inquiry_id: 'inq-2' })));
    expect(insuranceIn(sent()[0] ?? [])[2]).toBe(numbered('IN1', MEDICAL));
    expect(insuranceIn(sent()[1] ?? [])).toEqual([
      numbered('IN1', { ...DENTAL, ...RESULT }),
      IN3,
      numbered('IN1', { ...MEDICAL, ...RESULT }),
      IN3,
    ]);
  });

  test('the second message has data that the PMS has corrected since the first', async () => {
    const visit = await stored(PID, numbered('IN1', DENTAL), numbered('IN1', MEDICAL));
    const to = a08();
    await deliver(to, delivery(visit, 1));
    const corrected = { ...DENTAL, 25: 'N', 26: '20261124' };
    const later_visit = await stored(PID, numbered('IN1', corrected), numbered('IN1', MEDICAL));
    await deliver(to, delivery(later_visit, 2, answered({ inquiry_id: 'inq-2' })));
    expect(insuranceIn(sent()[1] ?? [])[0]).toBe(numbered('IN1', corrected));
  });

  test('a receiver that refuses the message refuses both', async () => {
    receiver.answering = (message) => ack('AE', message, 'Unknown patient');
    const visit = await stored(PID, numbered('IN1', DENTAL), numbered('IN1', MEDICAL));
    const outcomes = await deliver(a08(), delivery(visit, 1), delivery(visit, 2));
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
  });
});
