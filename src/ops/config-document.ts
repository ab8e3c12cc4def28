import {
  type Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
} from 'yaml';

export type Path = readonly (string | number)[];

/** One problem in the configuration: where, what, and what to write instead. */
export type ConfigProblem = { path: string; line: number; what: string; next: string };

/** A YAML document that knows the line of each key. */
export type ConfigDocument = {
  /** The plain data. */
  data: unknown;
  /** Returns the line of the key or list item at `path`, or of the nearest existing parent. */
  lineOf: (path: Path) => number;
  /** Returns whether `path` exists; a key without a value does not count. */
  has: (path: Path) => boolean;
  /** Returns the value at `path` as it was typed, if it is a short number or word. */
  typed: (path: Path) => string | null;
  /** Every key in the file with its path. */
  keys: () => { path: Path; key: string; value: unknown }[];
};

/** Parses YAML; syntax errors become problems with line and column. */
export function readDocument(
  source: string,
): { document: ConfigDocument } | { problems: ConfigProblem[] } {
  const lines = new LineCounter();
  const parsed = parseDocument(source, { lineCounter: lines, prettyErrors: true });
  const broken = [...parsed.errors, ...parsed.warnings];
  if (broken.length > 0) {
    return {
      problems: broken.map((error) => ({
        path: '',
        line: error.linePos?.[0].line ?? 1,
        what:
          'is not valid YAML: ' +
          `${(error.message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '')}.`,
        next:
          error.code === 'DUPLICATE_KEY'
            ? 'Keep one of the keys with this name.'
            : 'Check the indentation (spaces, not tabs), and put a space after each colon.',
      })),
    };
  }
  return { document: describe(parsed, lines) };
}

function describe(parsed: Document.Parsed, lines: LineCounter): ConfigDocument {
  const lineAt = (offset: number | undefined) =>
    offset === undefined ? 1 : lines.linePos(offset).line;

  /**
   * Follows `path` as far as it exists. Returns where its last part begins, and the value if the
   * whole path exists.
   */
  function follow(path: Path): { offset: number | undefined; value: unknown } {
    let value: unknown = parsed.contents;
    let offset = offsetOf(value);
    for (const part of path) {
      if (isMap(value)) {
        const pair = value.items.find(
          (item) => isScalar(item.key) && String(item.key.value) === String(part),
        );
        if (pair === undefined) return { offset, value: undefined };
        offset = offsetOf(pair.key) ?? offset;
        value = pair.value;
      } else if (isSeq(value) && typeof part === 'number') {
        value = value.items[part];
        offset = offsetOf(value) ?? offset;
      } else {
        return { offset, value: undefined };
      }
    }
    return { offset, value };
  }

  return {
    data: parsed.toJS(),
    lineOf: (path) => lineAt(follow(path).offset),
    has: (path) => {
      const { value } = follow(path);
      return value !== undefined && value !== null && !(isScalar(value) && value.value === null);
    },
    typed: (path) => {
      const { value } = follow(path);
      return isScalar(value) && value.source !== undefined && /^\S{1,40}$/.test(value.source)
        ? value.source
        : null;
    },
    keys: () => keysBelow(parsed.contents, []),
  };
}

function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

function keysBelow(node: unknown, path: Path): ReturnType<ConfigDocument['keys']> {
  if (isSeq(node)) return node.items.flatMap((item, index) => keysBelow(item, [...path, index]));
  if (!isMap(node)) return [];
  return node.items.flatMap((pair) => {
    if (!isPair(pair) || !isScalar(pair.key)) return [];
    const key = String(pair.key.value);
    const here = [...path, key];
    const value = isScalar(pair.value) ? pair.value.value : undefined;
    return [{ path: here, key, value }, ...keysBelow(pair.value, here)];
  });
}
