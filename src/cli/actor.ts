import { userInfo } from 'node:os';

/** An account name as the system allows it; eligd ignores any other value of SUDO_USER. */
const ACCOUNT = /^[A-Za-z0-9_][A-Za-z0-9_.@\\-]{0,63}$/;

/**
 * Returns the account that runs the command: the one that called sudo, otherwise the current one.
 * Root can set SUDO_USER to any name; the logs of sudo and of the logins are the proof
 * (SECURITY.md).
 */
export function actorOf(environment: Readonly<Record<string, string | undefined>>): string {
  const { SUDO_USER } = environment;
  if (SUDO_USER !== undefined && ACCOUNT.test(SUDO_USER)) return SUDO_USER;
  try {
    return userInfo().username;
  } catch {
    // The account has a number but no name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
