/**
 * The users of the office page: a file with one line per user (`name role hash`), which only `eligd
 * user` writes. Passwords are stored as salted scrypt hashes (RFC 7914); a user who logs in at a
 * group's provider has the account instead.
 */
import { randomBytes, randomInt, scrypt, timingSafeEqual } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { EligdError } from '../domain/errors.ts';
import type { Config } from '../ops/config.ts';
import { readTrusted, requireTrusted } from '../ops/trusted-files.ts';

/** Each role includes the ones before it. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export type User = { name: string; role: Role; hash: string };

/** Returns whether `role` includes the rights of `needed`. */
export const mayDo = (role: Role, needed: Role): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(needed);

/** OWASP's parameters for scrypt with 32 MiB of memory: N, r, p. */
const COST = { N: 2 ** 15, r: 8, p: 3 };
const HASH_BYTES = 32;
const SALT_BYTES = 16;
const PASSWORD_CHARS_MIN = 12;
/** Longer input would let anyone cause expensive hashing. */
export const PASSWORD_CHARS_MAX = 200;
const NAME = /^[a-z][a-z0-9._-]{0,31}$/;

/** Hashes a password; the result includes the cost parameters. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt, COST);
  const { N, r, p } = COST;
  return ['scrypt', N, r, p, salt.toString('base64url'), key.toString('base64url')].join(':');
}

/** Returns whether the password matches; false for an unreadable hash. */
export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [kind, N, r, p, salt = '', key = ''] = hash.split(':');
  if (kind !== 'scrypt') return false;
  const expected = Buffer.from(key, 'base64url');
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const found = await derive(password, Buffer.from(salt, 'base64url'), cost);
  return expected.length === found.length && timingSafeEqual(expected, found);
}

function derive(password: string, salt: Buffer, cost: typeof COST): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const limits = { ...cost, maxmem: 256 * cost.N * cost.r };
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, limits, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

/** Says in a sentence why the password is too weak; null: it is good enough. */
export function passwordFault(password: string, name: string): string | null {
  if (password.length < PASSWORD_CHARS_MIN)
    return `It has ${password.length} characters; at least ${PASSWORD_CHARS_MIN} are needed.`;
  if (password.length > PASSWORD_CHARS_MAX)
    return `It has ${password.length} characters; at most ${PASSWORD_CHARS_MAX} are allowed.`;
  if (password.toLowerCase().includes(name)) return 'It contains the user name.';
  if (new Set(password).size < 5) return 'It only repeats a few characters.';
  return null;
}

const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';

/** Generates four groups of four characters: 79 bits, without look-alike characters. */
export function generatedPassword(): string {
  const group = () => Array.from({ length: 4 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return [group(), group(), group(), group()].join('-');
}

export const isUserName = (name: string): boolean => NAME.test(name);

/** Stored instead of a password hash: the account at the login provider. No password matches it. */
export const signOnMark = (account: string): string =>
  `${SIGN_ON}${encodeURIComponent(account.trim())}`;

const SIGN_ON = 'sign-on:';

/** An account confirmed by a login provider; `is_exact`: the case of the letters matters. */
export type SignedOn = { account: string; is_exact: boolean };

/** Returns whether a user's `hash` names this account. */
export function isSignOnOf(hash: string, { account, is_exact }: SignedOn): boolean {
  const plain = (mark: string) => (is_exact ? mark : mark.toLowerCase());
  return hash.startsWith(SIGN_ON) && plain(hash) === plain(signOnMark(account));
}

/** Returns the path of the users file: as configured, otherwise next to the database. */
export function usersPath({ office, state }: Pick<Config, 'office' | 'state'>): string {
  return office?.users ?? join(dirname(state.path), 'office-users');
}

/** The users of the file, read again when it changes. No file: no users. */
export class UserFile {
  readonly path: string;
  #mark = '';
  #users: readonly User[] = [];

  constructor(path: string) {
    this.path = path;
  }

  /**
   * Returns all users. Throws an EligdError when other accounts can read or change the file, or
   * when a line is damaged.
   */
  all(): readonly User[] {
    if (!existsSync(this.path)) return [];
    const { mtimeMs, ino, size } = statSync(this.path);
    const mark = `${mtimeMs} ${ino} ${size}`;
    if (mark === this.#mark) return this.#users;
    this.#users = parseUsers(
      readTrusted(this.path, { role: 'users file', is_secret: true }).toString('utf8'),
      this.path,
    );
    this.#mark = mark;
    return this.#users;
  }

  find(name: string): User | null {
    return this.all().find((user) => user.name === name) ?? null;
  }

  /** Replaces the whole file; only its owner can read it. */
  write(users: readonly User[]): void {
    requireTrusted(this.path, { role: 'users file', is_secret: true });
    // Users may be added before the first start of eligd.
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const temporary = `${this.path}.part`;
    rmSync(temporary, { force: true });
    const text = users.map(({ name, role, hash }) => `${name} ${role} ${hash}\n`).join('');
    const file = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, this.path);
    this.#mark = '';
  }
}

function parseUsers(text: string, path: string): User[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, index) => {
      const [name = '', role, hash = ''] = line.split(' ');
      const known = ROLES.find((each) => each === role);
      if (known === undefined || !isUserName(name) || !/^(?:scrypt|sign-on):/.test(hash))
        throw new EligdError('configuration', {
          what: `Line ${index + 1} of the users file ${path} cannot be read.`,
          why: 'Only "eligd user" should write this file.',
          next: 'Delete the line, then add the user again with "eligd user add".',
        });
      return { name, role: known, hash };
    });
}
