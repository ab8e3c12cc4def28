import type { Env } from '../domain/env.ts';
import type { PlanningFacts } from '../domain/planning.ts';
import type { Store } from '../store/store.ts';

export type PlanDeps = {
  store: Store;
  env: Env;
  /** Everything planning knows but the time. */
  facts: () => Omit<PlanningFacts, 'now'>;
  external_id_template: string;
  /** Of the hashes by which appointments appear in the log. */
  log_key: string;
  onPlanned: () => void;
};

/** When planning comes back to what could not be planned because of an error, or of a clock in doubt. */
export const RETRY_MS = 60_000;
/** When planning comes back to what another inquiry goes before: that is a call, which takes hours. */
export const OTHER_FIRST_MS = 10 * 60_000;
