import { closest } from 'fastest-levenshtein';

/**
 * A point that the specification leaves open, with the variants that the sandbox can play. `values`
 * lists the allowed words or, for a number, describes the range.
 */
type Choice<V extends string> = {
  kind: 'choice';
  values: readonly V[];
  default: NoInfer<V>;
  means: string;
};
type Amount = { kind: 'number'; values: string; minimum: number; default: number; means: string };

function choice<const V extends string>(
  values: readonly V[],
  initial: NoInfer<V>,
  means: string,
): Choice<V> {
  return { kind: 'choice', values, default: initial, means };
}

function amount(minimum: number, initial: number, means: string): Amount {
  const values = minimum === Number.NEGATIVE_INFINITY ? 'a number' : `a number, ${minimum} or more`;
  return { kind: 'number', values, minimum, default: initial, means };
}

/** Every switch of the sandbox. README.md has the same table, and a test compares the two. */
export const BEHAVIORS = {
  bulk_request_shape: choice(
    ['array', 'object', 'both'],
    'array',
    'The accepted body of a bulk creation: a bare array, {"inquiries": […]}, or either. Any ' +
      'other shape is a 422 at ["body"].',
  ),
  bulk_response: choice(
    [
      'creation_responses',
      'inquiry_ids',
      'wrapped_creations',
      'read_forms',
      'mixed',
      'success_only',
      'shuffled_ids',
    ],
    'creation_responses',
    'The answer to a bulk creation. "mixed" puts a validation error in the place of a ' +
      'refused item; "shuffled_ids" lists the IDs in another order.',
  ),
  bulk_absent: choice(
    ['no', '404', '405', '501'],
    'no',
    'The status of the bulk path if the service does not have it.',
  ),
  bulk_partial: choice(
    ['all_or_nothing', 'some', 'some_422'],
    'all_or_nothing',
    'The effect of one bad item in a bulk: nothing is created; the good items are created; ' +
      'the good items are created, but the answer is a 422.',
  ),
  bulk_max: amount(0, 0, 'The maximum number of items in one bulk; 0: no limit.'),
  bulk_max_status: choice(
    ['413', '422'],
    '413',
    'The status for a bulk over bulk_max; the 422 is at ["body"].',
  ),
  list_filter: choice(
    ['external_id', 'ignored', 'refused'],
    'external_id',
    'Whether the query parameter external_id filters the list; "refused": it is a 422.',
  ),
  list_paging: choice(
    ['none', 'limit_offset', 'page', 'link', 'items_total', 'limit'],
    'none',
    'The paging of the list. "items_total" answers {"items": […], "total": n} and accepts ' +
      'limit and offset, or page. "limit" returns the first list_page_size inquiries, or the ' +
      'number in "limit", and accepts no other parameter.',
  ),
  list_page_size: amount(
    1,
    50,
    'Inquiries per page, if the list is paged. A smaller "limit" is accepted; with the ' +
      'paging "limit", a larger one, too.',
  ),
  list_order: choice(['created', 'reverse', 'random'], 'created', 'The order of the list.'),
  list_truncate: amount(
    0,
    0,
    'The list silently ends after this many inquiries; 0: it is complete.',
  ),
  list_delay_seconds: amount(
    0,
    0,
    'Scaled seconds until a new inquiry is listed. Reading it by its ID works at once.',
  ),
  read_shape: choice(
    ['object', 'array'],
    'object',
    'Whether reading by ID returns the inquiry or an array with it.',
  ),
  unknown_id: choice(
    ['404', '422', 'null', 'empty_array'],
    '404',
    'The answer to reading an unknown ID.',
  ),
  auth_error: choice(['401', '403'], '401', 'The status for bad or missing credentials.'),
  token_expires_in: choice(
    ['none', 'seconds'],
    'none',
    'Whether the answer states how long a token is valid.',
  ),
  token_lifetime_seconds: amount(0, 86_400, 'How many scaled seconds a token is valid.'),
  rate_limit_per_minute: amount(0, 0, 'Requests allowed in any 60 scaled seconds; 0: no limit.'),
  rate_limit_status: choice(['429', '503'], '429', 'The status over the rate limit.'),
  retry_after: choice(
    ['seconds', 'date', 'none'],
    'seconds',
    'The form of Retry-After over the rate limit.',
  ),
  timestamps: choice(
    ['z', 'offset', 'naive_micros'],
    'z',
    'Timestamps in UTC with Z; with an offset; with microseconds and no zone (meaning UTC).',
  ),
  dates: choice(
    ['mdy_dash', 'iso', 'mdy_slash'],
    'mdy_dash',
    'Dates in everything that the service sends, including the echoed request. It accepts ' +
      'only MM-DD-YYYY.',
  ),
  amounts: choice(
    ['string', 'number', 'currency'],
    'string',
    'Amounts of maximums and copays as "1500.00", 1500, or "$1,500.00". Claims have numbers ' +
      'unless this is "currency".',
  ),
  call_details: choice(
    ['by_specialty', 'array', 'object', 'absent'],
    'by_specialty',
    'By specialty: an array for dental; sometimes a single object for the other two.',
  ),
  transcript_name: choice(
    ['mixed', 'call_transcript', 'transcript'],
    'mixed',
    'The field name of the transcript. Mixed: call_transcript for dental; sometimes ' +
      'transcript for the other two.',
  ),
  tooth_numbers: choice(
    ['mixed', 'strings', 'integers'],
    'mixed',
    'Mixed: integers in about one of five answers. Primary teeth are letters and always strings.',
  ),
  echo: choice(
    ['as_sent', 'nulls', 'defaults', 'trimmed_upper'],
    'as_sent',
    'The request in the read form: unchanged; with null for absent fields; with defaults; ' +
      'trimmed and in upper case.',
  ),
  subscription_body: choice(
    ['object', 'empty', '204'],
    'object',
    'The answer to changing the subscription: the record, {}, or 204. A GET always returns ' +
      'the record.',
  ),
  subscription_none: choice(
    ['404', 'empty', 'null'],
    '404',
    'The answer to a GET or DELETE if there is no subscription.',
  ),
  subscription_minutes_min: amount(
    1,
    1,
    'The minimum of update_frequency_min; smaller values are raised to it.',
  ),
  webhook_retry: choice(
    ['none', 'hours'],
    'none',
    'Whether a message that is not answered with 2xx is sent again: after 1, 5, 15, and ' +
      'then every 60 scaled minutes, for six hours.',
  ),
  webhook_repeat: amount(0, 0, 'How many additional times each message is sent.'),
  webhook_order: choice(
    ['in_order', 'reversed'],
    'in_order',
    'Reversed: every change is a separate message, and the messages sent together arrive ' +
      'last one first.',
  ),
  webhook_lost_percent: amount(
    0,
    0,
    'The percentage of messages that are never sent; 100: none are sent.',
  ),
  webhook_secret: choice(
    ['right', 'wrong'],
    'right',
    'Whether the signature uses the secret that was issued.',
  ),
  webhook_header: choice(
    ['X-Service-Signature', 'X-Signature'],
    'X-Service-Signature',
    'The header with the signature.',
  ),
  webhook_max_bytes: amount(
    1,
    1_000_000,
    'The maximum length of a message; longer ones are split, down to one inquiry each.',
  ),
  webhook_strangers: amount(0, 0, "Other callers' inquiries in each message."),
  verification_after_minutes: amount(
    0,
    3,
    'Scaled minutes from the end of a call until its verification is available.',
  ),
  verification_inquiry_id: choice(
    ['required', 'optional'],
    'required',
    'Whether the verifications need an inquiry_id.',
  ),
  payer_hours: choice(
    ['any', 'business'],
    'any',
    'When calls end: at any time, or only while payers answer the phone (14:00 to 23:00 ' +
      'UTC, Monday to Friday, except US holidays), however soon an answer is wanted.',
  ),
  payer_turnaround_hours: amount(
    0,
    0,
    'The minimum number of payer hours from the creation to the end of the call; requires ' +
      'payer_hours=business.',
  ),
  account_requires: choice(
    ['nothing', 'npi_and_insurance'],
    'nothing',
    'What this account requires beyond the specification: nothing, or npi and insurance.',
  ),
  medical_requires: choice(
    ['as_dental', 'strict'],
    'as_dental',
    'What medical and mental health require; strict adds insurance and billing_npi.',
  ),
  success_null_first_seconds: amount(
    0,
    0,
    'Scaled seconds during which a SUCCESS still has null results.',
  ),
  revise_after_hours: amount(0, 0, 'Scaled hours after which a SUCCESS is revised; 0: never.'),
  reopen_after_hours: amount(
    0,
    0,
    'Scaled hours after which a SUCCESS temporarily returns to IN_PROGRESS; 0: never.',
  ),
  status_case: choice(['upper', 'lower'], 'upper', 'The case of an inquiry status.'),
  date_skew_seconds: amount(
    Number.NEGATIVE_INFINITY,
    0,
    'Seconds added to the Date header, as a caller with a wrong clock would see it.',
  ),
} as const;

type BehaviorTable = typeof BEHAVIORS;

export type BehaviorName = keyof BehaviorTable;

export type Behaviors = {
  -readonly [Name in BehaviorName]: BehaviorTable[Name] extends Choice<infer V> ? V : number;
};

export function defaultBehaviors(): Behaviors {
  return Object.fromEntries(
    Object.entries(BEHAVIORS).map(([name, spec]) => [name, spec.default]),
  ) as Behaviors;
}

/**
 * Reads `name=value`, the form on the command line.
 * @throws Error with one sentence that names the nearest behavior or the allowed values.
 */
export function parseBehavior(text: string): Partial<Behaviors> {
  const equals = text.indexOf('=');
  if (equals < 1)
    throw new Error(`"${text}" is not a behavior; write name=value, such as echo=nulls.`);
  return checkBehaviors({ [text.slice(0, equals).trim()]: text.slice(equals + 1).trim() });
}

/**
 * Checks behaviors of unknown origin; numbers may be texts and vice versa.
 * @throws Error with one sentence, as `parseBehavior` does.
 */
export function checkBehaviors(given: { [name: string]: unknown }): Partial<Behaviors> {
  const checked = Object.entries(given).map(([name, value]) => [name, checkValue(name, value)]);
  return Object.fromEntries(checked) as Partial<Behaviors>;
}

function checkValue(name: string, value: unknown): string | number {
  if (!isBehaviorName(name)) {
    throw new Error(
      `There is no behavior "${name}"; the nearest one is ` +
        `"${closest(name, Object.keys(BEHAVIORS))}".`,
    );
  }
  const spec: Choice<string> | Amount = BEHAVIORS[name];
  if (spec.kind === 'number') {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number === 'number' && Number.isFinite(number) && number >= spec.minimum)
      return number;
    throw new Error(`The behavior "${name}" takes ${spec.values}, not "${String(value)}".`);
  }
  const word = value === null ? 'null' : String(value);
  if (spec.values.includes(word)) return word;
  throw new Error(`The behavior "${name}" takes ${spec.values.join(', ')}; not "${word}".`);
}

function isBehaviorName(name: string): name is BehaviorName {
  return Object.hasOwn(BEHAVIORS, name);
}
