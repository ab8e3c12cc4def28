import {
  type Accepted,
  type Connector,
  ConnectorError,
  type PullBatch,
} from '../../../connectors/contract.ts';
import type { Env } from '../../domain/env.ts';
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

export type PullDeps = {
  store: Store;
  env: Env;
  connector_id: string;
  connector: Connector;
  state: ConnectorState;
  /** Called after each commit that brought something new. */
  onAccepted: () => void;
};

/**
 * How many messages one commit takes at most, so that the rows of a statement stay far from
 * SQLite's limit.
 */
const MESSAGES_PER_COMMIT_MAX = 500;
/** From this duration of a commit on it pays to wait for more messages, and how long. */
const SLOW_COMMIT_MS = 2;
const GATHER_MS = 1;
const LISTENS_AFTER_MS = 10_000;

/**
 * Asks one connector for appointments. Each batch is committed before the connector goes on, so
 * that what it acknowledges is safe (G3); planning finds what is new or changed by itself.
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
 * Lets one connector receive, until `signal` is aborted or it cannot any more; the loop around it
 * calls it again then.
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

/** A connector that has listened for a while can. */
async function listen(
  deps: PullDeps,
  begin: NonNullable<Connector['listen']>,
  signal: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const proof = deps.env.clock.sleep(LISTENS_AFTER_MS, AbortSignal.any([signal, over.signal])).then(
    () => noteSuccess(deps, 'listen'),
    () => {},
  );
  try {
    await begin({ accept: acceptFor(deps), signal });
  } finally {
    over.abort();
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

/** What a connector hands its batches to. Resolves after the commit (G3). */
function acceptFor(deps: PullDeps): (batch: PullBatch) => Promise<Accepted> {
  const { store, env, connector_id } = deps;
  const gathering = new Gathering(deps);
  return async (batch) => {
    if (isMessage(batch)) return await gathering.accept(batch);
    tell(deps, await store.write((tx) => acceptBatch(tx, connector_id, batch, env.clock.now())));
    return { reply: null };
  };
}

function isMessage(batch: PullBatch): batch is PullBatch & Message {
  return batch.source.reply !== undefined;
}

function tell({ env, connector_id, onAccepted }: PullDeps, counts: IntakeCounts): void {
  env.log('batch_accepted', {
    connector: connector_id,
    accepted: counts.new + counts.changed,
    unchanged: counts.unchanged,
    rejected: counts.rejected,
    ...(counts.vanished > 0 ? { vanished: counts.vanished } : {}),
  });
  if (counts.new + counts.changed + counts.vanished > 0) onAccepted();
}

type Waiting = {
  message: Message;
  resolve: (accepted: Accepted) => void;
  reject: (error: unknown) => void;
};

/**
 * Messages that come while a commit is under way go into the next one together, and are written
 * together.
 */
class Gathering {
  readonly #deps: PullDeps;
  #waiting: Waiting[] = [];
  #is_asked_for = false;
  #last = { count: 0, duration_ms: 0 };

  constructor(deps: PullDeps) {
    this.#deps = deps;
  }

  accept(message: Message): Promise<Accepted> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ message, resolve, reject });
      this.#askForCommit();
    });
  }

  #askForCommit(): void {
    if (this.#is_asked_for) return;
    this.#is_asked_for = true;
    void this.#commit().catch(() => {});
  }

  /**
   * On a slow disk a commit for half of the senders costs as much as one for all: those that were
   * answered a moment ago get a moment to say more.
   */
  async #letGather(): Promise<void> {
    const { count, duration_ms } = this.#last;
    if (duration_ms < SLOW_COMMIT_MS || this.#waiting.length >= count) return;
    await this.#deps.env.clock.sleep(GATHER_MS).catch(() => {});
  }

  async #commit(): Promise<void> {
    const { store, env, connector_id } = this.#deps;
    let taken: Waiting[] = [];
    try {
      await this.#letGather();
      const started_ms = env.clock.elapsed();
      const { outcomes, counts } = await store.write(async (tx) => {
        // Not before the turn has come: what arrived meanwhile is of the party.
        this.#is_asked_for = false;
        taken = this.#waiting.splice(0, MESSAGES_PER_COMMIT_MAX);
        if (this.#waiting.length > 0) this.#askForCommit();
        const messages = taken.map(({ message }) => message);
        return await acceptMessages(tx, connector_id, messages, env.clock.now());
      });
      this.#last = { count: taken.length, duration_ms: env.clock.elapsed() - started_ms };
      tell(this.#deps, counts);
      for (const [index, outcome] of outcomes.entries()) {
        if ('reply' in outcome) taken[index]?.resolve(outcome);
        else taken[index]?.reject(outcome.error);
      }
    } catch (error) {
      // Without a transaction the work never ran, and nobody was taken yet.
      this.#is_asked_for = false;
      for (const { reject } of taken.length > 0 ? taken : this.#waiting.splice(0)) reject(error);
    }
  }
}
