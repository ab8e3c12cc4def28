/** What is known of a coverage from earlier calls when another one is planned. */
import type { Instant } from './time.ts';

/** Times are those at which the payer spoke; null: never, as far as eligd knows. */
export type CoverageHistory = {
  /** An earlier visit, or an answer about the patient. */
  is_returning: boolean;
  /** The payer said whether the coverage is active. */
  eligibility_at: Instant | null;
  /** The payer named terms of the plan, in the plan year of the visit. */
  benefits_at: Instant | null;
  /** Procedure codes of which the plan's terms are known, in the plan year of the visit. */
  known_codes: ReadonlySet<string>;
  /** Since when the plan is the one that it is now: codes asked about before count no more. */
  plan_since: Instant | null;
};

export const NO_HISTORY: CoverageHistory = {
  is_returning: false,
  eligibility_at: null,
  benefits_at: null,
  known_codes: new Set(),
  plan_since: null,
};
