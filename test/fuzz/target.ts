/**
 * The target of a fuzz run: a way in for foreign bytes, and the guarantees that any bytes must
 * keep.
 */
import type * as fc from 'fast-check';

export type Target = {
  name: string;
  /** Inputs to begin with, in addition to those of the folder `corpus/`. */
  seeds: readonly string[];
  /** Texts with a meaning in this format. */
  telling: readonly string[];
  /** Whole inputs, instead of those near a corpus. */
  inputs?: fc.Arbitrary<Buffer>;
  /**
   * Throws if a guarantee is broken. Otherwise returns a word for the outcome; an input with a new
   * word joins the corpus.
   */
  check: (input: Buffer) => Promise<string>;
  close: () => Promise<void>;
};

export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}
