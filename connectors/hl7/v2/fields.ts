/**
 * The position of each value of an appointment and a coverage: the table of docs/hl7.md, and the
 * overrides of the configuration.
 */
import type { Message, Segment } from './message.ts';
import { type Path, parsePath } from './paths.ts';

/** The first path with a value wins; for codes, every value of every path counts. */
export const DEFAULT_PATHS = {
  appointment_id: ['SCH-2.1', 'SCH-1.1'],
  starts_at: ['TQ1-7', 'SCH-11.4', 'AIS-4', 'AIG-8', 'AIL-6', 'AIP-6'],
  status: ['SCH-25.1', 'SCH-25.2'],
  location: ['AIL-3.4', 'AIL-3.1', 'PV1-3.4', 'PV1-3.1'],
  rendering_npi: ['AIP-3[NPI].1', 'PV1-7[NPI].1', 'AIP-3.1', 'PV1-7.1'],
  procedure_codes: ['AIS-3.1', 'PR1-3.1'],
  diagnosis_codes: ['DG1-3.1'],
  claim_id: ['FT1-34.1', 'PV1-19.1'],
  claim_number: ['FT1-23.1'],
  date_of_service: ['FT1-4.1'],
  charged_codes: ['FT1-25.1', 'FT1-7.1'],
  charge_diagnoses: ['FT1-19.1'],
  charged_by_npi: ['FT1-20[NPI].1', 'FT1-20.1', 'PV1-7[NPI].1', 'PV1-7.1'],
  patient_id: ['PID-3[MR].1', 'PID-3.1', 'PID-2.1'],
  first_name: ['PID-5.2'],
  last_name: ['PID-5.1'],
  birth_date: ['PID-7'],
  deceased: ['PID-30', 'PID-29'],
  prior_patient_id: ['MRG-1[MR].1', 'MRG-1.1', 'MRG-4.1'],
  carrier: ['IN1-4.1', 'IN1-2.2', 'IN1-2.1'],
  payor_id: ['IN1-3.1'],
  member_id: ['IN1-36', 'IN1-49.1', 'IN2-61.1'],
  group_id: ['IN1-8'],
  subscriber_first_name: ['IN1-16.2'],
  subscriber_last_name: ['IN1-16.1'],
  subscriber_birth_date: ['IN1-18'],
  relationship: ['IN1-17.1'],
  coverage_order: ['IN1-22.1', 'IN1-1'],
  coverage_start: ['IN1-12'],
  coverage_end: ['IN1-13'],
} as const satisfies Record<string, readonly string[]>;

type FieldName = keyof typeof DEFAULT_PATHS;

export const FIELD_NAMES = Object.keys(DEFAULT_PATHS) as FieldName[];

/** The content of the configuration's `fields:`. */
export type FieldOverrides = Partial<Record<FieldName, string | string[]>>;

/**
 * The segments to read: a whole message, or its part about one patient, one coverage, or one merge.
 */
export type Scope = Pick<Message, 'all' | 'segments'>;

export function scopeOf(segments: readonly Segment[]): Scope {
  let by_name: ReadonlyMap<string, readonly Segment[]> | null = null;
  return {
    segments,
    all: (name) => {
      by_name ??= Map.groupBy(segments, (segment) => segment.name);
      return by_name.get(name) ?? [];
    },
  };
}

export class FieldReader {
  readonly #paths: Record<FieldName, Path[]>;

  constructor(overrides: FieldOverrides) {
    const paths = Object.fromEntries(
      FIELD_NAMES.map((name) => {
        const texts = [overrides[name] ?? DEFAULT_PATHS[name]].flat();
        return [name, texts.flatMap((text) => parsePath(text) ?? [])];
      }),
    );
    this.#paths = paths as Record<FieldName, Path[]>;
  }

  /** Returns the first value; empty if no path has one. */
  one(scope: Scope, name: FieldName): string {
    return this.first(scope, name).value;
  }

  /** Returns the first value with its path; without a value, the path where it belongs. */
  first(scope: Scope, name: FieldName): { value: string; at: string } {
    const paths = this.#paths[name];
    for (const path of paths) {
      for (const segment of scope.all(path.segment)) {
        const value = segment.values(path).find((each) => each !== '');
        if (value !== undefined) return { value, at: placeOf(path) };
      }
    }
    return { value: '', at: placeOf(paths[0]) };
  }

  /** Returns whether a value of any path passes the test. Reads no further than that. */
  some(scope: Scope, name: FieldName, test: (value: string) => boolean): boolean {
    return this.#paths[name].some((path) =>
      scope
        .all(path.segment)
        .some((segment) => segment.values(path).some((value) => value !== '' && test(value))),
    );
  }

  /** Returns every value of every path, in the order of the table, without repeats. */
  all(scope: Scope, name: FieldName): string[] {
    const found = new Set<string>();
    for (const path of this.#paths[name]) {
      for (const segment of scope.all(path.segment)) {
        for (const value of segment.values(path)) if (value !== '') found.add(value);
      }
    }
    return [...found];
  }

  /**
   * Returns the number of segments with each value, in uppercase, from the path that has it most
   * often.
   */
  counts(scope: Scope, name: FieldName): ReadonlyMap<string, number> {
    const most = new Map<string, number>();
    for (const path of this.#paths[name]) {
      const found = new Map<string, number>();
      for (const segment of scope.all(path.segment)) {
        for (const value of new Set(segment.values(path).map((each) => each.toUpperCase())))
          found.set(value, (found.get(value) ?? 0) + 1);
      }
      for (const [value, count] of found) most.set(value, Math.max(count, most.get(value) ?? 0));
    }
    return most;
  }
}

const placeOf = (path: Path | undefined) =>
  path === undefined ? '' : `${path.segment}-${path.field}`;
