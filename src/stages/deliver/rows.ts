/**
 * Rows that a connector reads while it writes them, from the beginning as often as it needs. A
 * connector may take every failure for one of its own, so this one is kept.
 */
export class RowsToWrite<Row> implements AsyncIterable<Row> {
  readonly #pages: () => AsyncIterable<readonly Row[]>;
  #failure: { cause: unknown } | null = null;

  constructor(pages: () => AsyncIterable<readonly Row[]>) {
    this.#pages = pages;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    try {
      for await (const page of this.#pages()) yield* page;
    } catch (error) {
      this.#failure = { cause: error };
      throw error;
    }
  }

  /** Returns why writing failed: `error`, unless the rows could not be read. */
  causeOf(error: unknown): unknown {
    return this.#failure === null ? error : this.#failure.cause;
  }
}
