/**
 * Reads files with one or many messages. The path of a file:
 *
 *     inbox/ ──still?──▶ processing/ ──every message committed──▶ processed/
 *                                    └─no message in it─────────▶ rejected/
 *
 * Each message is a separate source, as over MLLP, so reading a file again after a crash repeats
 * nothing.
 */
import type { Stats } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorCode } from '../../../src/domain/errors.ts';
import { ConnectorError, type PullCall, type RejectedItem } from '../../contract.ts';
import type { Hl7Config } from '../config.ts';
import type { Hl7Env } from '../events.ts';
import {
  type DropFolder,
  ensureDropFolder,
  folderError,
  messageFiles,
  moveInto,
  StillFiles,
} from '../folder.ts';
import { type FoundMessage, MessageSplitter } from '../v2/batches.ts';
import type { MessageIntake } from './intake.ts';

/** Messages of a file that are accepted without waiting for each other; they share commits. */
const AT_ONCE = 250;
const READ_BYTES = 256 * 1024;
/** A file that was not committed in this many attempts is read after the others (G7). */
const FAILURES_BEFORE_LAST = 3;

/** The drop folder for files with messages. */
export class FileDrop {
  readonly #env: Hl7Env;
  readonly #folder: DropFolder;
  readonly #intake: MessageIntake;
  readonly #still: StillFiles;
  readonly #bytes_max: number;
  readonly #failures = new Map<string, number>();

  constructor(config: Hl7Config, env: Hl7Env, folder: DropFolder, intake: MessageIntake) {
    this.#env = env;
    this.#folder = folder;
    this.#intake = intake;
    this.#bytes_max = config.max_message_megabytes * 1_000_000;
    this.#still = new StillFiles(env.clock, config.stable_seconds * 1000);
  }

  async pull(call: PullCall): Promise<void> {
    const { inbox, processing } = this.#folder;
    await ensureDropFolder(this.#folder);
    call.signal.throwIfAborted();
    const [left, fresh] = await this.#listFiles(call.signal);
    const is_stuck = (name: string) => (this.#failures.get(name) ?? 0) >= FAILURES_BEFORE_LAST;
    for (const { name } of left.filter((file) => !is_stuck(file.name)))
      await this.#take(name, call);
    for (const { name } of fresh) {
      call.signal.throwIfAborted();
      const claimed = await this.#guarded(() => moveInto(join(inbox, name), processing, name));
      if (claimed !== null) await this.#take(claimed, call);
    }
    for (const { name } of left.filter((file) => is_stuck(file.name))) await this.#take(name, call);
  }

  /**
   * For `eligd restore`: moves files that were read at `since` or later back into the inbox.
   * Returns their number.
   */
  async readAgain(since: number, signal: AbortSignal): Promise<number> {
    const { processed, inbox } = this.#folder;
    try {
      await ensureDropFolder(this.#folder);
      let count = 0;
      for (const { name, changed_ms } of await messageFiles(processed)) {
        signal.throwIfAborted();
        // The move is the file's last status change; the write time sets the reading order.
        if (changed_ms < since) continue;
        await moveInto(join(processed, name), inbox, name);
        count += 1;
      }
      return count;
    } catch (error) {
      signal.throwIfAborted();
      throw folderError(error);
    }
  }

  async #listFiles(signal: AbortSignal) {
    try {
      return [
        await messageFiles(this.#folder.processing),
        await this.#still.find(this.#folder.inbox, signal),
      ] as const;
    } catch (error) {
      signal.throwIfAborted();
      throw folderError(error);
    }
  }

  async #take(name: string, call: PullCall): Promise<void> {
    call.signal.throwIfAborted();
    // Counted as failed until it is done: a file that never finishes must not block the others.
    this.#failures.set(name, (this.#failures.get(name) ?? 0) + 1);
    const path = join(this.#folder.processing, name);
    const file = await this.#guarded(() => open(path));
    if (file === null) return;
    const read = await this.#read(file, name, call).finally(() => file.close());
    if (read === null) return;
    const is_empty = read.messages === 0;
    const moved = await this.#guarded(() =>
      moveInto(path, is_empty ? this.#folder.rejected : this.#folder.processed, name),
    );
    if (moved === null) return;
    this.#failures.delete(name);
    this.#env.log(is_empty ? 'hl7_file_rejected' : 'hl7_file_read', {
      connector: this.#env.connector_id,
      ...read,
    });
  }

  /**
   * Commits every message. Returns null if the file cannot be read or is still being written; then
   * it is read again.
   */
  async #read(
    file: FileHandle,
    name: string,
    call: PullCall,
  ): Promise<{ messages: number; size: number } | null> {
    const splitter = new MessageSplitter(this.#bytes_max);
    const buffer = Buffer.alloc(READ_BYTES);
    let waiting: FoundMessage[] = [];
    let count = 0;
    let size = 0;
    const before = await this.#guarded(() => file.stat());
    for (;;) {
      const piece = await this.#guarded(() => file.read(buffer, 0, buffer.length));
      if (piece === null) return null;
      if (piece.bytesRead === 0) break;
      size += piece.bytesRead;
      waiting.push(...splitter.push(buffer.toString('latin1', 0, piece.bytesRead)));
      if (waiting.length < AT_ONCE) continue;
      count += await this.#commit(waiting, call);
      waiting = [];
    }
    const after = await this.#guarded(() => file.stat());
    // A file that is still being written ends somewhere inside a message.
    if (before === null || after?.size !== size || after.mtimeMs !== before.mtimeMs) return null;
    count += await this.#commit([...waiting, ...splitter.end()], call);
    const fault =
      count === 0
        ? NO_MESSAGE
        : splitter.batch_fault === null
          ? null
          : miscounted(splitter.batch_fault);
    if (fault !== null) await this.#reportFile(fault, name, after, call);
    return { messages: count, size };
  }

  async #commit(messages: readonly FoundMessage[], call: PullCall): Promise<number> {
    for (let first = 0; first < messages.length; first += AT_ONCE) {
      call.signal.throwIfAborted();
      // All messages are offered before the first result is awaited, and each result is handled.
      const taken = messages
        .slice(first, first + AT_ONCE)
        .map((found) => this.#intake.take(found, call));
      const failed = (await Promise.allSettled(taken)).find(
        (result) => result.status === 'rejected',
      );
      if (failed !== undefined) throw failed.reason;
    }
    return messages.length;
  }

  /**
   * Reports a problem of a whole file: missing messages belong to no one until the office asks the
   * sender for them (G2).
   */
  async #reportFile(
    fault: RejectedItem,
    name: string,
    { size, mtimeMs }: Stats,
    { accept }: PullCall,
  ): Promise<void> {
    const key = `hl7-file:${name}:${size}:${mtimeMs}`;
    const source = { key, name, is_last: true, completeness: 'changes' } as const;
    await accept({ source, appointments: [], rejected: [fault], cursor: null });
  }

  /**
   * Runs `work`. A file that cannot be read or moved waits for the next pass; a file that someone
   * removed is ignored.
   */
  async #guarded<Value>(work: () => Promise<Value>): Promise<Value | null> {
    try {
      return await work();
    } catch (error) {
      const code = errorCode(error);
      if (code !== 'ENOENT')
        this.#env.log('hl7_file_unusable', { connector: this.#env.connector_id, cause: code });
      return null;
    }
  }
}

/**
 * For `eligd preview`: passes on the messages of one file anywhere, and does not change it. Throws
 * a ConnectorError when it cannot be read.
 */
export async function readMessageFile(
  { max_message_megabytes }: Hl7Config,
  intake: MessageIntake,
  path: string,
  { accept, signal }: Pick<PullCall, 'accept' | 'signal'>,
): Promise<void> {
  const name = basename(path);
  const content = await readFile(path).catch((error: unknown) => {
    throw new ConnectorError('permanent', {
      what: `The file ${path} cannot be read.`,
      next: 'Check the path, and that you can read the file.',
      cause: error,
    });
  });
  const splitter = new MessageSplitter(max_message_megabytes * 1_000_000);
  const messages = [...splitter.push(content.toString('latin1')), ...splitter.end()];
  for (const found of messages) {
    signal.throwIfAborted();
    await intake.take(found, { accept });
  }
  if (messages.length > 0) return;
  const source = { key: `hl7-file:${name}`, name, is_last: true, completeness: 'changes' } as const;
  await accept({ source, appointments: [], rejected: [NO_MESSAGE], cursor: null });
}

const NO_MESSAGE: RejectedItem = {
  position: 'the whole file',
  field: 'MSH',
  value_class: 'missing, because the file has no message',
  remedy:
    'It is in rejected/. Have the sender write HL7 v2 messages, or put files of another kind ' +
    'elsewhere.',
};

/** Returns the item about a batch whose trailer states another number of messages. */
function miscounted(value_class: string): RejectedItem {
  const remedy =
    "Compare the file with the sender's output, and put the whole file into inbox/; " +
    'messages that eligd already has count only once.';
  return { position: 'the number of messages', field: 'BTS-1', value_class, remedy };
}
