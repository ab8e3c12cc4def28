/**
 * What is fuzzed: a door through which foreign bytes come in, and what has to hold whatever they
 * are.
 */
import type * as fc from 'fast-check';

export type Target = {
  name: string;
  /** Inputs to begin with, besides those of the folder `corpus/`. */
  seeds: readonly string[];
  /** Texts that mean something in this format. */
  telling: readonly string[];
  /** Whole inputs, in the place of those near a corpus. */
  inputs?: fc.Arbitrary<Buffer>;
  /**
   * Throws when a promise is broken. Otherwise a word for what became of the input; one with a new
   * word joins the corpus.
   */
  check: (input: Buffer) => Promise<string>;
  close: () => Promise<void>;
};

export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}
