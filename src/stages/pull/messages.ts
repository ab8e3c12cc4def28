/** The messages of a connector: acknowledged when stored, and read when their senders pause. */
import type { Connector, KeptMessage } from '../../../connectors/contract.ts';
import type { Env } from '../../domain/env.ts';
import { errorCode } from '../../domain/errors.ts';
import { DAY_MS } from '../../domain/time.ts';
import { GroupCommit } from '../../store/engine/group-commit.ts';
import type { Store } from '../../store/engine/store.ts';
import type { IntakeCounts } from '../../store/intake/intake.ts';
import { keepMessages, readMessages } from '../../store/intake/messages.ts';
import { runLoop, Waker } from '../loop.ts';

type MessagesDeps = {
  store: Store;
  env: Env;
  connector_id: string;
  connector: Connector;
  onRead: (counts: IntakeCounts) => void;
};

/** Limits the statements of a commit. Reading takes as many, so that it never falls behind. */
const MESSAGES_PER_COMMIT_MAX = 500;
/**
 * When the last commit took at least this long, eligd waits briefly for more messages (next
 * constant).
 */
const SLOW_COMMIT_MS = 2;
const GATHER_MS = 1;
/** Senders that send nothing for this long have paused. */
const PAUSE_MS = 20;
/** Without a pause, messages are read after this time. */
const UNREAD_MS_MAX = 10_000;

/** Stores messages, and reads them in their order, also those of an earlier process. */
export class Messages {
  readonly #deps: MessagesDeps;
  readonly #commits: GroupCommit<KeptMessage, string>;
  readonly #arrived = new Waker();
  #last = { count: 0, duration_ms: 0 };
  /** How many were stored, and when the first one since the last reading was. */
  #stored = 0;
  #unread_since_ms: number | null = null;

  constructor(deps: MessagesDeps) {
    const { env } = deps;
    this.#deps = deps;
    this.#commits = new GroupCommit({
      items_per_commit_max: MESSAGES_PER_COMMIT_MAX,
      // On a slow disk, a commit for half of the senders costs as much as one for all. So senders
      // that were just answered get a moment to send their next message.
      gather: async (waiting) => {
        if (this.#last.duration_ms < SLOW_COMMIT_MS || waiting() >= this.#last.count) return;
        await env.clock.sleep(GATHER_MS).catch(() => {});
      },
      commit: async (take) => (await this.#store(take)).map((value) => ({ value })),
    });
  }

  /** Resolves with the reply after the commit (G3). */
  async keep(message: KeptMessage): Promise<string> {
    return await this.#commits.add(message);
  }

  /** Reads all unread messages. */
  async readAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.#read()) > 0);
  }

  /** Reads messages while others arrive, until `signal` is aborted. */
  async readInPauses(signal: AbortSignal): Promise<void> {
    const { env, connector_id } = this.#deps;
    const step = async () => {
      await this.#pause(signal);
      return { did: signal.aborted ? 0 : await this.#read(), next_at: null };
    };
    const name = `read ${connector_id}`;
    await runLoop({ name, step, waker: this.#arrived, env, interval_ms: DAY_MS, signal });
  }

  async #store(take: () => readonly KeptMessage[]): Promise<string[]> {
    const { store, env, connector_id } = this.#deps;
    const started_ms = env.clock.elapsed();
    const replies = await store.write((tx) =>
      keepMessages(tx, connector_id, take(), env.clock.now()),
    );
    const now_ms = env.clock.elapsed();
    this.#last = { count: replies.length, duration_ms: now_ms - started_ms };
    this.#stored += replies.length;
    this.#unread_since_ms ??= now_ms;
    this.#arrived.wake();
    return replies;
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps.env;
    const isLate = () => clock.elapsed() - (this.#unread_since_ms ?? 0) >= UNREAD_MS_MAX;
    for (let before = -1; before !== this.#stored && !signal.aborted; ) {
      if (this.#unread_since_ms !== null && isLate()) return;
      before = this.#stored;
      await clock.sleep(PAUSE_MS, signal).catch(() => {});
    }
  }

  async #read(): Promise<number> {
    const { store, env, connector_id, connector, onRead } = this.#deps;
    const read = connector.readMessage?.bind(connector);
    if (read === undefined) return 0;
    const stored = this.#stored;
    const { messages, has_more, counts, errors } = await store.write((tx) =>
      readMessages(tx, connector_id, read, env.clock.now()),
    );
    if (!has_more) this.#unread_since_ms = this.#stored === stored ? null : env.clock.elapsed();
    for (const error of errors)
      env.log('message_not_read', { connector: connector_id, error_code: errorCode(error) });
    if (messages > 0) onRead(counts);
    return messages;
  }
}
