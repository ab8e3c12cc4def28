import { EligdError, type ErrorKind, errorCode } from '../../domain/errors.ts';

/**
 * One line of `eligd check`. `skipped`: not checked, because an earlier problem has to be fixed
 * first.
 */
export type CheckedLine = { part: string; what: string } & (
  | { state: 'ok' | 'skipped' }
  | { state: 'failed'; kind: ErrorKind; next: string }
);

export function fine(part: string, what: string): CheckedLine {
  return { part, state: 'ok', what };
}

export function skipped(part: string, what: string): CheckedLine {
  return { part, state: 'skipped', what };
}

export function bad(part: string, kind: ErrorKind, what: string, next: string): CheckedLine {
  return { part, state: 'failed', kind, what, next };
}

/**
 * Turns an error into a line. Of an error that is not an EligdError, it shows only the kind,
 * because the message may contain anything (G6).
 */
export function badBecause(part: string, error: unknown): CheckedLine {
  if (error instanceof EligdError) {
    const gap = error.why.startsWith('- ') ? '\n' : ' ';
    return bad(part, error.kind, `${error.what}${gap}${error.why}`, error.next);
  }
  const kind =
    error instanceof Error
      ? [error.name, errorCode(error)].filter(Boolean).join(' ')
      : typeof error;
  return bad(
    part,
    'failed',
    `The check itself failed (${kind}).`,
    'Report this line as a bug in eligd.',
  );
}

/** Runs one check. An error becomes its line, and the checks after it still run. */
export async function checked(
  part: string,
  look: () => Promise<CheckedLine[]> | CheckedLine[],
): Promise<CheckedLine[]> {
  try {
    return await look();
  } catch (error) {
    return [badBecause(part, error)];
  }
}
