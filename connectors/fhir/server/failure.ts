import { ConnectorError } from '../../contract.ts';
import { codingsAt, listAt, textAt, textsAt } from '../element.ts';

/**
 * How a request failed.
 *
 * | kind | the server |
 * |---|---|
 * | `unreachable` | is not there, or gave no answer in time |
 * | `busy` | answered 425, 429, or 503 |
 * | `broken` | broke off in the middle, answered 408, 499, a redirect, another 5xx, or not FHIR |
 * | `unauthorized` | does not accept the login (401, also with a fresh token) |
 * | `forbidden` | does not allow it (403) |
 * | `absent` | does not have it (404, 410) |
 * | `conflict` | has another version, or several matches (409, 412) |
 * | `unsupported` | does not do this at all (405, 501) |
 * | `refused` | does not accept the content (any other 4xx) |
 * | `too_large` | answered a read with more, or nested more deeply, than eligd takes |
 */
type FailureKind =
  | 'unreachable'
  | 'busy'
  | 'broken'
  | 'unauthorized'
  | 'forbidden'
  | 'absent'
  | 'conflict'
  | 'unsupported'
  | 'refused'
  | 'too_large';

/**
 * A failed request. `message` contains no patient data; `words` are the server's own and may, so
 * they go only into the PMS.
 */
export class FhirError extends Error {
  override readonly name = 'FhirError';
  readonly kind: FailureKind;
  readonly words: string;
  readonly retry_after_ms: number | null;
  /** Whether the server may have executed the request. */
  readonly may_be_done: boolean;
  /** What to do, if it is more specific than the kind's advice. */
  readonly next: string | null;

  constructor(
    kind: FailureKind,
    told: {
      what: string;
      words?: string;
      retry_after_ms?: number | null;
      may_be_done?: boolean;
      next?: string;
      cause?: unknown;
    },
  ) {
    super(told.what, told.cause === undefined ? undefined : { cause: told.cause });
    this.kind = kind;
    this.words = told.words ?? '';
    this.retry_after_ms = told.retry_after_ms ?? null;
    this.may_be_done = told.may_be_done ?? false;
    this.next = told.next ?? null;
  }
}

/**
 * Returns whether every other request would fail as well; other failures concern one resource only
 * (G7).
 */
export function concernsAll({ kind }: FhirError): boolean {
  return kind === 'unreachable' || kind === 'unauthorized';
}

/** Returns whether the failure is transient: the same request may succeed later. */
export function isPassing({ kind }: FhirError): boolean {
  return kind === 'unreachable' || kind === 'busy' || kind === 'broken';
}

/** Returns whether the server refuses or does not support the request, although it is available. */
export function isRefusal(error: unknown): error is FhirError {
  return error instanceof FhirError && ['refused', 'forbidden', 'unsupported'].includes(error.kind);
}

/**
 * Sent by a proxy after a timeout or a lost connection, although they look like refusals of the
 * content.
 */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 499]);

/** A redirect may follow the work (303), and a proxy may give up while the server works. */
function mayBeDone(status: number): boolean {
  if (status < 400) return true;
  return PASSING_STATUSES.has(status) || (status >= 500 && status !== 501);
}

function kindOfStatus(status: number): FailureKind {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 404 || status === 410) return 'absent';
  if (status === 405 || status === 501) return 'unsupported';
  if (status === 409 || status === 412) return 'conflict';
  if (status === 425 || status === 429 || status === 503) return 'busy';
  if (PASSING_STATUSES.has(status)) return 'broken';
  return status >= 400 && status < 500 ? 'refused' : 'broken';
}

/**
 * Returns null if the server does not have, support, or allow it; throws transient and login
 * failures.
 */
export async function unlessRefused<Value>(ask: () => Promise<Value>): Promise<Value | null> {
  try {
    return await ask();
  } catch (error) {
    const is_answer = error instanceof FhirError && error.kind !== 'too_large';
    if (is_answer && !isPassing(error) && !concernsAll(error)) return null;
    throw error;
  }
}

const CODE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Returns the parts of an OperationOutcome that may be logged (G6): severity, code, coded details,
 * and the element, which come from closed lists. Its texts and diagnostics often repeat the value,
 * so they are left out.
 */
function outcomeCodes(body: unknown): string {
  const issues = listAt(body, 'issue')
    .slice(0, 3)
    .map((issue) => {
      const codes = [
        textAt(issue, 'code'),
        ...codingsAt(issue, 'details').map(({ code }) => code),
      ].filter((code) => CODE.test(code));
      const places = textsAt(issue, 'expression').filter((place) =>
        /^[A-Za-z0-9.[\]]{1,80}$/.test(place),
      );
      return [...codes, ...(places.length === 0 ? [] : [`at ${places[0]}`])].join(' ');
    });
  return [...new Set(issues.filter((issue) => issue !== ''))].join('; ');
}

/** Returns the server's own words, which may contain patient data: for the attention list only. */
function outcomeWords(body: unknown): string {
  const words = listAt(body, 'issue').flatMap((issue) => {
    const said = [textAt(issue, 'details', 'text'), textAt(issue, 'diagnostics')].filter(
      (text) => text !== '',
    );
    const place = textsAt(issue, 'expression')[0];
    const what = [...new Set(said)].join(' ') || textAt(issue, 'code');
    return what === '' ? [] : [place === undefined ? what : `${what} (${place})`];
  });
  return [...new Set(words)].join(' ').slice(0, 1000);
}

export function failureOfReply(
  status: number,
  body: unknown,
  doing: string,
  retry_after_ms: number | null,
): FhirError {
  const kind = kindOfStatus(status);
  const codes = outcomeCodes(body);
  const answer = `${status}${codes === '' ? '' : ` (${codes})`}`;
  const what = `The FHIR server answered ${answer} to ${doing}.`;
  return new FhirError(kind, {
    what,
    words: outcomeWords(body),
    retry_after_ms,
    may_be_done: mayBeDone(status),
  });
}

/**
 * Returns the server's own words about a search, as one quoted sentence; empty: none. Only for a
 * search without a patient: then they contain at most the search itself (G6).
 */
export function wordsOfSearch({ words }: FhirError, query: readonly [string, string][]): string {
  const names_patient = query.some(
    ([name, value]) =>
      /patient|actor|subject|identifier|_id/i.test(name) || /Patient\//.test(value),
  );
  const text = words
    .replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]+/gu, ' ')
    .trim()
    .slice(0, 200);
  return names_patient || text === '' ? '' : `It said: "${text}".`;
}

const REMEDIES: Readonly<Record<FailureKind, string>> = {
  unreachable:
    'eligd tries again automatically. If it persists, check that the FHIR server and the ' +
    'network work, and check base_url.',
  busy: 'It is tried again automatically.',
  broken:
    'eligd tries again automatically. If it persists, check base_url:, and ask whoever ' +
    'runs the FHIR server.',
  unauthorized:
    'Check the credentials of this connector, its registration at the FHIR server, and the ' +
    'clock of this computer; "eligd check" tries them.',
  forbidden:
    'Have the FHIR server allow this for eligd\'s client (its scopes); "eligd check" names ' +
    'them.',
  absent: 'Check base_url: it must be the base address of a FHIR R4 server.',
  conflict: 'It is tried again automatically.',
  unsupported: 'See the page about this kind of server in docs/fhir.md.',
  refused:
    'See the page about this kind of server in docs/fhir.md; "eligd check" helps to find ' +
    'the cause.',
  too_large:
    'Set a smaller page_size: in the configuration of the connector. If it persists, ask ' +
    'whoever runs the FHIR server why the answer is so large.',
};

/** Returns the core's error for a failure of the whole pull or batch. */
export function toConnectorError(error: FhirError): ConnectorError {
  const transient = isPassing(error) || error.kind === 'conflict';
  return new ConnectorError(transient ? 'transient' : 'permanent', {
    what: error.message,
    next: error.next ?? REMEDIES[error.kind],
    ...(error.retry_after_ms === null ? {} : { retry_after_ms: error.retry_after_ms }),
    cause: error,
  });
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Reads `Retry-After` in seconds or as a date, relative to the server's own clock if known; null:
 * neither form.
 */
export function retryAfterMs(headers: Headers, now_ms: number): number | null {
  const header = headers['retry-after'];
  if (typeof header !== 'string') return null;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const at_ms = Date.parse(header);
  const server_ms = Date.parse(String(headers.date));
  return Number.isNaN(at_ms)
    ? null
    : Math.max(0, at_ms - (Number.isNaN(server_ms) ? now_ms : server_ms));
}
