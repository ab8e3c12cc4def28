import type { Behaviors } from './behaviors.ts';
import type { ScaledClock } from './clock.ts';
import type { Faults } from './faults.ts';
import type { Store } from './store.ts';
import type { Traffic } from './traffic.ts';

export type Credentials = { username: string; password: string; project_id: string; api_key: string };

/** Everything that a running sandbox has. `behaviors` changes at run time. */
export type State = {
  readonly seed: number;
  readonly clock: ScaledClock;
  readonly store: Store;
  readonly faults: Faults;
  readonly traffic: Traffic;
  readonly credentials: Credentials;
  readonly initial_behaviors: Behaviors;
  behaviors: Behaviors;
  readonly newId: () => string;
};
