/**
 * The drop folder: its subfolders, moves that survive a power failure, and which files are ready.
 */
import { constants, type Stats } from 'node:fs';
import {
  access,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  stat,
  unlink,
} from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import type { Clock } from '../../src/domain/env.ts';
import { errorCode } from '../../src/domain/errors.ts';
import { ConnectorError, type KeptFiles } from '../contract.ts';
import type { RowKind } from './columns.ts';
import { holdsPieces, type Pieces } from './pieces.ts';

export const PARTS = ['inbox', 'processing', 'processed', 'rejected', 'outbox'] as const;
export type Folder = Record<(typeof PARTS)[number] | 'root', string>;

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/** Returns the paths of the drop folder's parts. */
export function folderAt(root: string): Folder {
  return {
    root,
    inbox: join(root, 'inbox'),
    processing: join(root, 'processing'),
    processed: join(root, 'processed'),
    rejected: join(root, 'rejected'),
    outbox: join(root, 'outbox'),
  };
}

/**
 * Creates missing subfolders, but not the parent: eligd must not create an empty folder where a
 * share is not mounted.
 */
export async function ensureFolder(folder: Folder): Promise<void> {
  try {
    await makeDirectory(folder.root);
    for (const part of PARTS) await makeDirectory(folder[part]);
  } catch (error) {
    throw folderError(error);
  }
}

/** Creates a directory durably unless it exists. */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: DIRECTORY_MODE });
    await syncDirectory(dirname(path));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/**
 * Returns the error for a failed file operation. It leaves out the path: inside the folder, file
 * names may be names of people (G6).
 */
export function folderError(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const code = errorCode(error) ?? 'unknown';
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new ConnectorError('permanent', {
      what:
        'The drop folder cannot be created, because the folder above it does not exist ' +
        `(${code}).`,
      next:
        'Check "folder:" in the configuration; if it is on a network share, check that the ' +
        'share is mounted.',
    });
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new ConnectorError('permanent', {
      what: `eligd may not write to the drop folder (${code}).`,
      next: 'Let the user that eligd runs as write to the drop folder and everything inside it.',
    });
  }
  return new ConnectorError('transient', {
    what: `The drop folder could not be used (${code}).`,
    next:
      code === 'ENOSPC'
        ? 'Free up space on the disk of the drop folder.'
        : 'eligd tries again. If it persists, check the disk and the network share.',
  });
}

/** Makes a rename durable; without it, a power failure may undo the rename. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } catch (error) {
    // Some network file systems cannot sync a directory; they write without a cache.
    if (!['EINVAL', 'ENOTSUP', 'EBADF', 'EPERM', 'EISDIR'].includes(errorCode(error) ?? ''))
      throw error;
  } finally {
    await handle.close();
  }
}

/**
 * Moves a file to another subfolder without replacing a file of the same name; returns its new
 * name.
 */
export async function moveFile(from: string, to_directory: string, name: string): Promise<string> {
  const free = await freeName(to_directory, name);
  await rename(from, join(to_directory, free));
  await syncDirectory(to_directory);
  await syncDirectory(dirname(from));
  return free;
}

/**
 * Moves files that arrived in `processed/` at `since` or later back into the inbox, oldest first,
 * and returns their number. The file's status change time is the time of the move; the export's own
 * time, which sets the reading order, stays.
 */
export async function moveBack(folder: Folder, since: number): Promise<number> {
  const { exports } = await listFiles(folder.processed).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return { exports: [] };
    throw folderError(error);
  });
  let moved = 0;
  for (const { name } of exports) {
    if (name.endsWith('.reasons.csv') || (await stat(join(folder.processed, name))).ctimeMs < since)
      continue;
    await moveFile(join(folder.processed, name), folder.inbox, name);
    moved += 1;
  }
  return moved;
}

/** Lists what is kept: exports that were read, and results that the PMS has had time to read. */
export const keptFiles = (folder: Folder): KeptFiles[] => [
  { kind: 'processed', folder: folder.processed, names: /^[^.]/ },
  { kind: 'rejected', folder: folder.rejected, names: /^[^.]/ },
  { kind: 'outbox', folder: folder.outbox, names: /^(?:eligibility|claims)-/ },
  { kind: 'outbox', folder: join(folder.outbox, 'records'), names: /\.json$/ },
];

/** Returns whether exports were read or results were written here. */
export async function wasUsed(folder: Folder): Promise<boolean> {
  const names = async (path: string) => await readdir(path).catch(() => []);
  const processed = await names(folder.processed);
  const written = await names(folder.outbox);
  return processed.length > 0 || written.some((name) => /^(?:eligibility|claims)-/.test(name));
}

const NAME_BYTES_MAX = 180;

/** Returns the name, cut so that `.reasons.csv` and a number fit into a file system's 255 bytes. */
export function shortName(name: string): string {
  if (Buffer.byteLength(name) <= NAME_BYTES_MAX) return name;
  const extension = extname(name);
  const base = Buffer.from(name.slice(0, name.length - extension.length)).subarray(
    0,
    NAME_BYTES_MAX - 20,
  );
  return new TextDecoder().decode(base).replaceAll('\ufffd', '') + extension;
}

/** Returns the first free name: `export.csv`, `export-2.csv`, … */
export async function freeName(directory: string, name: string): Promise<string> {
  const extension = extname(name);
  const base = name.slice(0, name.length - extension.length);
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${base}-${number}${extension}`;
    try {
      await lstat(join(directory, candidate));
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return candidate;
      throw error;
    }
  }
}

/**
 * Replaces a file atomically and durably: temporary name, fsync, rename, fsync of the directory
 * (unless the caller does that for many files together). Leaves a file with the same bytes
 * unchanged; returns whether it wrote.
 */
export async function writeAtomically(
  directory: string,
  name: string,
  content: Buffer | Pieces,
  sync: 'directory' | 'file only' = 'directory',
): Promise<boolean> {
  const path = join(directory, name);
  const is_there = Buffer.isBuffer(content) ? holds(path, content) : holdsPieces(path, content);
  if (await is_there) return false;
  const temporary = join(directory, `.${name}.tmp`);
  const handle = await openNew(temporary);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
  if (sync === 'directory') await syncDirectory(directory);
  return true;
}

/**
 * Opens a file of ours for writing. What has its name is deleted and never written to: others may
 * write to the drop folder, and a link of theirs would lead to any file that eligd can write.
 */
export async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', FILE_MODE);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    await removeIfThere(path);
    return await open(path, 'wx', FILE_MODE);
  }
}

async function holds(path: string, content: Buffer): Promise<boolean> {
  try {
    return (await stat(path)).size === content.length && (await readFile(path)).equals(content);
  } catch {
    return false;
  }
}

/** Deletes a file if it exists. */
export async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** The meaning of an inbox file, by its name alone. */
type NameClass = 'export' | 'temporary' | 'other';

const TEMPORARY =
  /^(?:\.|~)|(?:\.(?:tmp|temp|part|partial|crdownload|download|filepart|swp|lock|writing)|~)$/i;

/** Returns what an inbox file is, by its name alone. */
function classifyName(name: string): NameClass {
  if (TEMPORARY.test(name)) return 'temporary';
  return /\.(?:csv|txt|tsv)$/i.test(name) ? 'export' : 'other';
}

/**
 * Returns the kind of rows by the file's name alone, because the columns of both kinds are similar.
 */
export function rowKindOf(name: string): RowKind {
  return /^claims-/i.test(name) ? 'claims' : 'appointments';
}

export type SeenFile = { name: string; size: number; modified_ms: number; inode: number };

export type Listing = {
  /** Regular files with an export's name, oldest first, so that a later export wins. */
  exports: SeenFile[];
  other: string[];
  /** Files with an export's name that cannot be read: a link, a folder, no permission. */
  unreadable: { name: string; cause: string }[];
};

/** Lists a directory. A file that vanishes meanwhile is left out. */
export async function listFiles(directory: string): Promise<Listing> {
  const listing: Listing = { exports: [], other: [], unreadable: [] };
  for (const name of await readdir(directory)) {
    const kind = classifyName(name);
    if (kind === 'other') listing.other.push(name);
    if (kind !== 'export') continue;
    try {
      const path = join(directory, name);
      const found = await lstat(path);
      // A link may point anywhere, and eligd must not move its target.
      if (!found.isFile()) listing.unreadable.push({ name, cause: 'no regular file' });
      else {
        await access(path, constants.R_OK);
        listing.exports.push(seen(name, found));
      }
    } catch (error) {
      // A name that is not UTF-8 cannot be opened again; a file that is gone needs no entry.
      if (errorCode(error) === 'ENOENT' && name.includes('\ufffd'))
        listing.unreadable.push({ name, cause: 'name is not UTF-8' });
      else if (errorCode(error) !== 'ENOENT')
        listing.unreadable.push({ name, cause: errorCode(error) ?? 'unknown' });
    }
  }
  listing.exports.sort((a, b) => a.modified_ms - b.modified_ms || (a.name < b.name ? -1 : 1));
  return listing;
}

function seen(name: string, found: Stats): SeenFile {
  return { name, size: found.size, modified_ms: found.mtimeMs, inode: found.ino };
}

/** Returns whether two checks found the same, unchanged file. */
export function isSameFile(a: SeenFile, b: SeenFile): boolean {
  return (
    a.name === b.name && a.size === b.size && a.modified_ms === b.modified_ms && a.inode === b.inode
  );
}

/** Returns the file's current size and time, or null if it is gone. */
export async function lookAt(path: string, name: string): Promise<SeenFile | null> {
  try {
    return seen(name, await lstat(path));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Finds files that are no longer being written: same size and time at two checks `stable_ms` apart.
 * It remembers checks between calls, so that a file seen long enough ago needs no wait.
 */
export class StabilityWatch {
  private readonly clock: Clock;
  private readonly stable_ms: number;
  private seen = new Map<string, { file: SeenFile; since_ms: number }>();

  constructor(clock: Clock, stable_ms: number) {
    this.clock = clock;
    this.stable_ms = stable_ms;
  }

  /** Checks the files, waits if one is new, and checks again. */
  async readyFiles(
    list: () => Promise<Listing>,
    signal: AbortSignal,
  ): Promise<{ ready: SeenFile[]; listing: Listing }> {
    const first = await list();
    const wait_ms = this.note(first.exports);
    if (wait_ms === 0) return { ready: this.ready(first.exports), listing: first };
    await this.clock.sleep(wait_ms, signal);
    const second = await list();
    const known = second.exports.filter(({ name }) => this.seen.has(name));
    this.note(second.exports);
    return { ready: this.ready(known), listing: second };
  }

  /** Returns the time until every file can be checked twice; 0 when that is done. */
  private note(files: readonly SeenFile[]): number {
    const now_ms = this.clock.elapsed();
    const next = new Map<string, { file: SeenFile; since_ms: number }>();
    let wait_ms = 0;
    for (const file of files) {
      const before = this.seen.get(file.name);
      const since_ms =
        before !== undefined && isSameFile(before.file, file) ? before.since_ms : now_ms;
      next.set(file.name, { file, since_ms });
      wait_ms = Math.max(wait_ms, this.stable_ms - (now_ms - since_ms));
    }
    this.seen = next;
    return wait_ms;
  }

  private ready(files: readonly SeenFile[]): SeenFile[] {
    const now_ms = this.clock.elapsed();
    return files.filter(
      (file) => now_ms - (this.seen.get(file.name)?.since_ms ?? now_ms) >= this.stable_ms,
    );
  }
}
