/**
 * The categories of failures that the caller of the program can tell apart; `cli/exit.ts` maps them
 * to exit codes (docs/design.md "Exit codes").
 */
export type ErrorKind = 'failed' | 'usage' | 'temporary' | 'configuration';

/**
 * An error that a user can act on: what happened, why, and what to do next, each as a plain
 * sentence without protected health information. It is shown without a stack trace. Anything that
 * is not an `EligdError` is a bug in the program.
 */
export class EligdError extends Error {
  override readonly name = 'EligdError';
  readonly kind: ErrorKind;
  readonly what: string;
  readonly why: string;
  readonly next: string;

  constructor(
    kind: ErrorKind,
    parts: { what: string; why: string; next: string; cause?: unknown },
  ) {
    super(
      `${parts.what} ${parts.why} ${parts.next}`,
      parts.cause === undefined ? undefined : { cause: parts.cause },
    );
    this.kind = kind;
    this.what = parts.what;
    this.why = parts.why;
    this.next = parts.next;
  }
}

/**
 * A connection could not be made, so nothing was sent. `code`: ERR_PROXY_AWAY, ERR_PROXY_LOGIN, or
 * ERR_PROXY_REFUSED for a proxy; otherwise ETIMEDOUT or ERR_CERTIFICATES. The message and `next`
 * are plain sentences without secrets.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code: string;
  readonly next: string;

  constructor(code: string, parts: { what: string; next: string; cause?: unknown }) {
    super(parts.what, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.code = code;
    this.next = parts.next;
  }
}

/**
 * Returns the `code` of a Node or SQLite error (`ENOENT`, `SQLITE_FULL`), or null. Messages of
 * foreign errors may contain data and are not used.
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
