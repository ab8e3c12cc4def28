/**
 * A message as segments and fields (HL7 v2.5.1, section 2.5). It keeps unknown segments and parses
 * them only on use.
 */
import { decode, type Separators, USUAL, withUsualSeparators } from './escapes.ts';
import type { Path } from './paths.ts';

export class Segment {
  readonly name: string;
  readonly #line: string;
  readonly #separators: Separators;
  /**
   * Raw fields by their number; 0 is the name. Null until the first use: most segments are never
   * used.
   */
  #fields: readonly string[] | null = null;

  constructor(line: string, separators: Separators) {
    this.#line = line;
    this.#separators = separators;
    const end = line.indexOf(separators.field);
    this.name = end === -1 ? line : line.slice(0, end);
  }

  /** The original text of the segment, with the usual separators. */
  get text(): string {
    return withUsualSeparators(this.#line, this.#separators);
  }

  /** Returns the original text of the field. */
  raw(field: number): string {
    this.#fields ??= this.#split();
    return this.#fields[field] ?? '';
  }

  /**
   * Returns the values at a path, one for each repetition that the path selects, decoded and
   * trimmed; `""`, which means delete, is empty.
   */
  values({ field, repetition, component, subcomponent }: Path): string[] {
    const raw = this.raw(field);
    if (raw === '') return [];
    const all = this.#repetitions(raw);
    if (repetition === null) return all.map((one) => this.#value(one, component, subcomponent));
    if (typeof repetition === 'number') {
      const one = all[repetition - 1];
      return one === undefined ? [] : [this.#value(one, component, subcomponent)];
    }
    return all
      .filter((one) =>
        one.split(this.#separators.component).some((part) => part.trim() === repetition),
      )
      .map((one) => this.#value(one, component, subcomponent));
  }

  /** Returns a value of the first repetition by its numbers. */
  value(field: number, component = 1, subcomponent = 1): string {
    const raw = this.raw(field);
    return raw === '' ? '' : this.#value(this.#repetitions(raw)[0] ?? '', component, subcomponent);
  }

  #split(): string[] {
    const fields = this.#line.split(this.#separators.field);
    // MSH-1 is the separator itself.
    if (this.name === 'MSH') fields.splice(1, 0, this.#separators.field);
    return fields;
  }

  #repetitions(raw: string): string[] {
    const { repetition } = this.#separators;
    return this.name === 'MSH' || repetition === '' ? [raw] : raw.split(repetition);
  }

  #value(one: string, component: number, subcomponent: number): string {
    const { component: between, subcomponent: within } = this.#separators;
    const part = nth(one, between, component);
    const value = decode(nth(part, within, subcomponent), this.#separators).trim();
    return value === '""' ? '' : value;
  }
}

/** Returns the part with this number, counted from 1. */
function nth(text: string, separator: string, number: number): string {
  if (separator === '') return number === 1 ? text : '';
  let begin = 0;
  for (let before = 1; ; before += 1) {
    const end = text.indexOf(separator, begin);
    if (before === number) return end === -1 ? text.slice(begin) : text.slice(begin, end);
    if (end === -1) return '';
    begin = end + separator.length;
  }
}

export class Message {
  readonly header: Segment;
  readonly separators: Separators;
  readonly segments: readonly Segment[];
  readonly #by_name: ReadonlyMap<string, readonly Segment[]>;
  /** Null until the first use; each message is asked for them several times. */
  #type: string | null = null;
  #event: string | null = null;

  constructor(segments: readonly [Segment, ...Segment[]], separators: Separators) {
    this.segments = segments;
    this.#by_name = Map.groupBy(segments, ({ name }) => name);
    this.header = segments[0];
    this.separators = separators;
  }

  /** `ADT`, `SIU`. */
  get type(): string {
    this.#type ??= this.header.value(9, 1).toUpperCase();
    return this.#type;
  }

  /** `A08`, `S12`; EVN-1 in messages before 2.3.1 that omit it in MSH-9. */
  get event(): string {
    this.#event ??= (this.header.value(9, 2) || (this.first('EVN')?.value(1) ?? '')).toUpperCase();
    return this.#event;
  }

  get control_id(): string {
    return this.header.raw(10);
  }

  first(name: string): Segment | null {
    return this.all(name)[0] ?? null;
  }

  all(name: string): readonly Segment[] {
    return this.#by_name.get(name) ?? NO_SEGMENTS;
  }
}

const NO_SEGMENTS: readonly Segment[] = [];
const SEGMENT_NAME = /^[A-Z][A-Z0-9]{2}$/;
/**
 * Parses one message with lines that end with CR; null if its header is invalid. A line that does
 * not begin a segment continues the one before, because some senders do not escape line breaks.
 */
export function parseMessage(text: string): Message | null {
  const separators = separatorsOf(text);
  if (separators === null) return null;
  const lines: string[] = [];
  for (const line of text.split('\r')) {
    const is_segment =
      SEGMENT_NAME.test(line.slice(0, 3)) &&
      (line.length === 3 || line.charAt(3) === separators.field);
    if (is_segment || lines.length === 0) lines.push(line);
    else if (line !== '') lines[lines.length - 1] += `\n${line}`;
  }
  const [header = '', ...rest] = lines;
  return new Message(
    [new Segment(header, separators), ...rest.map((line) => new Segment(line, separators))],
    separators,
  );
}

const USUAL_HEADER =
  `MSH${USUAL.field}${USUAL.component}${USUAL.repetition}` +
  `${USUAL.escape}${USUAL.subcomponent}${USUAL.field}`;

/** Reads MSH-1 and MSH-2. The message does not use a separator that MSH-2 omits. */
function separatorsOf(text: string): Separators | null {
  // Nearly all senders use the usual ones.
  if (text.startsWith(USUAL_HEADER)) return USUAL;
  const field = text.charAt(3);
  if (!text.startsWith('MSH') || field === '' || /[\p{L}\p{N}\s"]/u.test(field)) return null;
  const end = text.indexOf(field, 4);
  const encoding = text.slice(4, end === -1 ? 4 : end);
  const characters = [...encoding];
  if (new Set([field, ...characters]).size !== characters.length + 1) return null;
  if (characters.some((character) => /[\p{L}\p{N}\s"]/u.test(character))) return null;
  if (encoding === '') return { ...USUAL, field };
  const [component = '', repetition = '', mark = '', subcomponent = ''] = characters;
  return { field, component, repetition, escape: mark, subcomponent };
}
