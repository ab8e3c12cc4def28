/**
 * Many messages from several connections while the daemon is killed again and again: every message
 * that got AA is in the database, and every message is there once (G3).
 *
 *     npm run soak:hl7 -- --messages 100000 --connections 8 --kills 5
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { appointment } from '../../connectors/conformance/examples.ts';
import { openStore } from '../../src/store/engine/store.ts';
import { siu } from '../connectors/hl7/messages.ts';
import { connected, field, framed, freePort, Unframer } from '../connectors/hl7/peers.ts';

export type Soak = { messages: number; connections: number; kills: number };

export type SoakResult = {
  kills: number;
  sent_again: number;
  acknowledged: number;
  stored_messages: number;
  stored_appointments: number;
  /** Acknowledged, but not in the database. */
  lost: string[];
  /** How many acknowledged messages were not read yet when the daemon was killed at the end. */
  unread_when_killed: number;
  /** Appointments that were inserted more than once. */
  twice: number;
  duration_ms: number;
};

const ELIGD = join(import.meta.dirname, '../../bin/eligd');
/** Messages of a connection that wait for their answer. */
const WINDOW = 32;
const POLL_MS = 100;
/** Far enough ahead that eligd makes no call about them. */
const VISIT = '2038-01-05T15:30:00.000Z';

export async function soak({ messages, connections, kills }: Soak): Promise<SoakResult> {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-soak-'));
  const port = await freePort();
  const file = configure(folder, port, await freePort());
  const started_ms = performance.now();
  const acknowledged = new Set<string>();
  const counts = { kills: 0, sent_again: 0 };
  let daemon = start(file);
  const kill = async () => {
    counts.kills += 1;
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
    daemon = start(file);
  };
  try {
    let killing: Promise<void> = Promise.resolve();
    const heard = (id: string) => {
      acknowledged.add(id);
      if (
        acknowledged.size >= ((counts.kills + 1) * messages) / (kills + 1) &&
        counts.kills < kills
      )
        killing = kill();
    };
    const each = Math.ceil(messages / connections);
    await Promise.all(
      Array.from({ length: connections }, async (_, connection) => {
        const first = connection * each;
        const ids = Array.from(
          { length: Math.min(each, messages - first) },
          (__, index) => `M${first + index}`,
        );
        counts.sent_again += await sendAll(port, ids, heard);
      }),
    );
    await killing;
    const database = join(folder, 'state/eligd.db');
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
    const unread_when_killed = await countUnread(database);
    daemon = start(file);
    while ((await countUnread(database)) > 0) await sleep(POLL_MS);
    daemon.kill('SIGTERM');
    await once(daemon, 'exit');
    const stored = await look(database, acknowledged);
    return {
      ...counts,
      unread_when_killed,
      acknowledged: acknowledged.size,
      ...stored,
      duration_ms: performance.now() - started_ms,
    };
  } finally {
    daemon.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

function configure(folder: string, port: number, service_port: number): string {
  const file = join(folder, 'eligd.yaml');
  writeFileSync(
    file,
    `clinic: { name: Soak, time_zone: America/Chicago, specialty: dental,
  tax_id: "123456789", billing_npi: "1234567893" }
service: { base_url: "http://127.0.0.1:${service_port}", auth: oauth }
state: { path: ./state/eligd.db }
connectors: [{ id: interface, type: hl7, listen: "127.0.0.1:${port}", write_back: none }]
`,
  );
  const secrets = 'ELIGD_SERVICE_USERNAME=clinic\nELIGD_SERVICE_PASSWORD=sandbox\n';
  writeFileSync(join(folder, '.env'), secrets, { mode: 0o600 });
  return file;
}

function start(file: string): ChildProcess {
  const environment = { PATH: process.env.PATH ?? '', ELIGD_LOG_LEVEL: 'error' };
  return spawn(ELIGD, ['run', '--config', file], { env: environment, stdio: 'ignore' });
}

/**
 * Sends until every message has its AA, and resends those that had none when the connection ended.
 * Returns how many it resent.
 */
async function sendAll(
  port: number,
  ids: readonly string[],
  heard: (id: string) => void,
): Promise<number> {
  const left = new Set(ids);
  const sent = new Set<string>();
  let sent_again = 0;
  while (left.size > 0) {
    const socket = await connected(port);
    const frames = new Unframer();
    const waiting = [...left];
    let under_way = 0;
    const write = () => {
      while (under_way < WINDOW && waiting.length > 0) {
        const id = waiting.shift() ?? '';
        if (sent.has(id)) sent_again += 1;
        sent.add(id);
        under_way += 1;
        socket.write(framed(messageOf(id)));
      }
    };
    socket.on('data', (chunk) => {
      for (const answer of frames.push(chunk)) {
        if (field(answer, 'MSA', 1) !== 'AA') throw new Error(`The answer was ${answer}`);
        const id = field(answer, 'MSA', 2);
        under_way -= 1;
        left.delete(id);
        heard(id);
      }
      if (left.size === 0) socket.destroy();
      else write();
    });
    write();
    await new Promise((resolve) => socket.once('close', resolve));
  }
  return sent_again;
}

function messageOf(id: string): string {
  const one = {
    ...appointment(1),
    source_id: id,
    starts_at: VISIT,
    patient: { ...appointment(1).patient, id: `P${id}` },
  };
  return siu(one, { control_id: id, with_insurance: false });
}

async function countUnread(path: string): Promise<number> {
  const store = await openStore(path);
  try {
    return (await store.db.selectFrom('unread_messages').select('id').execute()).length;
  } finally {
    await store.close();
  }
}

async function look(path: string, acknowledged: ReadonlySet<string>) {
  const store = await openStore(path);
  try {
    const sources = await store.db.selectFrom('sources').select('name').execute();
    const appointments = await store.db.selectFrom('appointments').select('source_id').execute();
    const { accepted } = await store.db
      .selectFrom('audit')
      .select((select) => select.fn.countAll<number>().as('accepted'))
      .where('to_state', '=', 'accepted')
      .executeTakeFirstOrThrow();
    const names = new Set(sources.map(({ name }) => name));
    const ids = new Set(appointments.map(({ source_id }) => source_id));
    return {
      stored_messages: sources.length,
      stored_appointments: appointments.length,
      lost: [...acknowledged].filter((id) => !names.has(`message ${id}`) || !ids.has(id)),
      twice: sources.length - names.size + appointments.length - ids.size + accepted - ids.size,
    };
  } finally {
    await store.close();
  }
}
