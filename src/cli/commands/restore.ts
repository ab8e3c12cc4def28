import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { DatabaseKey, parseDatabaseKey } from '../../domain/database-key.ts';
import { EligdError, errorCode } from '../../domain/errors.ts';
import type { Config } from '../../ops/config.ts';
import { createConnectors } from '../../ops/open-connectors.ts';
import { readTrusted } from '../../ops/trusted-files.ts';
import { settleRestored } from '../../store/bookkeeping/after-restore.ts';
import { connectorJournal } from '../../store/bookkeeping/journal.ts';
import { inspectCopy } from '../../store/engine/backup.ts';
import { WrongKey } from '../../store/engine/driver.ts';
import { lockInstance } from '../../store/engine/instance-lock.ts';
import { addDatabaseKey, databaseKeys } from '../../store/engine/keys.ts';
import { quietAfterRestoreMs, type Restored, restoreDatabase } from '../../store/engine/restore.ts';
import { openStore } from '../../store/engine/store.ts';
import { actorOf } from '../actor.ts';
import { contentJson, contentWords } from '../backup-content.ts';
import type { CliContext } from '../context.ts';
import { openAsker } from '../init/ask.ts';
import { printJson } from '../output.ts';
import { commandEnv } from '../service.ts';
import { clinicTime } from '../times.ts';

/**
 * The clocks of a file server and this machine may differ; reading an export twice does no harm.
 */
const SLACK_MS = 60 * 60_000;

type Options = { recoveryKeyFile?: string; json?: true };

const KEY_TO_PUT_IN_PLACE =
  'eligd: The database is encrypted, and this installation has no key yet. Before you start ' +
  'eligd, set the recovery key as ELIGD_DATABASE_KEY, or as the credential database_key.\n';

/** The sources that a connector had acknowledged since the backup. */
type Sources = {
  connector: string;
  /** Null: the connector reads no files. */
  read_again: number | null;
  does_listen: boolean;
  /** Names of messages; null: unknown. */
  lost: string[] | null;
};

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Replaces the database with a backup. The current database is kept next to it. The daemon ' +
        'must be stopped. This sends nothing: at the next start, eligd first compares the ' +
        'service’s whole list and uses the calls that it finds there instead of making new ' +
        'ones. Files read since the backup are read again. Messages acknowledged since then ' +
        'are lost; eligd lists them.',
    )
    .argument('<file>', 'a file that "eligd backup" or the daemon wrote')
    .option(
      '--recovery-key-file <file>',
      'the file with the recovery key of an encrypted backup; - for standard input. Without ' +
        'it, eligd asks in the terminal. The key is not an argument, because every user can read ' +
        'those.',
    )
    .option('--json', 'as JSON (docs/json.md, eligd.restore/1)')
    .addHelpText(
      'after',
      '\nExamples:\n  eligd restore /var/lib/eligd/backups/eligd-20261121-033000.db\n  eligd ' +
        'restore /mnt/backup/eligd.db --json\n  eligd restore /mnt/backup/eligd.db ' +
        '--recovery-key-file ./recovery-key.txt\n',
    )
    .action(async (file: string, options: Options) => {
      const config = await context.config();
      const env = await commandEnv(context);
      const from = resolve(context.cwd, file);
      // Read before anything changes, and before the lock can name a running daemon.
      const had_key = databaseKeys().length > 0;
      await findKey(context, from, options.recoveryKeyFile);
      const lock = lockInstance(config.state.path);
      try {
        const restored = restoreDatabase(config.state.path, from, env.clock.now(), quietMs(config));
        const sources = await readAgain(context, config, restored);
        if (options.json) printJson(context.stdout, restoreJson(restored, sources));
        else context.stdout.write(`${restoreLines(restored, sources, config).join('\n')}\n`);
        if (!had_key && databaseKeys().length > 0) context.stderr.write(KEY_TO_PUT_IN_PLACE);
      } finally {
        lock.release();
      }
    });
}

/**
 * Opens the backup. If no key of this installation fits, asks for the recovery key that was kept on
 * paper. The restored database gets the key of this installation, if it has one.
 */
async function findKey(
  context: CliContext,
  from: string,
  key_file: string | undefined,
): Promise<void> {
  try {
    inspectCopy(from);
  } catch (error) {
    if (!(error instanceof WrongKey)) throw error;
    if (key_file === undefined && process.stdin.isTTY !== true) {
      const next =
        'Run the command in a terminal, which asks for the recovery key, or use ' +
        '--recovery-key-file FILE.';
      throw new EligdError('configuration', { what: error.what, why: error.why, next });
    }
    addDatabaseKey(await recoveryKey(context, key_file));
    inspectCopy(from);
  }
}

async function recoveryKey(
  context: CliContext,
  key_file: string | undefined,
): Promise<DatabaseKey> {
  const key = parseDatabaseKey(await typedKey(context, key_file));
  if (key instanceof DatabaseKey) return key;
  throw new EligdError('failed', {
    what: 'This is not a recovery key; nothing was changed.',
    why: key.fault,
    next: 'Compare it with the paper, then run the command again.',
  });
}

async function typedKey(context: CliContext, key_file: string | undefined): Promise<string> {
  if (key_file === '-') return await text(process.stdin);
  if (key_file !== undefined) return readKeyFile(resolve(context.cwd, key_file));
  const asker = openAsker(context.stderr);
  try {
    const lines: string[] = [];
    for (const line of [1, 2, 3, 4]) lines.push(await asker.ask(`Recovery key, line ${line} of 4`));
    return lines.join('\n');
  } finally {
    asker.close();
  }
}

function readKeyFile(file: string): string {
  try {
    return readTrusted(file, { role: 'recovery key', is_secret: true }).toString('utf8');
  } catch (error) {
    if (error instanceof EligdError) throw error;
    throw new EligdError('failed', {
      what: `The file ${file} cannot be read.`,
      why: `The system reported ${errorCode(error) ?? 'an unknown error'}.`,
      next: 'Name a file that the user eligd can read, or - for standard input.',
    });
  }
}

/**
 * Opens the restored database, which migrates it to this version, and makes every connector rewind.
 */
async function readAgain(
  context: CliContext,
  config: Config,
  restored: Restored,
): Promise<Sources[]> {
  const env = await commandEnv(context);
  const store = await openStore(config.state.path);
  try {
    await settleRestored(
      store,
      { replaced: restored.replaced, actor: actorOf(context.environment) },
      env.clock.now(),
    );
    const secrets = await context.secrets();
    const means = { secrets, journal: (id: string) => connectorJournal(store, id, env.clock) };
    const opened = await createConnectors(config, env, means);
    const found: Sources[] = [];
    for (const { id, connector } of opened) {
      const since = restored.content.backed_up_at - SLACK_MS;
      const read_again = (await connector.readAgain?.(since, new AbortController().signal)) ?? null;
      const does_listen = connector.listen !== undefined;
      const forgotten =
        restored.forgotten?.filter((each) => each.connector === id).map(({ name }) => name) ?? null;
      found.push({ connector: id, read_again, does_listen, lost: does_listen ? forgotten : [] });
      await connector.close?.();
    }
    return found;
  } finally {
    await store.close();
  }
}

function restoreJson({ content, replaced }: Restored, sources: readonly Sources[]) {
  const connectors = sources.map(({ connector, read_again, lost }) => ({
    id: connector,
    read_again: read_again ?? 0,
    lost,
  }));
  return { schema: 'eligd.restore/1', ...contentJson(content), replaced, connectors };
}

function restoreLines(
  { content, replaced }: Restored,
  sources: readonly Sources[],
  config: Config,
): string[] {
  const since = clinicTime(content.backed_up_at, config);
  return [
    `The database is restored as of ${since}: ${contentWords(content)}.`,
    ...(replaced === null
      ? []
      : [
          `The previous database is kept as ${replaced}. It holds patient data; delete it ` +
            'when you no longer need it.',
        ]),
    ...sources.flatMap((each) => sourceLines(each, since)),
    'The daemon sends no requests to the service for the next ' +
      `${durationWords(quietMs(config))}. Then it compares the service’s list and continues. ` +
      'Next: systemctl start eligd',
  ];
}

function quietMs({ service }: Config): number {
  return quietAfterRestoreMs({
    settle_seconds: service.settle_seconds,
    max_per_minute: service.submission.max_per_minute,
  });
}

function durationWords(duration_ms: number): string {
  return duration_ms < 120_000
    ? `${Math.ceil(duration_ms / 1000)} seconds`
    : `${Math.ceil(duration_ms / 60_000)} minutes`;
}

function sourceLines(
  { connector, read_again, does_listen, lost }: Sources,
  since: string,
): string[] {
  if (read_again === null && !does_listen)
    return [`${connector}: reads again what has changed since then.`];
  const lines: string[] = [];
  if (read_again !== null)
    lines.push(
      `${connector}: ${read_again} ${read_again === 1 ? 'file is' : 'files are'} read again.`,
    );
  if (does_listen) lines.push(`${connector}: ${lostSentence(lost, since, (read_again ?? 0) > 0)}`);
  return lines;
}

function lostSentence(
  lost: readonly string[] | null,
  since: string,
  may_be_in_files: boolean,
): string {
  const unless = may_be_in_files ? ' unless they are in those files' : '';
  if (lost === null)
    return (
      `messages that were acknowledged since ${since} are lost${unless}, and the replaced ` +
      'database cannot say which. Have the practice management system send everything ' +
      'since then again.'
    );
  if (lost.length === 0) return 'no message was acknowledged since then.';
  return (
    `${lost.length} acknowledged ${lost.length === 1 ? 'message is' : 'messages are'} ` +
    `lost${unless}; have the practice management system send again: ${lost.join(', ')}`
  );
}
