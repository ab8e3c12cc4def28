/**
 * Sends mutated frames and messages to the receiver of the HL7 connector, from bytes to answers:
 *
 *     npm run fuzz:hl7 -- --inputs 1000000 --seed 1
 *
 * It fails on anything thrown, on an input that takes more than a second of the processor, on a
 * good message that is lost with a bad one (G7), on an AA or CA without a commit (G3), on a
 * batch that the core could not store, and on memory that grows. It prints the seed of
 * a failing input; `--only SEED` runs only that input.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DIRECT_NETWORK } from '../../connectors/conformance/network.ts';
import type { ConnectorEnv, KeptMessage, PullBatch } from '../../connectors/contract.ts';
import { type Hl7Config, hl7ConfigSchema } from '../../connectors/hl7/config.ts';
import { MessageIntake } from '../../connectors/hl7/in/intake.ts';
import { Session } from '../../connectors/hl7/mllp/session.ts';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { realClock } from '../../src/ops/env.ts';
import { adt, siu } from '../connectors/hl7/messages.ts';
import { field, framed, Unframer } from '../connectors/hl7/peers.ts';
import { anAppointment } from '../domain/examples.ts';

/** As the connector shows an ID in the name of a source. */
const ID_SHOWN_CHARS = 199;
const FIXTURES = join(import.meta.dirname, '../fixtures/hl7');
const INPUT_MS_MAX = 1000;
const BYTES_MAX = 200_000;
/** How much the heap may grow between a tenth of the inputs and the last one. */
const GROWTH_BYTES_MAX = 24_000_000;

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
});

const corpus: Buffer[] = [
  ...readdirSync(FIXTURES).map((name) => readFileSync(join(FIXTURES, name))),
  ...[
    siu(anAppointment()),
    siu(anAppointment({ status: 'cancelled' })),
    adt('A08', anAppointment()),
  ].map((text) => Buffer.from(text)),
  Buffer.from(
    `MSH|^~\\&|A|B|C|D|20261123||SIU^S12|M2|P|2.5.1\rSCH|V1\r${'PID|1\r'.repeat(20_000)}`,
  ),
  Buffer.from('MSH|^~\\&|A|B|C|D|20261123||ADT^A40|M1|P|2.5.1|||AL|ER\rPID|1||P-2\rMRG|P-1'),
];

/** Bytes with a meaning in frames, segments, or fields. */
// biome-ignore format: a list of words reads better in lines than in a column
const TELLING = [
  '\x0b', '\x1c', '\r', '\n', '|', '^', '~', '\\', '&', '\0', '\xff', '"', '""', 'MSH', 'MSH|^~\\&',
  'IN1|', 'PID|', '\\X', '\\X0', '\\.br\\', '\x1c\r\x0b', '[', '999999999', '20269999', '-2500',
  '\xc3', '\u{1f600}',
];

const world: ConnectorEnv = {
  connector_id: 'fuzz',
  time_zone: 'America/Chicago',
  resolvePath: (path) => path,
  network: DIRECT_NETWORK,
  readKeyFile: (path) => readFile(path),
  secret: (name) => ({ name, value: null }),
  journal: { read: async () => null, write: async () => {} },
  clock: realClock,
  random: Math.random,
  log: () => {},
};
const config: Hl7Config = {
  ...hl7ConfigSchema.parse({ folder: '/nonexistent' }),
  max_message_megabytes: BYTES_MAX / 1_000_000,
};
/** One for all inputs, as one serves all connections: its memory must not grow. */
const intake = new MessageIntake(config, world);

if (values.only !== undefined) await runInput(Number(values.only));
else await runAll(Number(values.inputs), Number(values.seed));

async function runAll(inputs: number, first_seed: number): Promise<void> {
  const started_ms = performance.now();
  let settled = 0;
  for (let number = 0; number < inputs; number += 1) {
    const seed = first_seed + number;
    const before = process.cpuUsage();
    try {
      await runInput(seed);
    } catch (error) {
      console.error(`Input ${seed} failed; "npm run fuzz:hl7 -- --only ${seed}" runs it alone.`);
      throw error;
    }
    // Processor time, which is the same on a busy machine.
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 > INPUT_MS_MAX)
      throw new Error(`Input ${seed} took longer than ${INPUT_MS_MAX} ms.`);
    if (number === Math.floor(inputs / 10)) settled = heapBytes();
  }
  const growth = heapBytes() - settled;
  if (growth > GROWTH_BYTES_MAX) throw new Error(`The heap grew by ${growth} bytes.`);
  const seconds = Math.round((performance.now() - started_ms) / 1000);
  console.log(
    `${inputs} inputs from seed ${first_seed}: no failure, heap ${Math.round(growth / 1000)} ` +
      `kB more than after a tenth, ${seconds} s.`,
  );
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

/**
 * A connection: some good frames and some mutated ones, cut into chunks; commits sometimes fail.
 */
async function runInput(seed: number): Promise<void> {
  const dice = diceOf(seed);
  const does_fail = dice(10) === 0;
  const committed = new Set<string>();
  const answers: string[] = [];
  const frames = new Unframer();
  let is_over = false;
  const accept = async () => {};
  const keep = async ({ name, reply, text }: KeptMessage) => {
    if (text !== null) expectStorable(intake.readMessage(text, Date.now()));
    if (does_fail && dice(4) === 0) throw new Error('The database is full.');
    committed.add(name.slice('message '.length));
    return reply;
  };
  const peer = {
    write: (bytes: Buffer) => void answers.push(...frames.push(bytes)),
    pause: () => {},
    resume: () => {},
    hangUp: () => {
      is_over = true;
    },
  };
  const session = new Session(intake, { accept, keep }, peer, BYTES_MAX);
  const { stream, good } = makeStream(dice, seed);
  for (let at = 0; at < stream.length && !is_over; ) {
    const size = dice(3) === 0 ? 1 + dice(7) : 1 + dice(4000);
    session.receive(stream.subarray(at, at + size));
    at += size;
  }
  await session.idle();
  for (const answer of answers) {
    const id = field(answer, 'MSA', 2);
    const code = field(answer, 'MSA', 1);
    // If a message has its own delimiters, the answer has them too, and the test does not read it.
    // The name of a source shows the beginning of the ID.
    if (['AA', 'CA'].includes(code) && !committed.has(id.slice(0, ID_SHOWN_CHARS)))
      throw new Error(`${code} for "${id}", which was not committed.`);
  }
  if (is_over) return;
  const lost = good.find((id) => !committed.has(id));
  if (lost !== undefined) throw new Error(`The good message ${lost} was not taken.`);
}

function makeStream(dice: Dice, seed: number): { stream: Buffer; good: string[] } {
  const parts: Buffer[] = [];
  const good: string[] = [];
  for (let count = 1 + dice(4); count > 0; count -= 1) {
    if (dice(3) === 0) {
      const id = `GOOD-${seed}-${count}`;
      good.push(id);
      parts.push(framed(siu(anAppointment(), { control_id: id })));
    } else parts.push(mutatedFrame(dice));
    if (dice(5) === 0)
      parts.push(Buffer.from(['', '\n', 'junk', '\r\n\r\n'][dice(4)] ?? '', 'latin1'));
  }
  return { stream: Buffer.concat(parts), good };
}

function mutatedFrame(dice: Dice): Buffer {
  let bytes = corpus[dice(corpus.length)] ?? Buffer.alloc(0);
  for (let count = 1 + dice(6); count > 0; count -= 1) bytes = mutated(bytes, dice);
  // Sometimes the frame itself is damaged as well.
  return dice(4) === 0 ? mutated(framed(bytes), dice) : framed(bytes);
}

function mutated(bytes: Buffer, dice: Dice): Buffer {
  const at = dice(bytes.length + 1);
  const to = Math.min(bytes.length, at + dice(dice(2) === 0 ? 8 : 600));
  const around = (middle: Buffer) =>
    Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(to)]);
  switch (dice(7)) {
    case 0:
      return around(Buffer.alloc(0));
    case 1:
      return around(Buffer.from(TELLING[dice(TELLING.length)] ?? '', 'latin1'));
    case 2:
      return around(Buffer.concat([bytes.subarray(at, to), bytes.subarray(at, to)]));
    case 3:
      return bytes.subarray(0, at);
    case 4:
      return around(Buffer.from(Array.from({ length: dice(20) }, () => dice(256))));
    case 5:
      return around(
        Buffer.from(
          (TELLING[dice(TELLING.length)] ?? '').repeat(dice(dice(50) === 0 ? 60_000 : 200)),
          'latin1',
        ),
      );
    default: {
      const lines = bytes.toString('latin1').split('\r');
      const [taken = ''] = lines.splice(dice(lines.length), 1);
      lines.splice(dice(lines.length + 1), 0, taken);
      return Buffer.from(lines.join('\r'), 'latin1');
    }
  }
}

function expectStorable({ source, appointments, patients = [], rejected }: PullBatch): void {
  if (!/^hl7:[0-9a-f]{64}$/.test(source.key) || !source.is_last)
    throw new Error('The source is not whole.');
  for (const one of appointments) expectAppointment(one);
  for (const update of patients) {
    const id =
      update.kind === 'deleted'
        ? update.patient_id
        : update.kind === 'merged'
          ? update.into.id
          : update.patient.id;
    if (id === '') throw new Error('A patient has no id.');
  }
  for (const { position, remedy } of rejected)
    if (position === '' || remedy === '') throw new Error('A rejection says nothing.');
}

function expectAppointment({ source_id, starts_at, patient }: AppointmentInput): void {
  if (source_id === '') throw new Error('An appointment has no id.');
  if (!Number.isFinite(Date.parse(starts_at)) || new Date(starts_at).toISOString() !== starts_at)
    throw new Error('The start is no time.');
  if (patient.birth_date !== null && !/^\d{4}-\d{2}-\d{2}$/.test(patient.birth_date))
    throw new Error('The birth date is not a date.');
}

type Dice = (sides: number) => number;

/** mulberry32: the same seed gives the same inputs. */
function diceOf(seed: number): Dice {
  let state = seed >>> 0;
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * sides);
  };
}
