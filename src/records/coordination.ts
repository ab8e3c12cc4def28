/** Determines which of an appointment's coverages pays first, according to the payers. */
import type { EligibilityRecord } from './eligibility.ts';

/** The combined answers about the coverages of one appointment. */
export type Coordination = {
  /** In the order of the PMS; a coverage with `record: null` has nulls here. */
  coverages: {
    /** 1 is the primary coverage in the PMS. */
    rank: number;
    /** The service's ID of the inquiry; null while there is no answer. */
    inquiry_id: string | null;
    /** Whether the payer says that it pays first; null: unknown. */
    is_primary: boolean | null;
    is_active: boolean | null;
  }[];
  /**
   * The rank of the only active coverage whose payer says that it pays first; null when there are
   * none or several.
   */
  primary_rank: number | null;
  /** A contradiction between the answers, as a sentence; null when there is none. */
  conflict: string | null;
};

type RankedRecord = { rank: number; record: EligibilityRecord | null };

/** Combines the answers. Pure. Null for an appointment with fewer than two coverages. */
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
  if (first.length > 1)
    return `The insurance companies of ${names(first)} each say that they pay first.`;
  if (live.length > 1 && live.every(({ is_primary }) => is_primary === false)) {
    return `The insurance companies of ${names(live)} all say that they do not pay first.`;
  }
  const [primary] = first;
  const before = live.find(({ rank }) => primary !== undefined && rank < primary.rank);
  if (primary === undefined || before === undefined) return null;
  return (
    `The practice management system lists coverage ${before.rank} before coverage ` +
    `${primary.rank}, but the insurance company of coverage ${primary.rank} says that it pays ` +
    'first.'
  );
}
