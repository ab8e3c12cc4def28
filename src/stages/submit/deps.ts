import type { Env } from '../../domain/env.ts';
import type { InquiryDraft } from '../../domain/inquiry.ts';
import { priceAt, type StoredPrice } from '../../domain/price.ts';
import type { Specialty } from '../../domain/specialty.ts';
import type { ServiceClient } from '../../service/api.ts';
import type { BudgetRules } from '../../store/calls/budget.ts';
import type { Tx } from '../../store/engine/database.ts';
import type { SendCount } from '../../store/engine/instance-lock.ts';
import type { Store } from '../../store/engine/store.ts';

export type SubmitDeps = {
  store: Store;
  env: Env;
  client: ServiceClient;
  settings: SubmitSettings;
  /** What this process knows about its own comparisons; lost with it on purpose. */
  memory: SubmitMemory;
  onOpen: () => void;
  /**
   * Planning is to look at appointments again: what was proven unsent may not be needed any more.
   */
  onReplan: () => void;
  /** What this machine's clock is ahead of the service's; null until the service was heard. */
  clockSkew: () => number | null;
  /** The count of sends in the lock file. */
  sends: SendCount;
};

/** One transaction of this stage. `now`: the time that everything written in it gets. */
export type SubmitContext = { tx: Tx; deps: SubmitDeps; now: number };

/** What a call costs that is sent, or was made, at `at`. */
export function priceNow(
  { settings }: Pick<SubmitDeps, 'settings'>,
  draft: InquiryDraft,
  at: number,
): StoredPrice {
  return priceAt(settings.budget.prices, draft, { at, time_zone: settings.time_zone });
}

export type SubmitSettings = {
  /** Nothing is sent, whatever is due (`mode: observe`). */
  is_observing: boolean;
  mode: 'auto' | 'bulk' | 'single';
  batch_size: number;
  concurrency: number;
  bulk_shape: 'auto' | 'array' | 'object';
  /** How long after a lost reply an accepted inquiry may take to be listed. */
  settle_ms: number;
  /** Within which a request has ended, however it ends. */
  timeout_ms: number;
  /** Others use the account on purpose: strangers in the list are nothing to stop for. */
  is_shared_account: boolean;
  send_npi: 'auto' | 'always' | 'never';
  /** How many calls may go out, and what they cost. */
  budget: BudgetRules;
  /** `YYYY-MM-DD`: nobody works on them, besides weekends and federal holidays. */
  days_off: ReadonlySet<string>;
  reverify_after_days: number;
  time_zone: string;
  poll_interval_ms: number;
  urgent_poll_interval_ms: number;
};

/**
 * `hides_calls`: the list may be cut, so that each first send needs a query by label. `at`: by this
 * machine's clock. `service_at`: by the service's, null when it is not known.
 * `is_due`: the list has to be compared again.
 */
export type Reconciled = {
  at: number;
  service_at: number | null;
  is_due: boolean;
  hides_calls: boolean;
};

export type SubmitMemory = {
  /** Per specialty: when this process last compared the service's list. */
  reconciled: Map<Specialty, Reconciled>;
  /**
   * Per specialty, since when its list could not be read, and until when it is not asked for again.
   */
  failures: Map<Specialty, { since: number; retry_at: number; cause: string }>;
  /** Per specialty: the comparison that is under way. */
  running: Map<Specialty, Promise<boolean>>;
  /**
   * What the machine's clock was ahead of the one that is never set when it was last looked at, and
   * ahead of the service's as far as that is kept (null until it is heard); null at first.
   */
  clock: { offset_ms: number; skew_ms: number | null } | null;
  /** The try at a stopped account (`next_try_at`) that has begun with a login of its own. */
  tried_at: number | null;
};

export function newSubmitMemory(): SubmitMemory {
  return {
    reconciled: new Map(),
    failures: new Map(),
    running: new Map(),
    clock: null,
    tried_at: null,
  };
}
