import { randomBytes } from 'node:crypto';
import { DatabaseKey, KEY_BYTES, parseDatabaseKey } from '../../domain/database-key.ts';
import { EligdError } from '../../domain/errors.ts';

/**
 * Returns the database key for a new service, and what to tell the user about it. `given` in the
 * environment wins, such as the recovery key of an earlier machine; then the service's current key.
 * An existing database is not changed.
 */
export function systemDatabaseKey(known: {
  given: string | undefined;
  kept: string | undefined;
  has_database: boolean;
}): { secrets: [name: 'ELIGD_DATABASE_KEY', value: string][]; said: string } {
  const value = known.given || known.kept;
  if (value) {
    const key = parseDatabaseKey(value);
    if (key instanceof DatabaseKey) return { secrets: [written(key)], said: '' };
    throw new EligdError('usage', {
      what: 'The database key is not valid; nothing was written.',
      why: key.fault,
      next: 'Correct ELIGD_DATABASE_KEY in the environment of this command, or unset it.',
    });
  }
  if (known.has_database) {
    const said =
      'There is already a database; it was not changed. To encrypt it: see "Encryption" in ' +
      '/usr/share/doc/eligd/README.md.\n\n';
    return { secrets: [], said };
  }
  const key = new DatabaseKey(randomBytes(KEY_BYTES));
  const lines = key.reveal().map((line) => `    ${line}\n`);
  return {
    secrets: [written(key)],
    said:
      'The database and its backups are encrypted. Write this recovery key on paper now, and ' +
      'keep it away from this machine: without it no backup can be read on another one.\n\n' +
      `${lines.join('')}\n`,
  };
}

function written(key: DatabaseKey): ['ELIGD_DATABASE_KEY', string] {
  return ['ELIGD_DATABASE_KEY', key.reveal().join(' ')];
}
