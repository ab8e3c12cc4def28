/** An HL7 connector with a real store, listening on a real port. */
import { afterEach, expect } from 'vitest';
import { makeSuiteEnv } from '../../../connectors/conformance/harness.ts';
import type { Connector, ConnectorLog } from '../../../connectors/contract.ts';
import hl7 from '../../../connectors/hl7/index.ts';
import type { AppointmentInput } from '../../../src/domain/appointment.ts';
import type { Env } from '../../../src/domain/env.ts';
import { realClock } from '../../../src/ops/env.ts';
import { newConnectorState } from '../../../src/stages/connector-state.ts';
import { IDLE, runLoop, Waker } from '../../../src/stages/loop.ts';
import { listenStep, messagesOf } from '../../../src/stages/pull/index.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import type { Store } from '../../../src/store/engine/store.ts';
import { unreadCounts } from '../../../src/store/intake/unread-messages.ts';
import { temporaryStore } from '../../store/temporary.ts';
import { freePort, RawSender } from './peers.ts';

const open: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** Closes something after the test. */
export function later(close: () => Promise<void> | void): void {
  open.push(async () => close());
}

export type Interface = Awaited<ReturnType<typeof startInterface>>;

export function makeConnector(
  config: Record<string, unknown>,
  log: ConnectorLog = () => {},
): Connector {
  const { env } = makeSuiteEnv();
  const world = { ...env, clock: realClock, log, connector_id: 'interface' };
  const connector = hl7.create(hl7.config.parse(config), world);
  later(() => connector.close?.());
  return connector;
}

export async function startInterface(config: Record<string, unknown> = {}, store?: Store) {
  const port = await freePort();
  const events: string[] = [];
  const env: Env = {
    clock: realClock,
    random: Math.random,
    log: (event) => void events.push(event),
  };
  const kept = store ?? (await temporaryStore());
  const connector = makeConnector(
    { listen: `127.0.0.1:${port}`, write_back: 'none', ...config },
    (event) => void events.push(event),
  );
  const stop = new AbortController();
  const intake = { store: kept, env, connector_id: 'interface', connector, onAccepted: () => {} };
  const messages = messagesOf(intake);
  const listening = Promise.all([
    listenStep({ ...intake, state: newConnectorState(), messages }, stop.signal),
    runLoop({
      name: 'read interface',
      step: async (signal) => (await messages?.step(signal)) ?? IDLE,
      waker: messages?.arrived ?? new Waker(),
      env,
      interval_ms: 1_000,
      signal: stop.signal,
    }),
  ]);
  const isRead = () => expect.poll(() => unreadCounts(kept.db), { timeout: 10_000 }).toEqual([]);
  const close = async () => {
    stop.abort();
    await listening;
  };
  later(close);
  return {
    port,
    store: kept,
    connector,
    events,
    close,
    sender: async () => {
      const sender = await RawSender.to(port);
      later(() => sender.close());
      return sender;
    },
    appointments: async (): Promise<AppointmentInput[]> => {
      await isRead();
      const rows = await kept.db
        .selectFrom('appointments')
        .select('content')
        .orderBy('id')
        .execute();
      return rows.map(({ content }) => JSON.parse(content) as AppointmentInput);
    },
    sources: () => kept.db.selectFrom('sources').select('name').orderBy('id').execute(),
    attention: async () => {
      await isRead();
      return (await openAttention(kept.db)).map(({ what }) => what);
    },
  };
}
