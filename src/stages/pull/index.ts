import { type Connector, ConnectorError, type ListenCall } from '../../../connectors/contract.ts';
import type { Env } from '../../domain/env.ts';
import type { Store } from '../../store/engine/store.ts';
import { noteRepeatedArrival } from '../../store/intake/arrivals.ts';
import {
  acceptBatch,
  cursorOf,
  type IntakeCounts,
  isLatestSource,
} from '../../store/intake/intake.ts';
import { keepRejectedFiles, rejectedFiles } from '../../store/intake/rejected.ts';
import {
  type ConnectorState,
  type Direction,
  noteFailure,
  noteSuccess,
} from '../connector-state.ts';
import { IDLE, type StepResult } from '../loop.ts';
import { Messages } from './messages.ts';

export { afterReading } from './after-reading.ts';
export type { Messages } from './messages.ts';

type IntakeDeps = {
  store: Store;
  env: Env;
  connector_id: string;
  connector: Connector;
  /** Called after each commit that brought something new. */
  onAccepted: () => void;
};

/** `messages`: those of the connector (`messagesOf`). */
type PullDeps = IntakeDeps & { state: ConnectorState; messages: Messages | null };

const LISTENS_AFTER_MS = 10_000;

/**
 * Pulls appointments from one connector. Each batch is committed before the connector continues, so
 * whatever it acknowledges is safe (G3). Planning picks up new and changed appointments
 * automatically.
 */
export async function pullStep(deps: PullDeps, signal: AbortSignal): Promise<StepResult> {
  const { store, env, connector_id, connector } = deps;
  if (connector.pull === undefined) return IDLE;
  try {
    await connector.pull({
      ...takingFor(deps),
      cursor: await cursorOf(store.db, connector_id),
      isAccepted: async (key) => {
        const is_repeated = await isLatestSource(store.db, connector_id, key);
        if (is_repeated)
          await store.write((tx) => noteRepeatedArrival(tx, connector_id, key, env.clock.now()));
        return is_repeated;
      },
      stillRejected: (kept_as) => keepRejected(deps, kept_as),
      signal,
    });
  } catch (error) {
    return await failed(deps, error);
  }
  await noteSuccess(deps, 'read');
  return IDLE;
}

/**
 * Lets one connector receive messages until `signal` is aborted or the connector stops; then the
 * surrounding loop calls it again.
 */
export async function listenStep(deps: PullDeps, signal: AbortSignal): Promise<StepResult> {
  if (deps.connector.listen === undefined) return IDLE;
  try {
    await listen(deps, deps.connector.listen, signal);
  } catch (error) {
    return await failed(deps, error, 'listen');
  }
  return IDLE;
}

async function keepRejected(deps: PullDeps, kept_as: readonly string[]): Promise<void> {
  const { store, env, connector_id } = deps;
  if ((await rejectedFiles(store.db, connector_id)).length === 0) return;
  await store.write((tx) => keepRejectedFiles(tx, connector_id, kept_as, env.clock.now()));
}

/** Listens, and records success once the connector has listened for a while without an error. */
async function listen(
  deps: PullDeps,
  begin: NonNullable<Connector['listen']>,
  signal: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  const proof = deps.env.clock
    .sleep(LISTENS_AFTER_MS, AbortSignal.any([signal, ended.signal]))
    .then(
      () => noteSuccess(deps, 'listen'),
      () => {},
    );
  try {
    await begin({ ...takingFor(deps), signal });
  } finally {
    ended.abort();
    await proof;
  }
}

async function failed(
  deps: PullDeps,
  error: unknown,
  direction: Direction = 'read',
): Promise<StepResult> {
  if (!(error instanceof ConnectorError)) throw error;
  const { env, connector_id } = deps;
  if (await noteFailure(deps, direction, error))
    env.log('connector_failed', {
      connector: connector_id,
      failure: error.failure,
      reason: `${error.message} ${error.next}`,
    });
  return {
    did: 0,
    next_at: error.retry_after_ms === null ? null : env.clock.now() + error.retry_after_ms,
    is_away: true,
  };
}

/**
 * Returns the functions to which a connector hands what it has read. They resolve after the commit
 * (G3).
 */
function takingFor(deps: PullDeps): Pick<ListenCall, 'accept' | 'keep'> {
  const { store, env, connector_id, messages } = deps;
  return {
    accept: async (batch) =>
      reportAccepted(
        deps,
        await store.write((tx) => acceptBatch(tx, connector_id, batch, env.clock.now())),
      ),
    ...(messages && { keep: (message) => messages.keep(message) }),
  };
}

/** Returns the messages of a connector; null if it has none that are read after their answer. */
export function messagesOf(deps: IntakeDeps): Messages | null {
  const { connector } = deps;
  const read = connector.readMessage?.bind(connector);
  if (read === undefined) return null;
  return new Messages({ ...deps, read, onRead: (counts) => reportAccepted(deps, counts) });
}

function reportAccepted({ env, connector_id, onAccepted }: IntakeDeps, counts: IntakeCounts): void {
  env.log('batch_accepted', {
    connector: connector_id,
    accepted: counts.new + counts.changed,
    unchanged: counts.unchanged,
    rejected: counts.rejected,
    ...(counts.vanished > 0 ? { vanished: counts.vanished } : {}),
  });
  if (counts.new + counts.changed + counts.vanished > 0) onAccepted();
}
