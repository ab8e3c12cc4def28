/** A name that is exported is used in another file: whoever reads it can rely on that. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const FILES = globSync('{src,connectors,migrations,systemd,test}/**/*.ts', { cwd: ROOT });
/** For the authors of connectors, and examples for them. */
const FOR_OTHERS = /^connectors\/(?:contract\.ts|deliveries\.ts|network\.ts|template)/;
const EXPORTED =
  /^export (?:async )?(?:abstract )?(?:const|function\*?|class|type|interface) (?<name>\w+)/gm;

test('no name is exported that no other file uses', () => {
  const words = new Map<string, Set<string>>();
  const texts = FILES.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')] as const);
  for (const [file, text] of texts)
    for (const [word] of text.matchAll(/\w+/g))
      words.set(word, (words.get(word) ?? new Set()).add(file));
  const unused = texts
    .filter(([file]) => /^(?:src|connectors)\//.test(file) && !FOR_OTHERS.test(file))
    .flatMap(([file, text]) =>
      [...text.matchAll(EXPORTED)].map(({ groups }) => ({ file, name: groups?.name ?? '' })),
    )
    .filter(({ name }) => words.get(name)?.size === 1)
    .map(({ file, name }) => `${file}: ${name}`);
  expect(unused).toEqual([]);
});
