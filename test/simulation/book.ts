/** The appointment book of a practice and its changes. */
import type { AppointmentInput, CoverageInput } from '../../src/domain/appointment.ts';
import { CODES, HOUR_MS, MINUTE_MS, type Plan } from './plan.ts';
import { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import type { Story } from './story.ts';

type Person = {
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

export type Visit = { source_id: string; versions: Version[]; is_probe: boolean };

export class Book {
  readonly visits = new Map<string, Visit>();
  readonly #people: Person[] = [];
  /** The book calls it after every change. */
  onChange: (version: Version) => void = () => {};
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
    for (let count = 0; count < plan.pms.patients; count += 1) this.#addPerson();
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

  /** A new appointment, this many days from now. */
  add(days_ahead: number, kind: 'ordinary' | 'probe' = 'ordinary'): Visit {
    const random = this.#random;
    const person = kind === 'probe' ? this.#addProbePerson() : random.pick(this.#people);
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
    return { person, codes: CODES[this.#plan.specialty] };
  }

  #addProbePerson(): Person {
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
    const { input, is_present } = this.current(visit);
    const person =
      this.#people.find(({ id }) => id === input.patient.id) ?? random.pick(this.#people);
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

/** Whether eligd may have seen this of the version. */
export function isShownAs(version: Version, content: string): boolean {
  return [version.input, shownAsChange(version)].some((input) => JSON.stringify(input) === content);
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
