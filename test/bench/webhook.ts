/** The bench of events: how many the receiver accepts, next to a route that stores nothing. */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/store/engine/store.ts';
import { inTurn, measureInChild, type Spread } from './measure.ts';
import type { WebhookLoadJob, WebhookLoadResult } from './webhook-load.ts';
import type { WebhookServerJob } from './webhook-server.ts';

export const DELIVERIES = 20_000;
export const BODY_BYTES = 20_000;
const ROUNDS = 3;
const SECRET = 'the-secret-of-the-bench';
const PATH = '/hook';

/** Events per second with this many connections, in turn, so that a disturbance affects both. */
export async function benchReceiver(
  connections: number,
): Promise<Record<'bare' | 'eligd', Spread>> {
  return await inTurn(ROUNDS, {
    bare: () => receive('bare', connections),
    eligd: () => receive('eligd', connections),
  });
}

async function receive(
  receiver: WebhookServerJob['receiver'],
  connections: number,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-bench-'));
  const database = join(folder, 'eligd.db');
  const job: WebhookServerJob = { receiver, database, secret: SECRET, path: PATH };
  const server = fork(join(import.meta.dirname, 'webhook-server.ts'), [JSON.stringify(job)], {
    stdio: 'inherit',
  });
  try {
    const port = await portOf(server);
    const load: WebhookLoadJob = {
      origin: `http://127.0.0.1:${port}`,
      path: PATH,
      secret: SECRET,
      deliveries: DELIVERIES,
      body_bytes: BODY_BYTES,
      connections,
    };
    const { acknowledged, duration_ms } = await measureInChild<WebhookLoadResult>(
      'webhook-load.ts',
      load,
    );
    if (acknowledged !== DELIVERIES)
      throw new Error(`${acknowledged} of ${DELIVERIES} deliveries were acknowledged.`);
    await kill(server);
    if (receiver === 'eligd') await expectAllKept(database);
    return (DELIVERIES / duration_ms) * 1000;
  } finally {
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
}

async function portOf(server: ChildProcess): Promise<unknown> {
  return await new Promise((resolve, reject) => {
    server.once('message', resolve);
    server.once('exit', (code) =>
      reject(new Error(`The receiver of the bench ended with ${code}.`)),
    );
  });
}

async function kill(server: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGKILL');
  await ended;
}

/** An acknowledged event is stored although the process was killed right after. */
async function expectAllKept(database: string): Promise<void> {
  const store = await openStore(database);
  const { count } = await store.db
    .selectFrom('inbox')
    .select((select) => select.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  await store.close();
  if (count < DELIVERIES)
    throw new Error(`Of ${DELIVERIES} acknowledged deliveries ${count} are in the inbox.`);
}
