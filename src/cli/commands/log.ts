import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { type Command, Option } from 'commander';
import { EligdError, errorCode } from '../../domain/errors.ts';
import { LEVELS, type LogChoice, logSentence } from '../../ops/log-sentences.ts';
import type { CliContext } from '../context.ts';

type Options = { level: LogChoice['level']; work?: string; lines: string; since?: string };

const LINES = '200';

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Prints the log as sentences, from the journal of the eligd daemon or from a file. ' +
        'Read-only.',
    )
    .argument('[file]', 'a log file; - is standard input')
    .addOption(
      new Option('--level <level>', 'only this level and above')
        .choices([...LEVELS])
        .default('info'),
    )
    .option('--work <id>', 'only lines with this "work"')
    .option('--lines <number>', 'how many of the newest journal lines', LINES)
    .option('--since <time>', 'start of the journal, such as "2 hours ago" or 2026-11-23')
    .addHelpText(
      'after',
      '\nA line begins with "!!" for an error and with "!" for a warning.\n\nExamples:\n' +
        '  eligd log\n  eligd log --level warn --since yesterday\n  eligd log eligd.log\n',
    )
    .action(async (file: string | undefined, options: Options) => {
      const choice: LogChoice = {
        time_zone: await zoneOf(context),
        level: options.level,
        work: options.work ?? null,
      };
      const source = file === undefined ? journal(options) : await opened(file, context.cwd);
      for await (const line of createInterface({ input: source, crlfDelay: Infinity })) {
        const sentence = logSentence(line, choice);
        if (sentence !== null) context.stdout.write(`${sentence}\n`);
      }
    });
}

/** Returns the clinic's time zone, or this computer's if the configuration cannot be read. */
async function zoneOf(context: CliContext): Promise<string> {
  try {
    const config = await context.config();
    return config.clinic.time_zone;
  } catch {
    return Intl.DateTimeFormat().resolvedOptions().timeZone;
  }
}

async function opened(file: string, cwd: string): Promise<Readable> {
  if (file === '-') return process.stdin;
  const stream = createReadStream(resolve(cwd, file));
  const { promise, resolve: done, reject } = Promise.withResolvers<Readable>();
  stream.once('open', () => done(stream));
  stream.once('error', (error) =>
    reject(
      new EligdError('usage', {
        what: `The log ${file} could not be read.`,
        why: `The system reported ${errorCode(error) ?? 'an unknown error'}.`,
        next: 'Name a log file.',
      }),
    ),
  );
  return await promise;
}

/** Runs journalctl for the service. */
function journal({ lines, since }: Options): Readable {
  const count = /^\d{1,7}$/.test(lines) ? lines : LINES;
  const from = since === undefined ? [] : [`--since=${since}`];
  const child = spawn(
    'journalctl',
    ['--unit=eligd', '--output=cat', '--no-pager', '--quiet', `--lines=${count}`, ...from],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  child.once('error', (error) =>
    child.stdout.destroy(
      new EligdError('failed', {
        what: 'The journal could not be read.',
        why: `journalctl: ${errorCode(error) ?? 'failed'}.`,
        next: 'Name a log file: eligd log FILE.',
      }),
    ),
  );
  return child.stdout;
}
