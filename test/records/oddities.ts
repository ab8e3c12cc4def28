/** Values of unexpected shapes, and what must be true of a record when an answer contains one. */
import * as fc from 'fast-check';

/** No value of them occurs in any other answer, so each can be found again. */
export const odd = fc.constantFrom<unknown>(
  [['zz-listed']],
  { zz_inner: { zz_deep: 'zz-1' } },
  [{}],
  [{ zz_field: ['zz-2'] }],
  ['zz-3', 987_654_321],
  'zz no such thing',
  987_654_321,
  true,
);

/** The texts of `odd`, each of which a record without losses contains. */
export function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, one]) => [key, ...textsOf(one)]);
  return [String(value)];
}

const DERIVED = ['unparsed', 'answered', 'completeness', 'next_eligible', 'does_not_apply'];

/**
 * Every leaf of a record by its path, without those that change with any field's being answered.
 */
export function leavesOf(node: unknown, path = ''): Map<string, unknown> {
  if (typeof node !== 'object' || node === null) return new Map([[path, node]]);
  return new Map(
    Object.entries(node)
      .filter(([name]) => !DERIVED.includes(name))
      .flatMap(([name, value]) => [...leavesOf(value, `${path}/${name}`)]),
  );
}

/** Paths of the leaves in which two records differ. */
export function differences(before: unknown, after: unknown): string[] {
  const [one, other] = [leavesOf(before), leavesOf(after)];
  return [...new Set([...one.keys(), ...other.keys()])].filter(
    (path) => one.get(path) !== other.get(path),
  );
}

export type Key = string | number;

/** The path of every value in an answer. */
export function pathsOf(node: unknown, path: Key[] = []): Key[][] {
  const inner = typeof node === 'object' && node !== null ? Object.entries(node) : [];
  const below = inner.flatMap(([key, value]) =>
    pathsOf(value, [...path, Array.isArray(node) ? Number(key) : key]),
  );
  return path.length === 0 ? below : [path, ...below];
}

/** A copy with `value` at `path`. */
export function replaced<Node>(node: Node, path: readonly Key[], value: unknown): Node {
  const copy = structuredClone(node);
  let at = copy as Record<Key, unknown>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<Key, unknown>;
  at[path.at(-1) ?? ''] = value;
  return copy;
}
