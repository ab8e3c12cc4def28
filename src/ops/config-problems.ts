import type { z } from 'zod';
import { EligdError } from '../domain/errors.ts';
import type { ConfigDocument, ConfigProblem, Path } from './config-document.ts';
import { isJsonObject, type JsonSchema } from './json-schema.ts';
import { nearest, oneOf } from './nearest.ts';
import { shippedFile } from './project.ts';

/** All problems of a configuration at once, in the order of its lines. */
export class ConfigError extends EligdError {
  readonly problems: readonly ConfigProblem[];

  constructor(file: string, problems: readonly ConfigProblem[]) {
    const sorted = problems.toSorted((a, b) => a.line - b.line);
    const lines = sorted.map(
      ({ path, line, what, next }) =>
        `line ${line}${path === '' ? '' : `, ${path}`}: ${what} ${next}`,
    );
    super('configuration', {
      what:
        `The configuration ${file} has ` +
        `${lines.length === 1 ? 'an error' : `${lines.length} errors`}.`,
      why: lines.map((line) => `- ${line}`).join('\n'),
      next:
        'Fix the file, then run the command again. ' +
        `${shippedFile('config/example.yaml')} explains every key.`,
    });
    this.problems = sorted;
  }
}

/** `connectors[0].folder` */
export function keyPath(path: Path): string {
  return path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`,
    )
    .join('');
}

type Issue = z.core.$ZodIssue;

/**
 * Describes a schema's issues in words. `base` is the position of the value in the file; `schema`
 * describes the value and supplies names, words, and examples.
 */
export function problemsOf(
  issues: readonly Issue[],
  document: ConfigDocument,
  schema: JsonSchema,
  base: Path,
): ConfigProblem[] {
  return issues.flatMap((issue) => {
    const inner = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
    const path = [...base, ...inner];
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => unknownKey([...inner, key], { document, schema, base }));
    return [
      {
        path: keyPath(path),
        line: document.lineOf(path),
        ...sentence(issue, path, document, schemaAt(schema, inner)),
      },
    ];
  });
}

/** A section of the file: its position, and the schema that describes it. */
type Judged = { document: ConfigDocument; schema: JsonSchema; base: Path };

/** Describes an unknown key. `inner`: its path within the section. */
function unknownKey(inner: Path, { document, schema, base }: Judged): ConfigProblem {
  const path = [...base, ...inner];
  const key = String(inner.at(-1));
  const part = schemaAt(schema, inner.slice(0, -1));
  const known = Object.keys(part?.properties ?? {}).concat(
    part?.propertyNames?.enum?.map(String) ?? [],
  );
  const meant = nearest(key, known);
  const home = meant === null ? findHome(schema, key, base) : null;
  let next = known.length === 0 ? 'Delete it.' : `Known keys: ${known.join(', ')}.`;
  if (meant !== null) next = `Did you mean "${meant}"?`;
  else if (home !== null)
    next = `It belongs ${home === '' ? 'at the top level of the file' : `under "${home}"`}.`;
  return { path: keyPath(path), line: document.lineOf(path), what: 'is not a known key.', next };
}

/** Returns the path of the section that has a key of this name, if exactly one does. */
function findHome(schema: JsonSchema, key: string, at: Path): string | null {
  const homes: Path[] = [];
  const visit = (part: JsonSchema, path: Path) => {
    for (const [name, child] of Object.entries(part.properties ?? {})) {
      if (name === key) homes.push(path);
      visit(child, [...path, name]);
    }
  };
  visit(schema, at);
  return homes.length === 1 && homes[0] !== undefined ? keyPath(homes[0]) : null;
}

/**
 * Returns the part of a JSON Schema that describes the value at `path`, also inside lists, maps,
 * and "or null".
 */
function schemaAt(schema: JsonSchema | undefined, path: Path): JsonSchema | undefined {
  const [first, ...rest] = path;
  const plain = schema?.anyOf?.find((option) => option.type !== 'null');
  const here = plain === undefined ? schema : { ...schema, ...plain };
  if (first === undefined || here === undefined) return here;
  const additional = isJsonObject(here.additionalProperties)
    ? here.additionalProperties
    : undefined;
  return schemaAt(
    typeof first === 'number' ? here.items : (here.properties?.[first] ?? additional),
    rest,
  );
}

const KINDS: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of keys',
  record: 'a group of keys',
};

/** Returns `, such as …` with the schema's example or default; empty if it has neither. */
function exampleOf(schema: JsonSchema | undefined): string {
  const example = schema?.examples?.[0] ?? schema?.default;
  return example === undefined || example === null || Array.isArray(example)
    ? ''
    : `, such as ${JSON.stringify(example)}`;
}

function sentence(
  issue: Issue,
  path: Path,
  document: ConfigDocument,
  schema: JsonSchema | undefined,
): { what: string; next: string } {
  const such = exampleOf(schema);
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(issue, path, document, schema);
    case 'invalid_value': {
      const words = issue.values.map(String);
      const typed = document.typed(path);
      if (typed === null) return { what: 'is missing or empty.', next: `Write ${oneOf(words)}.` };
      const meant = nearest(typed, words);
      return {
        what: `is "${typed}".`,
        next: `Write ${oneOf(words)}${meant === null ? '' : ` (probably ${meant})`}.`,
      };
    }
    case 'too_small':
      if (issue.origin === 'array')
        return { what: 'is an empty list.', next: 'Add at least one item.' };
      if (issue.origin === 'string')
        return { what: 'is empty or too short.', next: `Enter a text${such}.` };
      return {
        what: 'is too small.',
        next: `Use a number ${issue.inclusive ? 'from' : 'above'} ${issue.minimum}${such}.`,
      };
    case 'too_big':
      return { what: 'is too large.', next: `Use a number up to ${issue.maximum}${such}.` };
    case 'invalid_union': {
      const kinds = (schema?.anyOf ?? []).map(
        (option) => KINDS[option.type ?? ''] ?? 'another value',
      );
      return { what: `is not ${oneOf(kinds)}.`, next: `Write ${oneOf(kinds)}${such}.` };
    }
    case 'invalid_key':
      return wrongKey(issue, path);
    case 'invalid_element': {
      const [inner] = issue.issues;
      return inner === undefined
        ? { what: issue.message, next: '' }
        : sentence(inner, path, document, undefined);
    }
    case 'custom':
      return {
        what: issue.message,
        next:
          typeof issue.params?.next === 'string'
            ? issue.params.next
            : `Use a different value${such}.`,
      };
    default:
      // A rule of a connector's own schema that has no case above; its message is all we know.
      return { what: `is not valid: ${issue.message}.`, next: `Use a different value${such}.` };
  }
}

function wrongKey(issue: z.core.$ZodIssueInvalidKey, path: Path): { what: string; next: string } {
  const [inner] = issue.issues;
  if (inner?.code === 'custom')
    return {
      what: inner.message,
      next: typeof inner.params?.next === 'string' ? inner.params.next : '',
    };
  const known = inner?.code === 'invalid_value' ? inner.values.map(String) : [];
  const meant = nearest(String(path.at(-1)), known);
  const next = meant === null ? `Known keys: ${known.join(', ')}.` : `Did you mean "${meant}"?`;
  return { what: 'is not a known key.', next: known.length === 0 ? 'Use a different one.' : next };
}

function wrongType(
  issue: z.core.$ZodIssueInvalidType,
  path: Path,
  document: ConfigDocument,
  schema: JsonSchema | undefined,
): { what: string; next: string } {
  const typed = document.typed(path);
  const such = exampleOf(schema);
  const kind = KINDS[issue.expected] ?? issue.expected;
  const means =
    schema?.description === undefined ? '' : ` (${schema.description.replace(/\.$/, '')})`;
  if (!document.has(path)) {
    const words = schema?.enum === undefined ? `${kind}${such}` : oneOf(schema.enum.map(String));
    return { what: `is missing${means}.`, next: `Add it: ${words}.` };
  }
  // An unquoted number loses its leading zeros when YAML parses it.
  if (issue.expected === 'string' && typed !== null)
    return { what: 'is not in quotes.', next: `Write "${typed}", with the quotes.` };
  return { what: `is not ${kind}.`, next: `Write ${kind}${such}.` };
}
