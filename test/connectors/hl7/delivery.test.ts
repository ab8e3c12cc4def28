/** The outcome of a delivery, by the receiver's answer or silence. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { beforeEach, describe, expect, test } from 'vitest';
import { batchOf } from '../../../connectors/conformance/examples.ts';
import {
  type Connector,
  ConnectorError,
  type DeliveryBatch,
} from '../../../connectors/contract.ts';
import { ROW_FIELDS } from '../../../connectors/hl7/out/z-segments.ts';
import { parseMessage } from '../../../connectors/hl7/v2/message.ts';
import { later, makeConnector } from './clinic-interface.ts';
import { ack, field, framed, freePort, listening, Receiver, Unframer } from './peers.ts';
import { fullRecord } from './records.ts';

let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.start();
  later(() => receiver.close());
});

const FOLDER = { folder: '/nonexistent' };
const connector = (over: Record<string, unknown> = {}, log?: Parameters<typeof makeConnector>[1]) =>
  makeConnector(
    { ...FOLDER, send_to: `127.0.0.1:${receiver.port}`, reply_seconds: 1, ...over },
    log,
  );

const deliver = (to: Connector, batch: DeliveryBatch = batchOf(1, [1, 2, 3])) =>
  to.deliver(batch, new AbortController().signal);

const outcomes = async (to: Connector, batch?: DeliveryBatch) =>
  (await deliver(to, batch)).map((outcome) =>
    outcome.outcome === 'failed' ? `failed ${outcome.is_permanent}` : outcome.outcome,
  );

describe('the answer of the receiver', () => {
  test.each([
    ['AA', 'delivered'],
    ['CA', 'delivered'],
    ['CE', 'failed false'],
    ['AE', 'failed true'],
    ['AR', 'failed true'],
    ['CR', 'failed true'],
  ])('the answer %s means %s', async (code, outcome) => {
    receiver.answering = (message) => ack(code, message, 'Unknown patient');
    expect(await outcomes(connector(), batchOf(1, [1]))).toEqual([outcome]);
  });

  test('a refused message is listed with its words; the others are sent (G7)', async () => {
    receiver.answering = (message) =>
      field(message, 'PID', 3).startsWith('P-2')
        ? ack('AE', message, 'Unknown patient')
        : ack('AA', message);
    const told = await deliver(connector());
    expect(told.map(({ outcome }) => outcome)).toEqual(['delivered', 'failed', 'delivered']);
    expect(told[1]).toMatchObject({
      is_permanent: true,
      what: 'The receiving system rejected the message (AE).',
      words: expect.stringContaining('It said: Unknown patient'),
    });
  });

  test('an answer may come in pieces, and after an accept acknowledgment', async () => {
    receiver.answering = (message, socket) => {
      for (const byte of framed(ack('CA', message))) socket.write(Buffer.from([byte]));
      return ack('AA', message);
    };
    const header = { accept_acknowledgment: 'AL', application_acknowledgment: 'AL' };
    expect(await outcomes(connector({ header }))).toEqual(['delivered', 'delivered', 'delivered']);
    expect(receiver.messages[0]).toMatch(/^MSH\|.*\|AL\|AL\|/);
  });
});

describe('silence', () => {
  test('a message without an answer is retried, and the others are written', async () => {
    receiver.answering = (message) =>
      field(message, 'PID', 3).startsWith('P-2') ? null : ack('AA', message);
    expect(await outcomes(connector())).toEqual(['delivered', 'failed false', 'delivered']);
  });

  test('if no message gets an answer, the receiver is away and no attempt is used up', async () => {
    receiver.answering = () => null;
    await expect(deliver(connector())).rejects.toMatchObject({
      name: 'ConnectorError',
      failure: 'transient',
    });
    expect(new Set(receiver.messages.map((message) => field(message, 'MSH', 10))).size).toBe(2);
  });

  test('a receiver that sends data but no answer counts as silent', async () => {
    receiver.answering = (_, socket) => {
      const babble = setInterval(() => socket.write('\n'), 20);
      socket.once('close', () => clearInterval(babble));
      return null;
    };
    await expect(deliver(connector())).rejects.toMatchObject({ failure: 'transient' });
  });

  test('a receiver that disconnects within its answer counts as silent', async () => {
    receiver.answering = (message, socket) => {
      if (field(message, 'PID', 3).startsWith('P-1')) return ack('AA', message);
      socket.end(framed(ack('AA', message)).subarray(0, 40));
      return null;
    };
    expect(await outcomes(connector())).toEqual(['delivered', 'failed false', 'failed false']);
  });

  test('a receiver that disconnects counts as silent', async () => {
    receiver.answering = (message, socket) => {
      if (field(message, 'PID', 3).startsWith('P-1')) return ack('AA', message);
      socket.destroy();
      return null;
    };
    expect(await outcomes(connector())).toEqual(['delivered', 'failed false', 'failed false']);
  });

  test('eligd reports that no receiver listens', async () => {
    const nobody = makeConnector({ ...FOLDER, send_to: `127.0.0.1:${await freePort()}` });
    await expect(deliver(nobody)).rejects.toBeInstanceOf(ConnectorError);
    expect(await nobody.check(new AbortController().signal)).toContainEqual(
      expect.objectContaining({ ok: false, what: expect.stringContaining('cannot be reached') }),
    );
  });
});

describe('a late acknowledgment', () => {
  test('a late acknowledgment is never taken for the next message’s', async () => {
    const events: string[] = [];
    let held: { message: string; socket: Socket } | null = null;
    receiver.answering = (message, socket) => {
      if (held === null) {
        held = { message, socket };
        return null;
      }
      // The first message's answer comes now, on both connections; the second one's is a refusal.
      const late = framed(ack('AA', held.message));
      held.socket.write(late);
      socket.write(late);
      return ack('AE', message, 'refused');
    };
    expect(
      await outcomes(
        connector({}, (event) => void events.push(event)),
        batchOf(1, [1, 2]),
      ),
    ).toEqual(['failed false', 'failed true']);
    expect(events).toContain('hl7_answer_unmatched');
  });

  test('acknowledgments of other messages only count as no answer in the end', async () => {
    receiver.answering = (_, socket) => {
      for (let count = 0; count < 50; count += 1)
        socket.write(framed(ack('AA', 'MSH|^~\\&|A|B|C|D|2026||X|OTHER|P|2.5')));
      return null;
    };
    await expect(deliver(connector())).rejects.toMatchObject({ failure: 'transient' });
  });
});

describe('what is sent', () => {
  test('a repeated delivery has the same message ID (G4)', async () => {
    await deliver(connector());
    await deliver(connector());
    expect(receiver.messages).toHaveLength(6);
    expect(receiver.kept()).toHaveLength(3);
    for (const [control_id] of receiver.kept()) expect(control_id).toMatch(/^E[0-9A-F]{19}$/);
    await deliver(connector(), batchOf(2, [1], 2));
    expect(receiver.kept()).toHaveLength(4);
  });

  test('messages have the configured IDs and version', async () => {
    const header = {
      sending_application: 'A^1.2^ISO',
      receiving_facility: 'R|S',
      version: '2.3',
      processing_id: 'T',
    };
    await deliver(connector({ header }), batchOf(1, [1]));
    expect(receiver.messages[0]).toMatch(
      /^MSH\|\^~\\&\|A\^1\.2\^ISO\|\|\|R\\F\\S\|\d{14}[+-]\d{4}\|\|PIN\^I07\|E\w{19}\|T\|2\.3\|/,
    );
  });

  test('a PIN^I07 has everything in rows, and unknown is not no (G8)', async () => {
    const batch = batchOf(1, [1]);
    batch.deliveries[0]!.record = fullRecord();
    await deliver(connector(), batch);
    const message = parseMessage(receiver.messages[0]!)!;
    const names = message.segments.map(({ name }) => name);
    expect([...new Set(names)]).toEqual([
      'MSH',
      'PRD',
      'PID',
      'IN1',
      'IN2',
      'IN3',
      'NTE',
      'ZBN',
      'ZCL',
      'ZTH',
    ]);
    const row = (name: keyof typeof ROW_FIELDS, at: number) =>
      Object.fromEntries(
        ROW_FIELDS[name].map((each, index) => [each, message.all(name)[at]!.value(index + 1)]),
      );
    expect(row('ZBN', 0)).toMatchObject({
      kind: 'A',
      name: 'individual_deductible',
      amount: '50.00',
      used: 'U',
      remaining: 'U',
      appointment_id: 'A-1',
      coverage: '1',
      delivery_key: 'd-1-1',
    });
    expect(row('ZBN', 1)).toMatchObject({
      kind: 'A',
      name: 'coverage_limit',
      amount: 'unlimited | "none"',
    });
    expect(row('ZBN', 2)).toMatchObject({
      kind: 'C',
      name: 'D1110',
      is_covered: 'Y',
      plan_pays_percent: '100',
      frequency: '2 per year',
    });
    expect(row('ZBN', 3)).toMatchObject({
      kind: 'C',
      name: 'D0120',
      answered: 'N',
      is_covered: 'U',
    });
    expect(row('ZBN', 3).copay).toBe('');
    expect(row('ZCL', 0)).toMatchObject({ class: 'DIAGNOSTIC', is_covered: 'N' });
    expect(row('ZTH', 0)).toMatchObject({ date: '20260105', code: 'D1110' });
    expect(message.all('ZTH')[0]!.raw(7)).toBe('3~14');
    expect(message.first('IN1')!.value(36)).toBe('MEMBER001');
    expect(message.first('IN1')!.value(25)).toBe('Y');
    const comments = message.all('NTE').map((nte) => [nte.value(4), nte.value(3)]);
    expect(comments).toContainEqual(['APPT', 'A-1']);
    expect(comments).toContainEqual(['NETWORK', 'unknown']);
  });

  test('an ORU^R01 has an OBX per value, and status X for unknown (G8)', async () => {
    const batch = batchOf(1, [1]);
    batch.deliveries[0]!.record = fullRecord();
    await deliver(connector({ write_back: 'oru_r01' }), batch);
    const message = parseMessage(receiver.messages[0]!)!;
    expect(message.type).toBe('ORU');
    const values = message
      .all('OBX')
      .map((obx) => [obx.value(3), obx.value(4), obx.value(5), obx.value(11)]);
    expect(values).toContainEqual(['active', '', 'yes', 'F']);
    expect(values).toContainEqual(['in_network', '', '', 'X']);
    expect(values).toContainEqual(['annual_maximum', '', 'unlimited | "none"', 'F']);
    expect(values.map(([name]) => name)).not.toContain('family_deductible');
    expect(values.filter(([name]) => name === 'procedure_code').map(([, code]) => code)).toEqual([
      'D1110',
      'D0120',
    ]);
  });

  test('an ADT^A08 comes with a warning', async () => {
    const events: string[] = [];
    const a08 = connector({ write_back: 'adt_a08' }, (event) => void events.push(event));
    expect(events).toEqual(['hl7_writes_registrations']);
    await deliver(a08, batchOf(1, [1]));
    const message = parseMessage(receiver.messages[0]!)!;
    expect([message.type, message.event]).toEqual(['ADT', 'A08']);
    expect(message.segments.map(({ name }) => name)).toEqual([
      'MSH',
      'EVN',
      'PID',
      'PV1',
      'IN1',
      'IN2',
      'IN3',
    ]);
    expect((await a08.check(new AbortController().signal)).map(({ ok }) => ok)).toContain(false);
  });

  test('nothing is sent if nothing is to be written back', async () => {
    expect(await outcomes(connector({ write_back: 'none' }), batchOf(1, [1]))).toEqual([
      'delivered',
    ]);
    expect(receiver.messages).toEqual([]);
  });
});

test('messages go over TLS only to a receiver with a valid certificate', async () => {
  const tls = join(import.meta.dirname, '../../fixtures/tls');
  const pem = (name: string) => readFileSync(join(tls, name));
  const heard: string[] = [];
  const server = createTlsServer(
    {
      cert: pem('server.pem'),
      key: pem('server-key.pem'),
      ca: pem('ca.pem'),
      requestCert: true,
      rejectUnauthorized: true,
    },
    (socket) => {
      const frames = new Unframer();
      later(() => void socket.destroy());
      socket.on('error', () => socket.destroy());
      socket.on('data', (chunk) => {
        for (const message of frames.push(chunk)) {
          heard.push(message);
          socket.write(framed(ack('AA', message)));
        }
      });
    },
  );
  const send_to = `127.0.0.1:${await listening(server)}`;
  later(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const own = { certificate_file: join(tls, 'client.pem'), key_file: join(tls, 'client-key.pem') };
  const secured = makeConnector({
    ...FOLDER,
    send_to,
    send_tls: { ...own, authorities_file: join(tls, 'ca.pem') },
  });
  expect(await outcomes(secured, batchOf(1, [1]))).toEqual(['delivered']);
  // The system does not trust its authority.
  await expect(deliver(makeConnector({ ...FOLDER, send_to, send_tls: own }))).rejects.toMatchObject(
    { failure: 'transient' },
  );
  const misnamed = { ...own, authorities_file: join(tls, 'ca.pem'), server_name: 'other.test' };
  await expect(
    deliver(makeConnector({ ...FOLDER, send_to, send_tls: misnamed })),
  ).rejects.toMatchObject({
    failure: 'transient',
  });
  expect(heard).toHaveLength(1);
});

describe('header.character_set', () => {
  const named = (last_name: string) => {
    const batch = batchOf(1, [1, 2]);
    const [first] = batch.deliveries;
    if (first !== undefined) first.appointment.patient.last_name = last_name;
    return batch;
  };

  test.each([
    ['UNICODE UTF-8', 'utf8', 'Núñez'],
    ['8859/1', 'latin1', 'Núñez'],
    ['UNICODE UTF-8', 'utf8', 'Łukasz'],
  ] as const)('%s is what the receiver reads: %s, %s', async (character_set, encoding, name) => {
    // Some systems write an accent as a separate character after the letter.
    const typed = character_set === '8859/1' ? name.normalize('NFD') : name;
    const told = await outcomes(connector({ header: { character_set } }), named(typed));
    expect(told).toEqual(['delivered', 'delivered']);
    const sent = Buffer.concat(receiver.raw).toString(encoding);
    expect(sent).toContain(`|${name}^`);
    expect(sent.split('\r')[0]?.split('|')[17]).toBe(character_set);
  });

  test.each([
    ['8859/1', 'Łukasz'],
    ['ASCII', 'Núñez'],
  ])('a message with a character that %s lacks is listed', async (set, name) => {
    const told = await deliver(connector({ header: { character_set: set } }), named(name));
    expect(told.map(({ outcome }) => outcome).toSorted()).toEqual(['delivered', 'failed']);
    const [failed] = told.filter(({ outcome }) => outcome === 'failed');
    expect(failed).toMatchObject({ is_permanent: true, what: expect.stringContaining(set) });
    expect(JSON.stringify(failed)).not.toContain(name);
  });
});
