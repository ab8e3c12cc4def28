import {
  type Accepted,
  type Connector,
  ConnectorError,
  type PullBatch,
} from '../../../connectors/contract.ts';
import type { Env } from '../../domain/env.ts';
import { GroupCommit } from '../../store/engine/group-commit.ts';
import type { Store } from '../../store/engine/store.ts';
import { noteRepeatedArrival } from '../../store/intake/arrivals.ts';
import {
  acceptBatch,
  cursorOf,
  type IntakeCounts,
  isLatestSource,
} from '../../store/intake/intake.ts';
import { acceptMessages, type Message } from '../../store/intake/messages.ts';
import { keepRejectedFiles, rejectedFiles } from '../../store/intake/rejected.ts';
import {
  type ConnectorState,
  type Direction,
  noteFailure,
  noteSuccess,
} from '../connector-state.ts';
import { IDLE, type StepResult } from '../loop.ts';

type PullDeps = {
  store: Store;
  env: Env;
  connector_id: string;
  connector: Connector;
  state: ConnectorState;
  /** Called after each commit that brought something new. */
  onAccepted: () => void;
};

/**
 * The maximum number of messages in one commit, to keep its statements far below SQLite's limit on
 * rows.
 */
const MESSAGES_PER_COMMIT_MAX = 500;
/**
 * When the last commit took at least this long, eligd waits briefly for more messages (next
 * constant).
 */
const SLOW_COMMIT_MS = 2;
const GATHER_MS = 1;
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
      cursor: await cursorOf(store.db, connector_id),
      isAccepted: async (key) => {
        const is_repeated = await isLatestSource(store.db, connector_id, key);
        if (is_repeated)
          await store.write((tx) => noteRepeatedArrival(tx, connector_id, key, env.clock.now()));
        return is_repeated;
      },
      stillRejected: (kept_as) => keepRejected(deps, kept_as),
      accept: acceptFor(deps),
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
    await begin({ accept: acceptFor(deps), signal });
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
 * Returns the function to which a connector hands its batches. It resolves after the commit (G3).
 */
function acceptFor(deps: PullDeps): (batch: PullBatch) => Promise<Accepted> {
  const { store, env, connector_id } = deps;
  const messages = messagesOf(deps);
  return async (batch) => {
    if (isMessage(batch)) return await messages.add(batch);
    reportAccepted(
      deps,
      await store.write((tx) => acceptBatch(tx, connector_id, batch, env.clock.now())),
    );
    return { reply: null };
  };
}

function isMessage(batch: PullBatch): batch is PullBatch & Message {
  return batch.source.reply !== undefined;
}

function reportAccepted({ env, connector_id, onAccepted }: PullDeps, counts: IntakeCounts): void {
  env.log('batch_accepted', {
    connector: connector_id,
    accepted: counts.new + counts.changed,
    unchanged: counts.unchanged,
    rejected: counts.rejected,
    ...(counts.vanished > 0 ? { vanished: counts.vanished } : {}),
  });
  if (counts.new + counts.changed + counts.vanished > 0) onAccepted();
}

/** Groups messages that arrive during a commit into the next one. */
function messagesOf(deps: PullDeps): GroupCommit<Message, Accepted> {
  const { store, env, connector_id } = deps;
  let last = { count: 0, duration_ms: 0 };
  return new GroupCommit<Message, Accepted>({
    items_per_commit_max: MESSAGES_PER_COMMIT_MAX,
    // On a slow disk, a commit for half of the senders costs as much as one for all. So senders
    // that were just answered get a moment to send their next message.
    gather: async (waiting) => {
      if (last.duration_ms < SLOW_COMMIT_MS || waiting() >= last.count) return;
      await env.clock.sleep(GATHER_MS).catch(() => {});
    },
    commit: async (take) => {
      const started_ms = env.clock.elapsed();
      const { outcomes, counts } = await store.write((tx) =>
        acceptMessages(tx, connector_id, take(), env.clock.now()),
      );
      last = { count: outcomes.length, duration_ms: env.clock.elapsed() - started_ms };
      reportAccepted(deps, counts);
      return outcomes.map((outcome) =>
        'reply' in outcome ? { value: outcome } : { error: outcome.error },
      );
    },
  });
}
