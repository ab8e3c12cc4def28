/**
 * The interface between eligd and a practice management system (PMS). `README.md` in this folder
 * explains how to write a connector; every connector passes the tests in `conformance/suite.ts`.
 *
 * A connector module has one default export, a `ConnectorType`. eligd calls it again after a
 * failure, with backoff, and stores the cursor and the delivery states. The connector is
 * responsible for the requests inside one call: it obeys the limits of its PMS, and may repeat a
 * read for a few seconds. It does not log requests.
 */
import type { ZodType } from 'zod';
import type { AppointmentInput, FieldProblem } from '../src/domain/appointment.ts';
import type { ClaimInput } from '../src/domain/claim.ts';
import type { Env, LogField, LogFields } from '../src/domain/env.ts';
import type { EventDescription } from '../src/domain/events.ts';
import type { PatientUpdate } from '../src/domain/patient-update.ts';
import type {
  AttentionEntry,
  ClaimBatch,
  DeliveryBatch,
  DeliveryOutcome,
  Rows,
  ScheduledLine,
} from './deliveries.ts';
import type { CertificateSource, ConnectorNetwork } from './network.ts';

export type * from './deliveries.ts';
export type * from './network.ts';

export type ConnectorType<Config = unknown> = {
  /** The value of `type:` in the configuration. */
  name: string;
  /**
   * Strict schema of the connector's own keys (without `id` and `type`); its descriptions become
   * the documentation.
   */
  config: ZodType<Config>;
  /** The connector's own log events, by name; undefined: it logs nothing. */
  events?: ConnectorEvents;
  /**
   * The connector's own commands; undefined: none. A connector under `connectors/` has them in its
   * `commands.ts`, where `eligd --help` finds them.
   */
  commands?: ConnectorCommands;
  /** Where results go, as in "written into …"; undefined: `the practice management system`. */
  writes_into?: string;
  /** Whether appointments come as exports at usual hours: eligd notices when one is missing. */
  has_exports?: true;
  create: (config: Config, env: ConnectorEnv) => Connector;
};

/**
 * A connector's events, by name. A name begins with the connector's, with `_` for a dash
 * (`mypms_file_read`), and contains lowercase letters, digits, and `_`. The description has the
 * text of a line. The fields are a subset of those that every log line may have, so no patient data
 * can get in (G6).
 */
export type ConnectorEvents = Readonly<
  Record<string, EventDescription & { fields: readonly LogField[] }>
>;

/**
 * Writes one of the connector's events. An undeclared event is logged as `event_unknown`; logging
 * never throws.
 */
export type ConnectorLog<Events extends ConnectorEvents = ConnectorEvents> = <
  Name extends keyof Events & string,
>(
  event: Name,
  fields?: Pick<LogFields, Events[Name]['fields'][number]>,
) => void;

/**
 * A connector's commands, by name: `eligd mypms pair` is `pair` of the connector named `mypms`. A
 * command runs as the user who types it, also before the connector is configured, and has no access
 * to eligd's data.
 */
export type ConnectorCommands = Readonly<Record<string, ConnectorCommand>>;

export type ConnectorCommand = {
  /** What the command does; its first sentence also appears in a list of commands. */
  description: string;
  /** By name, without the dashes. Each takes a value. */
  options?: Readonly<Record<string, CommandOption>>;
  /** Whole command lines, as a user types them. */
  examples: readonly [string, ...string[]];
  /** Throws `ConnectorError`, whose sentences are printed together with what to do next. */
  run: (call: CommandCall) => Promise<void>;
};

export type CommandOption = {
  description: string;
  /** The name of the value in the help: `file` in `--key <file>`. */
  value: string;
  is_required?: true;
  default?: string;
  /** The only accepted values. */
  choices?: readonly string[];
};

export type CommandCall = {
  /** The typed values and the defaults; an option with neither is missing. */
  options: Readonly<Record<string, string>>;
  /** Makes a typed path absolute: relative ones start at the current folder. */
  resolvePath: (path: string) => string;
  readKeyFile: ConnectorEnv['readKeyFile'];
  /** Prints the result to standard output, where programs read it. */
  print: (text: string) => void;
  /** Prints text that is only for people to standard error. */
  tell: (text: string) => void;
};

/** `Events` is the connector's own type, so that the compiler checks their names and fields. */
export type ConnectorEnv<Events extends ConnectorEvents = ConnectorEvents> = Omit<Env, 'log'> & {
  log: ConnectorLog<Events>;
  /** The connector's `id:` in the configuration. */
  connector_id: string;
  /** The clinic's IANA time zone, for wall times without an offset. */
  time_zone: string;
  /** Makes a path of the configuration absolute: relative ones start at the configuration file. */
  resolvePath: (path: string) => string;
  /**
   * Reads a key or certificate at a `path` of the configuration. Throws ConnectorError with the
   * remedy when other users could change it, or read it although it `is_secret`; throws the
   * system's error when it cannot be read.
   */
  readKeyFile: (path: string, use: { is_secret: boolean }) => Promise<Buffer>;
  /**
   * Returns a secret of this connector by the last part of its name: `token` of the connector `ehr`
   * is `ELIGD_EHR_TOKEN`.
   */
  secret: (name: string) => ConnectorSecret;
  network: ConnectorNetwork;
  journal: Journal;
};

/**
 * `name` is the full name, to use when the value is missing (null). The value never goes into a log
 * or an error.
 */
export type ConnectorSecret = { name: string; value: string | null };

/**
 * What a connector must remember about its own writes after a crash, such as the ID that the PMS
 * assigned. `write` is durable when it resolves. The PMS takes precedence: a journal may be older
 * than the PMS (a restored database), or missing.
 */
export type Journal = {
  read: (key: string) => Promise<string | null>;
  write: (key: string, value: string) => Promise<void>;
};

export type Connector = {
  /**
   * Reads what is available and returns; eligd calls it again on its schedule. A connector has
   * this, `listen`, or both.
   */
  pull?: (call: PullCall) => Promise<void>;
  /**
   * Receives until `signal` is aborted; resolves when the last acknowledgment is sent. If it ends
   * earlier, eligd calls it again.
   */
  listen?: (call: ListenCall) => Promise<void>;
  /**
   * Reads a message that `keep` has committed, perhaps in an earlier process. `received_at`: when
   * (epoch milliseconds). Pure: it has no effects, and the same text has the same content. If it
   * throws, the message goes on the attention list, and the others are read. Undefined for a
   * connector whose sources are not answered one by one: it gets no `keep`.
   */
  readMessage?: (text: string, received_at: number) => PullBatch;
  /**
   * Writes all records of a batch into the PMS. Repeatable (G4): delivering the same batch again,
   * even after a crash in the middle, leaves the PMS as one call would; `batch.id` and
   * `delivery.key` are stable for that. Returns one outcome per delivery, in any order; a delivery
   * without one counts as failed. Throws `ConnectorError` when it could not try any delivery.
   */
  deliver: (batch: DeliveryBatch, signal: AbortSignal) => Promise<DeliveryOutcome[]>;
  /**
   * Writes the payers' answers about claims; a batch contains either claims or visits. Undefined
   * for a connector without claims.
   */
  deliverClaims?: (batch: ClaimBatch, signal: AbortSignal) => Promise<DeliveryOutcome[]>;
  /**
   * Replaces the attention list in the PMS with this whole list. Repeatable. `as_of`: the time at
   * which the list was read (ISO 8601), for a list that people open as a file. Undefined if the PMS
   * has no place for it.
   */
  publishAttention?: (
    entries: Rows<AttentionEntry>,
    signal: AbortSignal,
    as_of: string,
  ) => Promise<void>;
  /**
   * Replaces the schedule of the coming days in the PMS with this whole list, earliest visit first.
   * Repeatable. `as_of`: as in `publishAttention`. Undefined if the PMS has no place for it.
   */
  publishTable?: (lines: Rows<ScheduledLine>, signal: AbortSignal, as_of: string) => Promise<void>;
  /**
   * Replaces the file next to the results that shows people and monitoring programs when eligd last
   * worked, and its health. Called about once a minute. `text` is plain, for people. Undefined if
   * the PMS has no place for it.
   */
  publishHeartbeat?: (text: string, signal: AbortSignal) => Promise<void>;
  /** Returns the certificates whose end dates eligd watches; undefined: it uses none. */
  certificates?: () => CertificateSource[];
  /**
   * Replaces the page of the coming days next to the results, for people without a login: a whole
   * HTML document with patient data, in UTF-8. `html` can be read several times; a large clinic
   * has megabytes. Called when it has changed, and about once an hour. Undefined if the PMS has no
   * place for it.
   */
  publishSchedule?: (html: Iterable<Uint8Array>, signal: AbortSignal) => Promise<void>;
  /**
   * For `eligd restore`: makes every source acknowledged at `since` (epoch milliseconds) or later
   * readable again, and returns their number. Reading one again does no harm, so in doubt it
   * includes one more. Undefined if a source cannot be read again (a message), or if the cursor in
   * the database brings it back.
   */
  readAgain?: (since: number, signal: AbortSignal) => Promise<number>;
  /**
   * For `eligd preview`: reads one file as if it had arrived, and passes its content to `accept`.
   * The file may be anywhere and is not changed; nothing is written. Undefined if sources are not
   * files.
   */
  readFile?: (path: string, call: Pick<PullCall, 'accept' | 'signal'>) => Promise<void>;
  /**
   * For `eligd preview` without a file: reads what a first pull would read and passes it to
   * `accept`; nothing is written. Undefined if there is no server to read from.
   */
  readSource?: (call: Pick<PullCall, 'accept' | 'signal'>) => Promise<void>;
  /**
   * Returns files that the connector keeps but no longer needs; eligd deletes those that are older
   * than `retention:` allows. Undefined if it keeps none.
   */
  keptFiles?: () => KeptFiles[];
  /**
   * Returns whether eligd's own files show that it has read or written here before. Called when the
   * database is new: a lost database must not be replaced silently. Undefined if eligd leaves no
   * files.
   */
  wasUsedBefore?: () => Promise<boolean>;
  /** Checks the connector's requirements without changing anything, for `eligd check`. */
  check: (signal: AbortSignal) => Promise<CheckLine[]>;
  /** Releases sockets, files, and timers. Called once, after `pull` and `listen` have returned. */
  close?: () => Promise<void>;
};

/**
 * Regular files directly in `folder` (absolute path) whose names match. `kind`: which limit of
 * `retention:` applies.
 */
export type KeptFiles = {
  kind: 'processed' | 'rejected' | 'outbox';
  folder: string;
  names: RegExp;
};

export type PullCall = {
  /** The cursor of the connector's last accepted batch; null at first. */
  cursor: string | null;
  /**
   * Commits a batch. Only after it resolves may the connector acknowledge the source: move the
   * file, answer the message, advance the cursor (G3). Accepting the same batch twice is harmless.
   * Batches are committed in the order of the calls; a connector that offers the next batch without
   * waiting shares its commit.
   */
  accept: (batch: PullBatch) => Promise<void>;
  /**
   * Commits a message as its sender wrote it, which is faster than reading it first. Only after it
   * resolves may the connector answer the message (G3): with the returned reply, the stored one if
   * the message came before. If it rejects, the message is not stored: do not answer it, so that
   * its sender sends it again. eligd soon passes the text to `readMessage`, in the order of the
   * messages; after a crash, at the next start. While too much is unread, `keep` waits. Undefined
   * for a connector without `readMessage`, and where nothing is stored, as in `eligd preview`: then
   * use `accept`.
   */
  keep?: (message: KeptMessage) => Promise<string>;
  /**
   * Returns whether the last completely accepted source has this key; then reading it again would
   * change nothing.
   */
  isAccepted: (source_key: string) => Promise<boolean>;
  /**
   * Reports which rejected files still exist (their `kept_as`), at the end of each pull. An entry
   * leaves the attention list when its file is gone.
   */
  stillRejected?: (kept_as: string[]) => Promise<void>;
  signal: AbortSignal;
};

export type ListenCall = Pick<PullCall, 'accept' | 'keep' | 'signal'>;

/** A message that its sender may send again. `key` and `name` are as in the source of a batch. */
export type KeptMessage = {
  key: string;
  name: string;
  /** The answer to the message; eligd stores it. */
  reply: string;
  /** Null: the message has nothing to read. */
  text: string | null;
};

/**
 * A part of one source (a file, a message, a page), small enough for one commit: a few hundred
 * appointments.
 */
export type PullBatch = {
  source: {
    /** Identifies the source's content permanently, such as `sha256:…` of a file. */
    key: string;
    /**
     * The name that users know: the file name, or a control ID. Stored in the database, not logged.
     */
    name: string;
    /** True on the last batch of the source. */
    is_last: boolean;
    /**
     * Whether the source is supposed to contain every appointment of the days, locations, and
     * providers that it covers: an appointment missing from two such sources in a row has vanished.
     * `unknown`: it is complete if it contains most of the known appointments.
     */
    completeness: 'full' | 'changes' | 'unknown';
    /**
     * For a kept file in which nothing could be used: its name there. Its entry stays on the
     * attention list while `stillRejected` names it, or until a file with the same `name` is read.
     */
    kept_as?: string;
    /**
     * For one message, complete in this batch: when its sender wrote it (ISO 8601), and who the
     * sender is. A message about a visit that is older than the same sender's latest about it
     * changes nothing; it is kept in the visit's history. Undefined if unknown or not trustworthy.
     */
    written?: { at: string; by: string };
  };
  appointments: AppointmentInput[];
  /** Claims that were sent to payers; undefined: none. They require `deliverClaims`. */
  claims?: ClaimInput[];
  /** Data about patients apart from appointments. Applied before `appointments`. */
  patients?: PatientUpdate[];
  /**
   * IDs of appointments that do not take place, from a source with no other data about them.
   * Unknown IDs are ignored.
   */
  cancelled_ids?: string[];
  /** Items without a readable ID or date. They go on the attention list. */
  rejected: RejectedItem[];
  /** Stored in the same transaction; null keeps the stored one. */
  cursor: string | null;
};

export type RejectedItem = FieldProblem & {
  /** The position in the source: `row 17`, `message 3`. */
  position: string;
  /**
   * The appointment's ID, if at least that is readable: the entry leaves the attention list when a
   * readable version of the appointment arrives.
   */
  source_id?: string;
};

export type CheckLine = { ok: boolean; what: string; next?: string };

const BRAND = Symbol.for('eligd.ConnectorError');

/**
 * The error that connectors throw. `transient`: the PMS is away or busy, and eligd tries again
 * automatically; `permanent`: someone must act. The sentences are shown and logged, so they contain
 * no PHI; the PMS's own text goes into `words`, which is shown only to users who may see patients.
 */
export class ConnectorError extends Error {
  /**
   * Also accepts an error of another copy of this file: a connector outside the tree throws the
   * class of `eligd/connector`, which is built from this file.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore-start lint/complexity/noThisInStatic: a subclass compares with itself.
    if (this !== ConnectorError) return Function.prototype[Symbol.hasInstance].call(this, value);
    // biome-ignore-end lint/complexity/noThisInStatic: only here.
    return typeof value === 'object' && value !== null && BRAND in value;
  }

  readonly [BRAND] = true;
  override readonly name = 'ConnectorError';
  readonly failure: 'transient' | 'permanent';
  readonly next: string;
  readonly words: string;
  readonly retry_after_ms: number | null;

  constructor(
    failure: 'transient' | 'permanent',
    parts: { what: string; next: string; words?: string; retry_after_ms?: number; cause?: unknown },
  ) {
    super(parts.what, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.failure = failure;
    this.next = parts.next;
    this.words = parts.words ?? '';
    this.retry_after_ms = parts.retry_after_ms ?? null;
  }
}
