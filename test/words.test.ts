/** docs/glossary.md: the words that eligd no longer uses, in texts, comments, and tests. */
import { expect, test } from 'vitest';
import { ownFiles } from './support/own-files.ts';

/** Each with the word that replaces it. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/(?<![`'.])\bsweep|_sweep/i, 'reconciliation'],
  [/\bhollow\b/i, 'empty success'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix'],
  [/\banew\b/i, 'again'],
  [/\btime-outs?\b/i, 'timeout'],
  [/\bturn(?:s|ed)? away\b/i, 'rejected'],
  [/\bby (?:itself|themselves)\b/i, 'automatically'],
  [/\blets? go on\b/i, 'resumes'],
  [/\bwhat is where\b/i, 'summary'],
  [/\bis no (?:date|address|number)\b/i, 'is not a …'],
  [/\b(?:defect|fault) of eligd\b/i, 'bug in eligd'],
  [/\b(?:stands?|stood|standing) on (?:an? |the |its? |each |no )/i, 'is served by'],
  [/(?<!there )\bis none\b/, 'is not one'],
  [/\b(?:operator|provider) of the service\b/i, 'the calling service'],
  [/\b(?:calls? too many|late calls?|extra calls?|(?<!`)extra_call)\b/i, 'duplicate call'],
  [/\btold to a person\b/i, 'goes on the attention list'],
  [/\bfrequency met\b/i, 'frequency limit used up'],
  [/\bturns? (?:us|them|it) away\b/i, 'rejects'],
  [/\ba person (?:has to|must|should|decides|says|is told|is asked|lets|looks|withdrew)\b/i, 'you'],
  [/\b(?:tells?|told|asks?) a person\b/i, 'goes on the attention list'],
  [/\bin vain\b/i, 'without success'],
  [/\b(?:neighbour|behaviour|recognis|honour|labelled|colour)/i, 'American spelling'],
  [/\bwhat (?:stands|is told)\b/i, 'say what it is'],
  [/\bas (?:it|they) stands?\b/i, 'as it is'],
  [/\bstands verbatim\b/i, 'is kept verbatim'],
  [/\bshall (?:be|read|report)\b/i, 'must, or should'],
];

/** These quote the old words. */
const EXEMPT = new Set([
  'docs/glossary.md',
  'test/words.test.ts',
  'test/store/names-migration.test.ts',
]);
/** Applied migrations are never edited. */
const APPLIED = /^migrations\//;

/** "file:line: not this, but that" for each word of the list. */
function oldWords(path: string, text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      WORDS.flatMap(([word, better]) =>
        word.test(line) ? [`${path}:${index + 1}: "${word.exec(line)?.[0]}", but ${better}`] : [],
      ),
    );
}

test('no word that the glossary replaces is in a text, a comment, or a test', () => {
  const found = ownFiles()
    .filter(({ path }) => !EXEMPT.has(path) && !APPLIED.test(path))
    .flatMap(({ path, text }) => oldWords(path, text));
  expect(found).toEqual([]);
});

test('a word of the list is named with the one that replaces it', () => {
  expect(oldWords('a.md', 'Read it.\nMend the file.\nIt starts anew.')).toEqual([
    'a.md:2: "Mend", but fix',
    'a.md:3: "anew", but again',
  ]);
});
