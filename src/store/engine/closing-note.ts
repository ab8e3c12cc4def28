/**
 * Saves a start the check of the whole database that the process before it has made. `once` runs
 * from cron every few minutes, and the check reads every page of the file. It is left out only if
 * nothing but that process can have changed the file since: it closed the file cleanly and left a
 * note, in the same boot and at most an hour after the check.
 */
import { type BigIntStats, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { Boot, Env } from '../../domain/env.ts';
import { errorCode } from '../../domain/errors.ts';
import { HOUR_MS } from '../../domain/time.ts';
import type { Raw } from './driver.ts';
import type { SendCount } from './instance-lock.ts';

/** The process that holds the instance lock. */
export type Holder = { env: Pick<Env, 'boot' | 'clock'>; sends: SendCount };

/** Damage that nothing showed is found within this time of the last check of the whole file. */
const RELIED_ON_MS = HOUR_MS;

/** The times of files advance in steps of at most 10 ms. */
const STEP_MS = 2;
const STEPS_MAX = 10;

type Check = { boot_id: string; awake_ms: number; at: number };

/** The note: the file as the process left it, and when it was checked. */
type Note = Check & { file: string };

/** The database's file between the opening and the end of the process that holds the lock. */
export class NotedFile {
  readonly #path: string;
  readonly #holder: Holder;
  /** What the process before said about the file as it is now; null: nothing that counts. */
  readonly #left: Check | null;
  #opened: BigIntStats | undefined;
  #checked: Check | null = null;
  #has_failed = false;

  /**
   * Takes the note away, so that none is there if this process ends in any other way than
   * `leaveNote`. Must be called before SQLite opens the file.
   */
  constructor(path: string, holder: Holder) {
    this.#path = path;
    this.#holder = holder;
    this.#left = this.#checkOf(readNote(path));
    rmSync(noteName(path), { force: true });
  }

  /** Returns whether the file need not be checked again. */
  isKnownSound(raw: Raw): boolean {
    this.#opened = statOf(this.#path);
    if (this.#left === null || countedSends(raw) !== this.#holder.sends.read()) return false;
    this.#checked = this.#left;
    return true;
  }

  /** The whole file was checked just now, or is new. */
  wasChecked(): void {
    this.#opened = statOf(this.#path);
    const boot = this.#holder.env.boot?.() ?? null;
    this.#checked = boot && checkIn(boot, this.#holder.env.clock.now());
  }

  /** An error of SQLite may be the first sign of damage, so the next start checks the file. */
  noteError(error: unknown): void {
    const code = errorCode(error) ?? '';
    if (/^SQLITE_(?!BUSY|CONSTRAINT|FULL)/.test(code)) this.#has_failed = true;
  }

  /**
   * Leaves the note after SQLite has closed the file. The times of the file must be older than the
   * note: a later change then has a later time.
   */
  leaveNote(): void {
    const checked = this.#checked;
    this.#checked = null;
    if (checked === null || this.#has_failed || hasWal(this.#path)) return;
    const found = statOf(this.#path);
    if (found?.ino !== this.#opened?.ino || found?.dev !== this.#opened?.dev) return;
    try {
      for (let steps = 0; found !== undefined && steps < STEPS_MAX; steps += 1) {
        const note: Note = { ...checked, file: printOf(found) };
        writeFileSync(noteName(this.#path), JSON.stringify(note), { mode: 0o600 });
        const written = statSync(noteName(this.#path), { bigint: true });
        if (written.mtimeNs > found.mtimeNs && written.mtimeNs > found.ctimeNs) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STEP_MS);
      }
    } catch {
      // A full disk, or a folder that cannot be written: the next start checks the file.
    }
    rmSync(noteName(this.#path), { force: true });
  }

  #checkOf(note: Note | null): Check | null {
    const { env } = this.#holder;
    const boot = env.boot?.() ?? null;
    if (note === null || boot?.id !== note.boot_id || hasWal(this.#path)) return null;
    const found = statOf(this.#path);
    if (found === undefined || printOf(found) !== note.file) return null;
    for (const age_ms of [boot.awake_ms - note.awake_ms, env.clock.now() - note.at])
      if (age_ms < 0 || age_ms >= RELIED_ON_MS) return null;
    return note;
  }
}

const noteName = (path: string) => `${path}.closed`;

const checkIn = (boot: Boot, at: number): Check => ({
  boot_id: boot.id,
  awake_ms: boot.awake_ms,
  at,
});

const statOf = (path: string) => statSync(path, { bigint: true, throwIfNoEntry: false });

/** What changes with the content of a file, or when another file takes its place. */
function printOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

/** A WAL with content belongs to a process that did not close the file, or still has it open. */
function hasWal(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function readNote(path: string): Note | null {
  try {
    const { boot_id, awake_ms, at, file }: Note = JSON.parse(readFileSync(noteName(path), 'utf8'));
    const is_whole = [boot_id, file].every((each) => typeof each === 'string' && each !== '');
    const has_times = [awake_ms, at].every((each) => Number.isFinite(each));
    return is_whole && has_times ? { boot_id, awake_ms, at, file } : null;
  } catch {
    return null;
  }
}

/** Returns the count of sends in the database; null: it cannot be read. */
function countedSends(raw: Raw): number | null {
  try {
    const read = raw.prepare(`select value from learned_settings where name = 'sends'`).pluck();
    return Number(read.get() ?? 0);
  } catch {
    return null;
  }
}
