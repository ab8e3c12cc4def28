/**
 * What a failure means for whoever started the program; `cli/exit.ts` maps it to the exit code
 * (docs/design.md "Exit codes").
 */
export type ErrorKind = 'failed' | 'usage' | 'temporary' | 'configuration';

/**
 * An error that somebody can act on: what happened, why, and what to do next, each a plain sentence
 * without protected health information. It is shown without a stack trace; anything that is not an
 * `EligdError` is a bug of the program.
 */
export class EligdError extends Error {
  override readonly name = 'EligdError';
  readonly kind: ErrorKind;
  readonly what: string;
  readonly why: string;
  readonly next: string;

  constructor(kind: ErrorKind, told: { what: string; why: string; next: string; cause?: unknown }) {
    super(
      `${told.what} ${told.why} ${told.next}`,
      told.cause === undefined ? undefined : { cause: told.cause },
    );
    this.kind = kind;
    this.what = told.what;
    this.why = told.why;
    this.next = told.next;
  }
}

/**
 * A connection that was not made, so that nothing was sent: ERR_PROXY_AWAY, ERR_PROXY_LOGIN and
 * ERR_PROXY_REFUSED where a proxy is the reason, ETIMEDOUT, or ERR_CERTIFICATES. Plain sentences
 * without secrets.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code: string;
  readonly next: string;

  constructor(code: string, told: { what: string; next: string; cause?: unknown }) {
    super(told.what, told.cause === undefined ? undefined : { cause: told.cause });
    this.code = code;
    this.next = told.next;
  }
}

/**
 * The `code` of a Node or SQLite error (`ENOENT`, `SQLITE_FULL`), or null; messages of foreign
 * errors may hold data and are not used.
 */
export function errorCode(error: unknown): string | null {
  if (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    typeof error.code === 'string'
  )
    return error.code;
  return null;
}
