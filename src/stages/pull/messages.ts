/**
 * The messages of a connector: acknowledged when their texts are stored, and read right after, in
 * their order. Calls wait for the reading (`hold`).
 */
import type { KeptMessage } from '../../../connectors/contract.ts';
import { GroupCommit } from '../../store/engine/group-commit.ts';
import { keepMessages } from '../../store/intake/keep-messages.ts';
import { allUnread, lastUnread, noteEndedRun } from '../../store/intake/unread-messages.ts';
import { IDLE, type StepResult, Waker } from '../loop.ts';
import { Backlog } from './backlog.ts';
import { MessageReader, type ReaderDeps } from './message-reader.ts';

/** Limits the statements of a commit. */
const MESSAGES_PER_COMMIT_MAX = 500;
/**
 * When the last commit took at least this long, eligd waits briefly for more messages (next
 * constant).
 */
const SLOW_COMMIT_MS = 2;
const GATHER_MS = 1;
/** Senders that send nothing for this long have paused. */
const PAUSE_MS = 50;
/** Without a pause, messages are read after this time. */
const UNREAD_MS_MAX = 5_000;
/** With more unread messages than this, senders wait for their answers until some are read. */
const BACKLOG_MAX = { count: 20_000, bytes: 64_000_000 };

/** Stores messages and reads them, also those of an earlier process. */
export class Messages {
  /** Set when there is something to read. */
  readonly arrived = new Waker();
  readonly #deps: ReaderDeps;
  readonly #commits: GroupCommit<KeptMessage, string>;
  readonly #reader: MessageReader;
  readonly #storing = new Set<Promise<unknown>>();
  #last = { count: 0, duration_ms: 0 };
  /** How many were stored, and when the first one since the last reading was. */
  #stored = 0;
  #unread_since_ms: number | null = null;
  /** The last message that `step` reads before it waits for a pause again. */
  #goal: number | null = null;
  readonly #backlog = new Backlog();
  /** Null until the first look at the database. */
  #begun: Promise<void> | null = null;
  /** Resolves when messages may be stored again; null: they may. */
  #held: Promise<void> | null = null;

  constructor(deps: ReaderDeps) {
    this.#deps = deps;
    this.#reader = new MessageReader({
      ...deps,
      begin: () => this.#begin(),
      onDone: (done) => this.#backlog.remove(done),
    });
    this.#commits = new GroupCommit({
      items_per_commit_max: MESSAGES_PER_COMMIT_MAX,
      gather: (waiting) => this.#gather(waiting),
      commit: async (take) => {
        while (this.#held !== null) await this.#held;
        return (await this.#store(take)).map((value) => ({ value }));
      },
    });
  }

  /**
   * Resolves with the reply after the commit (G3). Rejects when the message is not stored: the
   * sender must send it again.
   */
  async keep(message: KeptMessage): Promise<string> {
    return await this.#commits.add(message);
  }

  /**
   * Waits until the senders pause, but not long, and reads some messages. Throws when the database
   * fails; then nothing is read until a while later.
   */
  async step(signal: AbortSignal): Promise<StepResult> {
    const { store, env, connector_id } = this.#deps;
    const rest_ms = this.#reader.restMs();
    if (rest_ms > 0) return { did: 0, next_at: env.clock.now() + rest_ms };
    if (this.#goal === null) {
      await this.#pause(signal);
      this.#goal = await lastUnread(store.db, connector_id);
    }
    if (this.#goal === null) return IDLE;
    const { count = 0, last = this.#goal } = (await this.#reader.readNext()) ?? {};
    if (last >= this.#goal) {
      this.#goal = null;
      this.#unread_since_ms = this.#backlog.count > 0 ? env.clock.elapsed() : null;
    }
    return { did: count, next_at: null };
  }

  /** Returns for how long nothing is read, because the database failed; 0: it may be read. */
  restMs(): number {
    return this.#reader.restMs();
  }

  /**
   * Reads all messages that are unread now, but not those that arrive meanwhile. Ends early when
   * the database fails, or when `signal` is aborted.
   */
  async readAll(signal?: AbortSignal): Promise<void> {
    const { store, connector_id } = this.#deps;
    try {
      const goal = await lastUnread(store.db, connector_id);
      if (goal === null) return;
      while (signal?.aborted !== true && this.#reader.restMs() === 0) {
        const batch = await this.#reader.readNext();
        if (batch === null || batch.last >= goal) return;
      }
    } catch {
      // `step` tries again, and its loop logs it.
    }
    this.arrived.wake();
  }

  /**
   * Stops storing messages, so that none is acknowledged, until the returned function is called.
   * Resolves when no commit is in progress.
   */
  async hold(): Promise<() => void> {
    while (this.#held !== null) await this.#held;
    const held = Promise.withResolvers<void>();
    this.#held = held.promise;
    await Promise.allSettled(this.#storing);
    return () => {
      this.#held = null;
      held.resolve();
    };
  }

  async #gather(waiting: () => number): Promise<void> {
    await this.#begin();
    while (this.#isFull()) {
      if (this.#reader.restMs() > 0) throw new Error('Too many messages are unread.');
      if ((await this.#reader.readNext()) === null) break;
    }
    // On a slow disk, a commit for half of the senders costs as much as one for all. So senders
    // that were just answered get a moment to send their next message.
    if (this.#last.duration_ms < SLOW_COMMIT_MS || waiting() >= this.#last.count) return;
    await this.#deps.env.clock.sleep(GATHER_MS).catch(() => {});
  }

  async #store(take: () => readonly KeptMessage[]): Promise<string[]> {
    const { store, env, connector_id } = this.#deps;
    const started_ms = env.clock.elapsed();
    const storing = store.write((tx) => {
      const context = { tx, connector: connector_id, now: env.clock.now() };
      return keepMessages(context, take(), this.#backlog.byKey);
    });
    this.#storing.add(storing);
    try {
      const { replies, added } = await storing;
      const now_ms = env.clock.elapsed();
      this.#last = { count: replies.length, duration_ms: now_ms - started_ms };
      if (added.length === 0) return replies;
      this.#backlog.add(added);
      this.#stored += added.length;
      this.#unread_since_ms ??= now_ms;
      this.arrived.wake();
      return replies;
    } finally {
      this.#storing.delete(storing);
    }
  }

  /** Looks at what an earlier process left. */
  #begin(): Promise<void> {
    const { store, connector_id } = this.#deps;
    this.#begun ??= (async () => {
      await store.write((tx) => noteEndedRun(tx, connector_id));
      this.#backlog.add(await allUnread(store.db, connector_id));
    })().catch((error: unknown) => {
      this.#begun = null;
      throw error;
    });
    return this.#begun;
  }

  #isFull(): boolean {
    const { count, bytes } = this.#backlog;
    return count >= BACKLOG_MAX.count || bytes >= BACKLOG_MAX.bytes;
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps.env;
    const isLate = () => clock.elapsed() - (this.#unread_since_ms ?? 0) >= UNREAD_MS_MAX;
    for (let before = -1; before !== this.#stored && !signal.aborted; ) {
      if (this.#unread_since_ms === null || isLate()) return;
      before = this.#stored;
      await clock.sleep(PAUSE_MS, signal).catch(() => {});
    }
  }
}
