/** What the pages are made from, and what a page is given about a request. */
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
  /** Null: people log in with a password only. */
  sign_on: SingleSignOn | null;
  /** Whether browsers reach it by TLS. */
  is_secure: boolean;
  /** Whether eligd works, as every other place says it. */
  health: () => Promise<HealthReport>;
  /** Read when it is needed, so that a changed file counts. */
  fees: () => FeeSchedule;
  budget: () => BudgetRules;
  /** What planning goes by at this moment. */
  planning: () => Omit<PlanningFacts, 'now'>;
  /** By name, where each secret is set; no value. */
  secrets: () => { name: string; state: string }[];
  /** Something was changed that the stages should look at now. */
  wake: () => void;
};

/** What was done by the last form, or why not. */
export type Notice = { is_bad: boolean; lines: string[] };

export type Visit = {
  session: Session;
  now: number;
  /** Of the address, such as `id`. */
  params: Readonly<Record<string, string>>;
  form: URLSearchParams;
};

export type Answer =
  /** `shows`: the records on it, for the access log. */
  | {
      kind: 'page';
      title: string;
      active: string;
      body: Html;
      shows?: readonly ShownRecord[];
      notice?: Notice;
    }
  /** After a form: another page, on which the notice is shown once. */
  | { kind: 'done'; to: string; notice: Notice }
  | { kind: 'missing' };

export const missing: Answer = { kind: 'missing' };
