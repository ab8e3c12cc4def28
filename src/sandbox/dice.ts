/**
 * Random draws that are addressed by name. A draw depends only on the key of the dice and its
 * label, so a new draw does not change any other answer of the same seed. Not suitable for secrets.
 */
export class Dice {
  readonly key: string;

  constructor(...parts: readonly (string | number)[]) {
    const key = parts.join('\u001f');
    // Each draw hashes the whole key, so hash a long key, such as that of a request, only once.
    this.key = key.length > 40 ? hash53(key).toString(36) : key;
  }

  /** Returns dice for a part of the object that these dice are for. */
  of(...parts: readonly (string | number)[]): Dice {
    return new Dice(this.key, ...parts);
  }

  /** Returns a number in [0, 1). */
  fraction(label: string): number {
    return hash53(`${this.key}\u001f${label}`) / 2 ** 53;
  }

  chance(label: string, probability: number): boolean {
    return this.fraction(label) < probability;
  }

  /** Returns a whole number from `low` to `high`, both included. */
  integer(label: string, low: number, high: number): number {
    return low + Math.floor(this.fraction(label) * (high - low + 1));
  }

  pick<T>(label: string, choices: readonly T[]): T {
    const chosen = choices[this.integer(label, 0, choices.length - 1)];
    if (chosen === undefined) throw new Error(`There is nothing to pick for "${label}".`);
    return chosen;
  }
}

/**
 * Returns a 53-bit hash of a text (the public-domain construction known as cyrb53): fast, well
 * mixed, and identical on every machine.
 */
function hash53(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (2097151 & low) + (high >>> 0);
}
