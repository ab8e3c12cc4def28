/**
 * Writes the visits of the coming days with the summaries of their answers, for connectors that
 * support it.
 */
import {
  type Connector,
  ConnectorError,
  type ScheduledLine,
} from '../../../connectors/contract.ts';
import { entryText } from '../../domain/attention.ts';
import type { Env } from '../../domain/env.ts';
import { type FeeSchedule, judgedVisit } from '../../domain/fees.ts';
import { withoutTerminal } from '../../domain/remedy-words.ts';
import type { SituationWord } from '../../domain/situation.ts';
import { addDays, instantOf, localDate, MINUTE_MS } from '../../domain/time.ts';
import { judge } from '../../records/verdict.ts';
import type { Store } from '../../store/engine/store.ts';
import { type ScheduledVisit, visitPages } from '../../store/views/schedule.ts';
import { type ConnectorState, noteFailure } from '../connector-state.ts';
import { RowsToWrite } from './rows.ts';

type ScheduleDeps = {
  store: Store;
  env: Env;
  connector_id: string;
  connector: Connector;
  state: ConnectorState;
  time_zone: string;
  fees: FeeSchedule;
  /** When this process last wrote the connector's schedule; null: never. */
  memory: { schedule_at: number | null };
};

/** Today and the next seven days. */
const DAYS = 8;
/** The schedule is written again after this, even without a new delivery. */
const WRITE_AGAIN_MS = 10 * MINUTE_MS;

/** Shown to the front desk while there is no verdict. */
const NOT_YET: Readonly<Record<SituationWord, string>> = {
  waiting: 'No call yet',
  planned: 'Call planned',
  asking: 'Call in progress',
  answered: 'Answer received',
  delivered: 'Answer received',
  attention: 'Needs you',
  closed: 'No call',
};

/** Replaces the connector's schedule when something was delivered or the last one is old. */
export async function publishTable(
  deps: ScheduleDeps,
  signal: AbortSignal,
  did: number,
): Promise<void> {
  const { store, env, connector, connector_id, memory, time_zone } = deps;
  if (connector.publishTable === undefined) return;
  const now = env.clock.now();
  const is_current =
    memory.schedule_at !== null && Math.abs(now - memory.schedule_at) < WRITE_AGAIN_MS;
  if (did === 0 && is_current) return;
  const today = localDate(now, time_zone);
  const from = instantOf(today, 0, time_zone);
  const to = instantOf(addDays(today, DAYS), 0, time_zone);
  const lines = new RowsToWrite(async function* () {
    for await (const visits of visitPages(store.db, { from, to }, now))
      yield visits
        .filter((visit) => visit.connector === connector_id && visit.closed_reason !== 'cancelled')
        .flatMap((visit) => linesOf(visit, deps));
  });
  try {
    await connector.publishTable(lines, signal, new Date(now).toISOString());
    memory.schedule_at = now;
  } catch (failure) {
    const error = lines.causeOf(failure);
    if (!(error instanceof ConnectorError)) throw error;
    if (await noteFailure(deps, 'write', error))
      env.log('delivery_failed', {
        connector: connector_id,
        reason: `${error.message} ${error.next}`,
      });
  }
}

/** Returns one line for each coverage with an answer, or a single line when there is no answer. */
function linesOf(visit: ScheduledVisit, settings: ScheduleDeps): ScheduledLine[] {
  const { input } = visit;
  const head = {
    source_id: input.source_id,
    starts_at: input.starts_at,
    patient_name: `${input.patient.first_name} ${input.patient.last_name}`.trim(),
  };
  const coverageFields = (rank: number) => ({
    carrier: input.coverages[rank - 1]?.carrier ?? '',
    member_id: input.coverages[rank - 1]?.member_id ?? '',
  });
  if (visit.answers.length === 0)
    return [{ ...head, ...coverageFields(1), coverage_rank: 1, ...progressOf(visit) }];
  return visit.answers.map(({ coverage_rank, record }) => ({
    ...head,
    ...coverageFields(coverage_rank),
    coverage_rank,
    answer: { record, verdict: judge(record, judgedVisit(input, coverage_rank, settings)) },
  }));
}

/** Returns the status of a visit without an answer; if the office must act, also why and how. */
function progressOf({ situation, progress }: ScheduledVisit) {
  const standing = NOT_YET[situation];
  const [entry] = situation === 'attention' ? progress.entries : [];
  if (entry === undefined) return { standing };
  const why = entryText(entry, { patients: true });
  return { standing, why, to_do: withoutTerminal(entry.next) };
}
