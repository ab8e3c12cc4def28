/** The appointment book of a practice and its changes. */
import type { AppointmentInput, CoverageInput } from '../../src/domain/appointment.ts';
import type { ClaimInput } from '../../src/domain/claim.ts';
import type { PatientUpdate } from '../../src/domain/patient-update.ts';
import { ClaimBook, type ClaimVersion } from './claim-book.ts';
import { CODES, HOUR_MS, MINUTE_MS, type Plan } from './plan.ts';
import { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import type { Story } from './story.ts';

type Person = {
  /** The ID of one record; a person may have two. */
  id: string;
  first_name: string;
  last_name: string;
  birth_date: string;
  coverages: CoverageInput[];
};

/**
 * One version of an appointment. The practice knows all versions; eligd sees only those that the
 * practice exports.
 */
export type Version = { seq: number; at: number; input: AppointmentInput; is_present: boolean };

/** The practice found that two records are about one person. */
export type Merge = {
  seq: number;
  at: number;
  update: Extract<PatientUpdate, { kind: 'merged' }>;
};

/** What a queue or a list of changes transports. */
export type Entry = Version | Merge | ClaimVersion;

export type Visit = { source_id: string; versions: Version[]; is_probe: boolean };

export class Book {
  readonly visits = new Map<string, Visit>();
  readonly #people: Person[] = [];
  /** The book calls it after every change. */
  onChange: (entry: Entry) => void = () => {};
  readonly merges: Merge[] = [];
  readonly claims: ClaimBook;
  /** The ID of the person's first record, by the ID of the second one. */
  readonly #first_record = new Map<string, string>();
  readonly #random_of_merges: Random;
  readonly #random_of_codes: Random;
  readonly #plan: Plan;
  readonly #scheduler: Scheduler;
  readonly #story: Story;
  readonly #random: Random;
  #seq = 0;
  #numbers = 0;

  constructor(plan: Plan, scheduler: Scheduler, story: Story) {
    this.#plan = plan;
    this.#scheduler = scheduler;
    this.#story = story;
    this.#random = new Random(plan.seed, 'pms');
    this.#random_of_merges = new Random(plan.seed, 'records');
    this.#random_of_codes = new Random(plan.seed, 'visit codes');
    for (let count = 0; count < plan.pms.patients; count += 1) this.#addPerson();
    for (let count = 0; count < plan.pms.merges; count += 1) this.#addSecondRecord();
    this.claims = new ClaimBook(plan, {
      now: () => this.#scheduler.now,
      seq: () => {
        this.#seq += 1;
        return this.#seq;
      },
      pick: (random) => {
        const { coverages, ...patient } = random.pick(this.#people);
        return { patient, coverages };
      },
      onChange: (version, what) => {
        this.onChange(version);
        const { source_id, patient, coverage, claim_number } = version.claim;
        const whose = `${patient.id}, ${coverage.payor_id}/${coverage.member_id}`;
        const told = `claim ${source_id} ${what}: ${whose}, ${claim_number || 'no number'}`;
        this.#story.tell(this.#scheduler.now, 'practice', told, [source_id]);
      },
    });
  }

  /** One ID for a person, whichever of the records the given one names. */
  personOf(record_id: string | null): string {
    return this.#first_record.get(record_id ?? '') ?? record_id ?? '';
  }

  /** A record that was merged has the birth date of the other one, if its own is missing. */
  birthDatesOf({ id, birth_date }: AppointmentInput['patient']): readonly (string | null)[] {
    const person = this.#people.find((one) => this.personOf(one.id) === this.personOf(id));
    return birth_date === null && this.#isMerged(id ?? '')
      ? [null, person?.birth_date ?? null]
      : [birth_date];
  }

  #isMerged(id: string): boolean {
    return this.merges.some(({ update: { from_id, into } }) => from_id === id || into.id === id);
  }

  /** Everything in the order in which it happened. */
  entries(): Entry[] {
    const versions = [...this.history()].map(({ version }) => version);
    return [...versions, ...this.merges, ...this.claims.history()].sort((a, b) => a.seq - b.seq);
  }

  /**
   * Whether eligd may have seen this of the version. eligd stores what comes under a merged record
   * under the other one.
   */
  isShownAs(version: Version, content: string): boolean {
    return [version.input, shownAsChange(version)].some((input) =>
      this.isContentOf(input, content),
    );
  }

  /** Whether eligd's stored content is that of the input, apart from the record of the patient. */
  isContentOf(input: AppointmentInput | ClaimInput, content: string): boolean {
    if (JSON.stringify(input) === content) return true;
    const { id } = input.patient;
    if (!this.#isMerged(id ?? '')) return false;
    const stored = JSON.parse(content) as AppointmentInput;
    return (
      this.personOf(stored.patient.id) === this.personOf(id) &&
      JSON.stringify({ ...stored, patient: null }) === JSON.stringify({ ...input, patient: null })
    );
  }

  current(visit: Visit): Version {
    return visit.versions.at(-1)!;
  }

  /** Every version that was ever true, to tell which call belongs to which appointment. */
  *history(): Iterable<{ visit: Visit; version: Version }> {
    for (const visit of this.visits.values())
      for (const version of visit.versions) yield { visit, version };
  }

  #addPerson(): Person {
    const random = this.#random;
    const { families, twins, refused } = this.#plan.pms;
    const number = this.#people.length + 1;
    const relative = this.#people.at(-1);
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
      birth_date:
        is_relative && twins
          ? relative.birth_date
          : `19${random.int(40, 99)}-0${random.int(1, 9)}-${day}`,
      coverages: [
        coverage(
          is_relative ? relative.coverages[0]!.payor_id : `6${random.int(1000, 1003)}`,
          member_id,
        ),
      ],
    };
    if (random.chance(this.#plan.pms.two_coverages))
      person.coverages.push(coverage(`7${random.int(1000, 1002)}`, `Sx${2000 + number}`));
    this.#people.push(person);
    return person;
  }

  /** The front desk has entered a patient again, with the same data. */
  #addSecondRecord(): void {
    const random = this.#random_of_merges;
    const person = random.pick(this.#people.filter(({ id }) => this.personOf(id) === id));
    const id = `P${this.#people.length + 1}`;
    this.#first_record.set(id, person.id);
    this.#people.push({ ...structuredClone(person), id });
  }

  /** The practice merges the next two records of one person, in either direction. */
  merge(): void {
    const random = this.#random_of_merges;
    const second = this.#people.find(
      ({ id }) =>
        this.personOf(id) !== id && !this.#isMerged(id) && !this.#isMerged(this.personOf(id)),
    );
    const first = this.#people.find(({ id }) => id === this.personOf(second?.id ?? ''));
    if (first === undefined || second === undefined) return;
    const [from, into] = random.chance(0.5) ? [first, second] : [second, first];
    const { id, first_name, last_name, birth_date } = into;
    this.#seq += 1;
    const merge: Merge = {
      seq: this.#seq,
      at: this.#scheduler.now,
      update: { kind: 'merged', from_id: from.id, into: { id, first_name, last_name, birth_date } },
    };
    this.merges.push(merge);
    this.#people.splice(this.#people.indexOf(from), 1, into);
    this.onChange(merge);
    this.#story.tell(this.#scheduler.now, 'practice', `${from.id} is merged into ${into.id}`);
  }

  /** Shortly before a merge, both records have a visit. */
  bookBoth(days_ahead: number): void {
    for (const second of this.#people.filter(({ id }) => this.personOf(id) !== id)) {
      const first = this.#people.find(({ id }) => id === this.personOf(second.id));
      for (const person of first === undefined ? [] : [first, second])
        this.add(days_ahead + this.#random_of_merges.next(), 'ordinary', person);
    }
  }

  /** One inquiry serves a visit soon and one this many days later. */
  bookTwice(days_apart: number): void {
    const person = this.#addOther();
    for (const days_ahead of [1.2, 1.2 + days_apart]) this.add(days_ahead, 'ordinary', person);
  }

  /** The patient books another visit, with the same insurance. */
  bookAgain(source_id: string): void {
    const last = this.visits.get(source_id);
    if (last === undefined) return;
    this.#numbers += 1;
    const visit: Visit = { source_id: `A${9000 + this.#numbers}`, versions: [], is_probe: false };
    this.visits.set(visit.source_id, visit);
    const starts_at = new Date(
      Math.round(this.#scheduler.now / HOUR_MS + this.#random_of_merges.int(30, 100)) * HOUR_MS,
    ).toISOString();
    const input = { ...this.current(last).input, source_id: visit.source_id, starts_at };
    this.#change(visit, { ...input, status: 'booked' }, true, 'is booked as another visit');
  }

  /** A new appointment, this many days from now. */
  add(days_ahead: number, kind: 'ordinary' | 'probe' = 'ordinary', of?: Person): Visit {
    const random = this.#random;
    const person = of ?? (kind === 'probe' ? this.#addOther() : random.pick(this.#people));
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
    const input = appointmentOf(visit.source_id, this.#treated(person), at);
    if (kind === 'ordinary') this.#spoil(input);
    this.#change(visit, input, true, kind === 'probe' ? 'is booked (a probe)' : 'is booked');
    return visit;
  }

  #treated(person: Person): { person: Person; codes: readonly string[] } {
    return { person, codes: this.#codes() };
  }

  #codes(): readonly string[] {
    const [first, second] = CODES[this.#plan.specialty];
    const both = [first, second];
    return this.#plan.pms.new_codes === null
      ? both
      : this.#random_of_codes.pick([[first], [first], [second], both]);
  }

  /** The dentist plans other procedures, or takes them back. */
  #giveCodes(visit: Visit): void {
    const { input, is_present } = this.current(visit);
    const procedure_codes = [...this.#codes()];
    this.#change(visit, { ...input, procedure_codes }, is_present, 'gets other codes');
  }

  #addOther(): Person {
    const number = this.#people.length + 1;
    const person: Person = {
      id: `P${number}`,
      first_name: `Zfirst${number}`,
      last_name: `Zlast${number}`,
      birth_date: '1970-05-05',
      coverages: [coverage('61000', `Probe${number}`)],
    };
    this.#people.push(person);
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

  /** One random change in the practice. */
  happen(): void {
    const random = this.#random;
    const upcoming = [...this.visits.values()].filter(
      (visit) =>
        !visit.is_probe && Date.parse(this.current(visit).input.starts_at) > this.#scheduler.now,
    );
    const { look_ahead_days } = this.#plan.config;
    if (upcoming.length === 0 || random.chance(0.35)) {
      this.add(random.next() * (random.chance(0.2) ? 0.3 : look_ahead_days + 1));
      return;
    }
    const visit = random.pick(upcoming);
    if (this.#plan.pms.new_codes !== null && this.#random_of_codes.chance(0.4)) {
      this.#giveCodes(visit);
      return;
    }
    const { input, is_present } = this.current(visit);
    const person =
      this.#people.find(({ id }) => id === input.patient.id) ??
      this.#people.find(({ id }) => this.personOf(id) === this.personOf(input.patient.id)) ??
      random.pick(this.#people);
    switch (random.int(0, 10)) {
      case 0:
        this.#change(visit, { ...input, status: 'cancelled' }, is_present, 'is cancelled');
        break;
      case 1:
        this.#change(visit, { ...input, status: 'booked' }, true, 'is on again');
        break;
      case 2:
      case 3: {
        const starts_at = new Date(
          Date.parse(input.starts_at) + random.pick([-48, -1, 1, 24, 72, 200]) * HOUR_MS,
        ).toISOString();
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
        this.giveMemberId(visit);
        break;
      case 7:
        // The spelling of the name and the group do not change the need.
        this.#change(
          visit,
          {
            ...input,
            patient: { ...input.patient, first_name: `${person.first_name}-${random.int(1, 3)}` },
            coverages: input.coverages.map((each) => ({
              ...each,
              group_id: `G${random.int(1, 9)}`,
            })),
          },
          is_present,
          'is spelled otherwise',
        );
        break;
      case 8: {
        const starts_at = Date.parse(input.starts_at);
        const fresh = appointmentOf(visit.source_id, this.#treated(person), starts_at);
        this.#change(visit, { ...fresh, status: input.status }, is_present, 'is corrected');
        break;
      }
      case 9:
        this.reorder(visit);
        break;
      default:
        if (this.#plan.pms.reused_ids) {
          const other = random.pick(this.#people);
          this.#change(
            visit,
            appointmentOf(visit.source_id, this.#treated(other), Date.parse(input.starts_at)),
            true,
            `is ${other.id}'s now`,
          );
        }
    }
  }

  giveMemberId(visit: Visit): void {
    const { input, is_present } = this.current(visit);
    const [first, ...others] = input.coverages;
    if (first === undefined) return;
    const member_id = `Nw${this.#random.int(1, 5)}-${input.patient.id}`;
    this.#change(
      visit,
      { ...input, coverages: [{ ...first, member_id }, ...others] },
      is_present,
      'gets another member id',
    );
  }

  reorder(visit: Visit): void {
    const { input, is_present } = this.current(visit);
    const coverages = input.coverages.toReversed();
    this.#change(visit, { ...input, coverages }, is_present, 'has its coverages in another order');
  }

  #change(visit: Visit, input: AppointmentInput, is_present: boolean, what: string): void {
    const last = visit.versions.at(-1);
    if (
      last !== undefined &&
      JSON.stringify(last.input) === JSON.stringify(input) &&
      last.is_present === is_present
    )
      return;
    this.#seq += 1;
    const version = { seq: this.#seq, at: this.#scheduler.now, input, is_present };
    visit.versions.push(version);
    this.onChange(version);
    this.#story.tell(
      this.#scheduler.now,
      'practice',
      `${visit.source_id} ${what}: ${told(input)}`,
      [visit.source_id],
    );
  }
}

/** A queue or a change log reports a removed visit as canceled. */
export function shownAsChange({ input, is_present }: Version): AppointmentInput {
  return is_present ? input : { ...input, status: 'cancelled' };
}

function coverage(payor_id: string, member_id: string): CoverageInput {
  return { carrier: `Zcarrier ${payor_id}`, payor_id, member_id, group_id: 'G1', subscriber: null };
}

function appointmentOf(
  source_id: string,
  { person, codes }: { person: Person; codes: readonly string[] },
  at: number,
): AppointmentInput {
  return {
    source_id,
    starts_at: new Date(at).toISOString(),
    status: 'booked',
    patient: {
      id: person.id,
      first_name: person.first_name,
      last_name: person.last_name,
      birth_date: person.birth_date,
    },
    coverages: structuredClone(person.coverages),
    provider: {
      rendering_npi: '1234567893',
      billing_npi: '',
      tax_id: '',
      is_specialist: null,
      in_network: null,
    },
    location: null,
    specialty: null,
    procedure_codes: [...codes],
    diagnosis_codes: [],
    problems: [],
  };
}

function told(input: AppointmentInput): string {
  const members =
    input.coverages.map(({ payor_id, member_id }) => `${payor_id}/${member_id}`).join(' and ') ||
    'self-pay';
  return `${input.patient.id} on ${input.starts_at.slice(0, 16)}, ${members}, ${input.status}`;
}
