import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { DatabaseKey, KEY_BYTES } from '../../domain/database-key.ts';
import { EligdError } from '../../domain/errors.ts';
import { lockInstance } from '../../store/engine/instance-lock.ts';
import { databaseKeys } from '../../store/engine/keys.ts';
import { keyIdOfDatabase, recodeDatabase } from '../../store/engine/recode.ts';
import type { CliContext } from '../context.ts';
import { noteAction } from '../looks.ts';
import { withProgressLine } from '../progress-line.ts';

const AS_INSTALLED = 'On an installed server: "Encryption" in /usr/share/doc/eligd/README.md.';

export function register(command: Command, context: CliContext): void {
  command.description(
    'Encrypts the database, its backups, and the copies left by upgrades and restores. The key ' +
      'is ELIGD_DATABASE_KEY, or the credential database_key.',
  );
  command.addHelpText('after', '\nExamples:\n  eligd database key\n  eligd database encrypt\n');
  command
    .command('key')
    .description('Prints a new key as a recovery key, to keep on paper. Nothing is changed.')
    .option('--current', 'print the current key instead, to put it on paper again')
    .addHelpText(
      'after',
      `\nExamples:\n  eligd database key\n  eligd database key --current\n\n${AS_INSTALLED}\n`,
    )
    .action(async (options: { current?: true }) => {
      const key = options.current
        ? await currentKey(context)
        : new DatabaseKey(randomBytes(KEY_BYTES));
      const reason = 'The recovery key was printed: “eligd database key --current”.';
      if (options.current)
        await noteAction(context, { subject: 'database', to_state: 'key_shown', reason });
      context.stdout.write(`${key.reveal().join('\n')}\n`);
    });
  for (const each of CHANGES) registerChange(command, context, each);
}

type Change = {
  name: 'encrypt' | 'rekey' | 'decrypt';
  description: string;
  /**
   * Refuses the change if the database is in the wrong state; a null key ID means not encrypted.
   */
  refusal: (key_id: string | null) => { why: string; next: string } | null;
  /** The verb for the audit trail. */
  did: string;
  done: string;
};

const CHANGES: readonly Change[] = [
  {
    name: 'encrypt',
    description: 'Encrypts a database that is in plain text. The daemon must be stopped.',
    refusal: (key_id) =>
      key_id === null || key_id === databaseKeys()[0]?.id
        ? null
        : {
            why: 'It is still encrypted with the previous key.',
            next: 'Run "eligd database rekey".',
          },
    did: 'encrypted',
    done: 'is encrypted',
  },
  {
    name: 'rekey',
    description:
      'Encrypts with a different key: ELIGD_DATABASE_KEY is the new one, ' +
      'ELIGD_DATABASE_KEY_PREVIOUS the old one. The daemon must be stopped.',
    refusal: (key_id) =>
      key_id === null
        ? { why: 'It is not encrypted.', next: 'Run "eligd database encrypt".' }
        : null,
    did: 'rekeyed',
    done: 'is encrypted with the new key; you can remove ELIGD_DATABASE_KEY_PREVIOUS',
  },
  {
    name: 'decrypt',
    description: 'Decrypts everything. The daemon must be stopped.',
    refusal: () => null,
    did: 'decrypted',
    done:
      'is decrypted. Remove the key (ELIGD_DATABASE_KEY, the credential database_key); as long ' +
      'as it is there, eligd does not start',
  },
];

function registerChange(command: Command, context: CliContext, change: Change): void {
  command
    .command(change.name)
    .description(
      `${change.description} If it is interrupted, you have either the old file or the new one: ` +
        'run it again.',
    )
    .addHelpText('after', `\nExamples:\n  eligd database ${change.name}\n\n${AS_INSTALLED}\n`)
    .action(async () => await carryOut(context, change));
}

async function carryOut(context: CliContext, { name, refusal, did, done }: Change): Promise<void> {
  const { state, backup } = await context.config();
  const key = await currentKey(context);
  if (!existsSync(state.path)) {
    throw new EligdError('configuration', {
      what: `There is no database at ${state.path} yet.`,
      why: 'eligd has not run with this configuration.',
      next:
        'Use --config FILE to name the right configuration; a new database is encrypted at ' +
        'once.',
    });
  }
  const lock = lockInstance(state.path);
  try {
    const refused = refusal(keyIdOfDatabase(state.path));
    if (refused !== null)
      throw new EligdError('failed', { what: `${state.path} was not changed.`, ...refused });
    const { changed, left } = await withProgressLine(
      context.stderr,
      () => 'writing the database and its copies again',
      async () => recodeDatabase(state.path, backup.folder, name === 'decrypt' ? null : key),
    );
    const reason = `The database and its copies were ${did}: “eligd database ${name}”.`;
    if (changed.includes(state.path))
      await noteAction(context, { subject: 'database', to_state: did, reason });
    for (const file of changed) context.stdout.write(`Changed: ${file}\n`);
    context.stdout.write(`${state.path} ${done}.\n`);
    if (left.length > 0) throw leftOver(left);
  } finally {
    lock.release();
  }
}

async function currentKey(context: CliContext): Promise<DatabaseKey> {
  await context.config();
  const [key] = databaseKeys();
  if (key !== undefined) return key;
  throw new EligdError('configuration', {
    what: 'eligd was given no database key.',
    why: 'Neither ELIGD_DATABASE_KEY nor the credential database_key is set.',
    next:
      'Make one with "eligd database key", write it on paper, and put it into .env as ' +
      `ELIGD_DATABASE_KEY='…' on one line. ${AS_INSTALLED}`,
  });
}

function leftOver(left: readonly { file: string; why: string }[]): EligdError {
  return new EligdError('failed', {
    what: `${left.length === 1 ? 'One copy was' : 'Some copies were'} not changed.`,
    why: left.map(({ file, why }) => `\n- ${file}: ${why}`).join(''),
    next: 'Delete what is not needed, and run the same command again for the rest.',
  });
}
