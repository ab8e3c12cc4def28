/**
 * Reads objects in the service's answer field by field, and records what was not understood or not
 * asked.
 */
import type { Unparsed } from './eligibility.ts';
import { isSilent, type Reading, readText, type Why } from './values.ts';

/** A longer text is kept under `unparsed`: nothing that a payer says on the phone is this long. */
const TEXT_CHARS_MAX = 20_000;

/** The value of a field: undefined when it says nothing, null when it cannot be read. */
type FieldValue<Value> = Value | null | undefined;

/**
 * Appends a key or an index to a path: `results.plan`, `results.calls[0]`,
 * `results.treatment_history["01-02-2026"]`.
 */
export function pathTo(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  return /^[A-Za-z_]\w*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

export function isObject(raw: unknown): raw is Record<string, unknown> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw);
}

/** Collects what a record has no field for; all readers of one answer share it. */
export class Remainder {
  readonly entries: Unparsed[] = [];

  add(path: string, value: unknown, why: Why): void {
    this.entries.push({ path, value, why });
  }
}

/**
 * Reads one object of the answer. Each field is taken once, by name; `finish` puts the fields that
 * were not taken into the remainder. A value that is not an object goes into the remainder whole
 * and reads as an empty object.
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

  /** Returns the raw value; the caller is responsible for its content. */
  take(name: string): unknown {
    this.#rest.delete(name);
    return this.#fields.get(name);
  }

  read<Value>(name: string, readValue: (raw: unknown) => Reading<Value>): FieldValue<Value> {
    const raw = this.take(name);
    return settle(
      isTooLong(raw) ? TOO_LONG : readValue(raw),
      raw,
      pathTo(this.path, name),
      this.#remainder,
    );
  }

  /** Reads a list whose elements are text: `[1, "2"]` gives `["1", "2"]`. */
  readTexts(name: string): FieldValue<string[]> {
    const raw = this.take(name);
    if (isSilent(raw)) return undefined;
    if (!Array.isArray(raw)) {
      this.flag(name, 'not a list');
      return null;
    }
    return raw.flatMap((element: unknown, index) => {
      const text = settle(
        isTooLong(element) ? TOO_LONG : readText(element),
        element,
        pathTo(pathTo(this.path, name), index),
        this.#remainder,
      );
      return text === undefined || text === null ? [] : [text];
    });
  }

  /** Adds a field to the remainder. */
  flag(name: string, why: Why): void {
    this.#remainder.add(pathTo(this.path, name), this.#fields.get(name), why);
  }

  /** Call this after the last `take`. Unknown fields that say nothing (null, blank) are ignored. */
  finish(): void {
    for (const name of this.#rest) {
      if (!isSilent(this.#fields.get(name))) this.flag(name, 'unknown field');
    }
    this.#rest.clear();
  }
}

/**
 * Returns the value of a reading. Doubtful and unreadable values go into the remainder; unreadable
 * ones become null.
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

const TOO_LONG = { is: 'unreadable', why: 'too long' } as const;

const isTooLong = (raw: unknown) => typeof raw === 'string' && raw.length > TEXT_CHARS_MAX;

type Known<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> | null };

/**
 * Implements guarantee G8: keeps fields with a value, sets fields that were asked and not answered
 * to null, and leaves out the others.
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
