/**
 * The test environment of a connector in the conformance tests: the PMS of its harness, and the
 * suite's version of eligd's core.
 */
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type {
  AppointmentInput,
  CoverageInput,
  FieldProblem,
} from '../../src/domain/appointment.ts';
import type { ClaimInput } from '../../src/domain/claim.ts';
import type {
  Connector,
  ConnectorEnv,
  ConnectorType,
  PullBatch,
  PullCall,
  RejectedItem,
} from '../contract.ts';
import { claimEssence, essence, PATIENT_DATA } from './examples.ts';
import { DIRECT_NETWORK } from './network.ts';

/** When the daemon of the harness receives a message; before the visits of the examples. */
const RECEIVED_AT = Date.parse('2026-11-23T15:00:00.000Z');

export type Harness<Config> = {
  type: ConnectorType<Config>;
  /** Creates an empty PMS for one test. */
  makePms: () => Promise<TestPms>;
};

export type TestPms = {
  /** The connector's keys for this PMS, as in the configuration. */
  config: Record<string, unknown>;
  /**
   * Makes the PMS offer these appointments as one source: drops a file, sends messages, or puts
   * resources on its server. Resolves when that is done and, for a PMS that sends, any answer has
   * arrived. Without `broken_items`, everything is well-formed.
   */
  offer: (source: Source) => Promise<void>;
  /**
   * Offers a source that cannot be read at all: `text` is the file, the message, or the page. It
   * contains patient data. Undefined if the PMS cannot produce such a source.
   */
  offerGarbage?: (text: string) => Promise<void>;
  /**
   * True if each source contains every appointment of the time that it covers, so that a missing
   * one has vanished. Undefined if a source contains only changes, or this is unknown.
   */
  holds_everything?: true;
  /** Offers claims as one source; undefined if the connector has no claims. */
  offerClaims?: (source: { name: string; claims: ClaimInput[] }) => Promise<void>;
  /** For a PMS that sends: sends unacknowledged sources again. */
  offerAgain?: () => Promise<void>;
  /**
   * Returns the number of unacknowledged sources. Undefined if the PMS has no acknowledgment (a
   * connector with a cursor).
   */
  unacknowledged?: () => Promise<number>;
  /**
   * Returns the results of `deliver` and `publishAttention` in the PMS, comparable between two PMSs
   * (no paths, no write times).
   */
  written: () => Promise<unknown>;
  close?: () => Promise<void>;
};

/**
 * `name` identifies the source; the same appointments under another name are the same content.
 * `broken_items`: each text becomes an unreadable item between the appointments. The text contains
 * a patient's name, best where the time of a visit belongs.
 */
export type Source = { name: string; appointments: AppointmentInput[]; broken_items?: string[] };

/** The PMS, core, and connector of one test. */
export class Bench<Config> {
  readonly harness: Harness<Config>;
  core = new Core();
  private world = makeSuiteEnv();
  private current: TestPms | null = null;
  private running: Connector | null = null;
  private made: Connector[] = [];

  constructor(harness: Harness<Config>) {
    this.harness = harness;
  }

  get pms(): TestPms {
    if (this.current === null) throw new Error('The bench is not open.');
    return this.current;
  }

  async open(): Promise<void> {
    this.core = new Core();
    this.world = makeSuiteEnv();
    this.made = [];
    this.running = null;
    this.current = await this.harness.makePms();
  }

  async close(): Promise<void> {
    for (const connector of this.made) await connector.close?.();
    await this.current?.close?.();
    this.current = null;
    expectNoPatientData(this.world.said());
  }

  connector(): Connector {
    return this.running ?? this.connect();
  }

  /** Creates a new connector without the memory of the previous one. */
  restart(): void {
    this.running = null;
  }

  connect(pms: TestPms = this.pms): Connector {
    const config = this.harness.type.config.parse(pms.config);
    const connector = this.harness.type.create(config, this.world.env);
    this.made.push(connector);
    if (pms === this.current) this.running = connector;
    return connector;
  }

  async receive(offer: () => Promise<void>): Promise<void> {
    const connector = this.connector();
    const { pull, listen } = connector;
    const stop = new AbortController();
    const call = this.core.call(connector, stop.signal);
    if (pull !== undefined) {
      await offer();
      return pull(call);
    }
    const listening = listen?.(call);
    try {
      await offer();
    } finally {
      stop.abort();
      await listening;
    }
  }

  /**
   * Receives from a connector that may report a failure by throwing; its message contains no
   * patient data (G6).
   */
  async receiveFailing(offer: () => Promise<void>): Promise<void> {
    await this.receive(offer).catch((error: unknown) => this.world.hear(String(error)));
  }

  async again(): Promise<void> {
    await this.pms.offerAgain?.();
  }

  async expectUnacknowledged(count: number): Promise<void> {
    if (this.pms.unacknowledged) expect(await this.pms.unacknowledged()).toBe(count);
  }

  /** Returns what another PMS contains after the same action. */
  async elsewhere(act: (connector: Connector) => Promise<unknown>): Promise<unknown> {
    const pms = await this.harness.makePms();
    try {
      await act(this.connect(pms));
      return await pms.written();
    } finally {
      await pms.close?.();
    }
  }

  emptyPms(): Promise<unknown> {
    return this.elsewhere(async () => undefined);
  }
}

/** Plays eligd's side of `pull` and `listen`. */
class Core {
  /** `commit and die`: the rows are committed, but the connector gets no result. */
  fate: 'commit' | 'refuse' | 'commit and die' = 'commit';
  onAccept: () => void = () => undefined;
  readonly appointments = new Map<string, AppointmentInput>();
  readonly claims = new Map<string, ClaimInput>();
  readonly batches: PullBatch[] = [];
  /** Keys of every batch that was offered, committed or not. */
  readonly offered: string[] = [];
  readonly rejected: RejectedItem[] = [];
  private readonly finished = new Set<string>();
  private readonly replies = new Map<string, string>();
  private readonly insurance = new Map<string, CoverageInput[]>();
  private cursor: string | null = null;

  call({ readMessage }: Connector, signal: AbortSignal): PullCall {
    const offer = (batch: PullBatch) => {
      this.offered.push(batch.source.key);
      if (this.fate === 'refuse') throw new Error('The database is full.');
      this.commit(batch);
      this.onAccept();
      if (this.fate === 'commit and die') throw new Error('The power went.');
    };
    return {
      cursor: this.cursor,
      signal,
      isAccepted: async (key) => this.finished.has(key),
      accept: async (batch) => offer(batch),
      ...(readMessage && {
        keep: async ({ key, reply, text }) => {
          if (text !== null && !this.replies.has(key)) offer(readMessage(text, RECEIVED_AT));
          this.replies.set(key, this.replies.get(key) ?? reply);
          return this.replies.get(key) ?? reply;
        },
      }),
    };
  }

  private commit(batch: PullBatch): void {
    this.batches.push(batch);
    for (const update of batch.patients ?? []) {
      if (update.kind === 'described' && update.coverages !== null)
        this.insurance.set(update.patient.id, update.coverages);
    }
    for (const id of batch.cancelled_ids ?? []) {
      const known = this.appointments.get(id);
      if (known !== undefined) this.appointments.set(id, { ...known, status: 'cancelled' });
    }
    for (const one of batch.appointments) this.appointments.set(one.source_id, one);
    for (const one of batch.claims ?? []) this.claims.set(one.source_id, one);
    this.rejected.push(...batch.rejected);
    if (batch.source.is_last) this.finished.add(batch.source.key);
    this.cursor = batch.cursor ?? this.cursor;
  }

  summary() {
    const byNumber = (a: AppointmentInput, b: AppointmentInput) =>
      Number(a.source_id.slice(2)) - Number(b.source_id.slice(2));
    const insured = (one: AppointmentInput) =>
      one.insurance === 'of_patient'
        ? { ...one, coverages: this.insurance.get(one.patient.id ?? '') ?? [] }
        : one;
    return [...this.appointments.values()].sort(byNumber).map(insured).map(essence);
  }

  claimSummary() {
    return [...this.claims.values()]
      .sort((a, b) => (a.source_id < b.source_id ? -1 : 1))
      .map(claimEssence);
  }

  batchesBySource(): Map<string, PullBatch[]> {
    const sources = new Map<string, PullBatch[]>();
    for (const batch of this.batches)
      sources.set(batch.source.key, [...(sources.get(batch.source.key) ?? []), batch]);
    return sources;
  }
}

/**
 * Checks the descriptions of unusable values: they use the connector's own words, never the value
 * or a parser's message, which quotes the value (G6).
 */
export function expectPlainProblems(problems: readonly FieldProblem[]): void {
  for (const { field, value_class, remedy } of problems) {
    expectNoPatientData([field, value_class, remedy].join('\n'));
    expect(value_class, 'value_class: the kind of value in plain words, lower case').toMatch(
      /^[a-z][^"{}\n]{0,99}$/,
    );
    expect(remedy, 'remedy: a sentence that says what to do').toMatch(/^[A-Z].*\.$/s);
  }
}

/** Creates an Env whose clock moves only during sleeps. */
export function makeSuiteEnv(): {
  env: ConnectorEnv;
  said: () => string;
  hear: (words: string) => void;
} {
  let elapsed_ms = 0;
  const lines: string[] = [];
  const notes = new Map<string, string>();
  const env: ConnectorEnv = {
    connector_id: 'suite',
    time_zone: 'America/Chicago',
    resolvePath: (path) => path,
    readKeyFile: (path) => readFile(path),
    network: DIRECT_NETWORK,
    secret: (name) => ({ name: `ELIGD_SUITE_${name.toUpperCase()}`, value: null }),
    journal: {
      read: async (key) => notes.get(key) ?? null,
      write: async (key, value) => void notes.set(key, value),
    },
    random: () => 0.5,
    log: (event, fields) => void lines.push(JSON.stringify([event, fields])),
    clock: {
      now: () => Date.parse('2026-11-23T15:00:00Z') + elapsed_ms,
      elapsed: () => elapsed_ms,
      sleep: async (duration_ms, signal) => {
        signal?.throwIfAborted();
        elapsed_ms += duration_ms;
        await new Promise((resolve) => setImmediate(resolve));
        signal?.throwIfAborted();
      },
    },
  };
  return { env, said: () => lines.join('\n'), hear: (words) => void lines.push(words) };
}

export function expectNoPatientData(said: string): void {
  for (const value of PATIENT_DATA)
    expect(said, 'G6: log lines and messages hold no patient data').not.toContain(value);
}
