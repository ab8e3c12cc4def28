/**
 * Logins and sessions. A session is a random cookie whose hash is in the database. It ends after a
 * time without a click, after half a day, with a new password, and when the user is removed.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { officeActor } from '../domain/actor.ts';
import type { Clock } from '../domain/env.ts';
import { lockedUntil } from '../domain/lockout.ts';
import { HOUR_MS, MINUTE_MS } from '../domain/time.ts';
import {
  beginSession,
  countFailure,
  endSession,
  endSessions,
  findSession,
  forgetFailures,
  readFailures,
  touchSession,
} from '../store/bookkeeping/office.ts';
import type { Store } from '../store/engine/store.ts';
import {
  hashPassword,
  isPassword,
  isSignOnOf,
  PASSWORD_CHARS_MAX,
  type SignedOn,
  type User,
  type UserFile,
} from './users.ts';

/** Even a session with constant clicks ends by the next morning. */
const SESSION_MS_MAX = 12 * HOUR_MS;
const TOUCH_AFTER_MS = MINUTE_MS;
/** Each check takes 32 MiB and a tenth of a second of one core. */
const CHECKS_AT_ONCE_MAX = 2;
/** The most logins in progress; anyone else is asked to try again. */
const LOGINS_MAX = 18;

export type Session = { user: User; csrf: string; token: string };

/** Returns the user of a session, for the audit trail and the access log. */
export const actorOf = ({ user }: Pick<Session, 'user'>): string => officeActor(user.name);

type LoginResult =
  | { kind: 'in'; token: string }
  | { kind: 'wrong' }
  | { kind: 'locked'; until: number }
  | { kind: 'busy' };

export class Access {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #users: UserFile;
  readonly #idle_ms: number;
  #logins = 0;
  #checking = 0;
  readonly #waiting: (() => void)[] = [];
  #dummy_hash: Promise<string> | undefined;

  constructor(options: { store: Store; clock: Clock; users: UserFile; idle_ms: number }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#users = options.users;
    this.#idle_ms = options.idle_ms;
  }

  /**
   * Logs in with a password. Counts the attempt before it checks the password, so that simultaneous
   * attempts also count.
   */
  async login(given_name: string, password: string): Promise<LoginResult> {
    // Counted before the first await, so that simultaneous logins cannot exceed the limit.
    if (this.#logins >= LOGINS_MAX) return { kind: 'busy' };
    this.#logins += 1;
    try {
      return await this.#judge(given_name.trim().toLowerCase().slice(0, 100), password);
    } finally {
      this.#logins -= 1;
    }
  }

  async #judge(name: string, password: string): Promise<LoginResult> {
    const now = this.#clock.now();
    const until = await this.#store.write(async (tx) => {
      const locked = lockedUntil(await readFailures(tx, name), now);
      if (locked === null) await countFailure(tx, name, now);
      return locked;
    });
    if (until !== null) return { kind: 'locked', until };
    const user = this.#users.find(name);
    if (!(await this.#isRight(user, password)) || user === null) return { kind: 'wrong' };
    return { kind: 'in', token: await this.#begin(user) };
  }

  /**
   * Logs in an account that the login provider confirmed. Null: no user was added with this
   * account.
   */
  async signOn(account: SignedOn): Promise<string | null> {
    const user = this.#users.all().find(({ hash }) => isSignOnOf(hash, account));
    return user === undefined ? null : await this.#begin(user);
  }

  async #begin(user: User): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    const now = this.#clock.now();
    await this.#store.write(async (tx) => {
      await forgetFailures(tx, user.name);
      await endSessions(tx, now - SESSION_MS_MAX);
      await beginSession(tx, token, {
        user: user.name,
        csrf: randomBytes(32).toString('base64url'),
        password_mark: markOf(user),
        created_at: now,
        seen_at: now,
      });
    });
    return token;
  }

  /** Returns the session of a cookie; null: not logged in. `is_click`: the user did something. */
  async session(token: string, is_click: boolean): Promise<Session | null> {
    const found = await findSession(this.#store.db, token);
    if (found === null) return null;
    const now = this.#clock.now();
    const user = this.#users.find(found.user);
    const is_over =
      user === null ||
      found.password_mark !== markOf(user) ||
      now - found.seen_at > this.#idle_ms ||
      now - found.created_at > SESSION_MS_MAX;
    if (is_over) {
      await this.logout(token);
      return null;
    }
    if (is_click && now - found.seen_at > TOUCH_AFTER_MS)
      await this.#store.write((tx) => touchSession(tx, token, now));
    return { user, csrf: found.csrf, token };
  }

  async logout(token: string): Promise<void> {
    await this.#store.write((tx) => endSession(tx, token));
  }

  /**
   * Checks the password. Takes equally long for an unknown name, so the time does not show which
   * names exist.
   */
  async #isRight(user: User | null, password: string): Promise<boolean> {
    if (password.length > PASSWORD_CHARS_MAX) return false;
    await this.#turn();
    try {
      this.#dummy_hash ??= hashPassword(randomBytes(16).toString('hex'));
      const dummy_hash = await this.#dummy_hash;
      return await isPassword(password, user?.hash.startsWith('scrypt:') ? user.hash : dummy_hash);
    } finally {
      this.#checking -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #turn(): Promise<void> {
    if (this.#checking >= CHECKS_AT_ONCE_MAX)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#checking += 1;
  }
}

/** Changes with the password, but reveals nothing about it. */
function markOf({ hash }: User): string {
  return createHash('sha256').update(hash).digest('base64url').slice(0, 22);
}

/** Returns whether a form contains the token of its page. */
export function isSameToken(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
