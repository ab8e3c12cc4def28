/**
 * Files of messages, one or many each. What a file goes through:
 *
 *     inbox/ ──still?──▶ processing/ ──every message committed──▶ processed/, or rejected/ when it holds no message
 *
 * Each message is a source of its own, as over MLLP, so that a file which is read again after a crash repeats nothing.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../src/domain/errors.ts';
import type { ConnectorEnv, PullCall } from '../contract.ts';
import { decodeBytes } from './charset.ts';
import type { Hl7Config } from './config.ts';
import { type DropFolder, ensureDropFolder, folderError, messageFiles, moveInto, StillFiles } from './folder.ts';
import type { MessageIntake } from './intake.ts';
import { splitMessages } from './message.ts';

/** Messages of a file that are handed over without waiting for each other; they share commits. */
const AT_ONCE = 250;
/** After so many looks at which a file was not committed, the others go first (G7). */
const FAILURES_BEFORE_LAST = 3;

export class FileDrop {
  readonly #env: ConnectorEnv;
  readonly #folder: DropFolder;
  readonly #intake: MessageIntake;
  readonly #still: StillFiles;
  readonly #failures = new Map<string, number>();

  constructor(config: Hl7Config, env: ConnectorEnv, folder: DropFolder, intake: MessageIntake) {
    this.#env = env;
    this.#folder = folder;
    this.#intake = intake;
    this.#still = new StillFiles(env.clock, config.stable_seconds * 1000);
  }

  async pull(call: PullCall): Promise<void> {
    const { inbox, processing } = this.#folder;
    await ensureDropFolder(this.#folder);
    call.signal.throwIfAborted();
    const [left, fresh] = await this.#look(call.signal);
    const is_stuck = (name: string) => (this.#failures.get(name) ?? 0) >= FAILURES_BEFORE_LAST;
    for (const { name } of left.filter((file) => !is_stuck(file.name))) await this.#take(name, call);
    for (const { name } of fresh) {
      call.signal.throwIfAborted();
      const claimed = await this.#guarded(() => moveInto(join(inbox, name), processing, name));
      if (claimed !== null) await this.#take(claimed, call);
    }
    for (const { name } of left.filter((file) => is_stuck(file.name))) await this.#take(name, call);
  }

  async #look(signal: AbortSignal) {
    try {
      return [await messageFiles(this.#folder.processing), await this.#still.find(this.#folder.inbox, signal)] as const;
    } catch (error) {
      signal.throwIfAborted();
      throw folderError(error);
    }
  }

  async #take(name: string, call: PullCall): Promise<void> {
    call.signal.throwIfAborted();
    const path = join(this.#folder.processing, name);
    const bytes = await this.#guarded(() => readFile(path));
    if (bytes === null) return;
    const { messages } = splitMessages(decodeBytes(bytes));
    // Counted as failed until it is through: a file that is never through must not hold up the others.
    this.#failures.set(name, (this.#failures.get(name) ?? 0) + 1);
    for (let first = 0; first < messages.length; first += AT_ONCE) {
      call.signal.throwIfAborted();
      // All are asked for before the first is waited for, and each is heard.
      const taken = messages.slice(first, first + AT_ONCE).map((text) => this.#intake.take(text, call.accept));
      const failed = (await Promise.allSettled(taken)).find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    }
    const is_empty = messages.length === 0;
    const moved = await this.#guarded(() => moveInto(path, is_empty ? this.#folder.rejected : this.#folder.processed, name));
    if (moved === null) return;
    this.#failures.delete(name);
    this.#env.log(is_empty ? 'hl7_file_rejected' : 'hl7_file_read', {
      connector: this.#env.connector_id,
      count: messages.length,
      size: bytes.length,
    });
  }

  /** A file that cannot be read or moved is left for the next look, and one that somebody took away is theirs. */
  async #guarded<Value>(work: () => Promise<Value>): Promise<Value | null> {
    try {
      return await work();
    } catch (error) {
      const code = errorCode(error);
      if (code !== 'ENOENT') this.#env.log('hl7_file_unusable', { connector: this.#env.connector_id, cause: code });
      return null;
    }
  }
}
