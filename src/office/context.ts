/** The data for building pages, and the data of a request. */
import type { Env } from '../domain/env.ts';
import type { FeeSchedule } from '../domain/fees.ts';
import type { PlanningFacts } from '../domain/planning.ts';
import type { Config } from '../ops/config.ts';
import type { ShownRecord } from '../store/bookkeeping/access-log.ts';
import type { BudgetRules } from '../store/calls/budget.ts';
import type { Store } from '../store/engine/store.ts';
import type { HealthReport } from '../store/views/health.ts';
import type { Access, Session } from './access.ts';
import type { Html } from './html.ts';
import type { SingleSignOn } from './single-sign-on.ts';

export type Office = {
  store: Store;
  env: Env;
  config: Config;
  access: Access;
  /** Null: password login only. */
  sign_on: SingleSignOn | null;
  /** Whether browsers reach the page over TLS. */
  is_secure: boolean;
  /** The same health report that every other output uses. */
  health: () => Promise<HealthReport>;
  /** Read on each use, so that a changed file takes effect. */
  fees: () => FeeSchedule;
  budget: () => BudgetRules;
  /** The current settings that planning uses. */
  planning: () => Omit<PlanningFacts, 'now'>;
  /** Names each secret and where it is set, without its value. */
  secrets: () => { name: string; state: string }[];
  /** Tells the stages to check the database now. */
  wake: () => void;
};

/** The result of the last form, or why nothing was done. */
export type Notice = { is_bad: boolean; lines: string[] };

export type Visit = {
  session: Session;
  now: number;
  /** From the address, such as `id`. */
  params: Readonly<Record<string, string>>;
  form: URLSearchParams;
};

export type Answer =
  /** `shows`: the records on the page, for the access log. */
  | {
      kind: 'page';
      title: string;
      active: string;
      body: Html;
      shows?: readonly ShownRecord[];
      notice?: Notice;
    }
  /** After a form: redirects to another page, which shows the notice once. */
  | { kind: 'done'; to: string; notice: Notice }
  | { kind: 'missing' };

export const missing: Answer = { kind: 'missing' };
