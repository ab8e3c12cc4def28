/**
 * The practice management system: the connector through which eligd sees the appointment book and
 * writes answers back.
 */
import {
  type AttentionEntry,
  type ClaimDelivery,
  type Connector,
  ConnectorError,
  type Delivery,
  type DeliveryOutcome,
  type PullBatch,
  type PullCall,
} from '../../connectors/contract.ts';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import type { ClaimInput } from '../../src/domain/claim.ts';
import { lettersAndDigits } from '../../src/domain/matching.ts';
import { Book, type Entry, type Merge, shownAsChange, type Version } from './book.ts';
import { type ClaimVersion, shownClaim } from './claim-book.ts';
import type { Life } from './machine.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, type Plan } from './plan.ts';
import { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import { Broken, type Story } from './story.ts';

export type Written = {
  key: string;
  source_id: string;
  rank: number;
  inquiry_id: string;
  revision: number;
  delivery: Delivery;
  at: number;
};

export type Output = {
  written: Map<string, Written>;
  attention: AttentionEntry[];
  /** The answers about claims, by key. */
  claims: Map<string, { delivery: ClaimDelivery; at: number }>;
  /** Claims that were on the list. */
  claims_listed: Set<string>;
  /** Until when each patient was on the list, by ID; infinite for patients on the list now. */
  listed_until: Map<string, number>;
};

/** A record that the connector is to write. */
type Writing = { key: string; source_id: string; write: () => void };

export class Pms {
  readonly book: Book;
  readonly outputs = new Map<string, Output>();
  readonly counts = {
    accepted: 0,
    acknowledged: 0,
    delivered: 0,
    claims_delivered: 0,
    repeated: 0,
    pull_failures: 0,
    deliver_failures: 0,
  };
  is_calm = false;
  down_until = 0;
  /**
   * Called after an `accept` has resolved: from then on, the source counts as acknowledged (G3).
   */
  onAcknowledged: (life: Life, inputs: readonly AppointmentInput[]) => void = () => {};
  /** The same for merged records. */
  onMerged: (life: Life, merge: Merge) => void = () => {};
  onWritten: (life: Life, written: Written) => void = () => {};
  onClaimsAcknowledged: (life: Life, claims: readonly ClaimInput[]) => void = () => {};
  onClaimWritten: (delivery: ClaimDelivery) => void = () => {};
  /** The practice has the current attention list. */
  onListed: (entries: readonly AttentionEntry[]) => void = () => {};
  onBroken: (broken: Broken) => void = () => {};
  readonly #plan: Plan;
  readonly #scheduler: Scheduler;
  readonly #story: Story;
  readonly #faults: Random;
  readonly #queues = new Map<string, Entry[]>();
  readonly #open_until = new Map<string, number>();

  constructor(plan: Plan, scheduler: Scheduler, story: Story) {
    this.#plan = plan;
    this.#scheduler = scheduler;
    this.#story = story;
    this.#faults = new Random(plan.seed, 'pms faults');
    this.book = new Book(plan, scheduler, story);
    this.book.onChange = (version) => {
      for (const queue of this.#queues.values()) queue.push(version);
    };
  }

  output(machine: string): Output {
    const output = this.outputs.get(machine) ?? {
      written: new Map(),
      attention: [],
      claims: new Map(),
      claims_listed: new Set(),
      listed_until: new Map(),
    };
    this.outputs.set(machine, output);
    return output;
  }

  /**
   * Someone has the chart open when the answer arrives, so eligd cannot write it for hours; then
   * someone changes the insurance.
   */
  #isOpenElsewhere(source_id: string): boolean {
    const visit = this.book.visits.get(source_id);
    if (this.is_calm || !this.#plan.pms.meddles || visit === undefined || visit.is_probe)
      return false;
    const known = this.#open_until.get(source_id);
    if (known !== undefined) return this.#scheduler.now < known;
    const is_open = this.#faults.chance(0.3);
    this.#open_until.set(
      source_id,
      is_open ? this.#scheduler.now + this.#faults.int(1, 8) * HOUR_MS : 0,
    );
    const meddle = () =>
      this.#faults.chance(0.7) ? this.book.giveMemberId(visit) : this.book.reorder(visit);
    if (is_open) this.#scheduler.after(this.#faults.int(0, 60) * MINUTE_MS, meddle, null);
    return is_open;
  }

  connector(life: Life): Connector {
    return {
      pull: (call) => this.#pull(life, call),
      deliver: ({ deliveries }) =>
        this.#deliver(
          life,
          deliveries.map((delivery) => ({
            key: delivery.key,
            source_id: delivery.appointment.source_id,
            write: () => this.#write(life, delivery),
          })),
        ),
      ...(this.#plan.pms.claims === 0
        ? {}
        : {
            deliverClaims: ({ deliveries }) =>
              this.#deliver(
                life,
                deliveries.map((delivery) => ({
                  key: delivery.key,
                  source_id: delivery.claim.source_id,
                  write: () => this.#writeClaim(life, delivery),
                })),
              ),
          }),
      publishAttention: async (entries) => {
        await this.#pause(life, 'attention');
        if (this.#isDown()) throw away();
        const listed = await Array.fromAsync(entries);
        this.#list(this.output(life.machine.name), listed);
        this.onListed(listed);
      },
      check: async () => [],
    };
  }

  #list(output: Output, entries: AttentionEntry[]): void {
    output.attention = entries;
    const { listed_until } = output;
    for (const [patient, until] of listed_until)
      if (until === Number.POSITIVE_INFINITY) listed_until.set(patient, this.#scheduler.now);
    for (const { patient_name, claim_id } of entries) {
      if (claim_id !== undefined) output.claims_listed.add(claim_id);
      const number = /^Zfirst(\d+)/.exec(patient_name ?? '')?.[1];
      // Both records of a person have the name of the first one.
      if (number !== undefined) listed_until.set(`P${number}`, Number.POSITIVE_INFINITY);
    }
  }

  /** Every action of a connector takes time, and may be the last action of a process. */
  async #pause(life: Life, what: string): Promise<void> {
    if (life.point(what)) await new Promise(() => {});
    await new Promise<void>((resolve) =>
      this.#scheduler.after(this.#faults.int(1, 40), resolve, life),
    );
    if (life.point(what)) await new Promise(() => {});
  }

  #isDown(): boolean {
    return !this.is_calm && this.#scheduler.now < this.down_until;
  }

  async #pull(life: Life, call: PullCall): Promise<void> {
    await this.#pause(life, 'pull');
    if (this.#isDown()) throw away();
    const { kind, pull_failure } = this.#plan.pms;
    if (!this.is_calm && this.#faults.chance(pull_failure)) {
      this.counts.pull_failures += 1;
      throw this.#faults.chance(0.5) ? away() : new Error('The connector has stumbled.');
    }
    if (kind === 'export') await this.#pullExport(life, call);
    else if (kind === 'changes') await this.#pullChanges(life, call);
    else await this.#pullQueue(life, call);
  }

  async #pullExport(life: Life, call: PullCall): Promise<void> {
    const { now } = this.#scheduler;
    const present = [...this.book.visits.values()]
      .map((visit) => this.book.current(visit))
      .filter(({ is_present, input }) => is_present && Date.parse(input.starts_at) > now - DAY_MS);
    const inputs = present.map(({ input }) => input);
    const claims = [...this.book.claims.claims.values()]
      .map((claim) => this.book.claims.current(claim))
      .filter(({ is_present }) => is_present)
      .map(({ claim }) => claim);
    const key = `export:${hashOf(claims.length === 0 ? inputs : [inputs, claims])}`;
    if (inputs.length === 0 || (await call.isAccepted(key))) return;
    const size = this.#plan.pms.batch_size;
    for (let first = 0; first < inputs.length; first += size) {
      const part = inputs.slice(first, first + size);
      const is_last = first + size >= inputs.length;
      await this.#accept(life, call, {
        source: { key, name: 'export.csv', is_last, completeness: this.#plan.pms.completeness },
        appointments: part,
        ...(is_last && claims.length > 0 ? { claims } : {}),
        rejected: this.#rejected(first),
        cursor: null,
      });
    }
  }

  async #pullChanges(life: Life, call: PullCall): Promise<void> {
    const seen = Number(call.cursor ?? 0);
    const changed = this.book.entries().filter(({ seq }) => seq > seen);
    const size = this.#plan.pms.batch_size;
    for (let first = 0; first < changed.length; first += size) {
      const part = changed.slice(first, first + size);
      const last = part.at(-1)!;
      const source = {
        key: `change:${last.seq}`,
        name: `change ${last.seq}`,
        is_last: true,
        completeness: 'changes' as const,
      };
      const rejected = this.#rejected(first);
      await this.#acceptEntries(life, call, part, { source, rejected, cursor: String(last.seq) });
    }
  }

  /** Messages that are gone once eligd acknowledges them. */
  async #pullQueue(life: Life, call: PullCall): Promise<void> {
    const { name } = life.machine;
    const queue = this.#queues.get(name) ?? this.book.entries();
    this.#queues.set(name, queue);
    for (let message = queue[0]; message !== undefined; message = queue[0]) {
      const source = {
        key: `message:${message.seq}`,
        name: `message ${message.seq}`,
        is_last: true,
        completeness: 'changes' as const,
      };
      await this.#acceptEntries(life, call, [message], { source, rejected: [], cursor: null });
      queue.shift();
    }
  }

  async #acceptEntries(
    life: Life,
    call: PullCall,
    entries: readonly Entry[],
    batch: Pick<PullBatch, 'source' | 'rejected' | 'cursor'>,
  ): Promise<void> {
    const versions = entries.filter((entry): entry is Version => 'input' in entry);
    const merges = entries.filter((entry): entry is Merge => 'update' in entry);
    const claims = entries.filter((entry): entry is ClaimVersion => 'claim' in entry);
    await this.#accept(
      life,
      call,
      {
        ...batch,
        appointments: versions.map(shownAsChange),
        ...(claims.length === 0 ? {} : { claims: claims.map(shownClaim) }),
        ...(merges.length === 0 ? {} : { patients: merges.map(({ update }) => update) }),
      },
      merges,
    );
  }

  async #accept(
    life: Life,
    call: PullCall,
    batch: PullBatch,
    merges: readonly Merge[] = [],
  ): Promise<void> {
    call.signal.throwIfAborted();
    await call.accept(batch);
    if (life.is_dead) await new Promise(() => {});
    this.counts.accepted += batch.appointments.length;
    if (life.point('acknowledge')) await new Promise(() => {});
    this.counts.acknowledged += batch.appointments.length;
    for (const merge of merges) this.onMerged(life, merge);
    this.onAcknowledged(life, batch.appointments);
    this.onClaimsAcknowledged(life, batch.claims ?? []);
    await this.#pause(life, 'acknowledged');
  }

  #rejected(first: number): PullBatch['rejected'] {
    if (this.is_calm || !this.#faults.chance(this.#plan.pms.malformed)) return [];
    return [
      {
        position: `row ${first + 900}`,
        field: 'appointment_at',
        value_class: 'not a date',
        remedy: 'Correct it.',
      },
    ];
  }

  async #deliver(life: Life, deliveries: readonly Writing[]): Promise<DeliveryOutcome[]> {
    const { deliver_failure, item_failure, item_permanent, poison } = this.#plan.pms;
    const faults = this.#faults;
    await this.#pause(life, 'deliver');
    if (this.#isDown()) throw away();
    const fails = !this.is_calm && faults.chance(deliver_failure);
    if (fails) this.counts.deliver_failures += 1;
    const fails_after = fails ? faults.int(0, deliveries.length) : Number.MAX_SAFE_INTEGER;
    const outcomes: DeliveryOutcome[] = [];
    for (const [index, delivery] of deliveries.entries()) {
      if (index === fails_after) break;
      if (poison && delivery.source_id.endsWith('3') && !delivery.source_id.startsWith('probe')) {
        throw new Error('The connector has stumbled over a record.');
      }
      if (this.#isOpenElsewhere(delivery.source_id)) {
        outcomes.push({
          key: delivery.key,
          outcome: 'failed',
          is_permanent: false,
          what: 'The chart is open.',
          next: 'Wait.',
        });
        continue;
      }
      if (!this.is_calm && faults.chance(item_failure + item_permanent)) {
        const is_permanent = faults.chance(item_permanent / (item_failure + item_permanent));
        outcomes.push({
          key: delivery.key,
          outcome: 'failed',
          is_permanent,
          what: 'It was not taken.',
          next: 'Look.',
        });
        continue;
      }
      delivery.write();
      if (life.point('written')) await new Promise(() => {});
      // Some connectors leave out the outcome of a record.
      if (this.is_calm || !faults.chance(item_failure / 4))
        outcomes.push({ key: delivery.key, outcome: 'delivered' });
    }
    if (fails) throw faults.chance(0.7) ? away() : new Error('The connector has stumbled.');
    await this.#pause(life, 'delivered');
    return faults.shuffled(outcomes);
  }

  #writeClaim(life: Life, delivery: ClaimDelivery): void {
    const { claims } = this.output(life.machine.name);
    const { claim, record, revision, key } = delivery;
    const before = claims.get(key)?.delivery;
    // A database that lost the call knows only the letters and digits of the number in it.
    const numberIn = ({ asked }: ClaimDelivery['record']) => lettersAndDigits(asked.claim_number);
    const same = (one: ClaimDelivery) => {
      const asked = { ...one.record.asked, claim_number: numberIn(one.record) };
      return JSON.stringify([one.claim.source_id, { ...one.record, asked }]);
    };
    if (before === undefined) this.counts.claims_delivered += 1;
    else if (same(before) !== same(delivery))
      this.onBroken(
        new Broken('G4', `Two answers about claims were written under the key ${key}.`, [
          claim.source_id,
        ]),
      );
    claims.set(key, { delivery, at: this.#scheduler.now });
    this.#story.tell(
      this.#scheduler.now,
      life.machine.name,
      `writes ${key} about the claim ${claim.source_id}: ${record.status} of ` +
        `${record.inquiry_id}, ${record.claim.status}, revision ${revision}`,
      [claim.source_id, record.inquiry_id],
    );
    this.onClaimWritten(delivery);
  }

  /**
   * With a lost or restored database, and after a merge of two records, eligd gives an answer its
   * old name, so the office does not read it twice.
   */
  #checkName(written: ReadonlyMap<string, Written>, entry: Written): void {
    const answer = answerIn(entry);
    const before = [...written.values()].find(
      (one) => one.inquiry_id === entry.inquiry_id && answerIn(one) === answer,
    );
    if (before === undefined) return;
    this.onBroken(
      new Broken('G4', `One record was written under two keys: ${before.key} and ${entry.key}.`, [
        entry.source_id,
      ]),
    );
  }

  #write(life: Life, delivery: Delivery): void {
    const { written } = this.output(life.machine.name);
    const entry: Written = {
      key: delivery.key,
      source_id: delivery.appointment.source_id,
      rank: delivery.appointment.coverage_rank,
      inquiry_id: delivery.record.inquiry_id,
      revision: delivery.revision,
      delivery,
      at: this.#scheduler.now,
    };
    const before = written.get(delivery.key);
    if (before !== undefined) {
      this.counts.repeated += 1;
      if (answerIn(before) !== answerIn(entry))
        this.onBroken(
          new Broken('G4', `Two different records were written under the key ${delivery.key}.`, [
            entry.source_id,
            before.source_id,
          ]),
        );
    } else {
      this.counts.delivered += 1;
      this.#checkName(written, entry);
    }
    written.set(delivery.key, entry);
    this.#story.tell(
      this.#scheduler.now,
      life.machine.name,
      `writes ${delivery.key} into the book: ${entry.source_id}, coverage ${entry.rank}, ` +
        `${delivery.record.status} of ${entry.inquiry_id}, revision ${entry.revision}`,
      [entry.source_id, entry.inquiry_id],
    );
    this.onWritten(life, entry);
  }
}

/** The revision of an answer, about one coverage of a visit. */
function answerIn({ source_id, rank, revision, delivery }: Written): string {
  return JSON.stringify([source_id, rank, revision, delivery.record]);
}

function away(): ConnectorError {
  return new ConnectorError('transient', {
    what: 'The practice management system does not answer.',
    next: 'Wait.',
  });
}

function hashOf(value: unknown): string {
  let hash = 0x811c9dc5;
  const text = JSON.stringify(value);
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return `${text.length}-${hash >>> 0}`;
}
