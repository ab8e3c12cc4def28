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
  /** Null: no webhook endpoint is configured, so eligd only polls. */
  webhook: WebhookWatch | null;
  onRecord: () => void;
  /** How far this machine's clock is ahead of the service's; null before the first response. */
  clockSkew: () => number | null;
  /** Called when the next attempt was decided on, or an ID needs a lookup. */
  onPlanned: () => void;
};

/** One transaction of this stage. `now`: the timestamp of everything that it writes. */
export type CollectContext = { tx: Tx; deps: CollectDeps; now: number };

type CollectSettings = {
  poll_interval_ms: number;
  urgent_poll_interval_ms: number;
  give_up_after_days: number;
  settle_ms: number;
  attempts: number;
  /** The maximum number of calls about one claim. */
  max_claim_calls: number;
  /** Meanings of payers' words for a claim status, in addition to the built-in ones. */
  claim_words: ClaimWords;
  attempt_pause_ms: number;
  external_id_template: string;
  /**
   * Returns the latest time at which eligd makes a paid call under this coverage for a visit.
   * `turnaround`: learned from earlier calls to the payer.
   */
  callBy: (
    coverage: CoverageInput,
    visit: { starts_at: number; turnaround: Turnaround | null },
  ) => number;
  /** Returns when the payer of a coverage answers the phone; null: the payer is unknown. */
  payerHours: (coverage: CoverageInput | null) => PayerHours;
  /** The number of business days that an answer usually takes. */
  turnaround_days: number;
  /** For how many days eligd relies on a plan's terms without asking again. */
  benefits_days: number;
  concurrency: number;
  time_zone: string;
  /** For how long after an answer eligd requests the verification of its calls; 0: never. */
  verify_for_ms: number;
  /** Names of the checks that every call must pass. */
  verification_required: readonly string[];
};

export type WebhookWatch = {
  /** How long after polling found an answer its webhook event may still arrive. */
  grace_ms: number;
  /**
   * When eligd polls the next sample inquiry although webhook events arrive. Losing it with the
   * process does no harm.
   */
  sample_at: number;
  /**
   * Until then eligd takes answers from webhook events without polling; the next one is compared
   * with the reply. Losing it with the process does no harm.
   */
  compare_at: number;
  /** Called when webhook events get lost, so that the subscription is checked. */
  onSilent: () => void;
};
