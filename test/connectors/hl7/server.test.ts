/**
 * The listener as a sender sees it: answers after commits, in both modes, whatever else arrives on
 * the connection.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { appointment } from '../../../connectors/conformance/examples.ts';
import { ConnectorError } from '../../../connectors/contract.ts';
import type { Store } from '../../../src/store/engine/store.ts';
import { keepMessages } from '../../../src/store/intake/keep-messages.ts';
import { temporaryStore } from '../../store/temporary.ts';
import { later, makeConnector, startInterface } from './clinic-interface.ts';
import { adt, brokenSiu, msh, siu } from './messages.ts';
import { field, framed, listening, Unframer } from './peers.ts';

const TLS = join(import.meta.dirname, '../../fixtures/tls');
const code = (answer: string) => field(answer, 'MSA', 1);
const visit = appointment(1);

/** A store whose database cannot grow when a test says so, as on a full disk. */
async function fillableStore(): Promise<{
  store: Store;
  fill: (is_full: boolean) => Promise<void>;
}> {
  const store = await temporaryStore();
  const fill = async (is_full: boolean) => {
    // Less than the current size means the current size.
    await sql.raw(`pragma max_page_count = ${is_full ? 1 : 1_000_000}`).execute(store.db);
  };
  return { store, fill };
}

describe('original mode', () => {
  test('stored messages get AA, with their ID, delimiters, and swapped applications', async () => {
    const clinic = await startInterface();
    const sender = await clinic.sender();
    const answer = await sender.ask(siu(visit, { control_id: 'ID-1' }));
    expect([
      code(answer),
      field(answer, 'MSA', 2),
      field(answer, 'MSH', 3),
      field(answer, 'MSH', 5),
    ]).toEqual(['AA', 'ID-1', 'ELIGD', 'PMS']);
    expect(field(answer, 'MSH', 9)).toBe('ACK^S12^ACK');
    const odd = siu(visit, { control_id: 'ID-2' })
      .replaceAll('|', '$')
      .replaceAll('^', '*')
      .replace('MSH$*~\\&', 'MSH$*:!@');
    expect(await sender.ask(odd)).toContain('\rMSA$AA$ID-2\r');
    expect((await clinic.appointments()).map(({ source_id }) => source_id)).toEqual(['A-1']);
  });

  test('eligd escapes its own words in the delimiters of the sender', async () => {
    const sender = await (await startInterface()).sender();
    const answer = await sender.ask(`${msh('ORU,R01', 'ID-3').replace('^~', ',~')}\rPID|1`);
    expect(answer).toContain('\rMSA|AR|ID-3|only SIU\\S\\ ADT and DFT messages are read here');
  });

  test.each([
    ['MSH-3', 2],
    ['MSH-10', 9],
  ])('a message whose %s is endless gets AE, and is listed', async (field, index) => {
    const clinic = await startInterface();
    const [header = '', ...rest] = siu(visit).split('\r');
    const fields = header.split('|');
    fields[index] = 'x'.repeat(100_000);
    const message = [fields.join('|'), ...rest].join('\r');
    const answer = await (await clinic.sender()).ask(message);
    expect(code(answer)).toBe('AE');
    expect(answer.length).toBeLessThan(5_000);
    expect(await clinic.attention()).toEqual([`Message, ${field}: too long.`]);
    expect(await clinic.appointments()).toEqual([]);
  });

  test('an unreadable message gets AE with the field, and is listed', async () => {
    const clinic = await startInterface();
    const answer = await (await clinic.sender()).ask(brokenSiu('A-9'));
    expect(code(answer)).toBe('AE');
    expect(field(answer, 'ERR', 2)).toBe('AIS^1^4');
    expect(field(answer, 'ERR', 3)).toMatch(/^102\^/);
    expect(await clinic.attention()).toHaveLength(1);
    // Now the message is readable.
    await (await clinic.sender()).ask(siu({ ...visit, source_id: 'A-9' }));
    expect(await clinic.attention()).toEqual([]);
  });

  test('a message that is not for eligd gets AR and is not stored', async () => {
    const clinic = await startInterface();
    const sender = await clinic.sender();
    expect(code(await sender.ask(msh('ORU^R01', 'O1')))).toBe('AR');
    expect(code(await sender.ask(msh('ADT^A08', '')))).toBe('AR');
    expect(code(await sender.ask('not HL7 at all'))).toBe('AR');
    expect(await clinic.sources()).toEqual([]);
    expect(clinic.events.filter((event) => event === 'hl7_message_refused')).toHaveLength(3);
  });

  test('ERR has the form of versions before 2.5', async () => {
    const answer = await (await (await startInterface()).sender()).ask(
      msh('ORU^R01', 'O1').replace('2.5.1', '2.3'),
    );
    expect(answer).toMatch(/\rERR\|MSH\^1\^9\^200/);
  });
});

describe('enhanced mode', () => {
  const header = (accept: string, application: string) => `|||${accept}|${application}`;
  /** Table 0155: whether a good or a bad message gets an answer. */
  const WISHES = {
    '': [false, false],
    AL: [true, true],
    NE: [false, false],
    ER: [false, true],
    SU: [true, false],
  } as const;
  const wishes = Object.entries(WISHES);
  const combinations = wishes.flatMap(([accept, of_accept]) =>
    wishes.map(([application, of_application]) => ({
      accept,
      application,
      of_accept,
      of_application,
    })),
  );

  test.each(combinations.slice(1))(
    'eligd answers as MSH-15 "$accept" and MSH-16 "$application" request',
    async (asked) => {
      const clinic = await startInterface({ max_message_megabytes: 0.01 });
      const sender = await clinic.sender();
      const expected = (accept: string, application: string, is_good: [boolean, boolean]) => [
        ...(asked.of_accept[is_good[0] ? 0 : 1] ? [accept] : []),
        ...(asked.of_application[is_good[1] ? 0 : 1] ? [application] : []),
      ];
      const head = header(asked.accept, asked.application);
      sender.write(framed(siu(visit, { header: head })));
      sender.write(framed(brokenSiu('A-9').replace('|P|2.5.1', `|P|2.5.1${head}`)));
      sender.write(framed(msh('ORU^R01', 'O1', head)));
      sender.write(framed(`${siu(visit, { header: head })}\rNTE|1||${'x'.repeat(20_000)}`));
      sender.write(framed(siu(appointment(2), { control_id: 'END' })));
      const answers = [
        ...expected('CA', 'AA', [true, true]),
        // Stored, with an error.
        ...expected('CA', 'AE', [true, false]),
        // Another type, and too large.
        ...expected('CR', 'AR', [false, false]),
        ...expected('CR', 'AR', [false, false]),
      ];
      expect((await sender.heard(answers.length + 1)).map(code)).toEqual([...answers, 'AA']);
      expect(sender.answers.at(-1)).toContain('|END');
    },
  );
});

test('an acknowledgment gets no acknowledgment', async () => {
  const clinic = await startInterface();
  const sender = await clinic.sender();
  sender.write(framed([msh('ACK', 'K1'), 'MSA|AA|X'].join('\r')));
  expect(field(await sender.ask(siu(visit, { control_id: 'AFTER' })), 'MSA', 2)).toBe('AFTER');
});

describe('the same message again', () => {
  test('the same message again gets its first answer, and nothing else happens', async () => {
    const clinic = await startInterface();
    const sender = await clinic.sender();
    const first = siu(visit);
    const answer = await sender.ask(first);
    await sender.ask(siu({ ...visit, status: 'cancelled' }));
    expect(await (await clinic.sender()).ask(first)).toBe(answer);
    expect((await clinic.appointments()).map(({ status }) => status)).toEqual(['cancelled']);
  });

  test('the same message again gets its first answer after a power failure, too', async () => {
    const store = await temporaryStore();
    const before = await startInterface({}, store);
    const first = siu(visit);
    const answer = await (await before.sender()).ask(first);
    await before.close();
    const after = await startInterface({}, store);
    expect(await (await after.sender()).ask(first)).toBe(answer);
    expect(await after.sources()).toHaveLength(1);
  });

  test('another content under the same ID is another message', async () => {
    const clinic = await startInterface();
    const sender = await clinic.sender();
    await sender.ask(siu(visit, { control_id: 'SAME' }));
    await sender.ask(siu({ ...visit, status: 'cancelled' }, { control_id: 'SAME' }));
    expect((await clinic.appointments()).map(({ status }) => status)).toEqual(['cancelled']);
  });
});

describe('a connection with bad data', () => {
  test('junk, bad frames, and cut frames in one write cost no good message', async () => {
    const clinic = await startInterface();
    const sender = await clinic.sender();
    const good = [1, 2, 3, 4].map((number) =>
      siu(appointment(number), { control_id: `G${number}` }),
    );
    const [first, second, third, fourth] = good.map(framed) as [Buffer, Buffer, Buffer, Buffer];
    const garbage = framed(Buffer.from([0, 255, 1, 2, 3]));
    const cut = Buffer.from('\x0bMSH|^~\\&|cut');
    sender.write(
      Buffer.concat([
        Buffer.from('GET / HTTP/1.1\r\n\r\n'),
        first,
        garbage,
        second,
        cut,
        third,
        Buffer.from('\n\n'),
      ]),
    );
    sender.write(fourth);
    const answers = await sender.heard(5);
    expect(answers.map((answer) => [code(answer), field(answer, 'MSA', 2)])).toEqual([
      ['AA', 'G1'],
      ['AR', ''],
      ['AA', 'G2'],
      ['AA', 'G3'],
      ['AA', 'G4'],
    ]);
    expect(await clinic.appointments()).toHaveLength(4);
  });

  test('a frame of very many messages is refused, and a repetition is logged once', async () => {
    const clinic = await startInterface();
    const sender = await clinic.sender();
    for (let count = 0; count < 3; count += 1) sender.write(framed('MSH\r'.repeat(6000)));
    sender.write(framed(siu(visit)));
    expect((await sender.heard(4)).map(code)).toEqual(['AR', 'AR', 'AR', 'AA']);
    expect(clinic.events.filter((event) => event === 'hl7_message_refused')).toHaveLength(1);
  });

  test('messages are read byte by byte', async () => {
    const clinic = await startInterface();
    const sender = await clinic.sender();
    for (const byte of framed(siu(visit, { with_insurance: false })))
      sender.write(Buffer.from([byte]));
    expect((await sender.heard(1)).map(code)).toEqual(['AA']);
  });

  test('messages are read without the final CR', async () => {
    const sender = await (await startInterface()).sender();
    sender.write(framed(siu(visit)).subarray(0, -1));
    expect((await sender.heard(1)).map(code)).toEqual(['AA']);
  });

  test('a message that is too large is refused by its ID', async () => {
    const clinic = await startInterface({ max_message_megabytes: 0.01 });
    const sender = await clinic.sender();
    sender.write(framed(`${siu(visit, { control_id: 'BIG' })}\rNTE|1||${'x'.repeat(20_000)}`));
    sender.write(framed(siu(visit, { control_id: 'SMALL' })));
    const answers = await sender.heard(2);
    expect(answers.map((answer) => [code(answer), field(answer, 'MSA', 2)])).toEqual([
      ['AR', 'BIG'],
      ['AA', 'SMALL'],
    ]);
  });

  test('a sender that sends no more and waits gets its answers', async () => {
    const sender = await (await startInterface()).sender();
    sender.socket.end(framed(siu(visit)));
    await sender.ended();
    expect(sender.answers.map(code)).toEqual(['AA']);
  });
});

describe('when the database cannot commit', () => {
  test('a message that was not stored gets no answer and is accepted later (G3)', async () => {
    const { store, fill } = await fillableStore();
    const clinic = await startInterface({}, store);
    const messages = Array.from({ length: 200 }, (_, number) => framed(siu(appointment(number))));
    await fill(true);
    const sender = await clinic.sender();
    sender.write(Buffer.concat(messages));
    await sender.ended();
    // Some may still fit into the free space of the file.
    const answered = sender.answers.map((answer) => `${code(answer)} ${field(answer, 'MSA', 2)}`);
    expect(answered.length).toBeLessThan(200);
    const stored = (await clinic.sources()).map(({ name }) => name.replace('message', 'AA'));
    expect(answered.filter((answer) => !stored.includes(answer))).toEqual([]);
    expect(clinic.events).toContain('hl7_not_stored');
    await fill(false);
    const again = await clinic.sender();
    again.write(Buffer.concat(messages));
    expect(new Set((await again.heard(200)).map(code))).toEqual(new Set(['AA']));
    expect(await clinic.appointments()).toHaveLength(200);
  });

  test('a sender that does not wait is slowed down, and every message is answered', async () => {
    const real = await temporaryStore();
    let release = () => {};
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const write: Store['write'] = async (work) => {
      await slow;
      return await real.write(work);
    };
    const clinic = await startInterface({}, { ...real, write });
    const sender = await clinic.sender();
    const note = `NTE|1||${'x'.repeat(4000)}`;
    const messages = Array.from({ length: 4000 }, (_, index) =>
      framed(`${siu(appointment(index))}\r${note}`),
    );
    for (const message of messages) sender.write(message);
    // Sixteen megabytes do not fit into the system's buffers, so the rest stays with the sender.
    for (let turns = 0; turns < 50; turns += 1)
      await new Promise((resolve) => setImmediate(resolve));
    expect(sender.socket.writableLength).toBeGreaterThan(1_000_000);
    release();
    expect(await sender.heard(4000)).toHaveLength(4000);
    expect(new Set(sender.answers.map(code))).toEqual(new Set(['AA']));
  });
});

describe('who may connect', () => {
  test('the list of addresses decides who may connect', async () => {
    const stranger = await startInterface({ allow: ['10.1.0.0/16', '192.0.2.7'] });
    const refused = await stranger.sender();
    await refused.ended();
    expect(stranger.events).toContain('hl7_connection_refused');
    const friend = await startInterface({ allow: ['127.0.0.0/8'] });
    expect(code(await (await friend.sender()).ask(siu(visit)))).toBe('AA');
  });

  test('the number of connections is limited', async () => {
    const clinic = await startInterface({ max_connections: 1 });
    const first = await clinic.sender();
    expect(code(await first.ask(siu(visit)))).toBe('AA');
    await (await clinic.sender()).ended();
    expect(code(await first.ask(siu(appointment(2))))).toBe('AA');
    expect(clinic.events).toContain('hl7_connections_full');
  });

  test('a certificate proves the sender with mutual TLS', async () => {
    const clinic = await startInterface({
      listen_tls: {
        certificate_file: join(TLS, 'server.pem'),
        key_file: join(TLS, 'server-key.pem'),
        clients_file: join(TLS, 'ca.pem'),
      },
    });
    // Listening by now.
    (await clinic.sender()).close();
    const ca = readFileSync(join(TLS, 'ca.pem'));
    const own = {
      cert: readFileSync(join(TLS, 'client.pem')),
      key: readFileSync(join(TLS, 'client-key.pem')),
    };
    const ask = (credentials: object) =>
      new Promise<string | null>((resolve) => {
        const socket = connectTls({ port: clinic.port, host: '127.0.0.1', ca, ...credentials });
        const frames = new Unframer();
        later(() => void socket.destroy());
        socket.on('data', (chunk) => {
          const [answer] = frames.push(chunk);
          if (answer !== undefined) resolve(code(answer));
        });
        socket.on('error', () => resolve(null));
        socket.on('close', () => resolve(null));
        // The sender has finished, and still gets its answer.
        socket.on('secureConnect', () => socket.end(framed(siu(visit))));
      });
    expect(await ask(own)).toBe('AA');
    expect(await ask({})).toBeNull();
    // A client without TLS costs no other client anything.
    const plain = await clinic.sender();
    plain.write(framed(siu(visit)));
    await plain.ended();
    expect(await ask(own)).toBe('AA');
  });
});

test('an idle connection is closed', async () => {
  const clinic = await startInterface({ idle_minutes: 0.005 });
  const sender = await clinic.sender();
  expect(code(await sender.ask(siu(visit)))).toBe('AA');
  await sender.ended();
});

test('eligd reads what an earlier process has acknowledged but not read (G2)', async () => {
  const store = await temporaryStore();
  const texts = [siu(visit), siu({ ...visit, status: 'cancelled' })];
  const messages = texts.map((text, index) => ({ key: `${index}`, name: 'M', reply: '[]', text }));
  await store.write((tx) =>
    keepMessages({ tx, connector: 'interface', now: Date.now() }, messages, new Map()),
  );
  const clinic = await startInterface({}, store);
  expect(await clinic.appointments()).toMatchObject([{ status: 'cancelled' }]);
});

test('a message that cannot be read later blocks no other and is listed (G2, G7)', async () => {
  const real = await temporaryStore();
  const clinic = await startInterface({}, real);
  // No message can cause such an error, so a trigger of the database simulates a bug.
  await sql`create trigger defect before insert on appointments when new.source_id = 'A-13'
    begin select raise(abort, 'defect'); end`.execute(real.db);
  const sender = await clinic.sender();
  for (const number of [12, 13, 14])
    expect(code(await sender.ask(siu(appointment(number))))).toBe('AA');
  const visits = await clinic.appointments();
  expect(visits.map(({ source_id }) => source_id)).toEqual(['A-12', 'A-14']);
  expect(await clinic.attention()).toEqual(['Message: received, but eligd could not read it.']);
  expect(clinic.events).toContain('message_not_read');
});

describe('a port that is taken', () => {
  test('a port in use is reported with what to do', async () => {
    const other = createServer();
    const port = await listening(other);
    later(() => new Promise<void>((resolve) => other.close(() => resolve())));
    const connector = makeConnector({ listen: `127.0.0.1:${port}`, write_back: 'none' });
    const call = { accept: async () => {}, signal: new AbortController().signal };
    const failure = await connector.listen?.(call).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConnectorError);
    expect(failure).toMatchObject({
      failure: 'transient',
      next: expect.stringContaining('listen'),
    });
    expect(await connector.check(call.signal)).toMatchObject([
      { ok: true, what: expect.stringContaining('in use') },
    ]);
  });
});

test('messages received when the daemon stops are answered before the end', async () => {
  const clinic = await startInterface();
  const sender = await clinic.sender();
  expect(code(await sender.ask(siu(visit)))).toBe('AA');
  sender.write(framed(adt('A08', visit)));
  await sender.heard(2);
  await clinic.close();
  await sender.ended();
  expect(sender.answers.map(code)).toEqual(['AA', 'AA']);
});
