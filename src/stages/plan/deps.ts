import type { Env } from '../../domain/env.ts';
import type { PlanningFacts } from '../../domain/planning.ts';
import type { Tx } from '../../store/engine/database.ts';
import type { Store } from '../../store/engine/store.ts';

export type PlanDeps = {
  store: Store;
  env: Env;
  /** Everything that planning knows except the time. */
  facts: () => Omit<PlanningFacts, 'now'>;
  external_id_template: string;
  /** The key for the hashes that stand for appointments in the log. */
  log_key: string;
  onPlanned: () => void;
};

/** One transaction of this stage, with the facts that its decisions rest on, including the time. */
export type PlanContext = { tx: Tx; facts: PlanningFacts; external_id_template: string };

/** How long planning waits after an error, or while another inquiry has priority. */
export const RETRY_MS = 60_000;
