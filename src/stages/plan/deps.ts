import type { Env } from '../../domain/env.ts';
import type { PlanningFacts } from '../../domain/planning.ts';
import type { Tx } from '../../store/engine/database.ts';
import type { Store } from '../../store/engine/store.ts';

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

/** One transaction of this stage, and what the decisions in it rest on; `facts` has the time. */
export type PlanContext = { tx: Tx; facts: PlanningFacts; external_id_template: string };

/**
 * When planning comes back to what could not be planned: another inquiry goes first, the clock is
 * in doubt, or an error.
 */
export const RETRY_MS = 60_000;
