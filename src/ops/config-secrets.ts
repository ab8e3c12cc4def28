import type { ConfigDocument, ConfigProblem } from './config-document.ts';
import { keyPath } from './config-problems.ts';
import { SECRETS } from './secrets.ts';

const SECRET_KEY =
  /(?:^|[_-])(?:password|passwd|passphrase|secret|api_?key|token|private_key|credentials?)$/i;
const USER_IN_ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[^/\s@]*:[^/\s@]*@/i;
/** The keys in these sections are names that the clinic chooses. */
const NAMED_BY_THE_CLINIC = new Set(['locations', 'providers']);

/**
 * Finds secrets in the configuration. They are refused everywhere, because more people read this
 * file than `.env`, and `eligd config show` prints it. The error never repeats their values.
 */
export function secretsInConfig(document: ConfigDocument): {
  problems: ConfigProblem[];
  paths: ReadonlySet<string>;
} {
  const found = document.keys().filter(({ path, key, value }) => {
    if (NAMED_BY_THE_CLINIC.has(String(path[0])) && path.length === 2) return false;
    return SECRET_KEY.test(key) || /^ELIGD_/i.test(key) || isAddressWithUser(value);
  });
  return {
    problems: found.map(({ path, key, value }) => ({
      path: keyPath(path),
      line: document.lineOf(path),
      what: 'contains a secret, which is not allowed in this file.',
      next: isAddressWithUser(value)
        ? 'Remove the user name and password from the address, and put them into the file .env ' +
          'next to the configuration (chmod 600).'
        : `Delete it, and write ${secretName(keyPath(path), key)} into the file .env next to ` +
          'the configuration (chmod 600).',
    })),
    paths: new Set(found.map(({ path }) => keyPath(path))),
  };
}

function isAddressWithUser(value: unknown): boolean {
  return typeof value === 'string' && USER_IN_ADDRESS.test(value);
}

function secretName(path: string, key: string): string {
  const guess = key.toUpperCase().startsWith('ELIGD_')
    ? key.toUpperCase()
    : `ELIGD_${path.replaceAll(/[^A-Za-z0-9]+/g, '_').toUpperCase()}`;
  return guess in SECRETS ? `${guess}=…` : 'it';
}
