import { userInfo } from 'node:os';

/** A name that a system for accounts would take; anything else in SUDO_USER is no account. */
const ACCOUNT = /^[A-Za-z0-9_][A-Za-z0-9_.@\\-]{0,63}$/;

/**
 * Who runs the command: who called sudo, otherwise the account that it runs under. Root can claim
 * to be anybody; the log of sudo and of the logins is the proof then (SECURITY.md).
 */
export function actorOf(environment: Readonly<Record<string, string | undefined>>): string {
  const { SUDO_USER } = environment;
  if (SUDO_USER !== undefined && ACCOUNT.test(SUDO_USER)) return SUDO_USER;
  try {
    return userInfo().username;
  } catch {
    // An account that the system has no name for.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
