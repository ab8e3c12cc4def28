import { distance } from 'fastest-levenshtein';

/**
 * The known word that `word` was probably meant to be, or null when none is near enough to be worth
 * naming.
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

/** `a, b or c`, for sentences. */
export function oneOf(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
