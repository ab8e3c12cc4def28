import type { EVENTS, EventName } from './events.ts';

/**
 * The program's sources of time, timers, randomness, and logging. The daemon passes them to its
 * stages and connectors, so that a simulation can control all of them. Exceptions: timeouts of a
 * socket or a request (undici and node:net use no other clock), `eligd demo`, and the sandbox.
 */
export type Env = {
  clock: Clock;
  /** A number in [0, 1), only for jitter. Never derive secrets from it. */
  random: () => number;
  log: Log;
  /** Returns the present start of the machine; null or left out where the system does not say. */
  boot?: () => Boot | null;
};

/** One start of the machine, the same for every process until the next start. */
export type Boot = {
  /** Random; different after each start of the machine. */
  id: string;
  /** Milliseconds that the machine was awake since that start; nobody can set this clock. */
  awake_ms: number;
};

export type Clock = {
  /**
   * Milliseconds since 1970-01-01T00:00:00Z. May jump in either direction: it is the computer's
   * clock.
   */
  now: () => number;
  /** Milliseconds since an arbitrary moment; never goes backward. For measuring durations. */
  elapsed: () => number;
  /**
   * Resolves after `duration_ms`. Rejects with the signal's reason when the signal aborts first.
   */
  sleep: (duration_ms: number, signal?: AbortSignal) => Promise<void>;
};

/**
 * Writes one event of the catalog in `events.ts` at the level in its entry. A log line has only an
 * event name and the fields below, no free text, so no protected health information can get into it
 * (G6).
 */
export type Log = <Name extends EventName>(event: Name, fields?: FieldsOf<Name>) => void;

/**
 * The fields that a line of the event may have: those in its catalog entry, and the piece of work
 * it belongs to.
 */
export type FieldsOf<Name extends EventName> = Pick<
  LogFields,
  (typeof EVENTS)[Name]['fields'][number] | 'work'
>;

/**
 * Every field that a log line may have. Values are numbers, flags, the program's own words,
 * identifiers made up by the program or the service (never the PMS's), keyed hashes, host names,
 * and paths from the configuration. `ops/log.ts` drops every field that an event's catalog entry
 * does not name.
 */
export type LogFields = {
  [Field in LogField]?: string | number | boolean | null;
} & {
  /** Identifies the lines of one piece of work; any event may have it. */
  work?: string;
};

export type LogField = (typeof LOG_FIELDS)[number];

export const LOG_FIELDS = [
  'stage', 'connector', 'specialty', 'inquiry', 'service_id', 'delivery_batch', 'accepted',
  'rejected', 'unchanged', 'status', 'http_status', 'failure', 'cause', 'reason', 'duration_ms',
  'retry_after_ms', 'wait_ms', 'skew_ms', 'version', 'node', 'path', 'host', 'port', 'from', 'to',
  'planned', 'attention', 'delivered', 'pid', 'error_name', 'error_code', 'shape', 'size', 'limit',
  'until', 'field', 'appointment', 'connectors', 'mode', 'look_ahead_days', 'reverify_after_days',
  'attempts', 'calls_per_day', 'calls_per_month', 'dollars_per_day', 'dollars_per_month',
  'calls_yesterday', 'cents_yesterday', 'calls_this_month', 'cents_this_month',
  'unpriced_this_month', 'calls_left', 'cents_left', 'settle_seconds', 'timeout_seconds',
  'poll_minutes', 'webhook', 'waiting', 'asking', 'answered', 'closed', 'uncertain', 'overdue',
  'parked', 'oldest_since', 'copies', 'deleted_copies', 'appointments', 'inquiries', 'deliveries',
  'messages', 'files', 'vanished', 'refusals', 'missed_answers', 'unknown_inquiries',
  'listed_inquiries', 'unreadable_inquiries', 'unknown_replies', 'unparsed_parts', 'verified_calls',
  'junk_bytes', 'event_name', 'direction', 'failures', 'alert', 'audit_head', 'access_head',
  'log_entries', 'answers', 'rewritten',
] as const; // biome-ignore format: a list of words reads better in lines than in a column
