/** Fields of a schema one by one, and the fields that a connector's page leaves out. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type JsonSchema = {
  type?: string;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  anyOf?: JsonSchema[];
};

const ROOT = join(import.meta.dirname, '../..');

/** Parts that a reader sees as one value. */
const LEAVES = new Set(['Money', 'SignedMoney', 'Words']);

/** Every path of the schema that ends in a value; `[]` is any element of a list. */
export function pathsOf(schema: JsonSchema): string[] {
  return below(schema, schema, '');
}

function below(schema: JsonSchema, node: JsonSchema, path: string): string[] {
  if (node.$ref !== undefined) {
    const name = node.$ref.split('/').at(-1) ?? '';
    return LEAVES.has(name) ? [path] : below(schema, schema.$defs?.[name] ?? {}, path);
  }
  const options = (node.anyOf ?? []).filter(({ type }) => type !== 'null');
  const object = options.find(({ $ref, type }) => $ref !== undefined || type === 'object');
  if (options.length > 0) {
    const list = options.find(({ type }) => type === 'array');
    if (options.length === 1 && object !== undefined) return below(schema, object, path);
    return list === undefined ? [path] : below(schema, list, path);
  }
  if (node.items !== undefined) return below(schema, node.items, `${path}[]`);
  if (node.properties === undefined) return [path];
  return Object.entries(node.properties).flatMap(([name, each]) =>
    below(schema, each, path === '' ? name : `${path}.${name}`),
  );
}

/** A copy in which the value at a path is another value of its kind. */
export function changed<Value>(whole: Value, path: string): Value {
  const copy = structuredClone(whole) as Record<string, unknown>;
  const keys = path.replaceAll('[]', '.0').split('.');
  const last = keys.pop() ?? '';
  const node = keys.reduce<Record<string, unknown>>(
    (each, key) => each[key] as Record<string, unknown>,
    copy,
  );
  node[last] = other(node[last], last, path);
  return copy as Value;
}

const WORDS: Record<string, string> = {
  specialty: 'medical',
  outcome: 'unsuccessful',
  completeness: 'partial',
  confidence: 'high',
  standing: 'used_up',
  frequency_limitations: '2 per lifetime',
  'claim.status': 'denied',
};

function other(value: unknown, name: string, path: string): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value - 7;
  if (typeof value === 'string') {
    const word = WORDS[path] ?? WORDS[name];
    if (word !== undefined) return word;
    if (/^\d{4}-\d\d-\d\dT/.test(value)) return value.replace('2026', '2025');
    return /^\d{4}-/.test(value) ? value.replace(/-01-01|-12-31/, '-03-03') : `${value} other`;
  }
  if (value === null) return { amount: '77.00', currency: 'USD' };
  return 'amount' in (value as object) ? { amount: '77.77', currency: 'USD' } : { other: 1 };
}

export type LeftOut = { path: string; why: string };

/** Paths in the table below a heading of a page, with their reasons. */
export function leftOut(page: string, heading: string): LeftOut[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const begin = text.indexOf(`### ${heading}\n`);
  if (begin === -1) return [];
  const rows = text.slice(begin).split('\n\n')[2]?.split('\n') ?? [];
  return rows.flatMap((row) => {
    const [, paths = '', why = ''] = row.split('|');
    return [...paths.matchAll(/`([^`]+)`/g)].map(([, path = '']) => ({ path, why: why.trim() }));
  });
}
