import { distance } from 'fastest-levenshtein';

/**
 * Returns the known word that `word` was probably meant to be; null if none is close enough to
 * suggest.
 */
export function nearest(word: string, known: Iterable<string>): string | null {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  let best: { candidate: string; cost: number } | null = null;
  for (const candidate of known) {
    const cost = distance(plain(word), plain(candidate));
    if (best === null || cost < best.cost) best = { candidate, cost };
  }
  if (best === null || best.cost > Math.max(2, Math.floor(plain(best.candidate).length / 3)))
    return null;
  return best.candidate;
}

/** Words that different payers' names have in common. */
const COMMON_WORDS = new Set(
  'dental health insurance life plan plans ppo hmo of the and company co inc group fund'.split(' '),
);
const LIKENESS_MIN = 0.55;

/** Returns up to `count` of `known` whose names are similar to `name`, most similar first. */
export function nearestNames<Known extends { name: string }>(
  name: string,
  known: readonly Known[],
  count: number,
): Known[] {
  return known
    .map((each) => ({ each, likeness: likeness(name, each.name) }))
    .filter((candidate) => candidate.likeness >= LIKENESS_MIN)
    .toSorted((a, b) => b.likeness - a.likeness)
    .slice(0, count)
    .map(({ each }) => each);
}

/** Compares two names by their letters or by their distinctive words; from 0 to 1. */
function likeness(one: string, other: string): number {
  const words = (text: string) => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const telling = (text: string) => new Set(words(text).filter((word) => !COMMON_WORDS.has(word)));
  const [telling_a, telling_b] = [telling(one), telling(other)];
  const [letters_a, letters_b] = [[...telling_a].join(''), [...telling_b].join('')];
  const longest = Math.max(letters_a.length, letters_b.length);
  if (longest === 0) return 0;
  const shared = [...telling_a].filter((word) => telling_b.has(word)).length;
  const of = Math.max(telling_a.size, telling_b.size);
  return Math.max(1 - distance(letters_a, letters_b) / longest, of === 0 ? 0 : shared / of);
}

/** Returns `a, b or c`, for sentences. */
export function oneOf(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
