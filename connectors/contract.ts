/**
 * What a connector is: the one place where eligd and a practice management system (PMS) meet.
 * `README.md` beside this file says how to write one; `conformance/suite.ts` is the test that every
 * connector passes.
 *
 * A connector module has one default export, a `ConnectorType`. eligd calls it again after a
 * failure, with backoff, and keeps the cursor and what was delivered. The requests inside one call
 * are the connector's: it keeps to the limits of its PMS, and may repeat a read for a few seconds.
 * It does not log requests.
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
  ScheduledLine,
} from './deliveries.ts';
import type { CertificateSource, ConnectorNetwork } from './network.ts';

export type * from './deliveries.ts';
export type * from './network.ts';

export type ConnectorType<Config = unknown> = {
  /** The word after `type:` in the configuration. */
  name: string;
  /**
   * Strict schema of the connector's own keys (without `id` and `type`); its descriptions become
   * the documentation.
   */
  config: ZodType<Config>;
  /** What only this connector logs, by name; left out when it logs nothing. */
  events?: ConnectorEvents;
  /**
   * Commands of its own; left out when it has none. A connector under `connectors/` has them in its
   * `commands.ts`, by which `eligd --help` knows that there are some.
   */
  commands?: ConnectorCommands;
  /**
   * Where results go, as it is in "written into …": left out, `the practice management system`.
   */
  writes_into?: string;
  create: (config: Config, env: ConnectorEnv) => Connector;
};

/**
 * Events that a connector brings, by name. A name begins with the connector's, a dash as `_`
 * (`mypms_file_read`), and holds lower-case letters, digits and `_`. What a line says is in the
 * description; its fields are some of those that every log line is held to, so patient data has no
 * way in (G6).
 */
export type ConnectorEvents = Readonly<
  Record<string, EventDescription & { fields: readonly LogField[] }>
>;

/**
 * Writes one of the connector's events. One that it does not declare is logged as `event_unknown`;
 * logging never throws.
 */
export type ConnectorLog<Events extends ConnectorEvents = ConnectorEvents> = <
  Name extends keyof Events & string,
>(
  event: Name,
  fields?: Pick<LogFields, Events[Name]['fields'][number]>,
) => void;

/**
 * Commands that a connector brings, by name: `eligd mypms pair` is `pair` of the connector whose
 * name is `mypms`. A command works for the person who types it, before the connector is configured,
 * and sees nothing of eligd's data.
 */
export type ConnectorCommands = Readonly<Record<string, ConnectorCommand>>;

export type ConnectorCommand = {
  /** What it does; the first sentence has to make sense in a list of commands. */
  description: string;
  /** By name, without the dashes. Each takes a value. */
  options?: Readonly<Record<string, CommandOption>>;
  /** Whole command lines, as a user types them. */
  examples: readonly [string, ...string[]];
  /** Throws `ConnectorError`; what it says is printed with what to do next. */
  run: (call: CommandCall) => Promise<void>;
};

export type CommandOption = {
  description: string;
  /** The word for the value in the help: `file` of `--key <file>`. */
  value: string;
  is_required?: true;
  default?: string;
  /** The only values that it takes. */
  choices?: readonly string[];
};

export type CommandCall = {
  /** What was typed, or the default; one that has neither is not in it. */
  options: Readonly<Record<string, string>>;
  /** A path that was typed, made absolute: relative ones are relative to the current folder. */
  resolvePath: (path: string) => string;
  readKeyFile: ConnectorEnv['readKeyFile'];
  /** Prints the result to standard output, where programs read it. */
  print: (text: string) => void;
  /** Prints what only people need to standard error. */
  tell: (text: string) => void;
};

/** `Events` are the connector's own, so that the compiler knows their names and fields. */
export type ConnectorEnv<Events extends ConnectorEvents = ConnectorEvents> = Omit<Env, 'log'> & {
  log: ConnectorLog<Events>;
  /** The connector's `id:` in the configuration. */
  connector_id: string;
  /** The clinic's IANA time zone, for wall times without an offset. */
  time_zone: string;
  /**
   * A path of the configuration made absolute: relative ones are relative to the configuration
   * file.
   */
  resolvePath: (path: string) => string;
  /**
   * Reads a key or certificate that the configuration names by `path`. Throws ConnectorError with
   * the remedy when other users could change it, or read it though it `is_secret`; and the system's
   * error when it cannot be read.
   */
  readKeyFile: (path: string, use: { is_secret: boolean }) => Promise<Buffer>;
  /**
   * A secret of this connector by the last part of its name: `token` of the connector `ehr` is
   * `ELIGD_EHR_TOKEN`.
   */
  secret: (name: string) => ConnectorSecret;
  network: ConnectorNetwork;
  journal: Journal;
};

/**
 * `name` in full, to name it when it is missing (null). The value never goes into a log or an
 * error.
 */
export type ConnectorSecret = { name: string; value: string | null };

/**
 * What a connector has to know of its own writes after a crash, e.g. the id that the PMS gave to
 * what it wrote. `write` is durable when it resolves. The PMS has the last word: a journal may be
 * older than the PMS (a restored database), or gone.
 */
export type Journal = {
  read: (key: string) => Promise<string | null>;
  write: (key: string, value: string) => Promise<void>;
};

export type Connector = {
  /**
   * Reads what is there and returns; eligd calls it again on its schedule. A connector has this,
   * `listen`, or both.
   */
  pull?: (call: PullCall) => Promise<void>;
  /**
   * Receives until `signal` is aborted; resolves when the last acknowledgement is out. One that
   * ends before is called again.
   */
  listen?: (call: ListenCall) => Promise<void>;
  /**
   * Writes records into the PMS, all of one batch. Repeatable (G4): the same batch again, even
   * after a crash in the middle, leaves the PMS as one call would; `batch.id` and `delivery.key`
   * are stable for that. One outcome per delivery, in any order; a delivery without one counts as
   * failed. Throws `ConnectorError` when nothing could be tried.
   */
  deliver: (batch: DeliveryBatch, signal: AbortSignal) => Promise<DeliveryOutcome[]>;
  /**
   * The same for what payers said about claims; batches hold either the one or the other. Left out
   * by a connector that hands over no claims.
   */
  deliverClaims?: (batch: ClaimBatch, signal: AbortSignal) => Promise<DeliveryOutcome[]>;
  /**
   * Replaces the PMS's view of what needs you by this whole list. Repeatable. `as_of`: the
   * moment at which the list was read (ISO 8601), for a list that people open as a file. Left out
   * when the PMS has no place for it.
   */
  publishAttention?: (
    entries: AttentionEntry[],
    signal: AbortSignal,
    as_of: string,
  ) => Promise<void>;
  /**
   * Replaces the PMS's view of the coming days by this whole list, the earliest visit first.
   * Repeatable. `as_of` as above. Left out when the PMS has no place for it.
   */
  publishTable?: (lines: ScheduledLine[], signal: AbortSignal, as_of: string) => Promise<void>;
  /**
   * Replaces the file next to the results in which people and monitoring programs see when eligd
   * last worked, and how it does. Called about once a minute. `text` is plain, for people. Left out
   * when the PMS has no place for it.
   */
  publishHeartbeat?: (text: string, signal: AbortSignal) => Promise<void>;
  /** Certificates whose end somebody has to know of in time; left out: it uses none. */
  certificates?: () => CertificateSource[];
  /**
   * Replaces the page of the coming days next to the results, for people without a login: a whole
   * HTML document with patient data. Called when it has changed, and about once an hour. Left out
   * when the PMS has no place for it.
   */
  publishSchedule?: (html: string, signal: AbortSignal) => Promise<void>;
  /**
   * For `eligd restore`: makes every source that was acknowledged at `since` (epoch milliseconds)
   * or later readable again, and gives how many there were. Reading one again does no harm, so in
   * doubt it is one more. Left out when a source cannot be had again (a message) or comes again by
   * its cursor, which the database holds.
   */
  readAgain?: (since: number, signal: AbortSignal) => Promise<number>;
  /**
   * For `eligd preview`: reads one file as if it had arrived, and hands over what is in it. The
   * file may lie anywhere and stays as it is; nothing is written. Left out when sources are not
   * files.
   */
  readFile?: (path: string, call: Pick<PullCall, 'accept' | 'signal'>) => Promise<void>;
  /**
   * For `eligd preview` without a file: reads what a first pull would read, and hands it over;
   * nothing is written. Left out when there is no server to read from.
   */
  readSource?: (call: Pick<PullCall, 'accept' | 'signal'>) => Promise<void>;
  /**
   * Files that the connector has left behind and does not need any more; eligd deletes those that
   * are older than `retention:` says. Left out when it leaves none.
   */
  keptFiles?: () => KeptFiles[];
  /**
   * Whether eligd has read or written here before, as what it left behind shows. Asked when the
   * database is new: one that was lost must not be replaced in silence. Left out when nothing of
   * eligd stays.
   */
  wasUsedBefore?: () => Promise<boolean>;
  /**
   * Looks whether everything the connector needs is there, without changing anything. For `eligd
   * check`.
   */
  check: (signal: AbortSignal) => Promise<CheckLine[]>;
  /** Lets go of sockets, files and timers. Called once, after `pull` and `listen` have returned. */
  close?: () => Promise<void>;
};

/**
 * Regular files directly in `folder` (absolute path) whose names match. `kind`: which limit of
 * `retention:` they have.
 */
export type KeptFiles = {
  kind: 'processed' | 'rejected' | 'outbox';
  folder: string;
  names: RegExp;
};

export type PullCall = {
  /** What the connector gave with its last accepted batch; null at first. */
  cursor: string | null;
  /**
   * Commits a batch. Only after it resolved may the source be acknowledged: the file moved, the
   * message answered, the cursor passed (G3). Accepting the same batch twice is harmless. Batches
   * are committed in the order of the calls; a connector that does not wait for one before it hands
   * over the next shares its commit.
   */
  accept: (batch: PullBatch) => Promise<Accepted>;
  /**
   * Whether the source that was last accepted to its end had this key: reading it again would
   * change nothing.
   */
  isAccepted: (source_key: string) => Promise<boolean>;
  /**
   * Which rejected files are still there (their `kept_as`), at the end of each pull. One that is
   * gone leaves the attention list.
   */
  stillRejected?: (kept_as: string[]) => Promise<void>;
  signal: AbortSignal;
};

export type ListenCall = Pick<PullCall, 'accept' | 'signal'>;

/**
 * `reply`: what the source is answered, when it has a `reply`: its own, or the one that was stored
 * when it came before.
 */
export type Accepted = { reply: string | null };

/**
 * A piece of one source (a file, a message, a page), small enough to be committed at once: a few
 * hundred appointments.
 */
export type PullBatch = {
  source: {
    /** Identifies the source's content for good, e.g. `sha256:…` of a file. */
    key: string;
    /**
     * What a user would call it: the file name, or a control ID. Kept in the database, not logged.
     */
    name: string;
    /** True on the last batch of the source. */
    is_last: boolean;
    /**
     * Whether the source claims to hold every appointment of the days and of the locations or
     * providers that it covers: one that is missing from two such sources in a row has vanished.
     * `unknown`: it does if most of what was known is in it.
     */
    completeness: 'full' | 'changes' | 'unknown';
    /**
     * For a file of which nothing could be used, and that the connector keeps: its name there. It
     * stays on the attention list while `stillRejected` names it, or until a file with the same
     * `name` is read.
     */
    kept_as?: string;
    /**
     * For a source that is one message, whole in this batch, and that somebody may send again: what
     * it is answered. It is stored with the message; when one with this key comes again, nothing
     * else happens and `accept` gives back what was stored.
     */
    reply?: string;
    /**
     * Of a source with a `reply`: when its sender wrote it (ISO 8601), and who that is. A message
     * about a visit that is older than the latest of the same sender about it changes nothing; it
     * is kept in the visit's story. Left out when that is not known, or not to be trusted.
     */
    written?: { at: string; by: string };
  };
  appointments: AppointmentInput[];
  /**
   * Claims that were sent to payers; left out when the source holds none. They need
   * `deliverClaims`.
   */
  claims?: ClaimInput[];
  /** What the source says about patients apart from appointments. Taken before `appointments`. */
  patients?: PatientUpdate[];
  /**
   * Ids of appointments that do not take place, from a source that says nothing else about them. An
   * unknown one is passed over.
   */
  cancelled_ids?: string[];
  /** Items that cannot even be named or dated. They go to the attention list as they are. */
  rejected: RejectedItem[];
  /** Stored in the same transaction; null leaves the stored one. */
  cursor: string | null;
};

export type RejectedItem = FieldProblem & {
  /** Where it is in the source: `row 17`, `message 3`. */
  position: string;
  /**
   * The appointment's id, when that at least could be read: the entry leaves the attention list
   * when the appointment comes readable.
   */
  source_id?: string;
};

export type CheckLine = { ok: boolean; what: string; next?: string };

const BRAND = Symbol.for('eligd.ConnectorError');

/**
 * What a connector throws. `transient`: the PMS is away or busy, eligd tries again automatically;
 * `permanent`: somebody must act. The sentences are shown and logged, so they hold no protected
 * health information; what the PMS itself said goes into `words`, which only those see who may see
 * patients.
 */
export class ConnectorError extends Error {
  /**
   * An error of another copy of this file counts as well: a connector outside of the tree throws
   * that of `eligd/connector`, which is built from this one.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore-start lint/complexity/noThisInStatic: a class that extends it asks for itself.
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
    told: { what: string; next: string; words?: string; retry_after_ms?: number; cause?: unknown },
  ) {
    super(told.what, told.cause === undefined ? undefined : { cause: told.cause });
    this.failure = failure;
    this.next = told.next;
    this.words = told.words ?? '';
    this.retry_after_ms = told.retry_after_ms ?? null;
  }
}
