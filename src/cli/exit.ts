import { CommanderError } from 'commander';
import { EligdError, type ErrorKind, errorCode } from '../domain/errors.ts';
import { isJournal } from '../ops/journal.ts';
import type { Host } from './context.ts';

/**
 * The exit codes of the process (docs/design.md "Exit codes"); 75 and 78 come from sysexits.h, and
 * systemd knows them too.
 */
export const EXIT_CODES = {
  done: 0,
  failed: 1,
  usage: 2,
  temporary: 75,
  configuration: 78,
} as const satisfies Record<ErrorKind | 'done', number>;

type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

/** A command finished, and its exit code alone reports the state; nothing is printed. */
export class StatusExit extends Error {
  readonly code: ExitCode;

  constructor(code: ExitCode) {
    super();
    this.code = code;
  }
}

/**
 * Marks every line of an error with priority 3 for the systemd journal. Otherwise it would get 6,
 * and `journalctl -p warning` would not show why the service does not start (sd-daemon(3)).
 */
function prioritized(text: string, environment: Host['environment']): string {
  return isJournal(2, environment) ? text.replaceAll(/^(?=.)/gm, '<3>') : text;
}

/** Prints an error on standard error and returns the exit code. No other code does this. */
export function reportError(
  error: unknown,
  { stderr, environment }: Pick<Host, 'stderr' | 'environment'>,
): ExitCode {
  // Commander has already printed its own sentence; help and version also arrive here, with code 0.
  if (error instanceof CommanderError)
    return error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.usage;
  if (error instanceof StatusExit) return error.code;
  if (error instanceof EligdError) {
    stderr.write(prioritized(`eligd: ${error.what}\n${error.why}\n${error.next}\n`, environment));
    return EXIT_CODES[error.kind];
  }
  // The reader of our output has closed the pipe (`eligd list | head`), which is not an error.
  if (errorCode(error) === 'EPIPE') return EXIT_CODES.done;
  // A third-party error message may contain patient data, so only its kind is shown (G6).
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
