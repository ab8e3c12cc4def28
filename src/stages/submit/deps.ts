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
  /** A new process compares the list again, unless it may rely on the last comparison. */
  memory: SubmitMemory;
  onOpen: () => void;
  /**
   * Runs `claim` after the acknowledged messages are read, because they may cancel visits. Those
   * that cannot be read stay unread.
   */
  afterReading: <Value>(claim: () => Promise<Value>, signal: AbortSignal) => Promise<Value>;
  /** How far this machine's clock is ahead of the service's; null before the first response. */
  clockSkew: () => number | null;
  /** The count of sends in the lock file. */
  sends: SendCount;
};

/** One transaction of this stage. `now`: the timestamp of everything that it writes. */
export type SubmitContext = { tx: Tx; deps: SubmitDeps; now: number };

/** Returns the time by the service's clock: this machine's may be wrong at a start. */
export function serviceNow({ env, clockSkew }: SubmitDeps): number {
  return env.clock.now() - (clockSkew() ?? 0);
}

/** Returns the price of a call that is sent, or was made, at `at`. */
export function priceNow(
  { settings }: Pick<SubmitDeps, 'settings'>,
  draft: InquiryDraft,
  at: number,
): StoredPrice {
  return priceAt(settings.budget.prices, draft, { at, time_zone: settings.time_zone });
}

export type SubmitSettings = {
  /** Send nothing, even when inquiries are due (`mode: observe`). */
  is_observing: boolean;
  mode: 'auto' | 'bulk' | 'single';
  batch_size: number;
  concurrency: number;
  bulk_shape: 'auto' | 'array' | 'object';
  /** How long after a lost reply the service may take to list an accepted inquiry. */
  settle_ms: number;
  /** Every request has ended after this time, whether it succeeded or failed. */
  timeout_ms: number;
  /** Other systems share the account by agreement, so unknown inquiries do not stop submission. */
  is_shared_account: boolean;
  send_npi: 'auto' | 'always' | 'never';
  /** Limits on the number of calls and on their cost. */
  budget: BudgetRules;
  /** Days off (`YYYY-MM-DD`) in addition to weekends and federal holidays. */
  days_off: ReadonlySet<string>;
  reverify_after_days: number;
  time_zone: string;
  poll_interval_ms: number;
  urgent_poll_interval_ms: number;
};

/**
 * `hides_calls`: the list may be cut off, so each call needs a query by label before. `at`: time of
 * the comparison by this machine's clock; null: a process that started with nothing to send has not
 * compared the list, and treats unknown inquiries as new from its start on. `service_at`: the same
 * time by the service's clock; null when unknown. `is_due`: the list must be compared again.
 * `releases`: how often the office had resumed submission by then.
 */
export type Reconciled = {
  at: number | null;
  service_at: number | null;
  is_due: boolean;
  hides_calls: boolean;
  releases: number;
};

/** `since`: of the first failure in a row. `cause`: of the last one. */
export type ReadingFailure = { since: number; retry_at: number; cause: string };

/** Calls of one specialty that wait because a label cannot be queried; see `label-failures.ts`. */
export type LabelFailures = {
  /** By inquiry. */
  waiting: Map<number, ReadingFailure>;
  /** The inquiry whose query was the last one, if it failed. */
  last_failed: number | null;
  /** No label is queried before this time. */
  none_before: number;
  /** `waiting` as the database has it, for the next process; null: not read yet. */
  kept: string | null;
};

export type SubmitMemory = {
  /** Per specialty: the comparison of the service's list on which this process relies. */
  reconciled: Map<Specialty, Reconciled>;
  /** Lists that could not be read; see `unread-lists.ts`. */
  failures: {
    whole: Map<Specialty, ReadingFailure>;
    labels: Map<Specialty, LabelFailures>;
  };
  /**
   * The last measured lead of the machine's clock over the monotonic clock, and the saved lead over
   * the service's clock (null before the first response). Null before the first measurement.
   */
  clock: { offset_ms: number; skew_ms: number | null } | null;
  /**
   * `next_try_at` of the retry on a stopped account for which eligd has already logged in again.
   */
  tried_at: number | null;
};

/** Returns the memory of a process that has compared and measured nothing yet. */
export function newSubmitMemory(): SubmitMemory {
  return {
    reconciled: new Map(),
    failures: { whole: new Map(), labels: new Map() },
    clock: null,
    tried_at: null,
  };
}
