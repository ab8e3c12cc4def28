/**
 * The drop folder: `.hl7` files arrive in inbox/ and leave it by rename; answers are written to
 * outbox/ atomically.
 */
import { constants } from 'node:fs';
import {
  access,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  unlink,
} from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import type { Clock } from '../../src/domain/env.ts';
import { errorCode } from '../../src/domain/errors.ts';
import { ConnectorError, type KeptFiles } from '../contract.ts';

const PARTS = ['inbox', 'processing', 'processed', 'rejected', 'outbox'] as const;
export type DropFolder = Record<(typeof PARTS)[number] | 'root', string>;

export function dropFolderAt(root: string): DropFolder {
  const parts = Object.fromEntries(PARTS.map((part) => [part, join(root, part)])) as Record<
    (typeof PARTS)[number],
    string
  >;
  return { root, ...parts };
}

/**
 * Creates missing subfolders, but not the parent: eligd must not create an empty folder where a
 * share is not mounted.
 */
export async function ensureDropFolder(folder: DropFolder): Promise<void> {
  try {
    for (const path of [folder.root, ...PARTS.map((part) => folder[part])]) {
      await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
        if (errorCode(error) !== 'EEXIST') throw error;
      });
    }
  } catch (error) {
    throw folderError(error);
  }
}

/** Lists what is kept: messages that were read, and answers that the PMS has had time to take. */
export const keptFiles = (folder: DropFolder): KeptFiles[] =>
  (['processed', 'rejected', 'outbox'] as const).map((kind) => ({
    kind,
    folder: folder[kind],
    names: /\.hl7$/i,
  }));

/** Leaves out the path: file names may be names of people (G6). */
export function folderError(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const code = errorCode(error) ?? 'unknown';
  const is_lasting = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS'].includes(code);
  return new ConnectorError(is_lasting ? 'permanent' : 'transient', {
    what: `The drop folder cannot be used (${code}).`,
    next:
      'Check "folder:", the folder above it, its permissions, the disk, and the network share ' +
      'if it is on one.',
    cause: error,
  });
}

/** Checks whether the folder can be read and written, or created. Changes nothing. */
export async function canUse(
  folder: DropFolder,
): Promise<{ ok: true } | { ok: false; code: string }> {
  const can = async (path: string) =>
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  try {
    await can(folder.root).catch(async (error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error;
      await can(dirname(folder.root));
    });
    return { ok: true };
  } catch (error) {
    return { ok: false, code: errorCode(error) ?? 'unknown' };
  }
}

/** `changed_ms`: the time of the last write, rename, or move. */
type SeenFile = { name: string; size: number; modified_ms: number; changed_ms: number };

/**
 * Returns regular files that end in `.hl7`, oldest first. Ignores the temporary names of writers
 * (`.x.hl7`, `x.hl7.tmp`).
 */
export async function messageFiles(directory: string): Promise<SeenFile[]> {
  const files: SeenFile[] = [];
  for (const name of await readdir(directory)) {
    if (!/^[^.~].*\.hl7$/i.test(name)) continue;
    try {
      const found = await lstat(join(directory, name));
      if (found.isFile())
        files.push({
          name,
          size: found.size,
          modified_ms: found.mtimeMs,
          changed_ms: found.ctimeMs,
        });
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
  return files.sort((a, b) => a.modified_ms - b.modified_ms || (a.name < b.name ? -1 : 1));
}

/**
 * Finds files that are no longer being written: unchanged between two checks `stable_ms` apart. It
 * remembers checks between calls.
 */
export class StillFiles {
  readonly #clock: Clock;
  readonly #stable_ms: number;
  #seen = new Map<string, SeenFile & { since_ms: number }>();

  constructor(clock: Clock, stable_ms: number) {
    this.#clock = clock;
    this.#stable_ms = stable_ms;
  }

  /** Checks the files, waits if one is new, and checks again. */
  async find(directory: string, signal: AbortSignal): Promise<SeenFile[]> {
    const wait_ms = this.#note(await messageFiles(directory));
    if (wait_ms > 0) {
      await this.#clock.sleep(wait_ms, signal);
      this.#note(await messageFiles(directory));
    }
    const now_ms = this.#clock.elapsed();
    return [...this.#seen.values()].filter(({ since_ms }) => now_ms - since_ms >= this.#stable_ms);
  }

  /** Returns the time until the newest file is stable; 0 if all are. */
  #note(files: readonly SeenFile[]): number {
    const now_ms = this.#clock.elapsed();
    const next = new Map<string, SeenFile & { since_ms: number }>();
    for (const file of files) {
      const before = this.#seen.get(file.name);
      const is_same = before?.size === file.size && before.modified_ms === file.modified_ms;
      next.set(file.name, { ...file, since_ms: is_same ? before.since_ms : now_ms });
    }
    this.#seen = next;
    return Math.max(
      0,
      ...[...next.values()].map(({ since_ms }) => this.#stable_ms - (now_ms - since_ms)),
    );
  }
}

/** Moves a file to a free name and returns the name. Never replaces an existing file. */
export async function moveInto(from: string, directory: string, name: string): Promise<string> {
  const ending = extname(name);
  for (let number = 0; ; number += 1) {
    const free = number === 0 ? name : `${name.slice(0, -ending.length)}-${number}${ending}`;
    const is_taken = await lstat(join(directory, free)).then(
      () => true,
      () => false,
    );
    if (is_taken) continue;
    await rename(from, join(directory, free));
    await sync(directory);
    return free;
  }
}

/** Writes atomically, readable only by the owner; does not write the same bytes again. */
export async function writeMessage(folder: DropFolder, name: string, bytes: Buffer): Promise<void> {
  const path = join(folder.outbox, name);
  const temporary = `${path}.tmp`;
  try {
    const before = await lstat(path).catch(() => null);
    if (before?.isFile() === true && (await readFile(path)).equals(bytes)) return;
    const file = await openNew(temporary);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await sync(folder.outbox);
  } catch (error) {
    throw folderError(error);
  }
}

/**
 * Opens a new file, and first deletes whatever has its name. Others may write to the drop folder,
 * and a link of theirs could lead to any file that eligd can write.
 */
async function openNew(path: string): Promise<FileHandle> {
  await unlink(path).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
  });
  return await open(path, 'wx', 0o600);
}

/** Makes a rename durable across a power failure. */
async function sync(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY);
  try {
    await handle.sync();
  } catch (error) {
    // Some network shares do not support this.
    if (!['EINVAL', 'ENOTSUP', 'EPERM'].includes(errorCode(error) ?? '')) throw error;
  } finally {
    await handle.close();
  }
}
