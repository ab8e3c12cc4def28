/**
 * Senders and receivers of other makers, each with each: every message is acknowledged, and kept
 * once.
 */
import { Hl7Message } from '@medplum/core';
import { Hl7Client, type Hl7MessageEvent, Hl7Server } from '@medplum/hl7';
import { Client, Message } from 'node-hl7-client';
import { Server } from 'node-hl7-server';
import { expect, test } from 'vitest';
import { appointment, batchOf } from '../../../connectors/conformance/examples.ts';
import { later, makeConnector, startInterface } from './clinic-interface.ts';
import { adt, siu } from './messages.ts';
import { field, framed, freePort, RawSender } from './peers.ts';

/** Sends messages one after another and returns the codes of the answers. */
type Sending = (port: number, messages: readonly string[]) => Promise<string[]>;

const SENDERS: Record<string, Sending> = {
  '@medplum/hl7': async (port, messages) => {
    const client = new Hl7Client({ host: '127.0.0.1', port, keepAlive: true });
    later(() => client.close());
    const codes: string[] = [];
    for (const text of messages) {
      const answer = await client.sendAndWait(Hl7Message.parse(text) as never);
      codes.push(answer.getSegment('MSA')?.getField(1)?.toString() ?? '');
    }
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
    later(async () => void (await connection.close()));
    for (const [index, text] of messages.entries()) {
      await connection.sendMessage(new Message({ text }));
      while (codes.length <= index) {
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
      }
    }
    return codes;
  },
  'a pipelining socket': async (port, messages) => {
    const sender = await RawSender.to(port);
    later(() => sender.close());
    sender.write(Buffer.concat(messages.map(framed)));
    return (await sender.heard(messages.length)).map((answer) => field(answer, 'MSA', 1));
  },
};

/** Receives and acknowledges messages, and returns their control IDs. */
const RECEIVERS: Record<string, (port: number) => Promise<() => string[]>> = {
  '@medplum/hl7': async (port) => {
    const ids: string[] = [];
    const server = new Hl7Server((connection) => {
      connection.addEventListener('message', ({ message }: Hl7MessageEvent) => {
        ids.push(message.getSegment('MSH')?.getField(10)?.toString() ?? '');
        connection.send(message.buildAck());
      });
    });
    await server.start(port);
    later(() => server.stop({ forceDrainTimeoutMs: 1 }));
    return () => ids;
  },
  'node-hl7-server': async (port) => {
    const ids: string[] = [];
    const server = new Server({ bindAddress: '127.0.0.1' });
    const inbound = server.createInbound({ port }, async (request, response) => {
      ids.push(request.getMessage().get('MSH.10').toString());
      await response.sendResponse('AA');
    });
    await new Promise<void>((resolve) => void inbound.once('listen', () => resolve()));
    later(async () => void (await inbound.close()));
    return () => ids;
  },
};

const pairs = Object.keys(SENDERS).flatMap((sender) =>
  Object.keys(RECEIVERS).map((receiver) => [sender, receiver] as const),
);

test.each(pairs)('%s sends and %s receives', async (sender, receiver) => {
  const receiver_port = await freePort();
  const received = await RECEIVERS[receiver]!(receiver_port);
  const clinic = await startInterface();
  // Listening by now.
  (await clinic.sender()).close();
  const messages = [1, 2, 3, 4, 5].flatMap((number) => [
    siu(appointment(number), { with_insurance: false }),
    adt('A08', appointment(number)),
  ]);
  expect(await SENDERS[sender]!(clinic.port, messages)).toEqual(messages.map(() => 'AA'));
  expect(
    (await clinic.appointments()).map(({ source_id, coverages }) => [
      source_id,
      coverages[0]?.member_id,
    ]),
  ).toEqual([1, 2, 3, 4, 5].map((number) => [`A-${number}`, `MEMBER00${number}`]));
  expect(await clinic.sources()).toHaveLength(messages.length);
  const writer = makeConnector({
    folder: '/nonexistent',
    send_to: `127.0.0.1:${receiver_port}`,
    reply_seconds: 5,
  });
  const told = await writer.deliver(batchOf(1, [1, 2, 3]), new AbortController().signal);
  expect(told.map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered', 'delivered']);
  expect(new Set(received()).size).toBe(3);
});
