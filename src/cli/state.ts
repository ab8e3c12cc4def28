import { type Explanation, explain, type Moment, PMS } from '../domain/explanation.ts';
import type { Config } from '../ops/config.ts';
import { loadConnectorType } from '../ops/connectors.ts';
import { budgetRules, payersForPrices } from '../ops/prices.ts';
import { readBudget } from '../store/calls/budget.ts';
import type { Db } from '../store/engine/database.ts';
import { readDatabase } from '../store/engine/read-only.ts';
import type { AppointmentOverview } from '../store/views/listed-appointments.ts';
import {
  type AppointmentProgress,
  readSubject,
  type SubjectDetail,
} from '../store/views/subject.ts';
import type { CliContext } from './context.ts';

export type State = { db: Db; config: Config; moment: Moment };

/**
 * Reads the state for a command: gives `read` one unchanging view of the database, and the time.
 */
export async function readState<Value>(
  context: CliContext,
  work: (state: State) => Promise<Value>,
): Promise<Value> {
  const config = await context.config();
  const { clock } = await context.env();
  const destinations = await destinationsOf(config);
  return await readDatabase(config.state.path, async (db) => {
    const now = clock.now();
    const { used_up } = await readBudget(db, budgetRules(config, payersForPrices(config)), now);
    return await work({ db, config, moment: { now, budget: used_up, destinations } });
  });
}

async function destinationsOf({ connectors }: Config): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(
    connectors.map(async ({ id, type }): Promise<[string, string]> => {
      const { writes_into } = await loadConnectorType(type);
      return [id, writes_into ?? PMS];
    }),
  );
  return new Map(found);
}

export type ExplainedAppointment = AppointmentOverview & { explanation: Explanation };

/** Adds to the appointment the reason for its situation. */
export function explained(each: AppointmentProgress, moment: Moment): ExplainedAppointment {
  return { ...each, explanation: explain(each, each.progress, moment) };
}

/** The subject of `show` and `explain`, each appointment with its explanation. */
export type ExplainedSubject = Omit<SubjectDetail, 'appointments'> & {
  appointments: ExplainedAppointment[];
};

export async function readExplained(
  { db, moment }: State,
  found: Parameters<typeof readSubject>[1],
): Promise<ExplainedSubject> {
  const { appointments, ...detail } = await readSubject(db, found, moment.now);
  return { ...detail, appointments: appointments.map((each) => explained(each, moment)) };
}
