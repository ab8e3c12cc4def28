/**
 * Reproducible randomness: the same seed and name give the same numbers. Each part of a world has
 * its own stream, so more draws in one part do not change the others.
 */
export class Random {
  #state: number;

  constructor(seed: number, name: string) {
    let hash = 0x811c9dc5;
    for (const character of `${seed}:${name}`)
      hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
    this.#state = hash >>> 0;
    for (let skipped = 0; skipped < 4; skipped += 1) this.next();
  }

  /** In [0, 1); mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** The same, with small numbers as likely as large ones. */
  logInt(low: number, high: number): number {
    return Math.min(
      high,
      Math.floor(Math.exp(Math.log(low) + this.next() * (Math.log(high + 1) - Math.log(low)))),
    );
  }

  pick<Value>(values: readonly [Value, ...Value[]] | readonly Value[]): Value {
    if (values.length === 0) throw new Error('Nothing to pick from.');
    return values[Math.floor(this.next() * values.length)] as Value;
  }

  /** Returns `common` half of the time, otherwise one of the others. */
  mostly<Value>(common: Value, others: readonly Value[]): Value {
    return this.chance(0.5) ? common : this.pick(others);
  }

  shuffled<Value>(values: readonly Value[]): Value[] {
    const mixed = [...values];
    for (let index = mixed.length - 1; index > 0; index -= 1) {
      const other = this.int(0, index);
      [mixed[index], mixed[other]] = [mixed[other]!, mixed[index]!];
    }
    return mixed;
  }
}
