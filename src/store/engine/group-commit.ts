/** What became of one item of a commit. */
export type Outcome<Value> = { value: Value } | { error: unknown };

/**
 * `commit` calls `take` once its turn has come, commits what that gives, and returns an outcome for
 * each, in order. `gather` may wait a moment for more before each commit; `waiting` is how many
 * there are by now.
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
 * Group commit: what comes while a commit is under way goes into the next one together, because the
 * flush to the disk is what a commit costs. `add` resolves after the commit of its item, and only
 * then may an outside effect follow (G3).
 */
export class GroupCommit<Item, Value> {
  readonly #group: Group<Item, Value>;
  #waiting: Waiting<Item, Value>[] = [];
  /** A commit has begun that has not taken its items yet: whatever comes now goes with it. */
  #is_asked_for = false;
  readonly #under_way = new Set<Promise<void>>();

  constructor(group: Group<Item, Value>) {
    this.#group = group;
  }

  /** Rejects when the commit fails, or with the error of the item's own outcome. */
  add(item: Item): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#askForCommit();
    });
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#under_way.size > 0) await Promise.all(this.#under_way);
  }

  #askForCommit(): void {
    if (this.#is_asked_for) return;
    this.#is_asked_for = true;
    const commit = this.#commit().finally(() => this.#under_way.delete(commit));
    this.#under_way.add(commit);
  }

  async #commit(): Promise<void> {
    let taken: Waiting<Item, Value>[] | null = null;
    const take = () => {
      this.#is_asked_for = false;
      taken = this.#waiting.splice(0, this.#group.items_per_commit_max);
      if (this.#waiting.length > 0) this.#askForCommit();
      return taken.map(({ item }) => item);
    };
    try {
      await this.#group.gather(() => this.#waiting.length);
      const outcomes = await this.#group.commit(take);
      for (const [index, { resolve, reject }] of this.#takenOf(taken).entries()) {
        const outcome = outcomes[index];
        if (outcome === undefined) reject(new Error('A commit says nothing about an item.'));
        else if ('value' in outcome) resolve(outcome.value);
        else reject(outcome.error);
      }
    } catch (error) {
      for (const { reject } of this.#takenOf(taken)) reject(error);
    }
  }

  /** Without a transaction nothing was taken: the failure is that of everybody who waits. */
  #takenOf(taken: Waiting<Item, Value>[] | null): Waiting<Item, Value>[] {
    if (taken !== null) return taken;
    this.#is_asked_for = false;
    return this.#waiting.splice(0);
  }
}
