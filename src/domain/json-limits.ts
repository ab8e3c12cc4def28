/** Limits the structure of JSON from outside. Whoever reads it limits its size. */

/**
 * The maximum nesting depth of JSON from outside: the documented answers need fewer than ten levels
 * (docs/service.md "Resources and their fields"). Deeper JSON overflows the stack of recursive
 * code, so eligd drops it as soon as the reply is parsed.
 */
const DEPTH_MAX = 100;
/**
 * The maximum number of values in one answer; the documented answers have some thousands. Each
 * parsed value takes a hundred bytes of memory, so 16 MB of `{},{},` would take a gigabyte.
 */
export const VALUES_MAX = 250_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;

/** Returns whether JSON holds more than `max` values; called before parsing. */
export function hasTooManyValues(bytes: Uint8Array, max = VALUES_MAX): boolean {
  // Every value but the first takes a byte of its own.
  if (bytes.length < max) return false;
  let count = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at += 1;
      while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    } else if (byte === COMMA || byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      count += 1;
      if (count > max) return true;
    }
  }
  return false;
}

/** Returns whether arrays and objects are nested too deeply to be used. Does not recurse. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth < DEPTH_MAX; depth += 1) {
    const inner: unknown[] = [];
    for (const each of level) {
      if (typeof each !== 'object' || each === null) continue;
      for (const held of Object.values(each))
        if (typeof held === 'object' && held !== null) inner.push(held);
    }
    if (inner.length === 0) return false;
    level = inner;
  }
  return true;
}

/** Drops the results of a list element if they are too deep; eligd then reads it by its ID. */
export function shallow(element: unknown): unknown {
  if (!isTooDeep(element)) return element;
  const { results: _, ...rest } = element as Record<string, unknown>;
  return isTooDeep(rest) ? null : rest;
}
