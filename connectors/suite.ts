/**
 * The conformance tests that every connector passes. The test of a connector gives a `Harness`, which plays the practice
 * management system (PMS), and calls `connectorSuite`; see `test/connectors/csv.test.ts`, which is about thirty lines.
 *
 * The suite plays eligd's core: `accept` that commits, fails, or commits and then dies; the stored cursor; the clock.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AppointmentInput, CoverageInput } from '../src/domain/appointment.ts';
import type { ClaimInput } from '../src/domain/claim.ts';
import { type ClaimStatusRecord, claimStatusRecordSchema } from '../src/records/claim-status.ts';
import { type EligibilityRecord, eligibilityRecordSchema } from '../src/records/eligibility.ts';
import { estimateVisit } from '../src/records/estimate.ts';
import type {
  AttentionEntry,
  ClaimBatch,
  Connector,
  ConnectorEnv,
  ConnectorType,
  DeliveryBatch,
  PullBatch,
  PullCall,
  RejectedItem,
} from './contract.ts';

export type Harness<Config> = {
  type: ConnectorType<Config>;
  /** An empty PMS, made for one test. */
  makePms: () => Promise<TestPms>;
};

export type TestPms = {
  /** The connector's keys for this PMS, as they would stand in the configuration. */
  config: Record<string, unknown>;
  /**
   * Lets the PMS hand out these appointments as one source: drops a file, sends messages, puts resources on its server. Resolves
   * when it has been done and, for a PMS that sends, answered, however it was answered. Without `broken_items` everything is well-formed;
   * with it, so many items that nobody can understand stand between the appointments.
   */
  offer: (source: Source) => Promise<void>;
  /** The same for claims, as one source; left out when the connector hands over none. */
  offerClaims?: (source: { name: string; claims: ClaimInput[] }) => Promise<void>;
  /** For a PMS that sends: sends again what was not acknowledged. */
  offerAgain?: () => Promise<void>;
  /** How many sources are not acknowledged. Left out when the PMS knows no acknowledgement (it is read by a cursor). */
  unacknowledged?: () => Promise<number>;
  /** What `deliver` and `publishAttention` left in the PMS, comparable between two PMSs (no paths, no times of writing). */
  written: () => Promise<unknown>;
  close?: () => Promise<void>;
};

/** `name` tells two sources apart; the same appointments under another name are the same content. */
export type Source = { name: string; appointments: AppointmentInput[]; broken_items?: number };

/** Longer than any connector may take to notice that it should stop, in real time. */
const PROMPT_MS = 5000;
const TIME_ZONE = 'America/Chicago';

export function connectorSuite<Config>(name: string, harness: Harness<Config>): void {
  describe(`${name} as a connector`, () => {
    const bench = new Bench(harness);
    beforeEach(() => bench.open());
    afterEach(() => bench.close());
    configurationTests(bench);
    receivingTests(bench);
    failureTests(bench);
    stoppingTests(bench);
    deliveryTests(bench);
    claimTests(bench);
    attentionTests(bench);
    checkTests(bench);
  });
}

function configurationTests<Config>(bench: Bench<Config>): void {
  it('refuses a configuration key that it does not know', () => {
    expect(bench.harness.type.config.safeParse(bench.pms.config).success).toBe(true);
    expect(bench.harness.type.config.safeParse({ ...bench.pms.config, no_such_key: 1 }).success).toBe(false);
  });

  it('pulls or listens', () => {
    const connector = bench.connect();
    expect(connector.pull ?? connector.listen).toBeDefined();
  });
}

function receivingTests<Config>(bench: Bench<Config>): void {
  it('hands over every appointment of a source and acknowledges it', async () => {
    const source = { name: 'monday', appointments: [appointment(1), appointment(2), appointment(3)] };
    await bench.receive(() => bench.pms.offer(source));
    expect(bench.core.summary()).toEqual(source.appointments.map(essence));
    expect(bench.core.rejected).toEqual([]);
    await bench.expectUnacknowledged(0);
  });

  it('does nothing when there is nothing', async () => {
    await bench.receive(async () => undefined);
    expect(bench.core.summary()).toEqual([]);
    expect(bench.core.rejected).toEqual([]);
  });

  it('splits a large source into batches, and marks the last one of each source', async () => {
    const appointments = Array.from({ length: 1200 }, (_, i) => appointment(i));
    await bench.receive(() => bench.pms.offer({ name: 'large', appointments }));
    expect(bench.core.summary()).toHaveLength(1200);
    expect(Math.max(...bench.core.batches.map((batch) => batch.appointments.length))).toBeLessThanOrEqual(1000);
    for (const batches of bench.core.batchesBySource().values()) {
      expect(batches.map((batch) => batch.source.is_last).lastIndexOf(false)).toBeLessThan(batches.length - 1);
      expect(batches.filter((batch) => batch.source.is_last)).toHaveLength(1);
    }
  });

  it('says when an appointment was cancelled', async () => {
    await bench.receive(() => bench.pms.offer({ name: 'first', appointments: [appointment(1), appointment(2)] }));
    await bench.receive(() => bench.pms.offer({ name: 'second', appointments: [{ ...appointment(1), status: 'cancelled' }] }));
    expect(bench.core.appointments.get('A-1')?.status).toBe('cancelled');
    expect(bench.core.appointments.get('A-2')?.status).toBe('booked');
  });

  it('lets the later source have the last word', async () => {
    const moved = { ...appointment(1), starts_at: '2026-11-25T20:00:00.000Z' };
    await bench.receive(() => bench.pms.offer({ name: 'first', appointments: [appointment(1)] }));
    await bench.receive(() => bench.pms.offer({ name: 'second', appointments: [moved] }));
    expect(bench.core.summary()).toEqual([essence(moved)]);
  });

  it('takes the same content twice as once', async () => {
    const appointments = [appointment(1), appointment(2)];
    await bench.receive(() => bench.pms.offer({ name: 'once', appointments }));
    await bench.receive(() => bench.pms.offer({ name: 'twice', appointments }));
    expect(bench.core.summary()).toEqual(appointments.map(essence));
    await bench.expectUnacknowledged(0);
  });
}

function failureTests<Config>(bench: Bench<Config>): void {
  it('does not let a bad item block its neighbours (G7)', async () => {
    const appointments = [appointment(1), appointment(2), appointment(3)];
    await bench.receive(() => bench.pms.offer({ name: 'mixed', appointments, broken_items: 2 }));
    expect(bench.core.summary()).toEqual(appointments.map(essence));
    expect(bench.core.rejected.length).toBeGreaterThanOrEqual(1);
    for (const item of bench.core.rejected) {
      expect(item.position).not.toBe('');
      expect(item.remedy).not.toBe('');
    }
    await bench.expectUnacknowledged(0);
  });

  it('acknowledges nothing that was not accepted, and hands it over again under the same key (G3)', async () => {
    const appointments = [appointment(1), appointment(2)];
    bench.core.fate = 'refuse';
    await bench.receiveFailing(() => bench.pms.offer({ name: 'refused', appointments }));
    expect(bench.core.summary()).toEqual([]);
    if (bench.pms.unacknowledged) expect(await bench.pms.unacknowledged()).toBeGreaterThanOrEqual(1);
    const offered = bench.core.offered[0];
    bench.core.fate = 'commit';
    await bench.receive(() => bench.again());
    expect(bench.core.summary()).toEqual(appointments.map(essence));
    expect(bench.core.batches.map((batch) => batch.source.key)).toContain(offered);
    await bench.expectUnacknowledged(0);
  });

  it('comes to the same end when the power goes between commit and acknowledgement (G3)', async () => {
    const appointments = [appointment(1), appointment(2)];
    bench.core.fate = 'commit and die';
    await bench.receiveFailing(() => bench.pms.offer({ name: 'interrupted', appointments }));
    bench.core.fate = 'commit';
    bench.restart();
    await bench.receive(() => bench.again());
    expect(bench.core.summary()).toEqual(appointments.map(essence));
    await bench.expectUnacknowledged(0);
  });

  it('goes on with new sources after one that was refused for a while', async () => {
    bench.core.fate = 'refuse';
    await bench.receiveFailing(() => bench.pms.offer({ name: 'first', appointments: [appointment(1)] }));
    bench.core.fate = 'commit';
    await bench.receive(async () => {
      await bench.again();
      await bench.pms.offer({ name: 'second', appointments: [appointment(2)] });
    });
    expect(bench.core.summary()).toEqual([appointment(1), appointment(2)].map(essence));
  });
}

function stoppingTests<Config>(bench: Bench<Config>): void {
  it('accepts nothing when it is stopped before it begins', async () => {
    const { pull } = bench.connect();
    if (pull === undefined) return;
    await bench.pms.offer({ name: 'late', appointments: [appointment(1)] });
    await promptly(pull(bench.core.call(AbortSignal.abort())));
    expect(bench.core.summary()).toEqual([]);
    await bench.receive(async () => undefined);
    expect(bench.core.summary()).toHaveLength(1);
  });

  it('stops promptly in the middle and loses nothing', async () => {
    const { pull } = bench.connect();
    if (pull === undefined) return;
    await bench.pms.offer({ name: 'one', appointments: [appointment(1)] });
    await bench.pms.offer({ name: 'two', appointments: [appointment(2)] });
    const stop = new AbortController();
    bench.core.onAccept = () => stop.abort();
    await promptly(pull(bench.core.call(stop.signal)));
    bench.core.onAccept = () => undefined;
    await bench.receive(async () => undefined);
    expect(bench.core.summary()).toEqual([appointment(1), appointment(2)].map(essence));
    await bench.expectUnacknowledged(0);
  });

  it('stops listening promptly', async () => {
    const { listen } = bench.connect();
    if (listen === undefined) return;
    const stop = new AbortController();
    const listening = listen(bench.core.call(stop.signal));
    stop.abort();
    await promptly(listening);
  });
}

function deliveryTests<Config>(bench: Bench<Config>): void {
  const deliver = (batch: DeliveryBatch) => bench.connector().deliver(batch, new AbortController().signal);

  it('tells the outcome of every delivery', async () => {
    const outcomes = await deliver(batchOf(1, [1, 2, 3]));
    expect(outcomes.map(({ key }) => key).sort()).toEqual(['d-1-1', 'd-2-1', 'd-3-1']);
    expect(outcomes.every(({ outcome }) => outcome === 'delivered')).toBe(true);
    expect(await bench.pms.written()).not.toEqual(await bench.emptyPms());
  });

  it('leaves the PMS the same when a batch is delivered twice (G4)', async () => {
    await deliver(batchOf(1, [1, 2]));
    const once = await bench.pms.written();
    expect(await deliver(batchOf(1, [1, 2]))).toHaveLength(2);
    expect(await bench.pms.written()).toEqual(once);
    bench.restart();
    await deliver(batchOf(1, [1, 2]));
    expect(await bench.pms.written()).toEqual(once);
  });

  it('leaves the PMS the same when a delivery was interrupted and is made again (G4)', async () => {
    const stop = new AbortController();
    const interrupted = bench.connector().deliver(batchOf(1, [1, 2, 3]), stop.signal);
    stop.abort();
    await promptly(interrupted);
    bench.restart();
    await deliver(batchOf(1, [1, 2, 3]));
    expect(await bench.pms.written()).toEqual(
      await bench.elsewhere((other) => other.deliver(batchOf(1, [1, 2, 3]), new AbortController().signal)),
    );
  });

  it('writes a later revision as well', async () => {
    await deliver(batchOf(1, [1]));
    const first = await bench.pms.written();
    const outcomes = await deliver(batchOf(2, [1], 2));
    expect(outcomes).toEqual([{ key: 'd-1-2', outcome: 'delivered' }]);
    expect(await bench.pms.written()).not.toEqual(first);
  });

  it('accepts a batch without deliveries', async () => {
    expect(await deliver(batchOf(1, []))).toEqual([]);
  });
}

/** For a connector that takes part in claims; every other one is let pass. */
function claimTests<Config>(bench: Bench<Config>): void {
  it('hands over claims where the PMS has them, acknowledges them, and has a way to write the answers', async () => {
    const { offerClaims } = bench.pms;
    if (offerClaims === undefined) return;
    expect(bench.connector().deliverClaims).toBeDefined();
    const claims = [claim(1), claim(2)];
    await bench.receive(() => offerClaims({ name: 'claims', claims }));
    expect(bench.core.claimSummary()).toEqual(claims.map(claimEssence));
    await bench.expectUnacknowledged(0);
  });

  it('leaves the PMS the same when a batch of claims is delivered twice, and writes a later revision (G4)', async () => {
    const deliver = async (batch: ClaimBatch) => await bench.connector().deliverClaims?.(batch, new AbortController().signal);
    const outcomes = await deliver(claimBatchOf(1, [1, 2]));
    if (outcomes === undefined) return;
    expect(outcomes.map(({ key, outcome }) => [key, outcome])).toEqual([
      ['c-1-1', 'delivered'],
      ['c-2-1', 'delivered'],
    ]);
    const once = await bench.pms.written();
    bench.restart();
    await deliver(claimBatchOf(1, [1, 2]));
    expect(await bench.pms.written()).toEqual(once);
    await deliver(claimBatchOf(2, [1], 2));
    expect(await bench.pms.written()).not.toEqual(once);
    expect(await deliver(claimBatchOf(3, []))).toEqual([]);
  });
}

function attentionTests<Config>(bench: Bench<Config>): void {
  it('replaces the attention list as a whole, repeatably', async () => {
    const { publishAttention } = bench.connector();
    if (publishAttention === undefined) return;
    const publish = (entries: AttentionEntry[]) => publishAttention(entries, new AbortController().signal);
    await publish([]);
    const empty = await bench.pms.written();
    await publish([attention(1), attention(2)]);
    const two = await bench.pms.written();
    expect(two).not.toEqual(empty);
    await publish([attention(1), attention(2)]);
    expect(await bench.pms.written()).toEqual(two);
    await publish([]);
    expect(await bench.pms.written()).toEqual(empty);
  });
}

function checkTests<Config>(bench: Bench<Config>): void {
  it('checks without changing anything', async () => {
    if (bench.connect().pull !== undefined) await bench.pms.offer({ name: 'waiting', appointments: [appointment(1)] });
    const before = { written: await bench.pms.written(), unacknowledged: await bench.pms.unacknowledged?.() };
    const lines = await bench.connector().check(new AbortController().signal);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      expect(line.ok, line.what).toBe(true);
      expect(line.what).not.toBe('');
    }
    expect({ written: await bench.pms.written(), unacknowledged: await bench.pms.unacknowledged?.() }).toEqual(before);
    expect(bench.core.offered).toEqual([]);
  });
}

/** One test's PMS, core and connector. */
class Bench<Config> {
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

  /** A connector without the memory of the one before. */
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
    const { pull, listen } = this.connector();
    const stop = new AbortController();
    if (pull !== undefined) {
      await offer();
      return pull(this.core.call(stop.signal));
    }
    const listening = listen?.(this.core.call(stop.signal));
    try {
      await offer();
    } finally {
      stop.abort();
      await listening;
    }
  }

  /** A connector may report what went wrong by throwing; what it says holds no patient data (G6). */
  async receiveFailing(offer: () => Promise<void>): Promise<void> {
    await this.receive(offer).catch((error: unknown) => this.world.hear(String(error)));
  }

  async again(): Promise<void> {
    await this.pms.offerAgain?.();
  }

  async expectUnacknowledged(count: number): Promise<void> {
    if (this.pms.unacknowledged) expect(await this.pms.unacknowledged()).toBe(count);
  }

  /** What another PMS holds after something was done with it. */
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

/** eligd's side of `pull` and `listen`. */
class Core {
  /** `commit and die`: the rows are committed, but the connector never hears of it. */
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

  call(signal: AbortSignal): PullCall {
    return {
      cursor: this.cursor,
      signal,
      isAccepted: async (key) => this.finished.has(key),
      accept: async (batch) => {
        this.offered.push(batch.source.key);
        if (this.fate === 'refuse') throw new Error('The database is full.');
        this.commit(batch);
        this.onAccept();
        if (this.fate === 'commit and die') throw new Error('The power went.');
        return { reply: this.replies.get(batch.source.key) ?? null };
      },
    };
  }

  private commit(batch: PullBatch): void {
    const { key, reply } = batch.source;
    if (this.replies.has(key)) return;
    if (reply !== undefined) this.replies.set(key, reply);
    this.batches.push(batch);
    for (const update of batch.patients ?? []) {
      if (update.kind === 'described' && update.coverages !== null) this.insurance.set(update.patient.id, update.coverages);
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
    const byNumber = (a: AppointmentInput, b: AppointmentInput) => Number(a.source_id.slice(2)) - Number(b.source_id.slice(2));
    const insured = (one: AppointmentInput) =>
      one.insurance === 'of_patient' ? { ...one, coverages: this.insurance.get(one.patient.id ?? '') ?? [] } : one;
    return [...this.appointments.values()].sort(byNumber).map(insured).map(essence);
  }

  claimSummary() {
    return [...this.claims.values()].sort((a, b) => (a.source_id < b.source_id ? -1 : 1)).map(claimEssence);
  }

  batchesBySource(): Map<string, PullBatch[]> {
    const sources = new Map<string, PullBatch[]>();
    for (const batch of this.batches) sources.set(batch.source.key, [...(sources.get(batch.source.key) ?? []), batch]);
    return sources;
  }
}

/** What every PMS can say about an appointment; the suite compares no more. */
export function essence({ source_id, starts_at, status, patient, coverages }: AppointmentInput) {
  const member_ids = coverages.map((coverage) => coverage.member_id);
  return { source_id, starts_at, status, birth_date: patient.birth_date, last_name: patient.last_name, member_ids };
}

/** Values that must not be found in a log line or an error message. */
const PATIENT_DATA = ['Quillfeather', 'Zebulon', '1987-02-14', 'MEMBER00'];

/** An invented, well-formed appointment; `number` makes it another one. */
export function appointment(number: number): AppointmentInput {
  return {
    source_id: `A-${number}`,
    starts_at: `2026-11-24T${String(14 + (number % 8)).padStart(2, '0')}:30:00.000Z`,
    status: 'booked',
    patient: { id: `P-${number}`, first_name: 'Zebulon', last_name: `Quillfeather-${number}`, birth_date: '1987-02-14' },
    coverages: [
      {
        carrier: 'Delta Dental of Illinois',
        payor_id: '05030',
        member_id: `MEMBER00${number}`,
        group_id: '0012345',
        subscriber: null,
      },
    ],
    provider: { rendering_npi: '1234567893', billing_npi: '', tax_id: '', is_specialist: null, in_network: null },
    location: null,
    specialty: 'dental',
    procedure_codes: ['D0120', 'D1110'],
    diagnosis_codes: [],
    problems: [],
  };
}

export function batchOf(id: number, numbers: readonly number[], revision = 1): DeliveryBatch {
  return {
    id: `batch-${id}`,
    created_at: '2026-11-23T18:00:00.000Z',
    deliveries: numbers.map((number) => {
      const { source_id, starts_at, patient, location, procedure_codes, coverages } = appointment(number);
      const coverage = coverages[0] ?? { carrier: '', payor_id: '', member_id: '', group_id: '', subscriber: null };
      const record = sampleRecord(number, revision);
      return {
        key: `d-${number}-${revision}`,
        appointment: { source_id, starts_at, patient, location, procedure_codes, coverage_rank: 1, coverage },
        record,
        revision,
        estimates: estimateVisit(record, { date: starts_at.slice(0, 10), procedure_codes }),
        notes: ['The call was made before the benefit year began.'],
      };
    }),
  };
}

function sampleRecord(number: number, revision: number): EligibilityRecord {
  return eligibilityRecordSchema.parse({
    schema: 'eligd.eligibility/1',
    inquiry_id: `inq-${number}`,
    inquiry_created_at: '2026-11-20T15:00:00.000Z',
    specialty: 'dental',
    status: 'SUCCESS',
    completeness: 'complete',
    summary: revision === 1 ? null : 'Corrected after a second call.',
    asked: { benefits_query: [], benefits_codes: ['D1110'] },
    calls: [],
    verification: null,
    plan: { answered: true, is_active: true, plan_name: 'PPO Plus', is_provider_in_network: null },
    unparsed: [],
  });
}

/** An invented claim of the patient of the appointment with this number. */
export function claim(number: number): ClaimInput {
  const { patient, coverages, provider } = appointment(number);
  return {
    source_id: `C-${number}`,
    status: 'open',
    claim_number: `PAYER-${number}`,
    date_of_service: '2026-10-01',
    billed_amount: '180.00',
    patient,
    coverage: coverages[0] ?? { carrier: '', payor_id: '', member_id: '', group_id: '', subscriber: null },
    coverage_rank: 1,
    provider,
    location: null,
    place_of_service: '',
    specialty: 'dental',
    procedure_codes: ['D0120', 'D1110'],
    diagnosis_codes: [],
    problems: [],
  };
}

/** What every PMS can say about a claim. */
function claimEssence({ source_id, status, date_of_service, billed_amount, procedure_codes, patient, coverage }: ClaimInput) {
  const { birth_date, last_name } = patient;
  return {
    source_id,
    status,
    date_of_service,
    billed_amount,
    procedure_codes,
    birth_date,
    last_name,
    member_id: coverage.member_id,
  };
}

export function claimBatchOf(id: number, numbers: readonly number[], revision = 1): ClaimBatch {
  return {
    id: `claims-batch-${id}`,
    created_at: '2026-11-23T18:00:00.000Z',
    deliveries: numbers.map((number) => {
      const { source_id, claim_number, date_of_service, billed_amount, patient, ...rest } = claim(number);
      const { coverage, coverage_rank, location, procedure_codes } = rest;
      const what = { source_id, claim_number, date_of_service, billed_amount, procedure_codes };
      return {
        key: `c-${number}-${revision}`,
        claim: { ...what, patient, coverage, coverage_rank, location },
        record: sampleClaimRecord(number, revision),
        revision,
        notes: [],
      };
    }),
  };
}

function sampleClaimRecord(number: number, revision: number): ClaimStatusRecord {
  return claimStatusRecordSchema.parse({
    schema: 'eligd.claim/1',
    inquiry_id: `inq-c-${number}`,
    inquiry_created_at: '2026-11-20T15:00:00.000Z',
    specialty: 'dental',
    status: 'SUCCESS',
    completeness: 'complete',
    summary: null,
    asked: { claim_number: `PAYER-${number}`, date_of_service: '2026-10-01', procedure_codes: ['D0120'], billed_amount: null },
    calls: [],
    verification: null,
    claim: {
      answered: true,
      status: revision === 1 ? 'pending' : 'paid',
      said_status: revision === 1 ? 'PENDING' : 'PAID',
      number: null,
      received_on: '2026-10-05',
      processed_on: null,
      paid_on: null,
      codes: [],
    },
    unparsed: [],
  });
}

function attention(number: number): AttentionEntry {
  const { source_id, starts_at, patient, coverages } = appointment(number);
  return {
    source_id,
    starts_at,
    patient_name: `${patient.first_name} ${patient.last_name}`,
    carrier: coverages[0]?.carrier ?? null,
    reason: 'member_id_missing',
    what: 'The appointment has no member id, so the payer cannot be asked.',
    next: 'Enter the member id.',
    since: '2026-11-23T18:00:00.000Z',
  };
}

/** A world whose clock stands still until somebody sleeps. */
export function makeSuiteEnv(): { env: ConnectorEnv; said: () => string; hear: (words: string) => void } {
  let elapsed_ms = 0;
  const lines: string[] = [];
  const notes = new Map<string, string>();
  const env: ConnectorEnv = {
    connector_id: 'suite',
    time_zone: TIME_ZONE,
    resolvePath: (path) => path,
    secret: (name) => ({ name: `ELIGD_SUITE_${name.toUpperCase()}`, value: null }),
    journal: { read: async (key) => notes.get(key) ?? null, write: async (key, value) => void notes.set(key, value) },
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

function expectNoPatientData(said: string): void {
  for (const value of PATIENT_DATA) expect(said, 'G6: log lines and messages hold no patient data').not.toContain(value);
}

/** Settles in time, well or badly: stopping is allowed to reject. */
async function promptly(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), PROMPT_MS);
  });
  const settled = work.then(
    () => 'settled' as const,
    () => 'settled' as const,
  );
  expect(await Promise.race([settled, late])).toBe('settled');
  clearTimeout(timer);
}
