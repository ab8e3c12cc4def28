import type { Behaviors } from './behaviors.ts';
import type { ScaledClock } from './clock.ts';
import type { Faults } from './faults.ts';
import type { Store } from './store.ts';
import type { Traffic } from './traffic.ts';

/** What a caller signs in with, and the key of the signature of what is reported to it. */
export type Credentials = {
  username: string;
  password: string;
  project_id: string;
  api_key: string;
  webhook_secret: string;
};

/**
 * One attempt to deliver a message. `status` is the receiver's, "failed" without an answer, "lost"
 * when it was never sent.
 */
export type DeliveryEntry = {
  at_ms: number;
  message_hash: string;
  inquiries: number;
  bytes: number;
  attempt: number;
  status: number | 'failed' | 'lost';
};

/** What endpoints see of the reports to the subscription. */
export type Reports = {
  /** The last attempts, oldest first. */
  deliveries: () => DeliveryEntry[];
  /**
   * A new subscription is told of what changes from now on; one that is changed goes on where it
   * was.
   */
  subscribed: (is_new: boolean) => void;
  forget: () => void;
};

/** Everything that a running sandbox has. `behaviors` changes at run time. */
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
