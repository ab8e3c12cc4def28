/** The practice: its appointments as they change, the connector through which eligd sees them, and what was written back. */
import {
  type AttentionEntry,
  type Connector,
  ConnectorError,
  type Delivery,
  type DeliveryBatch,
  type DeliveryOutcome,
  type PullBatch,
  type PullCall,
} from '../../connectors/contract.ts';
import type { AppointmentInput, CoverageInput } from '../../src/domain/appointment.ts';
import type { Life } from './machine.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, type Plan } from './plan.ts';
import { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import { Broken, type Story } from './story.ts';

export const TAX_ID = '123456789';

type Person = { id: string; first_name: string; last_name: string; birth_date: string; coverages: CoverageInput[] };

/** One state that an appointment was in. The practice knows all of them; eligd sees those that it happens to be shown. */
export type Version = { seq: number; at: number; input: AppointmentInput; is_present: boolean };

export type Visit = { source_id: string; versions: Version[]; is_probe: boolean };

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
  /** Until when each patient stood on the list, by id; infinite for those who do now. */
  listed_until: Map<string, number>;
};

export class Pms {
  readonly visits = new Map<string, Visit>();
  readonly people: Person[] = [];
  readonly outputs = new Map<string, Output>();
  readonly counts = { accepted: 0, acknowledged: 0, delivered: 0, repeated: 0, pull_failures: 0, deliver_failures: 0 };
  is_calm = false;
  down_until = 0;
  /** Told after an `accept` has resolved: the source counts as acknowledged from then on (G3). */
  onAcknowledged: (life: Life, inputs: readonly AppointmentInput[]) => void = () => {};
  onWritten: (life: Life, written: Written) => void = () => {};
  onBroken: (broken: Broken) => void = () => {};
  readonly #plan: Plan;
  readonly #scheduler: Scheduler;
  readonly #story: Story;
  readonly #random: Random;
  readonly #faults: Random;
  readonly #queues = new Map<string, Version[]>();
  readonly #open_until = new Map<string, number>();
  #seq = 0;
  #numbers = 0;

  constructor(plan: Plan, scheduler: Scheduler, story: Story) {
    this.#plan = plan;
    this.#scheduler = scheduler;
    this.#story = story;
    this.#random = new Random(plan.seed, 'pms');
    this.#faults = new Random(plan.seed, 'pms faults');
    for (let count = 0; count < plan.pms.patients; count += 1) this.#addPerson();
  }

  output(machine: string): Output {
    const output = this.outputs.get(machine) ?? { written: new Map(), attention: [], listed_until: new Map() };
    this.outputs.set(machine, output);
    return output;
  }

  current(visit: Visit): Version {
    return visit.versions.at(-1)!;
  }

  /** Every version that was ever true, for telling whose call a call is. */
  *history(): Iterable<{ visit: Visit; version: Version }> {
    for (const visit of this.visits.values()) for (const version of visit.versions) yield { visit, version };
  }

  #addPerson(): Person {
    const random = this.#random;
    const { families, twins, refused } = this.#plan.pms;
    const number = this.people.length + 1;
    const relative = this.people.at(-1);
    const is_relative = relative !== undefined && (families || twins) && random.chance(0.5);
    const is_refused = random.chance(refused);
    const member_id = is_relative
      ? relative.coverages[0]!.member_id
      : `${is_refused ? 'REFUSED' : 'Mx'}-${random.int(100, 999)} ${1000 + number}`;
    const day = String(random.int(1, 28)).padStart(2, '0');
    const person: Person = {
      id: `P${number}`,
      first_name: `Zfirst${number}`,
      last_name: `Zlast${is_relative ? number - 1 : number}`,
      birth_date: is_relative && twins ? relative.birth_date : `19${random.int(40, 99)}-0${random.int(1, 9)}-${day}`,
      coverages: [coverage(is_relative ? relative.coverages[0]!.payor_id : `6${random.int(1000, 1003)}`, member_id)],
    };
    if (random.chance(this.#plan.pms.two_coverages))
      person.coverages.push(coverage(`7${random.int(1000, 1002)}`, `Sx${2000 + number}`));
    this.people.push(person);
    return person;
  }

  /** A new appointment, so many days from now. */
  add(days_ahead: number, kind: 'ordinary' | 'probe' = 'ordinary'): Visit {
    const random = this.#random;
    const person = kind === 'probe' ? this.#addProbePerson() : random.pick(this.people);
    this.#numbers += 1;
    const visit: Visit = {
      source_id: `${kind === 'probe' ? 'probe' : 'A'}${9000 + this.#numbers}`,
      versions: [],
      is_probe: kind === 'probe',
    };
    this.visits.set(visit.source_id, visit);
    const at =
      Math.round(this.#scheduler.now / HOUR_MS) * HOUR_MS +
      Math.round(days_ahead * 24) * HOUR_MS +
      random.int(0, 3) * 15 * MINUTE_MS;
    const input = appointmentOf(visit.source_id, person, at);
    if (kind === 'ordinary') this.#spoil(input);
    this.#change(visit, input, true, kind === 'probe' ? 'is booked (a probe)' : 'is booked');
    return visit;
  }

  #addProbePerson(): Person {
    const number = this.people.length + 1;
    const person: Person = {
      id: `P${number}`,
      first_name: `Zfirst${number}`,
      last_name: `Zlast${number}`,
      birth_date: '1970-05-05',
      coverages: [coverage('61000', `Probe${number}`)],
    };
    this.people.push(person);
    return person;
  }

  #spoil(input: AppointmentInput): void {
    const random = this.#random;
    if (!random.chance(this.#plan.pms.malformed)) return;
    const first = input.coverages[0]!;
    switch (random.int(0, 3)) {
      case 0:
        input.patient = { ...input.patient, birth_date: null };
        input.problems = [{ field: 'dob', value_class: 'impossible date', remedy: 'Correct it.' }];
        break;
      case 1:
        input.coverages = [{ ...first, member_id: '' }, ...input.coverages.slice(1)];
        break;
      case 2:
        input.coverages = [];
        break;
      default:
        input.provider = { ...input.provider, tax_id: '12-3' };
    }
  }

  /** One of the things that happen in a practice. */
  happen(): void {
    const random = this.#random;
    const upcoming = [...this.visits.values()].filter(
      (visit) => !visit.is_probe && Date.parse(this.current(visit).input.starts_at) > this.#scheduler.now,
    );
    const { look_ahead_days } = this.#plan.config;
    if (upcoming.length === 0 || random.chance(0.35)) {
      this.add(random.next() * (random.chance(0.2) ? 0.3 : look_ahead_days + 1));
      return;
    }
    const visit = random.pick(upcoming);
    const { input, is_present } = this.current(visit);
    const person = this.people.find(({ id }) => id === input.patient.id) ?? random.pick(this.people);
    switch (random.int(0, 10)) {
      case 0:
        this.#change(visit, { ...input, status: 'cancelled' }, is_present, 'is cancelled');
        break;
      case 1:
        this.#change(visit, { ...input, status: 'booked' }, true, 'is on again');
        break;
      case 2:
      case 3: {
        const starts_at = new Date(Date.parse(input.starts_at) + random.pick([-48, -1, 1, 24, 72, 200]) * HOUR_MS).toISOString();
        this.#change(visit, { ...input, starts_at }, is_present, 'is moved');
        break;
      }
      case 4:
        this.#change(visit, input, false, 'vanishes from the book');
        break;
      case 5:
        this.#change(visit, input, true, 'is in the book');
        break;
      case 6:
        this.#giveMemberId(visit);
        break;
      case 7:
        // Not another need: the spelling of the name and the group.
        this.#change(
          visit,
          {
            ...input,
            patient: { ...input.patient, first_name: `${person.first_name}-${random.int(1, 3)}` },
            coverages: input.coverages.map((each) => ({ ...each, group_id: `G${random.int(1, 9)}` })),
          },
          is_present,
          'is spelled otherwise',
        );
        break;
      case 8: {
        const fresh = appointmentOf(visit.source_id, person, Date.parse(input.starts_at));
        this.#change(visit, { ...fresh, status: input.status }, is_present, 'is corrected');
        break;
      }
      case 9:
        this.#reorder(visit);
        break;
      default:
        if (this.#plan.pms.reused_ids) {
          const other = random.pick(this.people);
          this.#change(visit, appointmentOf(visit.source_id, other, Date.parse(input.starts_at)), true, `is ${other.id}'s now`);
        }
    }
  }

  #giveMemberId(visit: Visit): void {
    const { input, is_present } = this.current(visit);
    const [first, ...others] = input.coverages;
    if (first === undefined) return;
    const member_id = `Nw${this.#random.int(1, 5)}-${input.patient.id}`;
    this.#change(visit, { ...input, coverages: [{ ...first, member_id }, ...others] }, is_present, 'gets another member id');
  }

  #reorder(visit: Visit): void {
    const { input, is_present } = this.current(visit);
    const coverages = input.coverages.toReversed();
    this.#change(visit, { ...input, coverages }, is_present, 'has its coverages in another order');
  }

  /** Somebody has the chart open when the answer comes, so that it cannot be written for hours, and changes the insurance. */
  #isOpenElsewhere(source_id: string): boolean {
    const visit = this.visits.get(source_id);
    if (this.is_calm || !this.#plan.pms.meddles || visit === undefined || visit.is_probe) return false;
    const known = this.#open_until.get(source_id);
    if (known !== undefined) return this.#scheduler.now < known;
    const is_open = this.#faults.chance(0.3);
    this.#open_until.set(source_id, is_open ? this.#scheduler.now + this.#faults.int(1, 8) * HOUR_MS : 0);
    const meddle = () => (this.#faults.chance(0.7) ? this.#giveMemberId(visit) : this.#reorder(visit));
    if (is_open) this.#scheduler.after(this.#faults.int(0, 60) * MINUTE_MS, meddle, undefined);
    return is_open;
  }

  #change(visit: Visit, input: AppointmentInput, is_present: boolean, what: string): void {
    const last = visit.versions.at(-1);
    if (last !== undefined && JSON.stringify(last.input) === JSON.stringify(input) && last.is_present === is_present) return;
    this.#seq += 1;
    const version = { seq: this.#seq, at: this.#scheduler.now, input, is_present };
    visit.versions.push(version);
    for (const queue of this.#queues.values()) queue.push(version);
    this.#story.tell(this.#scheduler.now, 'practice', `${visit.source_id} ${what}: ${told(input)}`, [visit.source_id]);
  }

  connector(life: Life): Connector {
    return {
      pull: (call) => this.#pull(life, call),
      deliver: (batch) => this.#deliver(life, batch),
      publishAttention: async (entries) => {
        await this.#pause(life, 'attention');
        if (this.#isDown()) throw away();
        this.#list(this.output(life.machine.name), entries);
      },
      check: async () => [],
    };
  }

  #list(output: Output, entries: AttentionEntry[]): void {
    output.attention = entries;
    const { listed_until } = output;
    for (const [patient, until] of listed_until)
      if (until === Number.POSITIVE_INFINITY) listed_until.set(patient, this.#scheduler.now);
    for (const { patient_name } of entries) {
      const number = /^Zfirst(\d+)/.exec(patient_name ?? '')?.[1];
      if (number !== undefined) listed_until.set(`P${number}`, Number.POSITIVE_INFINITY);
    }
  }

  /** Whatever a connector does takes time, and may be the last thing that a process does. */
  async #pause(life: Life, what: string): Promise<void> {
    if (life.point(what)) await new Promise(() => {});
    await new Promise<void>((resolve) => this.#scheduler.after(this.#faults.int(1, 40), resolve, life));
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
    const present = [...this.visits.values()]
      .map((visit) => this.current(visit))
      .filter(({ is_present, input }) => is_present && Date.parse(input.starts_at) > now - DAY_MS);
    const inputs = present.map(({ input }) => input);
    const key = `export:${hashOf(inputs)}`;
    if (inputs.length === 0 || (await call.isAccepted(key))) return;
    const size = this.#plan.pms.batch_size;
    for (let first = 0; first < inputs.length; first += size) {
      const part = inputs.slice(first, first + size);
      const is_last = first + size >= inputs.length;
      await this.#accept(life, call, {
        source: { key, name: 'export.csv', is_last, completeness: this.#plan.pms.completeness },
        appointments: part,
        rejected: this.#rejected(first),
        cursor: null,
      });
    }
  }

  async #pullChanges(life: Life, call: PullCall): Promise<void> {
    const seen = Number(call.cursor ?? 0);
    const changed = [...this.history()]
      .map(({ version }) => version)
      .filter(({ seq }) => seq > seen)
      .sort((a, b) => a.seq - b.seq);
    const size = this.#plan.pms.batch_size;
    for (let first = 0; first < changed.length; first += size) {
      const part = changed.slice(first, first + size);
      const last = part.at(-1)!;
      await this.#accept(life, call, {
        source: { key: `change:${last.seq}`, name: `change ${last.seq}`, is_last: true, completeness: 'changes' },
        appointments: part.map(sent),
        rejected: this.#rejected(first),
        cursor: String(last.seq),
      });
    }
  }

  /** Messages that are gone once they are acknowledged. */
  async #pullQueue(life: Life, call: PullCall): Promise<void> {
    const { name } = life.machine;
    const queue = this.#queues.get(name) ?? [...this.history()].map(({ version }) => version).sort((a, b) => a.seq - b.seq);
    this.#queues.set(name, queue);
    for (let message = queue[0]; message !== undefined; message = queue[0]) {
      await this.#accept(life, call, {
        source: { key: `message:${message.seq}`, name: `message ${message.seq}`, is_last: true, completeness: 'changes' },
        appointments: [sent(message)],
        rejected: [],
        cursor: null,
      });
      queue.shift();
    }
  }

  async #accept(life: Life, call: PullCall, batch: PullBatch): Promise<void> {
    call.signal.throwIfAborted();
    await call.accept(batch);
    if (life.is_dead) await new Promise(() => {});
    this.counts.accepted += batch.appointments.length;
    if (life.point('acknowledge')) await new Promise(() => {});
    this.counts.acknowledged += batch.appointments.length;
    this.onAcknowledged(life, batch.appointments);
    await this.#pause(life, 'acknowledged');
  }

  #rejected(first: number): PullBatch['rejected'] {
    if (this.is_calm || !this.#faults.chance(this.#plan.pms.malformed)) return [];
    return [{ position: `row ${first + 900}`, field: 'appointment_at', value_class: 'not a date', remedy: 'Correct it.' }];
  }

  async #deliver(life: Life, batch: DeliveryBatch): Promise<DeliveryOutcome[]> {
    const { deliver_failure, item_failure, item_permanent, poison } = this.#plan.pms;
    const faults = this.#faults;
    await this.#pause(life, 'deliver');
    if (this.#isDown()) throw away();
    const fails = !this.is_calm && faults.chance(deliver_failure);
    if (fails) this.counts.deliver_failures += 1;
    const fails_after = fails ? faults.int(0, batch.deliveries.length) : Number.MAX_SAFE_INTEGER;
    const outcomes: DeliveryOutcome[] = [];
    for (const [index, delivery] of batch.deliveries.entries()) {
      if (index === fails_after) break;
      if (poison && delivery.appointment.source_id.endsWith('3') && !delivery.appointment.source_id.startsWith('probe')) {
        throw new Error('The connector has stumbled over a record.');
      }
      if (this.#isOpenElsewhere(delivery.appointment.source_id)) {
        outcomes.push({ key: delivery.key, outcome: 'failed', is_permanent: false, what: 'The chart is open.', next: 'Wait.' });
        continue;
      }
      if (!this.is_calm && faults.chance(item_failure + item_permanent)) {
        const is_permanent = faults.chance(item_permanent / (item_failure + item_permanent));
        outcomes.push({ key: delivery.key, outcome: 'failed', is_permanent, what: 'It was not taken.', next: 'Look.' });
        continue;
      }
      this.#write(life, delivery);
      if (life.point('written')) await new Promise(() => {});
      // Some forget to say what became of one.
      if (this.is_calm || !faults.chance(item_failure / 4)) outcomes.push({ key: delivery.key, outcome: 'delivered' });
    }
    if (fails) throw faults.chance(0.7) ? away() : new Error('The connector has stumbled.');
    await this.#pause(life, 'delivered');
    return faults.shuffled(outcomes);
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
      const same = (one: Written) => JSON.stringify([one.source_id, one.rank, one.revision, one.delivery.record]);
      if (same(before) !== same(entry))
        this.onBroken(
          new Broken('G4', `Two different records were written under the key ${delivery.key}.`, [
            entry.source_id,
            before.source_id,
          ]),
        );
    } else this.counts.delivered += 1;
    written.set(delivery.key, entry);
    this.#story.tell(
      this.#scheduler.now,
      life.machine.name,
      `writes ${delivery.key} into the book: ${entry.source_id}, coverage ${entry.rank}, ${delivery.record.status} of ${entry.inquiry_id}, revision ${entry.revision}`,
      [entry.source_id, entry.inquiry_id],
    );
    this.onWritten(life, entry);
  }
}

/** A queue or a change log says that a visit is gone by cancelling it. */
function sent({ input, is_present }: Version): AppointmentInput {
  return is_present ? input : { ...input, status: 'cancelled' };
}

/** Whether this is what eligd may have been shown of the version. */
export function isShownAs(version: Version, content: string): boolean {
  return [version.input, sent(version)].some((input) => JSON.stringify(input) === content);
}

function coverage(payor_id: string, member_id: string): CoverageInput {
  return { carrier: `Zcarrier ${payor_id}`, payor_id, member_id, group_id: 'G1', subscriber: null };
}

function appointmentOf(source_id: string, person: Person, at: number): AppointmentInput {
  return {
    source_id,
    starts_at: new Date(at).toISOString(),
    status: 'booked',
    patient: { id: person.id, first_name: person.first_name, last_name: person.last_name, birth_date: person.birth_date },
    coverages: structuredClone(person.coverages),
    provider: { rendering_npi: '1234567893', billing_npi: '', tax_id: '', is_specialist: null, in_network: null },
    location: null,
    specialty: null,
    procedure_codes: ['D1110', 'D2740'],
    diagnosis_codes: [],
    problems: [],
  };
}

function told(input: AppointmentInput): string {
  const members = input.coverages.map(({ payor_id, member_id }) => `${payor_id}/${member_id}`).join(' and ') || 'self-pay';
  return `${input.patient.id} on ${input.starts_at.slice(0, 16)}, ${members}, ${input.status}`;
}

function away(): ConnectorError {
  return new ConnectorError('transient', { what: 'The practice management system does not answer.', next: 'Wait.' });
}

function hashOf(value: unknown): string {
  let hash = 0x811c9dc5;
  const text = JSON.stringify(value);
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return `${text.length}-${hash >>> 0}`;
}
