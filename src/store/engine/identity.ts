import { closeSync, existsSync, openSync, readdirSync, type Stats, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { sql } from 'kysely';
import { EligdError, errorCode } from '../../domain/errors.ts';
import { hasBackups } from './backup.ts';
import type { Db } from './database.ts';

/** The file that was opened: its name may stand for another one, or for none, later. */
export class FileIdentity {
  readonly #path: string;
  readonly #opened: Stats;

  constructor(path: string) {
    this.#path = path;
    this.#opened = statSync(path);
  }

  /** Throws when the file was deleted or replaced: what is written into it would be lost. */
  check(): void {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    if (found?.ino === this.#opened.ino && found.dev === this.#opened.dev) return;
    const done = found === undefined ? 'deleted' : 'replaced';
    throw new EligdError('failed', {
      what: `The database ${this.#path} was ${done} while eligd ran.`,
      why: 'Anything eligd wrote now would be lost, so it makes no more calls and stops.',
      next:
        'Stop eligd and put the right file back: "eligd restore" with the file whose name ends ' +
        'in .rescued.db, if there is one next to it, or with the newest backup.',
    });
  }
}

/**
 * What shows that there was a database before the one at `path`: backups, or copies next to it.
 * Sentences for the operator; empty when nothing does.
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

/** A folder that cannot be read may hold some: not to know is not to know of none. */
function tracesIn(backup_folder: string): string[] {
  try {
    return hasBackups(backup_folder) ? [`there are backups in ${backup_folder}`] : [];
  } catch (error) {
    const code = errorCode(error) ?? 'failed';
    return [`whether there are backups in ${backup_folder} cannot be seen (${code})`];
  }
}

/** Where the content of a database goes that was deleted while it was open. */
export function rescueName(path: string): string {
  return `${path}.rescued.db`;
}

/** Copies what an open database still holds after its file was deleted; the copy must not exist. */
export async function rescueDatabase(db: Db, path: string): Promise<void> {
  const to = rescueName(path);
  closeSync(openSync(to, 'wx', 0o600));
  await sql`vacuum into ${to}`.execute(db);
}
