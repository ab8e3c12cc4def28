import { closeSync, existsSync, openSync, readdirSync, type Stats, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { sql } from 'kysely';
import { EligdError, errorCode } from '../../domain/errors.ts';
import { hasBackups } from './backup.ts';
import type { Db } from './database.ts';

/**
 * The identity of the file that was opened: its name may later belong to another file, or to none.
 */
export class FileIdentity {
  readonly #path: string;
  readonly #opened: Stats;

  constructor(path: string) {
    this.#path = path;
    this.#opened = statSync(path);
  }

  /**
   * Throws when the file was deleted or replaced, because anything written into it would be lost.
   */
  check(): void {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    if (found?.ino === this.#opened.ino && found.dev === this.#opened.dev) return;
    const done = found === undefined ? 'deleted' : 'replaced';
    throw new EligdError('failed', {
      what: `The database ${this.#path} was ${done} while eligd was running.`,
      why: 'Anything eligd wrote now would be lost, so it makes no more calls and stops.',
      next:
        'Stop eligd and put the right file back: "eligd restore" with the file whose name ends ' +
        'in .rescued.db, if there is one next to it, or with the newest backup.',
    });
  }
}

/**
 * Returns signs of an earlier database than the one at `path`: backups, or copies next to it. As
 * parts of a sentence for the operator; empty when there are none.
 */
export function tracesOfDatabase(path: string, backup_folder: string): string[] {
  const folder = dirname(path);
  const copies = existsSync(folder)
    ? readdirSync(folder).filter(
        (name) =>
          name.startsWith(`${basename(path)}.replaced-`) || name === basename(rescueName(path)),
      )
    : [];
  return [
    ...tracesIn(backup_folder),
    ...(copies.length > 0 ? ['an older copy is next to it'] : []),
  ];
}

/**
 * Reports backups in the folder. An unreadable folder is also reported, because it may contain
 * some.
 */
function tracesIn(backup_folder: string): string[] {
  try {
    return hasBackups(backup_folder) ? [`there are backups in ${backup_folder}`] : [];
  } catch (error) {
    const code = errorCode(error) ?? 'failed';
    return [`there may be backups in ${backup_folder}, which cannot be read (${code})`];
  }
}

/** Returns where to save the content of a database that was deleted while it was open. */
function rescueName(path: string): string {
  return `${path}.rescued.db`;
}

/** Copies the content of an open database after its file was deleted; the target must not exist. */
export async function rescueDatabase(db: Db, path: string): Promise<void> {
  const to = rescueName(path);
  closeSync(openSync(to, 'wx', 0o600));
  await sql`vacuum into ${to}`.execute(db);
}
