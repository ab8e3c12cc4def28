import { isIP } from 'node:net';
import { validateDetailed } from 'node-cron';
import { z } from 'zod';
import { isNpi } from '../domain/identifiers.ts';
import { isDate } from '../domain/time.ts';
import { nearest } from './nearest.ts';

/*
 * The value types of the configuration. Each describes a bad value and what to write instead:
 * `params.next` of a refinement becomes part of the user's error (config-problems.ts).
 */

type Told = { what: string; next: string };

/**
 * Accepts a text that passes `test`; `pattern` lets an editor find the same mistakes as far as a
 * pattern can.
 */
function text(test: (value: string) => boolean, told: Told, pattern?: string) {
  const schema = z.string().refine(test, { error: told.what, params: { next: told.next } });
  return pattern === undefined ? schema : schema.meta({ pattern });
}

export const wholeFrom = (low: number) => z.number().int().min(low);
export const above0 = z.number().positive();

export const nonEmpty = text(
  (value) => value.trim() !== '',
  { what: 'is empty.', next: 'Write a text.' },
  '\\S',
);

export const taxId = text(
  (value) => /^\d{2}-?\d{7}$/.test(value),
  {
    what: 'is not a 9-digit tax ID.',
    next: 'Write the 9 digits in quotes, such as "123456789".',
  },
  '^\\d{2}-?\\d{7}$',
).transform((value) => value.replace('-', ''));

export const npi = text(
  isNpi,
  {
    what: 'is not a valid NPI. Check for a typo (10 digits).',
    next:
      'Write the 10 digits in quotes, such as "1234567893"; they can be looked up at ' +
      'npiregistry.cms.hhs.gov.',
  },
  '^\\d{10}$',
);

export const timeZone = z.string().superRefine((value, context) => {
  if (isTimeZone(value)) return;
  const meant = nearest(value, Intl.supportedValuesOf('timeZone'));
  const next =
    meant === null
      ? 'Write an IANA name, such as America/Chicago or America/New_York.'
      : `The nearest name is ${meant}.`;
  context.addIssue({
    code: 'custom',
    message: 'is not the name of a time zone.',
    params: { next },
  });
});

/**
 * Returns whether this is an IANA name. Refuses offsets such as `-06:00`, which ignore daylight
 * saving time.
 */
export function isTimeZone(value: string): boolean {
  if (!/^[A-Za-z]/.test(value)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return true;
  } catch {
    return false;
  }
}

export const localDate = text(
  isDate,
  { what: 'is not a date.', next: 'Write year, month and day, such as 2026-12-24.' },
  '^\\d{4}-\\d{2}-\\d{2}$',
);

/**
 * An `http` or `https` address without user name, query, and fragment; a trailing slash is removed.
 */
export const webAddress = text(
  (value) => {
    const url = URL.parse(value);
    return (
      url !== null &&
      /^https?:$/.test(url.protocol) &&
      url.username === '' &&
      url.search === '' &&
      url.hash === ''
    );
  },
  {
    what: 'is not a web address.',
    next:
      'Write one that begins with https://, without a user name and without anything after a ' +
      'question mark.',
  },
  '^https?://',
).transform((value) => value.replace(/\/+$/, ''));

/** The proxy of a connection. */
export const proxyAddress = text(
  (value) => value === 'none' || webAddress.safeParse(value).success,
  {
    what: 'is not the address of a proxy.',
    next:
      'Write one such as http://proxy.clinic.example:3128, without a user name, or none. The ' +
      'login belongs in .env (config/env.example).',
  },
  '^(none$|https?://)',
)
  .nullable()
  .default(null);

export const PROXY_TOLD =
  'The HTTP proxy for this connection; none: never a proxy; null: the proxy of ' +
  'HTTPS_PROXY or HTTP_PROXY, unless NO_PROXY names the server.';

/** The certificates of a connection. */
export const connectionTls = z
  .strictObject({
    authorities_file: nonEmpty
      .nullable()
      .default(null)
      .describe("PEM of authorities to trust in addition to the system's.")
      .meta({ examples: ['./ca.pem'] }),
    certificate_file: nonEmpty
      .nullable()
      .default(null)
      .describe("PEM of eligd's own certificate, for a server that requires a client certificate.")
      .meta({ examples: ['./client.pem'] }),
    key_file: nonEmpty
      .nullable()
      .default(null)
      .describe('PEM of its key; only eligd may read it.')
      .meta({ examples: ['./client.key'] }),
  })
  .refine(({ certificate_file, key_file }) => (certificate_file === null) === (key_file === null), {
    error: 'has a certificate without its key, or a key without its certificate.',
    params: { next: 'Give both certificate_file and key_file, or neither.' },
  })
  .prefault({});

/** Returns whether an address is on this machine, where no one else can read plain http. */
export function isLoopback(web_address: string): boolean {
  const host = URL.parse(web_address)?.hostname ?? '';
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '[::1]' ||
    (isIP(host) === 4 && host.startsWith('127.'))
  );
}

export const listenAddress = text(
  (value) => parseAddress(value) !== null,
  { what: 'is not an address to listen at.', next: 'Write host and port, such as 127.0.0.1:8686.' },
  ':\\d+$',
);

/** Splits `127.0.0.1:8686` or `[::1]:8686` into host and port; null if it has neither form. */
export function parseAddress(value: string): { host: string; port: number } | null {
  const parts = /^(?:\[([0-9a-fA-F:]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(value);
  const host = parts?.[1] ?? parts?.[2];
  const port = Number(parts?.[3]);
  return host === undefined || port > 65_535 ? null : { host, port };
}

/** `127.0.0.1:8688`, or `unix:` and the path of a socket. */
export const pageAddress = text(
  (value) => parseAddress(value) !== null || /^unix:.+/.test(value),
  {
    what: 'is not an address to listen at.',
    next: 'Write host and port, such as 127.0.0.1:8688, or unix:/run/eligd/office.sock.',
  },
  '^unix:.+|:\\d+$',
);

/**
 * The path of a route: no query, no fragment, and no character with a special meaning for a router.
 */
export const urlPath = text(
  (value) => /^\/[A-Za-z0-9/._~-]*$/.test(value),
  {
    what: 'is not a path.',
    next: 'Write one that begins with a slash, such as /webhooks/inquiries.',
  },
  '^/[A-Za-z0-9/._~-]*$',
);

export const headerName = text(
  (value) => /^[A-Za-z0-9-]+$/.test(value),
  { what: 'is not the name of a header.', next: 'Write one such as X-Service-Signature.' },
  '^[A-Za-z0-9-]+$',
);

const CODE_RANGE = /^([A-Za-z0-9]+)(?:-([A-Za-z0-9]+))?$/;

/** A procedure code or a range of them; see `codeRange`. */
export const codes = text(
  (value) => codeRange(value) !== null,
  {
    what: 'is neither a procedure code nor a range of codes.',
    next:
      'Write a code such as D0120, or a range from low to high with both ends of equal length, ' +
      'such as D8000-D8999.',
  },
  CODE_RANGE.source,
);

/**
 * Returns both ends of `D8000-D8999` in uppercase; a single code is both ends. Null: invalid, or
 * the ends are swapped.
 */
export function codeRange(value: string): { from: string; to: string } | null {
  const parts = CODE_RANGE.exec(value.trim());
  const from = parts?.[1]?.toUpperCase();
  const to = parts?.[2]?.toUpperCase() ?? from;
  if (from === undefined || to === undefined || from.length !== to.length || from > to) return null;
  return { from, to };
}

export const cronLine = text(isCron, {
  what: 'is not a time in the form of cron.',
  next:
    'Write five fields in quotes (minute, hour, day of month, month, day of week), such as "0 ' +
    '5 * * *" for daily at five.',
});

export const timeOfDay = text(
  (value) => /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(value),
  { what: 'is not a time of day.', next: 'Write hours and minutes in quotes, such as "07:30".' },
  '^(?:[01]\\d|2[0-3]):[0-5]\\d$',
);

const DAY_HOURS = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)$/;

/**
 * Converts `08:00-17:00` to minutes since midnight; null: another form, or the end is before the
 * start.
 */
export function dayHours(text: string): { opens: number; closes: number } | null {
  const [from_hour, from_minute, to_hour, to_minute] =
    DAY_HOURS.exec(text.trim())?.slice(1).map(Number) ?? [];
  const opens = (from_hour ?? 0) * 60 + (from_minute ?? 0);
  const closes = (to_hour ?? 0) * 60 + (to_minute ?? 0);
  return opens < closes && closes <= 24 * 60 ? { opens, closes } : null;
}

export const hoursOfDay = text(
  (value) => dayHours(value) !== null,
  {
    what: 'is not a span of hours.',
    next: 'Write when they begin and end, in quotes, such as "08:00-17:00".',
  },
  DAY_HOURS.source,
);

/** Accepts five fields, as the daemon's scheduler does, but not its sixth one for seconds. */
function isCron(value: string): boolean {
  return value.trim().split(/\s+/).length === 5 && validateDetailed(value).valid;
}

const PLACEHOLDERS = /\{([^{}]*)\}/g;

/** The template of `external_id`: `{appointment}` and, with several connectors, `{connector}`. */
export const externalIdTemplate = text(
  (value) => {
    const names = [...value.matchAll(PLACEHOLDERS)].map((match) => match[1]);
    const rest = value.replaceAll(PLACEHOLDERS, '');
    return (
      names.includes('appointment') &&
      names.every((name) => name === 'appointment' || name === 'connector') &&
      !/[{}]/.test(rest)
    );
  },
  {
    what:
      'does not contain {appointment}, or contains a word in braces other than {appointment} ' +
      'and {connector}.',
    next: 'Write "{appointment}", or "{connector}:{appointment}" with more than one connector.',
  },
  '\\{appointment\\}',
);

export const connectorId = text(
  (value) => /^[A-Za-z0-9-]+$/.test(value),
  {
    what: 'may contain only letters, digits, and dashes.',
    next: 'Write a short name, such as front-desk.',
  },
  '^[A-Za-z0-9-]+$',
);
