/**
 * How deep JSON from outside may be nested: the documented answers need less than ten levels
 * (docs/service.md "Resources and their fields"). What is deeper overflows the stack of whatever
 * walks through it, so it goes no further than the reply.
 */
const DEPTH_MAX = 100;

/** Whether arrays and objects are nested too deeply to be used. Does not recurse. */
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

/** An element of a list whose results are too deep, without them: it is then read by its id. */
export function shallow(element: unknown): unknown {
  if (!isTooDeep(element)) return element;
  const { results: _, ...rest } = element as Record<string, unknown>;
  return isTooDeep(rest) ? null : rest;
}
