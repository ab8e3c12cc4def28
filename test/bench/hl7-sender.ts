/** A child of the bench: sends HL7 messages and measures how fast they are acknowledged. */
import { Hl7Message } from '@medplum/core';
import { Hl7Client } from '@medplum/hl7';

import { appointment } from '../../connectors/conformance/examples.ts';
import { siu } from '../connectors/hl7/messages.ts';
import { connected, framed } from '../connectors/hl7/peers.ts';
import { jobOfChild } from './measure.ts';

/**
 * `medplum`: each connection waits for an answer before the next message, as the library's client
 * does. `pipelined`: plain sockets that keep `window` messages unanswered.
 */
export type SendingJob = {
  sender: 'medplum' | 'pipelined';
  port: number;
  messages: number;
  connections: number;
  window: number;
};
export type SendingResult = { messages: number; duration_ms: number };

const job = jobOfChild<SendingJob>();
const each = Math.floor(job.messages / job.connections);
const texts = Array.from({ length: job.connections }, (_, connection) =>
  Array.from({ length: each }, (_, number) => messageOf(`${process.pid}-${connection}-${number}`)),
);
const warm = Array.from({ length: 200 }, (_, number) => messageOf(`warm-${process.pid}-${number}`));
const duration_ms = job.sender === 'medplum' ? await throughMedplum() : await throughSockets();
const result: SendingResult = { messages: each * job.connections, duration_ms };
process.stdout.write(JSON.stringify(result));
process.exit(0);

function messageOf(id: string): string {
  const visit = { ...appointment(1), source_id: id };
  return siu(visit, { control_id: id, with_insurance: false });
}

/**
 * The client has its own core, whose types differ from these although the messages are the same.
 */
function parse(text: string): Parameters<Hl7Client['sendAndWait']>[0] {
  return Hl7Message.parse(text) as never;
}

async function throughMedplum(): Promise<number> {
  const clients = texts.map(
    () => new Hl7Client({ host: '127.0.0.1', port: job.port, keepAlive: true }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  const parsed = texts.map((messages) => messages.map(parse));
  for (const text of warm) await clients[0]?.sendAndWait(parse(text));
  const started_ms = performance.now();
  await Promise.all(
    parsed.map(async (messages, index) => {
      for (const message of messages) await clients[index]?.sendAndWait(message);
    }),
  );
  return performance.now() - started_ms;
}

async function throughSockets(): Promise<number> {
  const sockets = await Promise.all(texts.map(() => connected(job.port)));
  const frames = texts.map((messages) => messages.map(framed));
  await pump(sockets[0]!, warm.map(framed));
  const started_ms = performance.now();
  await Promise.all(sockets.map((socket, index) => pump(socket, frames[index] ?? [])));
  return performance.now() - started_ms;
}

/** Writes all frames, with at most `window` of them unanswered. */
function pump(
  socket: Awaited<ReturnType<typeof connected>>,
  frames: readonly Buffer[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    let sent = 0;
    let answered = 0;
    const write = () => {
      const until = Math.min(frames.length, answered + job.window);
      if (until > sent) socket.write(Buffer.concat(frames.slice(sent, until)));
      sent = Math.max(sent, until);
    };
    const hear = (chunk: Buffer) => {
      for (let at = chunk.indexOf(0x1c); at !== -1; at = chunk.indexOf(0x1c, at + 1)) answered += 1;
      if (answered < frames.length) return write();
      socket.off('data', hear);
      resolve();
    };
    socket.on('data', hear);
    socket.once('close', () => reject(new Error('The server hung up.')));
    write();
  });
}
