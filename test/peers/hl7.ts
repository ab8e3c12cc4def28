/** Other makers' HL7 senders and receivers on both sides of the daemon, from the message to AA. */
import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Hl7Message } from '@medplum/core';
import { Hl7Client, type Hl7MessageEvent, Hl7Server } from '@medplum/hl7';
import { Client, Message } from 'node-hl7-client';
import { Server } from 'node-hl7-server';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { adt, siu } from '../connectors/hl7/messages.ts';
import { ack, field, framed, listening, RawSender, Receiver } from '../connectors/hl7/peers.ts';
import { anAppointment } from '../domain/examples.ts';
import { freePort } from '../support/free-port.ts';
import { calledTwice, type Row, type Tally } from './tally.ts';
import { HOUR_MS, MINUTE_MS, START_MS, World } from './world.ts';

const COUNT = 4;
const UTF_8 = '||||||UNICODE UTF-8';
/** Debian's, for which python3-hl7 is packaged. */
const PYTHON = '/usr/bin/python3';

/** Sends messages one after another; returns the codes of the answers. */
type Sending = (port: number, messages: readonly string[]) => Promise<string[]>;

const SENDERS: Readonly<Record<string, Sending>> = {
  '@medplum/hl7': async (port, messages) => {
    const client = new Hl7Client({ host: '127.0.0.1', port, keepAlive: true });
    const codes: string[] = [];
    for (const text of messages) {
      const answer = await client.sendAndWait(Hl7Message.parse(text) as never);
      codes.push(answer.getSegment('MSA')?.getField(1)?.toString() ?? '');
    }
    await client.close();
    return codes;
  },
  'node-hl7-client': async (port, messages) => {
    const client = new Client({ host: '127.0.0.1', version: '2.5.1' });
    const codes: string[] = [];
    let heard = () => {};
    const connection = client.createConnection({ port, version: '2.5.1' }, async (response) => {
      codes.push(response.getMessage().get('MSA.1').toString());
      heard();
    });
    for (const [index, text] of messages.entries()) {
      await connection.sendMessage(new Message({ text }));
      while (codes.length <= index)
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
    }
    await connection.close();
    return codes;
  },
  'a pipelining socket': async (port, messages) => {
    const sender = await RawSender.to(port);
    sender.write(Buffer.concat(messages.map(framed)));
    const codes = (await sender.heard(messages.length)).map((answer) => field(answer, 'MSA', 1));
    sender.close();
    return codes;
  },
  'python3-hl7': async (port, messages) => {
    const child = spawn(PYTHON, [join(import.meta.dirname, 'python_hl7_sender.py'), String(port)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (text: Buffer) => {
      said += text;
    });
    child.stdin.end(JSON.stringify(messages));
    await new Promise<void>((resolve) => child.once('close', () => resolve()));
    return said.split('\n').filter((code) => code !== '');
  },
};

type Answer = 'AA' | 'AE' | 'AR' | null;
/** Messages that were received and answered with AA, as text. */
type Receiving = { port: number; taken: string[]; close: () => Promise<void> };
type CharacterSet = 'UNICODE UTF-8' | '8859/1';
type StartReceiver = (
  character_set: CharacterSet,
  answer: (control_id: string) => Answer,
) => Promise<Receiving>;

const nodeEncoding = (set: CharacterSet): BufferEncoding => (set === '8859/1' ? 'latin1' : 'utf8');

const RECEIVERS: Readonly<Record<string, StartReceiver>> = {
  '@medplum/hl7': async (character_set, answer) => {
    const port = await freePort();
    const taken: string[] = [];
    const server = new Hl7Server((connection) => {
      connection.addEventListener('message', ({ message }: Hl7MessageEvent) => {
        const code = answer(message.getSegment('MSH')?.getField(10)?.toString() ?? '');
        if (code === 'AA') taken.push(message.toString());
        if (code !== null) connection.send(message.buildAck({ ackCode: code }));
      });
    });
    await server.start(port, character_set === '8859/1' ? 'iso-8859-1' : 'utf-8');
    return { port, taken, close: () => server.stop({ forceDrainTimeoutMs: 1 }) };
  },
  'node-hl7-server': async (character_set, answer) => {
    const port = await freePort();
    const taken: string[] = [];
    const server = new Server({ bindAddress: '127.0.0.1' });
    const encoding = nodeEncoding(character_set);
    const inbound = server.createInbound({ port, encoding }, async (request, response) => {
      const message = request.getMessage();
      const code = answer(message.get('MSH.10').toString());
      if (code === 'AA') taken.push(message.toString());
      if (code !== null) await response.sendResponse(code);
    });
    await new Promise<void>((resolve) => void inbound.once('listen', () => resolve()));
    return { port, taken, close: async () => void (await inbound.close()) };
  },
  'a plain socket': async (character_set, answer) => {
    const taken: string[] = [];
    const server = createServer((socket) => {
      let rest = '';
      socket.on('error', () => socket.destroy());
      socket.on('data', (chunk) => {
        const parts = (rest + chunk.toString('latin1')).split('\x1c\r');
        rest = parts.pop() ?? '';
        for (const part of parts) {
          const bytes = Buffer.from(part.replace('\x0b', ''), 'latin1');
          const text = bytes.toString(nodeEncoding(character_set));
          const code = answer(field(text, 'MSH', 10));
          if (code === 'AA') taken.push(text);
          if (code !== null) socket.write(framed(ack(code, text)));
        }
      });
    });
    const port = await listening(server);
    return { port, taken, close: async () => void server.close() };
  },
};

/** How receivers answer: `silence` ends when the message arrives again. */
const MODES: Readonly<Record<string, (seen: number) => Answer>> = {
  AA: () => 'AA',
  AE: () => 'AE',
  AR: () => 'AR',
  silence: (seen) => (seen === 1 ? null : 'AA'),
};

function visit(number: number): AppointmentInput {
  const member_id = `ACTIVE${2000 + number}`;
  return anAppointment({
    source_id: `V-${number}`,
    starts_at: new Date(START_MS + 4 * 24 * HOUR_MS + number * 30 * MINUTE_MS).toISOString(),
    patient: {
      id: `P-${number}`,
      first_name: 'José',
      last_name: `Núñez-${number}`,
      birth_date: '1970-05-06',
    },
    coverages: [
      { carrier: 'Delta Dental', payor_id: '05030', member_id, group_id: '', subscriber: null },
    ],
  });
}

const VISITS = Array.from({ length: COUNT }, (_, index) => visit(index));

/** Insurance in the appointment's message or before it, and every message twice. */
function messages(): string[] {
  return VISITS.flatMap((each, index) => {
    const header = UTF_8;
    if (index % 2 === 0) return [siu(each, { header })];
    const known = adt('A08', each).replace('|P|2.5.1', `|P|2.5.1${UTF_8}`);
    return [known, siu(each, { header, with_insurance: false })];
  }).flatMap((message) => [message, message]);
}

export function hl7Rows(): Row[] {
  const has_python = spawnSync(PYTHON, ['-c', 'import hl7.client']).status === 0;
  const senders = Object.entries(SENDERS).map(([name, send]): Row => {
    const is_absent = name === 'python3-hl7' && !has_python;
    return {
      group: 'hl7 senders',
      name: `${name} sends`,
      ...(is_absent ? { skip: 'python3-hl7 is not installed (apt-get install python3-hl7).' } : {}),
      run: () => sendAll(send),
    };
  });
  const receivers = Object.entries(RECEIVERS).flatMap(([name, start]) =>
    Object.keys(MODES).flatMap((mode) =>
      (['UNICODE UTF-8', '8859/1'] as const).map((set): Row => {
        const run = () => receiveAll(start, mode, set);
        return { group: 'hl7 receivers', name: `${name} answers ${mode}, ${set}`, run };
      }),
    ),
  );
  return [...senders, ...receivers];
}

async function sendAll(send: Sending): Promise<Tally> {
  const receiver = await Receiver.start();
  const { world, port } = await startInterface(receiver.port, 'UNICODE UTF-8');
  try {
    const sent = messages();
    const codes = await send(port, sent);
    const taken = () => receiver.kept().map(([, message]) => message);
    const tally = await wholeWay(world, taken, 0);
    const refused = sent.length - codes.filter((code) => code === 'AA').length;
    return { ...tally, lost: tally.lost + refused };
  } finally {
    await world.close();
    await receiver.close();
  }
}

async function receiveAll(
  start: StartReceiver,
  mode: string,
  character_set: CharacterSet,
): Promise<Tally> {
  const seen = new Map<string, number>();
  const receiver = await start(character_set, (control_id) => {
    const times = (seen.get(control_id) ?? 0) + 1;
    seen.set(control_id, times);
    return MODES[mode]?.(times) ?? null;
  });
  const { world, port } = await startInterface(receiver.port, character_set);
  try {
    const sender = await RawSender.to(port);
    for (const message of messages()) await sender.ask(message);
    sender.close();
    const refused = mode === 'AE' || mode === 'AR' ? COUNT : 0;
    return await wholeWay(world, () => receiver.taken, refused);
  } finally {
    await world.close();
    await receiver.close();
  }
}

export async function startInterface(receiver_port: number, character_set: CharacterSet) {
  const port = await freePort();
  const connector = {
    id: 'interface',
    type: 'hl7',
    listen: `127.0.0.1:${port}`,
    send_to: `127.0.0.1:${receiver_port}`,
    // By the machine's clock: eligd waits that long for a silent receiver.
    reply_seconds: 2,
    header: { character_set },
  };
  const world = await World.start({ connectors: [connector] });
  await world.run();
  // Listening by now.
  (await RawSender.to(port)).close();
  return { world, port };
}

/** From the accepted messages to the answers, of which `refused` end on the list. */
async function wholeWay(
  world: World,
  taken: () => readonly string[],
  refused: number,
): Promise<Tally> {
  const are_called = async () => (await world.ledger()).length >= COUNT;
  await world.passUntil(MINUTE_MS, are_called);
  await world.answerAll();
  const members = VISITS.map(({ coverages }) => coverages[0]?.member_id ?? '');
  const delivered = () => new Set(taken().map((text) => field(text, 'IN1', 36)));
  const listed = () => world.attention().filter((reason) => reason === 'delivery_parked').length;
  const is_over = async () => (refused === 0 ? delivered().size : listed()) >= COUNT;
  await world.passUntil(3 * MINUTE_MS, is_over);
  await world.stop();
  const ledger = await world.ledger();
  const found = delivered();
  const kept = refused === 0 ? members.filter((member) => found.has(member)).length : listed();
  const misnamed = ledger.filter(({ request }) => {
    const asked = VISITS.find(({ coverages }) => coverages[0]?.member_id === request.member_id);
    return request.patient_name !== `José ${asked?.patient.last_name}`;
  });
  return {
    needs: COUNT,
    calls: ledger.length,
    twice: calledTwice(ledger, members),
    lost: Math.max(0, COUNT - kept),
    wrong: misnamed.length + taken().filter((text) => !isOwn(text)).length,
  };
}

/** Whether a message is about the patient whose member ID it has, by that patient's own name. */
function isOwn(text: string): boolean {
  const own = VISITS.find(({ coverages }) => coverages[0]?.member_id === field(text, 'IN1', 36));
  if (own === undefined) return false;
  const name = `${own.patient.last_name}^${own.patient.first_name}`;
  const id = field(text, 'PID', 3).split('^')[0];
  return id === own.patient.id && field(text, 'PID', 5).startsWith(name);
}
