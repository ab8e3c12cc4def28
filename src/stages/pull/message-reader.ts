/** Reads the stored messages of a connector, oldest first, and survives what makes that fail. */
import type { Connector } from '../../../connectors/contract.ts';
import { backoffMs } from '../../domain/backoff.ts';
import type { Env } from '../../domain/env.ts';
import { errorCode } from '../../domain/errors.ts';
import type { Tx } from '../../store/engine/database.ts';
import { mayBeOfFewRows } from '../../store/engine/error-origin.ts';
import type { Store } from '../../store/engine/store.ts';
import type { IntakeContext } from '../../store/intake/context.ts';
import type { IntakeCounts } from '../../store/intake/intake.ts';
import { type ReadMessage, storeMessages } from '../../store/intake/messages.ts';
import {
  beginReading,
  endReading,
  firstUnread,
  setAsideUnstored,
  type Unread,
  type UnreadMessage,
  unreadOf,
} from '../../store/intake/unread-messages.ts';

export type ReaderDeps = {
  store: Store;
  env: Env;
  connector_id: string;
  read: NonNullable<Connector['readMessage']>;
  onRead: (counts: IntakeCounts) => void;
};

/** Messages that were read together. `last`: the number of the last one. */
type Batch = { count: number; last: number };

/** A reading that failed by the database is tried again after this time. */
const RETRY_LIMITS = { first_ms: 1_000, max_ms: 60_000 };
/** After such a failure, this many are read one by one: the failure may be about one of them. */
const SINGLE_AFTER_FAILURE = 500;
/** So many of them at once, so that other connectors and claims do not wait long. */
const SINGLE_PER_TURN = 50;
/** A message that failed this often, while other writes succeeded, is set aside. */
const FAILURES_MAX = 3;

/** `begin` runs before each reading; `onDone` is told what is no longer unread. */
type Means = ReaderDeps & {
  begin: () => Promise<unknown>;
  onDone: (done: readonly Unread[]) => void;
};

/** Reads messages in their order. */
export class MessageReader {
  readonly #deps: Means;
  #failures = 0;
  #retry_at_ms = 0;
  /** How many are still read one by one. */
  #single = 0;
  /** The oldest message, and how often reading it alone failed. */
  #oldest: { id: number | null; failures: number } = { id: null, failures: 0 };

  constructor(deps: Means) {
    this.#deps = deps;
  }

  /** Returns for how long nothing is read, because the database failed; 0: it may be read. */
  restMs(): number {
    return Math.max(0, this.#retry_at_ms - this.#deps.env.clock.elapsed());
  }

  /** Reads the oldest unread messages; null: there is none. Throws when the database fails. */
  readNext(): Promise<Batch | null> {
    return inTurn(this.#deps.store, () => this.#read());
  }

  async #read(): Promise<Batch | null> {
    const { env } = this.#deps;
    try {
      await this.#deps.begin();
      const batch = await this.#readSome();
      this.#failures = 0;
      return batch;
    } catch (error) {
      this.#failures += 1;
      const wait_ms = backoffMs(this.#failures, RETRY_LIMITS, env.random());
      this.#retry_at_ms = env.clock.elapsed() + wait_ms;
      const set_aside = await this.#afterFailure(error).catch(() => null);
      if (set_aside !== null) return set_aside;
      throw error;
    }
  }

  async #readSome(): Promise<Batch | null> {
    if (this.#single === 0) {
      try {
        return await this.#readBatch();
      } catch (error) {
        if (!mayBeOfFewRows(error)) throw error;
        this.#single = SINGLE_AFTER_FAILURE;
      }
    }
    const all = { count: 0, last: 0 };
    for (let left = SINGLE_PER_TURN; left > 0 && this.#single > 0; left -= 1) {
      const one = await this.#readBatch();
      this.#single = one === null ? 0 : this.#single - 1;
      all.count += one?.count ?? 0;
      all.last = one?.last ?? all.last;
    }
    return all.count === 0 ? null : all;
  }

  /** Sets the oldest message aside if only that one fails, and returns it; null: nothing. */
  async #afterFailure(error: unknown): Promise<Batch | null> {
    const { store, connector_id } = this.#deps;
    // This process goes on, so no message has ended it. Throws if no write succeeds.
    await store.write((tx) => endReading(this.#contextOf(tx), { read: [], failed: [] }));
    if (this.#single === 0 || !mayBeOfFewRows(error)) return null;
    const id = await firstUnread(store.db, connector_id);
    const failures = id === this.#oldest.id ? this.#oldest.failures + 1 : 1;
    this.#oldest = { id, failures };
    if (id === null || failures < FAILURES_MAX) return null;
    const done = await store.write((tx) => setAsideUnstored(this.#contextOf(tx), id));
    this.#deps.onDone(done);
    this.#reportFailure(errorCode(error));
    return { count: done.length, last: id };
  }

  #contextOf(tx: Tx): IntakeContext {
    const { env, connector_id } = this.#deps;
    return { tx, connector: connector_id, now: env.clock.now() };
  }

  async #readBatch(): Promise<Batch | null> {
    const { store, onDone, onRead } = this.#deps;
    const is_single = this.#single > 0;
    const { messages, set_aside } = await store.write((tx) =>
      beginReading(this.#contextOf(tx), { is_single }),
    );
    onDone(set_aside);
    for (let left = set_aside.length; left > 0; left -= 1) this.#reportFailure(null);
    const last = messages.at(-1)?.id;
    if (last === undefined) return null;
    const contents = messages.map((of) => this.#contentOf(of));
    const { counts, errors } = await store.write((tx) =>
      storeMessages(this.#contextOf(tx), contents),
    );
    onDone(messages.map(unreadOf));
    for (const error of errors) this.#reportFailure(errorCode(error));
    if (messages.some(({ text }) => text !== null)) onRead(counts);
    return { count: messages.length, last };
  }

  #contentOf(of: UnreadMessage): ReadMessage {
    try {
      return { of, content: of.text === null ? null : this.#deps.read(of.text, of.received_at) };
    } catch (error) {
      return { of, error };
    }
  }

  #reportFailure(error_code: string | null): void {
    const { env, connector_id } = this.#deps;
    env.log('message_not_read', { connector: connector_id, error_code });
  }
}

/** The last reading of each database. */
const TURNS = new WeakMap<Store, Promise<unknown>>();

/**
 * Runs `work` after the readings of all connectors that were requested before. There is one at a
 * time, so that the order holds, and a message that ends eligd is the only one that is being read.
 */
function inTurn<Value>(store: Store, work: () => Promise<Value>): Promise<Value> {
  const turn = (TURNS.get(store) ?? Promise.resolve()).then(work);
  TURNS.set(
    store,
    turn.catch(() => {}),
  );
  return turn;
}
