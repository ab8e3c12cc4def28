/**
 * The only place where a file of eligd is opened as a database. Without a key that is
 * better-sqlite3; with one it is better-sqlite3-multiple-ciphers, which has the same interface and
 * is loaded only then. An encrypted file is one of SQLCipher 4 (AES-256, and a checksum of each
 * page that needs the key), and so are its WAL and what VACUUM INTO writes.
 *
 * A process uses one of the two for a file, never both: when the second lets go of the file, the
 * system takes the locks of the first away (fcntl(2)). For the same reason nothing but SQLite opens
 * a database that may be in use.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import Database from 'better-sqlite3';
import { type DatabaseKey, keyIdOf } from '../../domain/database-key.ts';
import { EligdError, errorCode } from '../../domain/errors.ts';
import { databaseKeys } from './keys.ts';

export type Raw = Database.Database;

/** Those of better-sqlite3. */
export type OpenOptions = { readonly?: boolean; fileMustExist?: boolean; timeout?: number };

type Encrypting = Raw & { key: (key: Buffer) => number };

/** The key of this installation is missing, or is not the one that a file needs. */
export class WrongKey extends EligdError {}

const HEAD_BYTES = 16;
const PLAIN_HEAD = 'SQLite format 3\0';

/**
 * Opens the file at `path` with the key that it needs. Throws what better-sqlite3 throws, and
 * `WrongKey` when eligd has no key for it.
 */
export function openSqlite(path: string, options: OpenOptions = {}): Raw {
  return openKeyed(path, options).raw;
}

/** The same, with the key that fits; null: the file is not encrypted. */
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
  // Damaged: whoever reads it is told so.
  return { raw: openWith(path, keys[0] ?? null, options), key: keys[0] ?? null };
}

/** Opens a file with this key and no other; null: as one that is not encrypted. */
export function openWith(path: string, key: DatabaseKey | null, options: OpenOptions = {}): Raw {
  const raw = new (encryptingDriver())(path, options);
  try {
    raw.pragma(`cipher = 'sqlcipher'`);
    if (key !== null) raw.key(key.forCipher());
    // What does not fit into memory would go into a file that is not encrypted.
    raw.pragma('temp_store = memory');
    return raw;
  } catch (error) {
    raw.close();
    throw error;
  }
}

/** A database in memory: empty, or with what `serialize` of another one gave. */
export function openMemory(content?: Buffer): Raw {
  const driver = databaseKeys().length === 0 ? Database : encryptingDriver();
  return new driver(content ?? ':memory:');
}

/** Closes what does not fit. Other errors, such as a busy file, are the caller's. */
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

/** What a file on the disk is; `key_id` of an encrypted one. */
export type FileForm = 'plain' | 'unknown' | { key_id: string };

/** Looks at the first bytes; only of files that no connection of this process has open. */
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
 * The error for a file that SQLite could not read, when it needs a key that eligd does not have;
 * null when it is not that.
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
      next: 'Install eligd again: apt install --reinstall eligd, or npm ci --ignore-scripts.',
      cause: error,
    });
  }
  return loaded as Encrypted;
}
