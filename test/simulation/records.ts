/** Patients who have two records until the practice merges them, and their calls. */
import { MINUTE_MS } from './plan.ts';
import type { Accepted } from './service.ts';

/** For this long after a visit moved, eligd may still send what it planned before. */
export const STALE_PLAN_MS = 10 * MINUTE_MS;

/** A merge that eligd knows since `at`, with the calls that had a successful answer then. */
type KnownMerge = {
  from_id: string;
  into_id: string;
  at: number;
  successful: ReadonlySet<string>;
};

/** Which record each call was made for, and which ones eligd knows to be merged, since when. */
export class Records {
  readonly #record_of = new Map<string, string>();
  #merges: KnownMerge[] = [];

  of(id: string): string | undefined {
    return this.#record_of.get(id);
  }

  note(id: string, record: string): void {
    this.#record_of.set(id, record);
  }

  onMerged(merge: KnownMerge): void {
    this.#merges.push(merge);
  }

  /** eligd now has the knowledge that it had at `kept_at`. */
  forgetSince(kept_at: number): void {
    this.#merges = this.#merges.filter(({ at }) => at <= kept_at);
  }

  #recordOf({ id }: Accepted): string {
    return this.of(id) ?? '';
  }

  /**
   * Whether the calls are about one record, or eligd knew at `planned_at` that the two records had
   * been merged.
   */
  areOne(one: Accepted, call: Accepted, planned_at: number): boolean {
    const [a, b] = [this.#recordOf(one), this.#recordOf(call)];
    return (
      a === b ||
      this.#merges.some(
        ({ from_id, into_id, at }) =>
          at <= planned_at && [a, b].every((id) => id === from_id || id === into_id),
      )
    );
  }

  /** When eligd planned the call, at the latest and at the earliest. */
  plannedAt({ carrier }: Accepted): [latest: number, earliest: number] {
    return [carrier.sent_at, carrier.sent_at - STALE_PLAN_MS];
  }

  /**
   * If neither record had a successful answer when eligd learned of a merge, each of them has
   * attempts of its own.
   */
  seriesAtMerge(before: readonly Accepted[]): Accepted[][] {
    const merge = this.#merges.find(({ from_id, into_id }) =>
      [from_id, into_id].every((id) => before.some((one) => this.#recordOf(one) === id)),
    );
    if (merge === undefined || before.some(({ id }) => merge.successful.has(id))) return [];
    const [earlier, later] = [
      before.filter(({ carrier }) => carrier.sent_at <= merge.at + STALE_PLAN_MS),
      before.filter(({ carrier }) => carrier.sent_at > merge.at + STALE_PLAN_MS),
    ];
    return [merge.from_id, merge.into_id].map((id) => [
      ...earlier.filter((one) => this.#recordOf(one) === id),
      ...later,
    ]);
  }

  /**
   * If eligd learned of a merge after both records had their answers (`answered_at`: when it read
   * each), the calls for the record with a successful answer count as the newer ones: eligd shows
   * that answer, and its age counts.
   */
  inOrder(calls: Accepted[], answered_at: ReadonlyMap<string, number>): Accepted[] {
    for (const { from_id, into_id, at, successful } of this.#merges) {
      const isBefore = ({ id }: Accepted) => (answered_at.get(id) ?? Infinity) <= at;
      const [from, into] = [from_id, into_id].map((record) =>
        calls.filter((one) => this.#recordOf(one) === record && isBefore(one)),
      );
      const isUseful = (one: Accepted | undefined) => one !== undefined && successful.has(one.id);
      if (isUseful(from?.at(-1)) === isUseful(into?.at(-1))) continue;
      const [first, last] = isUseful(from?.at(-1)) ? [into, from] : [from, into];
      const earlier = [...(first ?? []), ...(last ?? [])];
      return [...earlier, ...calls.filter((one) => !earlier.includes(one))];
    }
    return calls;
  }
}
