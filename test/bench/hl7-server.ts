/**
 * A child of the bench: a server that answers HL7 messages over MLLP. It prints its port, and ends
 * when its parent does.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Hl7MessageEvent, Hl7Server } from '@medplum/hl7';
import { DIRECT_NETWORK } from '../../connectors/conformance/network.ts';
import hl7 from '../../connectors/hl7/index.ts';
import { realClock } from '../../src/ops/env.ts';
import { newConnectorState } from '../../src/stages/connector-state.ts';
import { runLoop } from '../../src/stages/loop.ts';
import { listenStep, messagesOf } from '../../src/stages/pull/index.ts';
import { openStore } from '../../src/store/engine/store.ts';
import { freePort, Unframer } from '../connectors/hl7/peers.ts';
import { jobOfChild } from './measure.ts';

/** `eligd` commits every message to a database before it answers; the others keep nothing. */
export type AnsweringJob = { server: 'eligd' | 'medplum' | 'net' };

const { server } = jobOfChild<AnsweringJob>();
const port = await freePort();
const stop = new AbortController();
process.once('disconnect', () => stop.abort());
stop.signal.addEventListener('abort', () => setTimeout(() => process.exit(0), 2000).unref());
const done = { eligd, medplum, net }[server]();
process.send?.(port);
await done;

async function eligd(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-bench-'));
  const store = await openStore(join(folder, 'eligd.db'));
  const env = { clock: realClock, random: Math.random, log: () => {} };
  const config = hl7.config.parse({ listen: `127.0.0.1:${port}`, write_back: 'none' });
  const connector = hl7.create(config, {
    ...env,
    connector_id: 'interface',
    time_zone: 'America/Chicago',
    resolvePath: (path) => path,
    network: DIRECT_NETWORK,
    readKeyFile: (path) => readFile(path),
    secret: (name) => ({ name, value: null }),
    journal: { read: async () => null, write: async () => {} },
  });
  const intake = { store, env, connector_id: 'interface', connector, onAccepted: () => {} };
  const messages = messagesOf(intake);
  if (messages === null) throw new Error('The connector reads no messages after their answer.');
  await Promise.all([
    listenStep({ ...intake, state: newConnectorState(), messages }, stop.signal),
    runLoop({
      name: 'read interface',
      step: (signal) => messages.step(signal),
      waker: messages.arrived,
      env,
      interval_ms: 1_000,
      signal: stop.signal,
    }),
  ]);
  await store.close();
  rmSync(folder, { recursive: true });
}

async function medplum(): Promise<void> {
  const listener = new Hl7Server((connection) => {
    connection.addEventListener('message', ({ message }: Hl7MessageEvent) =>
      connection.send(message.buildAck()),
    );
  });
  await listener.start(port);
  await stopped();
  await listener.stop({ forceDrainTimeoutMs: 10 });
}

/** The least work for an answer: it cuts frames at their ends and returns the control ID. */
async function net(): Promise<void> {
  const listener = createServer((socket) => {
    const frames = new Unframer();
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      for (const message of frames.push(chunk)) {
        const id = message.split('|', 10)[9];
        socket.write(`\x0bMSH|^~\\&|A|B|C|D|20261123||ACK|1|P|2.5.1\rMSA|AA|${id}\r\x1c\r`);
      }
    });
  });
  listener.listen(port, '127.0.0.1');
  await stopped();
  listener.close();
}

function stopped(): Promise<void> {
  return new Promise((resolve) =>
    stop.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}
