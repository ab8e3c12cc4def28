import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The paths of every value: `a.b[].c`. */
export function pathsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsOf(item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, item]) =>
    pathsOf(item, path === '' ? key : `${path}.${key}`),
  );
}

/** The differences between docs/json.md and the outputs of a schema. */
export function differences(
  schema: string,
  real: ReadonlySet<string>,
): { undocumented: string[]; unseen: string[] } {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/json.md'), 'utf8');
  const section = page.split(/^## /m).find((text) => text.startsWith(`${schema}\n`)) ?? '';
  const paths = [...section.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, path]) => path!);
  const covers = (path: string, each: string) =>
    path === each || (path.endsWith('.*') && each.startsWith(path.slice(0, -1)));
  // The members of a part that is null here document it.
  const isPart = (each: string) => paths.some((path) => path.startsWith(`${each}.`));
  return {
    undocumented: [...real].filter(
      (each) => !isPart(each) && !paths.some((path) => covers(path, each)),
    ),
    unseen: paths.filter((path) => ![...real].some((each) => covers(path, each))),
  };
}
