/**
 * Describes how a revised answer differs from the previous one, in sentences for readers of the
 * previous one.
 */
import type { ClaimStatusRecord } from './claim-status.ts';
import type { EligibilityRecord } from './eligibility.ts';

type AnyRecord = EligibilityRecord | ClaimStatusRecord;

const SENTENCES_MAX = 12;

/**
 * Parts that differ between any two calls or do not concern benefits: who called when, what was
 * asked, the completeness, and the values that eligd derives.
 */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'schema', 'inquiry_id', 'inquiry_created_at', 'specialty', 'summary', 'asked', 'calls',
  'confidence', 'verification', 'unparsed', 'answered', 'earlier',
]); // biome-ignore format: a list of words reads better in lines than in a column

/** Names of parts that a reader does not need, or knows by another word. */
const PLACES: Readonly<Record<string, string>> = {
  plan: '',
  maximums: '',
  clauses: '',
  procedure_codes: '',
  codes: '',
  procedure_classes: 'class',
  classes: '',
  benefits: '',
  treatment_history: 'treatment',
  treatments: '',
};

/**
 * Returns one sentence for each changed value, in the order of the record, and the number of those
 * left out. Never empty.
 */
export function changesBetween(before: AnyRecord, after: AnyRecord): string[] {
  const [old_values, new_values] = [valuesOf(before), valuesOf(after)];
  const sentences = [...new Set([...old_values.keys(), ...new_values.keys()])].flatMap((path) => {
    const [was, is] = [old_values.get(path), new_values.get(path)];
    if (was === is) return [];
    if (was === undefined) return [`Revised: ${path} was added: ${is}.`];
    if (is === undefined) return [`Revised: ${path} was removed; it was ${was}.`];
    return [`Revised: ${path} changed from ${was} to ${is}.`];
  });
  if (sentences.length === 0)
    return ['Revised: the calling service changed its answer; no benefit has changed.'];
  if (sentences.length <= SENTENCES_MAX) return sentences;
  const more = sentences.length - SENTENCES_MAX;
  return [
    ...sentences.slice(0, SENTENCES_MAX),
    `Revised: ${more} more ${more === 1 ? 'value' : 'values'}.`,
  ];
}

/** Returns every value by its path in words: `individual deductible used` is `300.00`. */
function valuesOf(record: AnyRecord): Map<string, string> {
  const values = new Map<string, string>();
  const walk = (value: unknown, path: readonly string[]): void => {
    const text = textOf(value);
    if (text !== null) values.set(path.filter((word) => word !== '').join(' '), text);
    else if (Array.isArray(value))
      for (const [name, element] of named(value)) walk(element, [...path, name]);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        if (!LEFT_OUT.has(key) && inner !== undefined)
          walk(inner, [...path, PLACES[key] ?? key.replaceAll('_', ' ')]);
      }
    }
  };
  walk(record, []);
  return values;
}

/** Returns a value as text; null for a part that contains other values. */
function textOf(value: unknown): string | null {
  if (value === null) return 'unknown';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value === '' ? 'empty' : value;
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value))
    return value.every((each) => typeof each !== 'object') ? value.join(', ') || 'none' : null;
  if (typeof value === 'object' && 'amount' in value && 'currency' in value)
    return String(value.amount);
  if (typeof value === 'object' && 'text' in value && Object.keys(value).length === 1)
    return `"${String(value.text)}"`;
  return null;
}

/** Names the elements of a list by content, so that a change of order is not a change. */
function named(list: readonly unknown[]): [string, unknown][] {
  const seen = new Map<string, number>();
  return list.map((element, index) => {
    const fields =
      typeof element === 'object' && element !== null ? (element as Record<string, unknown>) : {};
    const { date, code, name, question, teeth } = fields;
    const parts =
      date === undefined ? [code ?? name ?? question ?? index + 1] : [date, code, teeth];
    const title = parts
      .flatMap((part) => (part === null || part === undefined ? [] : [String(part)]))
      .join(' ');
    const count = (seen.get(title) ?? 0) + 1;
    seen.set(title, count);
    return [count === 1 ? title : `${title} (${count})`, element];
  });
}
