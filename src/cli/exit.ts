import { CommanderError } from 'commander';
import { EligdError, type ErrorKind, errorCode } from '../domain/errors.ts';
import { isJournal } from '../ops/journal.ts';
import type { Host } from './context.ts';

/**
 * What the process ends with (docs/design.md "Exit codes"); 75 and 78 are those of sysexits.h,
 * which systemd understands too.
 */
export const EXIT_CODES = {
  done: 0,
  failed: 1,
  usage: 2,
  temporary: 75,
  configuration: 78,
} as const satisfies Record<ErrorKind | 'done', number>;

type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

/** A command did its work and says how things are with its exit code alone; nothing is printed. */
export class StatusExit extends Error {
  readonly code: ExitCode;

  constructor(code: ExitCode) {
    super();
    this.code = code;
  }
}

/**
 * In the journal of systemd, every line of an error has the priority 3: it would be 6, and
 * `journalctl -p warning` would not show why the service does not start (sd-daemon(3)).
 */
function prioritized(text: string, environment: Host['environment']): string {
  return isJournal(2, environment) ? text.replaceAll(/^(?=.)/gm, '<3>') : text;
}

/** The only place where an error becomes words on standard error and an exit code. */
export function reportError(
  error: unknown,
  { stderr, environment }: Pick<Host, 'stderr' | 'environment'>,
): ExitCode {
  // Commander has printed its own sentence already; help and version arrive here with code 0.
  if (error instanceof CommanderError)
    return error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.usage;
  if (error instanceof StatusExit) return error.code;
  if (error instanceof EligdError) {
    stderr.write(prioritized(`eligd: ${error.what}\n${error.why}\n${error.next}\n`, environment));
    return EXIT_CODES[error.kind];
  }
  // The reader of our output has gone away (`eligd list | head`): that is its right, and nothing of
  // ours failed.
  if (errorCode(error) === 'EPIPE') return EXIT_CODES.done;
  // The message of a foreign error may hold a patient's data, so only its kind is shown (G6).
  const kind =
    error instanceof Error
      ? [error.name, errorCode(error)].filter(Boolean).join(' ')
      : typeof error;
  stderr.write(
    prioritized(
      `eligd: This is a bug in eligd (${kind}); run the command again with ELIGD_DEBUG=1 ` +
        `and report what it prints, without patient data.\n`,
      environment,
    ),
  );
  if (environment.ELIGD_DEBUG === '1')
    stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return EXIT_CODES.failed;
}
