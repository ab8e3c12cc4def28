import { DatabaseKey, parseDatabaseKey } from '../domain/database-key.ts';
import { EligdError } from '../domain/errors.ts';
import type { SecretName, SecretSource } from './secrets.ts';

const NAMES = ['ELIGD_DATABASE_KEY', 'ELIGD_DATABASE_KEY_PREVIOUS'] as const;

/**
 * Returns the database key, followed by the previous one if set; empty: no encryption. Throws an
 * EligdError for an invalid key, without repeating it.
 */
export function databaseKeysOf(secrets: SecretSource): DatabaseKey[] {
  const keys = NAMES.flatMap((name) => databaseKeyOf(secrets, name) ?? []);
  const [current, previous] = keys;
  if (previous !== undefined && previous.id === current?.id) return [previous];
  if (secrets.find('ELIGD_DATABASE_KEY') !== null || current === undefined) return keys;
  throw new EligdError('configuration', {
    what: 'eligd has the previous database key, but not the current one.',
    why: 'ELIGD_DATABASE_KEY_PREVIOUS is set, but ELIGD_DATABASE_KEY is not.',
    next: 'Set ELIGD_DATABASE_KEY as well, or instead.',
  });
}

function databaseKeyOf(secrets: SecretSource, name: SecretName): DatabaseKey | null {
  const found = secrets.find(name);
  if (found === null) return null;
  const key = parseDatabaseKey(found.secret.reveal());
  if (key instanceof DatabaseKey) return key;
  throw new EligdError('configuration', {
    what: `The database key ${name} (${found.from}) is not valid.`,
    why: key.fault,
    next: 'Enter the recovery key again as it is on paper: four lines of four groups.',
  });
}
