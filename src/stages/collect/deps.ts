import type { CoverageInput } from '../../domain/appointment.ts';
import type { Env } from '../../domain/env.ts';
import type { PayerHours } from '../../domain/payer-hours.ts';
import type { Turnaround } from '../../domain/turnaround.ts';
import type { ClaimWords } from '../../records/claim-verdict.ts';
import type { ServiceClient } from '../../service/api.ts';
import type { Tx } from '../../store/engine/database.ts';
import type { Store } from '../../store/engine/store.ts';
import type { CollectMemory } from './poll/ask.ts';

export type CollectDeps = {
  store: Store;
  env: Env;
  client: ServiceClient;
  settings: CollectSettings;
  memory: CollectMemory;
  /** Null: nobody listens to the service's reports, and asking is the only source. */
  webhook: WebhookWatch | null;
  onRecord: () => void;
  /** What this machine's clock is ahead of the service's; null until the service was heard. */
  clockSkew: () => number | null;
  /** A new attempt was planned, or an id has to be looked up. */
  onPlanned: () => void;
};

/** One transaction of this stage. `now`: the time that everything written in it gets. */
export type CollectContext = { tx: Tx; deps: CollectDeps; now: number };

export type CollectSettings = {
  poll_interval_ms: number;
  urgent_poll_interval_ms: number;
  give_up_after_days: number;
  settle_ms: number;
  attempts: number;
  /** Calls about one claim at most. */
  max_claim_calls: number;
  /** What payers' words for the status of a claim mean, besides those that eligd knows. */
  claim_words: ClaimWords;
  attempt_pause_ms: number;
  external_id_template: string;
  /**
   * The last instant at which a call under this coverage is bought for a visit; `turnaround`: what
   * was learned of the payer.
   */
  callBy: (
    coverage: CoverageInput,
    visit: { starts_at: number; turnaround: Turnaround | null },
  ) => number;
  /** When the payer of a coverage answers the phone; null: it is not known who it is. */
  payerHours: (coverage: CoverageInput | null) => PayerHours;
  /** Days for which a plan's terms count as known. */
  benefits_days: number;
  concurrency: number;
  time_zone: string;
  /** How long after an answer the verification of its calls is asked for; 0: never. */
  verify_for_ms: number;
  /** Names of checks that must be met. */
  verification_required: readonly string[];
};

export type WebhookWatch = {
  /** How long after an answer was found by asking its report may still come. */
  grace_ms: number;
  /**
   * When one inquiry is asked about next although webhook events come. Lost with the
   * process, which does no harm.
   */
  sample_at: number;
  /**
   * Until when answers are taken from reports without asking; then one is compared with the reply.
   * Lost likewise.
   */
  compare_at: number;
  /** Reports are lost: whatever may be wrong with the subscription is looked at. */
  onSilent: () => void;
};
