/**
 * Reads objects of the service's answer field by field, and keeps account of what was not
 * understood or not asked for.
 */
import type { Unparsed } from './eligibility.ts';
import { isSilent, type Reading, readText, type Why } from './values.ts';

/**
 * What one field gave: undefined when nothing was said, null when something was said that cannot be
 * read.
 */
export type FieldValue<Value> = Value | null | undefined;

/**
 * A key or an index appended to a path: `results.plan`, `results.calls[0]`,
 * `results.treatment_history["01-02-2026"]`.
 */
export function pathTo(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  return /^[A-Za-z_]\w*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

export function isObject(raw: unknown): raw is Record<string, unknown> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw);
}

/** The list of what a record could not take in; every reader of one answer writes to the same. */
export class Remainder {
  readonly entries: Unparsed[] = [];

  add(path: string, value: unknown, why: Why): void {
    this.entries.push({ path, value, why });
  }
}

/**
 * One object of the answer. Each field is taken once, by name; `finish` puts the fields that nobody
 * took into the remainder. Something that is no object goes into the remainder whole and reads as
 * an empty one.
 */
export class ObjectReader {
  readonly path: string;
  readonly #fields: Map<string, unknown>;
  readonly #rest: Set<string>;
  readonly #remainder: Remainder;

  constructor(raw: unknown, path: string, remainder: Remainder) {
    if (!isObject(raw) && !isSilent(raw)) remainder.add(path, raw, 'not an object');
    this.path = path;
    this.#fields = new Map(isObject(raw) ? Object.entries(raw) : []);
    this.#rest = new Set(this.#fields.keys());
    this.#remainder = remainder;
  }

  /** The raw value; its reader answers for what is in it. */
  take(name: string): unknown {
    this.#rest.delete(name);
    return this.#fields.get(name);
  }

  read<Value>(name: string, readValue: (raw: unknown) => Reading<Value>): FieldValue<Value> {
    return settle(
      readValue(this.take(name)),
      this.#fields.get(name),
      pathTo(this.path, name),
      this.#remainder,
    );
  }

  /** A list whose elements are read as text: `[1, "2"]` gives `["1", "2"]`. */
  readTexts(name: string): FieldValue<string[]> {
    const raw = this.take(name);
    if (isSilent(raw)) return undefined;
    if (!Array.isArray(raw)) {
      this.flag(name, 'not a list');
      return null;
    }
    return raw.flatMap((element: unknown, index) => {
      const text = settle(
        readText(element),
        element,
        pathTo(pathTo(this.path, name), index),
        this.#remainder,
      );
      return text === undefined || text === null ? [] : [text];
    });
  }

  /** Puts a field into the remainder as well. */
  flag(name: string, why: Why): void {
    this.#remainder.add(pathTo(this.path, name), this.#fields.get(name), why);
  }

  /**
   * To be called after the last `take`. An unknown field that says nothing (null, blank) is passed
   * over.
   */
  finish(): void {
    for (const name of this.#rest) {
      if (!isSilent(this.#fields.get(name))) this.flag(name, 'unknown field');
    }
    this.#rest.clear();
  }
}

/**
 * The value of a reading; doubts and what is unreadable go into the remainder, the latter becomes
 * null.
 */
export function settle<Value>(
  reading: Reading<Value>,
  raw: unknown,
  path: string,
  remainder: Remainder,
): FieldValue<Value> {
  if (reading.is === 'silent') return undefined;
  if (reading.is === 'unreadable' || reading.is === 'doubtful')
    remainder.add(path, raw, reading.why);
  return reading.is === 'unreadable' ? null : reading.value;
}

type Known<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> | null };

/**
 * Guarantee G8 in one place: a field that was said stays, one that was asked and not said becomes
 * null, one that was neither is left out.
 */
export function keepKnown<Fields extends object>(
  fields: Fields,
  isAsked: (name: keyof Fields & string) => boolean,
): Known<Fields> {
  const kept = Object.entries(fields).flatMap(([name, value]) => {
    if (value !== undefined) return [[name, value]];
    return isAsked(name as keyof Fields & string) ? [[name, null]] : [];
  });
  return Object.fromEntries(kept) as Known<Fields>;
}
