/** The inbox of the service's messages: stored raw before they are acknowledged (G3), drained by the stage collect. */
import type { Tx } from './database.ts';
import type { Store } from './store.ts';

export type InboxMessage = { message_hash: string; body: Buffer; received_at: number };

type Waiting = {
  message: InboxMessage;
  resolve: (outcome: 'stored' | 'duplicate') => void;
  reject: (error: unknown) => void;
};

/** Rows in one commit at most, so that none waits long for its neighbours. */
const MESSAGES_PER_COMMIT_MAX = 200;

/**
 * Takes messages in. Those that come at the same time share one statement and one commit, because the flush to the disk is
 * what a commit costs; while one commit is under way the next ones gather.
 */
export class Inbox {
  readonly #store: Store;
  #waiting: Waiting[] = [];
  #is_running = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Resolves after the commit. `duplicate`: a message with this hash was taken before, and this one is dropped. */
  accept(message: InboxMessage): Promise<'stored' | 'duplicate'> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ message, resolve, reject });
      if (!this.#is_running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#is_running = true;
    while (this.#waiting.length > 0) {
      // One turn of the event loop: what arrives together is committed together.
      await new Promise<void>((resolve) => setImmediate(resolve));
      const batch = this.#waiting.splice(0, MESSAGES_PER_COMMIT_MAX);
      try {
        const stored = await this.#store.write((tx) =>
          insertMessages(
            tx,
            batch.map(({ message }) => message),
          ),
        );
        for (const { message, resolve } of batch) resolve(stored.delete(message.message_hash) ? 'stored' : 'duplicate');
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#is_running = false;
  }
}

/** The hashes of the messages that were not known before. */
async function insertMessages(tx: Tx, messages: readonly InboxMessage[]): Promise<Set<string>> {
  const rows = await tx
    .insertInto('inbox')
    .values(messages.map(({ message_hash, body, received_at }) => ({ message_hash, body, received_at })))
    .onConflict((conflict) => conflict.column('message_hash').doNothing())
    .returning('message_hash')
    .execute();
  return new Set(rows.map(({ message_hash }) => message_hash));
}
