/**
 * The only place where eligd opens a file as a database. Without a key it uses better-sqlite3; with
 * one, better-sqlite3-multiple-ciphers, which has the same interface and is loaded only then. An
 * encrypted file has the format of SQLCipher 4 (AES-256, and a keyed checksum on each page), as do
 * its WAL and the output of VACUUM INTO.
 *
 * A process uses only one of the two for a file: when the second one closes the file, the system
 * drops the locks of the first (fcntl(2)). For the same reason, only SQLite may open a database
 * that may be in use.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import Database from 'better-sqlite3';
import { type DatabaseKey, keyIdOf } from '../../domain/database-key.ts';
import { EligdError, errorCode } from '../../domain/errors.ts';
import { databaseKeys } from './keys.ts';

export type Raw = Database.Database;

/** Options of better-sqlite3. */
type OpenOptions = { readonly?: boolean; fileMustExist?: boolean; timeout?: number };

type Encrypting = Raw & { key: (key: Buffer) => number };

/** The installation's key is missing, or the file needs a different one. */
export class WrongKey extends EligdError {}

const HEAD_BYTES = 16;
const PLAIN_HEAD = 'SQLite format 3\0';

/**
 * Opens the file at `path` with the key that it needs. Throws the errors of better-sqlite3, and
 * `WrongKey` when eligd has no key for the file.
 */
export function openSqlite(path: string, options: OpenOptions = {}): Raw {
  return openKeyed(path, options).raw;
}

/** Opens the file and also returns the key that fits; null: the file is not encrypted. */
export function openKeyed(
  path: string,
  options: OpenOptions = {},
): { raw: Raw; key: DatabaseKey | null } {
  const keys = databaseKeys();
  if (keys.length === 0) return { raw: new Database(path, options), key: null };
  for (const key of [...keys, null]) {
    const raw = openWith(path, key, options);
    if (fits(raw)) return { raw, key };
  }
  const wrong = keyTrouble(path);
  if (wrong !== null) throw wrong;
  // Damaged: reading it throws the right error.
  return { raw: openWith(path, keys[0] ?? null, options), key: keys[0] ?? null };
}

/** Opens a file with this key only; null: as an unencrypted file. */
export function openWith(path: string, key: DatabaseKey | null, options: OpenOptions = {}): Raw {
  const raw = new (encryptingDriver())(path, options);
  try {
    raw.pragma(`cipher = 'sqlcipher'`);
    if (key !== null) raw.key(key.forCipher());
    // Otherwise temporary data that exceeds memory would go into an unencrypted file.
    raw.pragma('temp_store = memory');
    return raw;
  } catch (error) {
    raw.close();
    throw error;
  }
}

/** Opens a database in memory: empty, or with the output of `serialize`. */
export function openMemory(content?: Buffer): Raw {
  const driver = databaseKeys().length === 0 ? Database : encryptingDriver();
  return new driver(content ?? ':memory:');
}

/**
 * Returns whether the key fits, and closes the file if not. Throws other errors, such as a busy
 * file.
 */
function fits(raw: Raw): boolean {
  try {
    raw.prepare('select count(*) from sqlite_master').get();
    return true;
  } catch (error) {
    raw.close();
    if (errorCode(error) === 'SQLITE_NOTADB') return false;
    throw error;
  }
}

/** The format of a file on disk; `key_id` if it is encrypted. */
type FileForm = 'plain' | 'unknown' | { key_id: string };

/** Reads the first bytes. Only for files that no connection of this process has open. */
export function formOf(path: string): FileForm {
  const head = Buffer.alloc(HEAD_BYTES);
  const handle = openSync(path, 'r');
  try {
    readSync(handle, head, 0, HEAD_BYTES, 0);
  } finally {
    closeSync(handle);
  }
  if (head.toString('latin1') === PLAIN_HEAD) return 'plain';
  const key_id = keyIdOf(head);
  return key_id === null ? 'unknown' : { key_id };
}

/**
 * Returns the error for an unreadable file that needs a key that eligd does not have; null for
 * other causes.
 */
export function keyTrouble(path: string): WrongKey | null {
  const keys = databaseKeys();
  const form = formOf(path);
  if (typeof form === 'string' || keys.some(({ id }) => id === form.key_id)) return null;
  const next =
    'Nothing is damaged. Set the right key (the credential database_key, or ELIGD_DATABASE_KEY ' +
    'in .env). It is the recovery key that was printed when the database was encrypted. If you ' +
    'have just changed the key, keep the old one as ELIGD_DATABASE_KEY_PREVIOUS and run "eligd ' +
    'database rekey".';
  const has = keys.length === 0 ? '' : `; eligd has ${keys.map(({ id }) => id).join(' and ')}`;
  return new WrongKey('configuration', {
    what:
      keys.length === 0
        ? `${path} is encrypted, but eligd has no key.`
        : `${path} is encrypted with a different key than eligd has.`,
    why: `It needs the key ${form.key_id}${has}.`,
    next,
  });
}

type Encrypted = new (path: string | Buffer, options?: OpenOptions) => Encrypting;

let loaded: Encrypted | null = null;

function encryptingDriver(): Encrypted {
  try {
    loaded ??= createRequire(import.meta.url)('better-sqlite3-multiple-ciphers');
  } catch (error) {
    throw new EligdError('configuration', {
      what: 'eligd has a database key, but cannot encrypt.',
      why:
        'The package better-sqlite3-multiple-ciphers cannot be loaded ' +
        `(${errorCode(error) ?? 'no code'}).`,
      next:
        'Install eligd again: apt install --reinstall eligd, or npm ci --ignore-scripts ' +
        '--include=optional.',
      cause: error,
    });
  }
  return loaded as Encrypted;
}
