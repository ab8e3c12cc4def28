/** What earlier calls revealed about a coverage, for planning the next call. */
import type { Instant } from './time.ts';

/** Times are when the payer said it; null: never, as far as eligd knows. */
export type CoverageHistory = {
  /** Whether there was an earlier visit, or an answer about the patient. */
  is_returning: boolean;
  /** When the payer said whether the coverage is active. */
  eligibility_at: Instant | null;
  /** When the payer described the plan's terms, in the plan year of the visit. */
  benefits_at: Instant | null;
  /** Procedure codes whose plan terms are known, in the plan year of the visit. */
  known_codes: ReadonlySet<string>;
  /** When the current plan began; codes asked about before then no longer count. */
  plan_since: Instant | null;
};

export const NO_HISTORY: CoverageHistory = {
  is_returning: false,
  eligibility_at: null,
  benefits_at: null,
  known_codes: new Set(),
  plan_since: null,
};
