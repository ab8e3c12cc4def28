import { closest } from 'fastest-levenshtein';

/**
 * One thing that the specification leaves open, with the readings of it that the sandbox can act
 * out. `values` are the words to choose from, or, for a number, a description of what it may be.
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

/** Every switch of the sandbox. README.md holds the same table, and a test compares the two. */
export const BEHAVIORS = {
  bulk_request_shape: choice(
    ['array', 'object', 'both'],
    'array',
    'What a bulk creation takes: a bare array, {"inquiries": […]}, or either. The other ' +
      'shape is a 422 at ["body"].',
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
    'What a bulk creation answers. "mixed" puts a validation error in the place of a refused ' +
      'item; "shuffled_ids" gives the ids in another order.',
  ),
  bulk_absent: choice(
    ['no', '404', '405', '501'],
    'no',
    'The status of the bulk path where a service does not have it.',
  ),
  bulk_partial: choice(
    ['all_or_nothing', 'some', 'some_422'],
    'all_or_nothing',
    'What one bad item does to a bulk: nothing is created; the good ones are; the good ones ' +
      'are although the answer is a 422.',
  ),
  bulk_max: amount(0, 0, 'The most items that one bulk may hold; 0: any number.'),
  bulk_max_status: choice(
    ['413', '422'],
    '413',
    'How a bulk past bulk_max is refused; 422 is at ["body"].',
  ),
  list_filter: choice(
    ['external_id', 'ignored'],
    'external_id',
    'Whether the query parameter external_id filters the list.',
  ),
  list_paging: choice(
    ['none', 'limit_offset', 'page', 'link', 'items_total', 'limit'],
    'none',
    'How the list is cut into pages. "items_total" answers {"items": […], "total": n} and ' +
      'takes limit and offset, or page. "limit" shows the first list_page_size inquiries, or ' +
      'as many as "limit" asks for, and knows no other parameter.',
  ),
  list_page_size: amount(
    1,
    50,
    'Inquiries on one page, when the list is paged; a smaller "limit" is obeyed, and by the ' +
      'paging "limit" a larger one, too.',
  ),
  list_order: choice(['created', 'reverse', 'random'], 'created', 'The order of the list.'),
  list_truncate: amount(0, 0, 'The list silently ends after so many inquiries; 0: it is whole.'),
  list_delay_seconds: amount(
    0,
    0,
    'Scaled seconds until a new inquiry is listed. Reading it by id works at once.',
  ),
  read_shape: choice(
    ['object', 'array'],
    'object',
    'Whether reading by id answers the inquiry or an array of it.',
  ),
  unknown_id: choice(
    ['404', '422', 'null', 'empty_array'],
    '404',
    'What reading an unknown id answers.',
  ),
  auth_error: choice(['401', '403'], '401', 'The status for bad or missing credentials.'),
  token_expires_in: choice(
    ['none', 'seconds'],
    'none',
    'Whether a token says for how long it is valid.',
  ),
  token_lifetime_seconds: amount(0, 86_400, 'For how many scaled seconds a token is valid.'),
  rate_limit_per_minute: amount(0, 0, 'Requests allowed in any 60 scaled seconds; 0: any number.'),
  rate_limit_status: choice(['429', '503'], '429', 'The status past the rate limit.'),
  retry_after: choice(
    ['seconds', 'date', 'none'],
    'seconds',
    'The form of Retry-After past the rate limit.',
  ),
  timestamps: choice(
    ['z', 'offset', 'naive_micros'],
    'z',
    'Timestamps in UTC with Z; with an offset; with microseconds and no zone (UTC is meant).',
  ),
  dates: choice(
    ['mdy_dash', 'iso', 'mdy_slash'],
    'mdy_dash',
    'Dates in whatever the service sends, the echoed request included. It takes MM-DD-YYYY only.',
  ),
  amounts: choice(
    ['string', 'number', 'currency'],
    'string',
    'Amounts of maximums and copays as "1500.00", 1500 or "$1,500.00". Claims have numbers, ' +
      'unless this is "currency".',
  ),
  call_details: choice(
    ['by_specialty', 'array', 'object', 'absent'],
    'by_specialty',
    'By specialty: an array for dental; one object now and then for the other two.',
  ),
  transcript_name: choice(
    ['mixed', 'call_transcript', 'transcript'],
    'mixed',
    'The name of the transcript. Mixed: call_transcript for dental; the other now and then ' +
      'for the other two.',
  ),
  tooth_numbers: choice(
    ['mixed', 'strings', 'integers'],
    'mixed',
    'Mixed: integers in about one answer of five. Primary teeth are letters, always strings.',
  ),
  echo: choice(
    ['as_sent', 'nulls', 'defaults', 'trimmed_upper'],
    'as_sent',
    'The request in the read form: as it came; with null for absent fields; with defaults; ' +
      'trimmed and in upper case.',
  ),
  subscription_body: choice(
    ['object', 'empty', '204'],
    'object',
    'What changing the subscription answers: the record, {} or 204. A GET always shows the record.',
  ),
  subscription_none: choice(
    ['404', 'empty', 'null'],
    '404',
    'What a GET or DELETE answers where no subscription exists.',
  ),
  subscription_minutes_min: amount(
    1,
    1,
    'The least update_frequency_min that is kept; what is less becomes that.',
  ),
  webhook_retry: choice(
    ['none', 'hours'],
    'none',
    'Whether a delivery that is not answered with 2xx is sent again: after 1, 5, 15, then ' +
      'every 60 scaled minutes, for six hours.',
  ),
  webhook_repeat: amount(0, 0, 'How many times more than once each message is sent.'),
  webhook_order: choice(
    ['in_order', 'reversed'],
    'in_order',
    'Reversed: every change is a message of its own, and those of one delivery come the last ' +
      'one first.',
  ),
  webhook_lost_percent: amount(
    0,
    0,
    'How many messages in a hundred are never sent; 100: silence.',
  ),
  webhook_secret: choice(
    ['right', 'wrong'],
    'right',
    'Whether the signature is made with the secret that was issued.',
  ),
  webhook_header: choice(
    ['X-Service-Signature', 'X-Signature'],
    'X-Service-Signature',
    'The header that holds the signature.',
  ),
  webhook_max_bytes: amount(
    1,
    1_000_000,
    'The longest message; what is longer is split, down to one inquiry in each.',
  ),
  webhook_strangers: amount(0, 0, "Other callers' inquiries in each message."),
  verification_after_minutes: amount(
    0,
    3,
    'Scaled minutes after its end at which the verification of a call is there.',
  ),
  verification_inquiry_id: choice(
    ['required', 'optional'],
    'required',
    'Whether the verifications need an inquiry_id.',
  ),
  payer_hours: choice(
    ['any', 'business'],
    'any',
    'When calls end: at any time, or only while payers answer the phone (14:00 to 23:00 UTC, ' +
      'Monday to Friday, without US holidays), however soon an answer is wanted.',
  ),
  payer_turnaround_hours: amount(
    0,
    0,
    'Hours in which payers answer the phone from the creation to the end of the call at the ' +
      'least; it needs payer_hours=business.',
  ),
  account_requires: choice(
    ['nothing', 'npi_and_insurance'],
    'nothing',
    'What this account requires besides the specification; a strict one npi and insurance.',
  ),
  medical_requires: choice(
    ['as_dental', 'strict'],
    'as_dental',
    'Required for medical and mental health; strict adds insurance and billing_npi.',
  ),
  success_null_first_seconds: amount(
    0,
    0,
    'Scaled seconds for which a SUCCESS still has null results.',
  ),
  revise_after_hours: amount(0, 0, 'Scaled hours after which a SUCCESS is revised; 0: never.'),
  reopen_after_hours: amount(
    0,
    0,
    'Scaled hours after which a SUCCESS goes back to IN_PROGRESS for a while; 0: never.',
  ),
  status_case: choice(['upper', 'lower'], 'upper', 'The spelling of an inquiry status.'),
  date_skew_seconds: amount(
    Number.NEGATIVE_INFINITY,
    0,
    'Added to the Date header: what a caller with a wrong clock sees.',
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
 * Reads `name=value`, the form of the command line.
 * @throws Error with one sentence that names the nearest behavior or the allowed values.
 */
export function parseBehavior(text: string): Partial<Behaviors> {
  const equals = text.indexOf('=');
  if (equals < 1)
    throw new Error(`"${text}" is not a behavior; write name=value, such as echo=nulls.`);
  return checkBehaviors({ [text.slice(0, equals).trim()]: text.slice(equals + 1).trim() });
}

/**
 * Checks behaviors of unknown origin; numbers may be texts and the reverse.
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
