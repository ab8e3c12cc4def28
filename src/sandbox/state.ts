import type { Behaviors } from './behaviors.ts';
import type { ScaledClock } from './clock.ts';
import type { Faults } from './faults.ts';
import type { Store } from './store.ts';
import type { Traffic } from './traffic.ts';

/** A caller's credentials, and the secret that signs its webhook events. */
export type Credentials = {
  username: string;
  password: string;
  project_id: string;
  api_key: string;
  webhook_secret: string;
};

/**
 * One attempt to deliver a message. `status` is the receiver's; "failed" without an answer; "lost"
 * if it was never sent.
 */
export type DeliveryEntry = {
  at_ms: number;
  message_hash: string;
  inquiries: number;
  bytes: number;
  attempt: number;
  status: number | 'failed' | 'lost';
};

/** The endpoints' view of the webhook events. */
export type Reports = {
  /** The last attempts, oldest first. */
  deliveries: () => DeliveryEntry[];
  /**
   * Starts or continues events: a new subscription receives changes from now on; a changed one
   * continues where it was.
   */
  subscribed: (is_new: boolean) => void;
  forget: () => void;
};

/** Everything that a running sandbox uses. `behaviors` changes at run time. */
export type State = {
  readonly seed: number;
  readonly clock: ScaledClock;
  readonly store: Store;
  readonly faults: Faults;
  readonly traffic: Traffic;
  readonly credentials: Credentials;
  readonly reports: Reports;
  readonly initial_behaviors: Behaviors;
  behaviors: Behaviors;
  readonly newId: () => string;
};
