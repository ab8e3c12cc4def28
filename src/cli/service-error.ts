import { EligdError, type ErrorKind } from '../domain/errors.ts';
import { PROXY_LOGIN_REMEDY } from '../domain/service-contact.ts';
import type { ServiceFailure, ValidationItem } from '../service/api.ts';

/** The purpose of a failed call, and the names that its remedy mentions. */
type FailedCall = {
  /** The first sentence of the error: "The inquiry could not be read." */
  what: string;
  base_url: string;
  /** The secrets that the login uses. */
  secret_names: readonly string[];
  /** Whether the call was a change; then a lost reply leaves the result unknown. */
  is_change?: boolean;
  /** Whether to show the service's words: only if the request contained no patient data (G6). */
  may_show_words?: boolean;
};

type Told = { kind: ErrorKind; why: string; next: string };

/** Returns a failure of the service in plain words, with the exit code of the design. */
export function serviceError(failure: ServiceFailure, call: FailedCall): EligdError {
  const { kind, why, next } = tell(failure, call);
  const is_unknown = failure.class === 'ambiguous' && call.is_change === true;
  const doubt = is_unknown
    ? ' eligd does not know whether the service made the change: check before you repeat the ' +
      'command.'
    : '';
  return new EligdError(kind, { what: call.what, why: `${why}${doubt}`, next });
}

function tell(failure: ServiceFailure, call: FailedCall): Told {
  switch (failure.class) {
    case 'unsent':
      return unsentTold(failure, call);
    case 'refused':
      return {
        kind: 'failed',
        why:
          'The service refused the request ' +
          `(${failure.status})${refusedFields(failure.errors, call.may_show_words === true)}.`,
        next: 'Correct the command line and try again.',
      };
    case 'stopped':
      return stoppedTold(failure.status, call);
    case 'ambiguous':
      return ambiguousTold(failure, call);
  }
}

function unsentTold(failure: ServiceFailure & { class: 'unsent' }, call: FailedCall): Told {
  const { base_url } = call;
  switch (failure.cause) {
    case 'unauthorized':
      return badCredentials(failure.status, call);
    case 'dns':
      return away(`The host name in ${base_url} was not found.`, call);
    case 'connect':
      return away(`Nothing answers at ${base_url}.`, call);
    case 'tls':
      return away(
        `A secure connection to ${base_url} could not be made: its certificate was not accepted.`,
        call,
      );
    case 'proxy':
      return {
        kind: 'temporary',
        why: `The proxy on the way to ${base_url} cannot be reached, or refuses the connection.`,
        next: 'Check service.proxy (or HTTPS_PROXY), and ask whoever runs the proxy.',
      };
    case 'proxy_login':
      return {
        kind: 'configuration',
        why: `The proxy on the way to ${base_url} does not accept our login (407).`,
        next: PROXY_LOGIN_REMEDY,
      };
    case 'timeout':
      return away(`The connection to ${base_url} timed out.`, call);
    case 'rate_limited':
      return busy(failure.status, failure.retry_after_ms);
    case 'login_failed':
      if (failure.status === null) return away(`The login to ${base_url} got no answer.`, call);
      return failure.status >= 500 || failure.status === 408
        ? busy(failure.status, failure.retry_after_ms)
        : wrongAddress(`The login answered with the status ${failure.status}`, call);
    case 'login_unreadable':
      return wrongAddress('The login gave no access token', call);
    case 'aborted':
    case 'closed':
      return {
        kind: 'temporary',
        why: 'The command was stopped before it asked the service.',
        next: 'Run it again.',
      };
    case 'bulk_absent':
    case 'bulk_too_large':
    case 'bulk_shape':
    case 'bulk_body_refused':
      return unexpected(failure.status);
  }
}

function stoppedTold(status: number, call: FailedCall): Told {
  switch (status) {
    case 403:
      return badCredentials(status, call);
    case 402:
      return {
        kind: 'configuration',
        why: 'The service says that the account needs payment (402).',
        next: 'Contact the calling service about the payment; eligd cannot resolve this.',
      };
    case 407:
      return {
        kind: 'configuration',
        why: 'A proxy between this machine and the service requires a login (407).',
        next: `Name the proxy in service.proxy. ${PROXY_LOGIN_REMEDY}`,
      };
    default:
      return wrongAddress(`The service does not have this function (${status})`, call);
  }
}

function ambiguousTold(failure: ServiceFailure & { class: 'ambiguous' }, call: FailedCall): Told {
  const { cause, status, retry_after_ms } = failure;
  switch (cause) {
    case 'redirect':
      return wrongAddress(`The service redirects to another address (${status})`, call);
    case 'socket':
    case 'truncated':
      return away(`The connection to ${call.base_url} broke.`, call);
    case 'timeout':
      return away(`${call.base_url} did not answer in time.`, call);
    case 'aborted':
      return {
        kind: 'temporary',
        why: 'The command was stopped while it was asking the service.',
        next: 'Run it again.',
      };
    case 'http_status':
      return status !== null && (status >= 500 || status === 408)
        ? busy(status, retry_after_ms)
        : unexpected(status);
    case 'unreadable_reply':
      return wrongAddress('The reply was not what the service documents, such as a web page', call);
    case 'not_stored':
      return {
        kind: 'failed',
        why: 'The service accepted the request, but does not show it afterward.',
        next: 'Run the command again; if that does not help, ask the calling service.',
      };
    default:
      return unexpected(status);
  }
}

function badCredentials(status: number | null, { secret_names }: FailedCall): Told {
  return {
    kind: 'configuration',
    why: `The service does not accept the credentials${status === null ? '' : ` (${status})`}.`,
    next:
      `Check ${secret_names.join(' and ')}; "eligd config show" says where they are set. If ` +
      'they are right, ask the calling service whether the account may do this.',
  };
}

function away(why: string, { base_url }: FailedCall): Told {
  return {
    kind: 'temporary',
    why,
    next:
      `Check the internet connection of this machine and service.base_url (${base_url}), or ` +
      'try again later.',
  };
}

function busy(status: number | null, retry_after_ms: number | null): Told {
  const wait =
    retry_after_ms === null
      ? 'a few minutes'
      : `${Math.max(1, Math.ceil(retry_after_ms / 1000))} seconds`;
  return {
    kind: 'temporary',
    why:
      status === 429
        ? 'eligd sent the service too many requests (429).'
        : `The service has an internal problem${status === null ? '' : ` (${status})`}.`,
    next: `Try again in ${wait}.`,
  };
}

function wrongAddress(why: string, { base_url }: FailedCall): Told {
  return {
    kind: 'configuration',
    why: `${why}, so ${base_url} may not be the address of the service.`,
    next: 'Compare service.base_url with the address that the calling service gave you.',
  };
}

function unexpected(status: number | null): Told {
  return {
    kind: 'failed',
    why:
      'The service answered in a way that eligd does not ' +
      `understand${status === null ? '' : ` (${status})`}.`,
    next: 'Try again. If it persists, ask the calling service.',
  };
}

/**
 * Returns the fields that the service rejected; its sentences only if they cannot repeat patient
 * data.
 */
function refusedFields(errors: readonly ValidationItem[], may_show_words: boolean): string {
  if (errors.length === 0) return '';
  const shown = errors.map(({ loc, msg, type }) => {
    const place = loc.filter((part) => part !== 'body' && part !== 'query').join('.');
    const words = may_show_words ? msg : type;
    return [place, words].filter((part) => part !== '').join(': ');
  });
  return `: ${shown.join('; ')}`;
}
