/** The result of one item in a commit. */
export type Outcome<Value> = { value: Value } | { error: unknown };

/**
 * `commit` calls `take` when its turn comes, commits the items, and returns an outcome for each, in
 * order. `gather` may wait briefly for more items before each commit; `waiting` returns how many
 * wait now.
 */
export type Group<Item, Value> = {
  items_per_commit_max: number;
  gather: (waiting: () => number) => Promise<void>;
  commit: (take: () => readonly Item[]) => Promise<readonly Outcome<Value>[]>;
};

type Waiting<Item, Value> = {
  item: Item;
  resolve: (value: Value) => void;
  reject: (error: unknown) => void;
};

/**
 * Group commit: items that arrive during a commit go into the next one together, because most of a
 * commit's cost is the disk flush. `add` resolves after the commit of its item; only then may an
 * outside effect follow (G3).
 */
export class GroupCommit<Item, Value> {
  readonly #group: Group<Item, Value>;
  #waiting: Waiting<Item, Value>[] = [];
  /** A commit has started and not taken its items yet, so new items join it. */
  #is_requested = false;
  readonly #under_way = new Set<Promise<void>>();

  constructor(group: Group<Item, Value>) {
    this.#group = group;
  }

  /** Adds an item. Rejects when the commit fails, or with the error of the item's own outcome. */
  add(item: Item): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#requestCommit();
    });
  }

  /** Resolves when no item waits anymore. */
  async idle(): Promise<void> {
    while (this.#under_way.size > 0) await Promise.all(this.#under_way);
  }

  #requestCommit(): void {
    if (this.#is_requested) return;
    this.#is_requested = true;
    const commit = this.#commit().finally(() => this.#under_way.delete(commit));
    this.#under_way.add(commit);
  }

  async #commit(): Promise<void> {
    let taken: Waiting<Item, Value>[] | null = null;
    const take = () => {
      this.#is_requested = false;
      taken = this.#waiting.splice(0, this.#group.items_per_commit_max);
      if (this.#waiting.length > 0) this.#requestCommit();
      return taken.map(({ item }) => item);
    };
    try {
      await this.#group.gather(() => this.#waiting.length);
      const outcomes = await this.#group.commit(take);
      for (const [index, { resolve, reject }] of this.#takenOf(taken).entries()) {
        const outcome = outcomes[index];
        if (outcome === undefined) reject(new Error('A commit returned no outcome for an item.'));
        else if ('value' in outcome) resolve(outcome.value);
        else reject(outcome.error);
      }
    } catch (error) {
      for (const { reject } of this.#takenOf(taken)) reject(error);
    }
  }

  /**
   * Returns the items of a failed commit. If it failed before taking any, the failure applies to
   * all waiting items.
   */
  #takenOf(taken: Waiting<Item, Value>[] | null): Waiting<Item, Value>[] {
    if (taken !== null) return taken;
    this.#is_requested = false;
    return this.#waiting.splice(0);
  }
}
