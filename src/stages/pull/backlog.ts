import type { Unread } from '../../store/intake/unread-messages.ts';

/**
 * What a process knows of the unread messages of a connector. It may briefly name one that is
 * already read.
 */
export class Backlog {
  readonly #unread = new Map<string, Unread>();
  #bytes = 0;

  get byKey(): ReadonlyMap<string, Unread> {
    return this.#unread;
  }

  get count(): number {
    return this.#unread.size;
  }

  /** Returns the bytes of the texts. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds messages that have become unread. */
  add(messages: readonly Unread[]): void {
    for (const message of messages) {
      this.#bytes += message.bytes - (this.#unread.get(message.key)?.bytes ?? 0);
      this.#unread.set(message.key, message);
    }
  }

  /** Removes messages that are no longer unread. */
  remove(messages: readonly Unread[]): void {
    for (const { id, key } of messages) {
      const known = this.#unread.get(key);
      if (known?.id !== id) continue;
      this.#bytes -= known.bytes;
      this.#unread.delete(key);
    }
  }
}
