/** Several coverages of one appointment, joined: which of them pays first, as the payers said. */
import type { EligibilityRecord } from './eligibility.ts';

/** How the answers about the coverages of one appointment go together. */
export type Coordination = {
  /** In the order of the PMS; `record: null` in the input gives nulls here. */
  coverages: {
    /** 1 is what the PMS has as the primary one. */
    rank: number;
    /** The service's id of the inquiry; null while there is no answer. */
    inquiry_id: string | null;
    /** Whether the payer says that it pays first; null: unknown. */
    is_primary: boolean | null;
    is_active: boolean | null;
  }[];
  /**
   * The rank of the only active coverage of which its payer says that it pays first; null when
   * nobody or more than one does.
   */
  primary_rank: number | null;
  /** What does not fit together, in a sentence; null when nothing contradicts. */
  conflict: string | null;
};

export type RankedRecord = { rank: number; record: EligibilityRecord | null };

/** Pure. Null for an appointment with fewer than two coverages: there is nothing to coordinate. */
export function coordinate(records: readonly RankedRecord[]): Coordination | null {
  if (records.length < 2) return null;
  const coverages = [...records]
    .sort((one, other) => one.rank - other.rank)
    .map(({ rank, record }) => ({
      rank,
      inquiry_id: record?.inquiry_id ?? null,
      is_primary: record?.plan?.is_primary_insurance ?? null,
      is_active: record?.plan?.is_active ?? null,
    }));
  // A coverage that has ended pays neither first nor second.
  const live = coverages.filter(({ is_active }) => is_active !== false);
  const first = live.filter(({ is_primary }) => is_primary === true);
  const only = first.length === 1 ? first[0] : undefined;
  return { coverages, primary_rank: only?.rank ?? null, conflict: conflictOf(live, first) };
}

type Joined = Coordination['coverages'][number];

function conflictOf(live: readonly Joined[], first: readonly Joined[]): string | null {
  const names = (list: readonly Joined[]) =>
    list.map(({ rank }) => `coverage ${rank}`).join(' and ');
  if (first.length > 1) return `The payers of ${names(first)} each say that they pay first.`;
  if (live.length > 1 && live.every(({ is_primary }) => is_primary === false)) {
    return `The payers of ${names(live)} all say that they do not pay first.`;
  }
  const [primary] = first;
  const before = live.find(({ rank }) => primary !== undefined && rank < primary.rank);
  if (primary === undefined || before === undefined) return null;
  return (
    `The practice management system has coverage ${before.rank} before coverage ` +
    `${primary.rank}, but the payer of coverage ${primary.rank} says that it pays first.`
  );
}
