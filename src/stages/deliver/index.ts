import {
  type ClaimDelivery,
  type Connector,
  ConnectorError,
  type Delivery,
  type DeliveryOutcome,
} from '../../../connectors/contract.ts';
import { backoffMs } from '../../domain/backoff.ts';
import { DAMAGED_PATIENT } from '../../domain/damaged.ts';
import type { Env } from '../../domain/env.ts';
import { type FeeSchedule, judgedVisit } from '../../domain/fees.ts';
import { HOUR_MS, MINUTE_MS } from '../../domain/time.ts';
import { type AttentionKind, coverageAttention } from '../../records/verdict/attention.ts';
import { judge } from '../../records/verdict.ts';
import { newestAnswers } from '../../store/answers/coverages.ts';
import {
  type AppointmentDelivery,
  type ClaimedBatch,
  type ClaimDelivery as ClaimedDelivery,
  claimBatch,
  type DeliveryToWrite,
  nextDeliveryDue,
  postponeBatch,
  splitBatch,
} from '../../store/answers/deliveries.ts';
import { settleDeliveries } from '../../store/answers/delivery-steps.ts';
import { raiseAttention } from '../../store/bookkeeping/attention.ts';
import { appointmentSubject, deliverySubject } from '../../store/bookkeeping/audit.ts';
import { raiseVerdict } from '../../store/bookkeeping/handled.ts';
import type { Tx } from '../../store/engine/database.ts';
import type { Store } from '../../store/engine/store.ts';
import { type ConnectorState, noteFailure, noteSuccess } from '../connector-state.ts';
import { logStageFailure, type StepResult } from '../loop.ts';
import { publishAttention } from './attention.ts';
import { publishTable } from './schedule.ts';

type DeliverDeps = {
  store: Store;
  env: Env;
  connector_id: string;
  connector: Connector;
  /** The clinic's time zone. */
  time_zone: string;
  fees: FeeSchedule;
  /** Which findings in answers go on the attention list (`policy.attention`). */
  attention: Readonly<Record<AttentionKind, boolean>>;
  /** Kept in memory only, on purpose: a new process tries at once and writes the lists again. */
  memory: DeliverMemory;
  state: ConnectorState;
};

/** One transaction of this stage. `now`: the timestamp of everything that it writes. */
type DeliverContext = { tx: Tx; deps: DeliverDeps; now: number };

/**
 * `failures`: consecutive failures to write. `published`: a fingerprint of the attention list that
 * the PMS has, and when it was written. `schedule_at`: when the schedule was written.
 */
export type DeliverMemory = {
  failures: number;
  published: { mark: string; at: number } | null;
  schedule_at: number | null;
};

/** Returns the memory of a process that has written nothing yet. */
export function newDeliverMemory(): DeliverMemory {
  return { failures: 0, published: null, schedule_at: null };
}

const DELIVERIES_PER_BATCH = 200;
/**
 * Attempts at one delivery before it goes on the attention list; with the backoff below, about two
 * days.
 */
const FAILURES_MAX = 12;
const ITEM_LIMITS = { first_ms: MINUTE_MS, max_ms: 6 * HOUR_MS };
const CONNECTOR_LIMITS = { first_ms: 10_000, max_ms: 15 * MINUTE_MS };

/**
 * Writes due records back through one connector and updates its attention list. The batch is
 * committed before the write and settled after it, so that a crash between them repeats exactly the
 * same batch (G4).
 */
export async function deliverStep(deps: DeliverDeps, signal: AbortSignal): Promise<StepResult> {
  const { store, env, connector_id } = deps;
  const due_at = await nextDeliveryDue(store.db, connector_id, 0);
  const is_due = due_at !== null && due_at <= env.clock.now();
  const batch = is_due
    ? await store.write((tx) => claimBatch(tx, connector_id, env.clock.now(), DELIVERIES_PER_BATCH))
    : null;
  const did = batch === null ? 0 : await deliver(deps, await withoutOthers(deps, batch), signal);
  if (batch === null || did < DELIVERIES_PER_BATCH) {
    await publishAttention(deps, signal);
    await publishTable(deps, signal, did);
  }
  // Due deliveries that were not claimed wait for planning, which wakes this stage. Returning their
  // due time would make this loop spin.
  const after = is_due && batch === null ? env.clock.now() : 0;
  const next_at = await nextDeliveryDue(store.db, connector_id, after);
  return { did, next_at, is_away: deps.memory.failures > 0 };
}

/**
 * Parks the answers about another person or member ID than their claim has now, also those that the
 * operator retries: they must not reach the chart of another patient (G8).
 */
async function withoutOthers({ store, env }: DeliverDeps, batch: ClaimedBatch) {
  const others = batch.deliveries.filter(({ is_about_other }) => is_about_other);
  if (others.length === 0) return batch;
  const now = env.clock.now();
  const reason = 'The claim has another patient or member ID now than the answer is about.';
  await store.write((tx) =>
    settleDeliveries(tx, others, { to: 'parked', reason, due_at: now }, now),
  );
  const deliveries = batch.deliveries.filter(({ is_about_other }) => !is_about_other);
  return { ...batch, deliveries } as ClaimedBatch;
}

async function deliver(
  deps: DeliverDeps,
  batch: ClaimedBatch,
  signal: AbortSignal,
): Promise<number> {
  if (batch.deliveries.length === 0) return 0;
  const { store, env, connector_id, memory } = deps;
  let outcomes: DeliveryOutcome[];
  try {
    outcomes = await write(deps, batch, signal);
  } catch (error) {
    if (!(error instanceof ConnectorError)) return await isolate(deps, batch, error);
    memory.failures += 1;
    const wait_ms =
      error.retry_after_ms ?? backoffMs(memory.failures, CONNECTOR_LIMITS, env.random());
    await store.write((tx) => postponeBatch(tx, batch.id, env.clock.now() + wait_ms));
    if (await noteFailure(deps, 'write', error))
      env.log('delivery_failed', {
        connector: connector_id,
        delivery_batch: batch.id,
        deliveries: batch.deliveries.length,
        wait_ms,
        reason: `${error.message} ${error.next}`,
      });
    return 0;
  }
  memory.failures = 0;
  await noteSuccess(deps, 'write');
  const by_key = new Map(outcomes.map((outcome) => [outcome.key, outcome]));
  const now = env.clock.now();
  const delivered = await store.write(async (tx) => {
    const context = { tx, deps, now };
    const written: DeliveryToWrite[] = [];
    for (const delivery of batch.deliveries) {
      const outcome = by_key.get(delivery.key);
      if (outcome?.outcome === 'delivered') written.push(delivery);
      else await fail(context, delivery, outcome);
    }
    const reason = `Written by ${connector_id}, batch ${batch.id}.`;
    await settleDeliveries(tx, written, { to: 'delivered', reason, due_at: now }, now);
    for (const delivery of written) await raiseVerdictOf(context, delivery);
    return written.length;
  });
  env.log('records_delivered', {
    connector: connector_id,
    delivery_batch: batch.id,
    deliveries: batch.deliveries.length,
    delivered,
  });
  return batch.deliveries.length;
}

/** Updates the attention items about the verdict of the newest answers. */
async function raiseVerdictOf(
  { tx, deps, now }: DeliverContext,
  delivery: DeliveryToWrite,
): Promise<void> {
  const { connector_id, time_zone, fees, attention } = deps;
  if (delivery.kind !== 'appointment') return;
  const { appointment, input } = delivery;
  const answers = await newestAnswers(tx, appointment);
  const verdicts = [...answers].map(([rank, record]) => ({
    rank,
    verdict: judge(record, judgedVisit(input, rank, { time_zone, fees })),
  }));
  const entries = coverageAttention(verdicts).filter(({ reason }) => attention[reason]);
  const about = {
    connector: connector_id,
    appointment,
    inquiry: null,
    subject: appointmentSubject(appointment),
  };
  await raiseVerdict(tx, about, entries, now);
}

/**
 * Splits the batch after an error that is a bug in the connector: then each delivery is written
 * alone, and only the one that causes the error fails (G7).
 */
async function isolate(deps: DeliverDeps, batch: ClaimedBatch, error: unknown): Promise<number> {
  const { store, env, connector_id } = deps;
  logStageFailure(env, `deliver ${connector_id}`, error, 0);
  const [only, ...others] = batch.deliveries;
  await store.write(async (tx) => {
    if (others.length > 0) await splitBatch(tx, batch, connector_id);
    else if (only !== undefined) await fail({ tx, deps, now: env.clock.now() }, only, undefined);
  });
  return batch.deliveries.length;
}

/** Records that one delivery failed: retries it with backoff, or puts it on the attention list. */
async function fail(
  { tx, deps, now }: DeliverContext,
  delivery: DeliveryToWrite,
  outcome: Extract<DeliveryOutcome, { outcome: 'failed' }> | undefined,
): Promise<void> {
  const { env, connector_id } = deps;
  const what = outcome?.what ?? 'The connector reported no result for it.';
  const is_parked = outcome?.is_permanent === true || delivery.failures + 1 >= FAILURES_MAX;
  if (!is_parked) {
    const due_at = now + backoffMs(delivery.failures + 1, ITEM_LIMITS, env.random());
    await settleDeliveries(tx, [delivery], { to: 'failed', reason: what, due_at }, now);
    return;
  }
  await settleDeliveries(tx, [delivery], { to: 'parked', reason: what, due_at: now }, now);
  await raiseAttention(
    tx,
    {
      connector: connector_id,
      appointment: delivery.appointment,
      inquiry: null,
      subject: deliverySubject(delivery.key),
    },
    {
      reason: 'delivery_parked',
      what: `The answer could not be written back. ${what}`,
      words: outcome?.words ?? null,
      next: `${parkedRemedy(outcome)} Then run "eligd retry" with the ID of the appointment.`,
    },
    now,
  );
  tx.after(() => env.log('delivery_parked', { connector: connector_id }));
}

/**
 * Returns the remedy for a parked delivery. The connector's own remedy fits only a permanent
 * failure; for a temporary one it expects further retries.
 */
function parkedRemedy(
  outcome: Extract<DeliveryOutcome, { outcome: 'failed' }> | undefined,
): string {
  if (outcome?.is_permanent === true) return outcome.next;
  return (
    `eligd tried ${FAILURES_MAX} times and does not try again automatically. See eligd’s log ` +
    'for the cause, and fix it.'
  );
}

/** Writes what is not damaged: one visit must not stop the answers about the others (G7). */
async function write(
  deps: DeliverDeps,
  batch: ClaimedBatch,
  signal: AbortSignal,
): Promise<DeliveryOutcome[]> {
  const isDamaged = ({ input }: DeliveryToWrite) => input.patient === DAMAGED_PATIENT;
  const damaged = batch.deliveries.filter(isDamaged).map(cannotWriteDamaged);
  if (damaged.length === 0) return await writeWhole(deps, batch, signal);
  const deliveries = batch.deliveries.filter((each) => !isDamaged(each));
  if (deliveries.length === 0) return damaged;
  const whole = { ...batch, deliveries } as ClaimedBatch;
  return [...damaged, ...(await writeWhole(deps, whole, signal))];
}

function cannotWriteDamaged({ key }: DeliveryToWrite): DeliveryOutcome {
  const failure = {
    what: 'The stored data of the appointment or claim is damaged.',
    next: 'Save it again in the practice management system, so that eligd reads it again.',
  };
  return { key, outcome: 'failed', is_permanent: true, ...failure };
}

async function writeWhole(
  { connector, time_zone, fees }: DeliverDeps,
  batch: ClaimedBatch,
  signal: AbortSignal,
): Promise<DeliveryOutcome[]> {
  const head = { id: batch.id, created_at: new Date(batch.created_at).toISOString() };
  if (batch.kind === 'appointment')
    return await connector.deliver(
      {
        ...head,
        deliveries: batch.deliveries.map((each) => toDelivery(each, { time_zone, fees })),
      },
      signal,
    );
  if (connector.deliverClaims === undefined) return batch.deliveries.map(cannotWriteClaim);
  return await connector.deliverClaims(
    { ...head, deliveries: batch.deliveries.map(toClaimDelivery) },
    signal,
  );
}

/**
 * Returns a failed claim delivery: the connector provides claims but cannot write their results, so
 * it violates its contract.
 */
function cannotWriteClaim({ key }: ClaimedDelivery): DeliveryOutcome {
  const failure = {
    what: 'This connector cannot write claims.',
    next: 'See the answer with "eligd show", and report this to the author of the connector.',
  };
  return { key, outcome: 'failed', is_permanent: true, ...failure };
}

function toClaimDelivery({ key, input, record, revision, notes }: ClaimedDelivery): ClaimDelivery {
  const {
    source_id,
    claim_number,
    date_of_service,
    billed_amount,
    patient,
    coverage,
    coverage_rank,
    location,
    procedure_codes,
  } = input;
  const claim = {
    source_id,
    claim_number,
    date_of_service,
    billed_amount,
    patient,
    coverage,
    coverage_rank,
    location,
    procedure_codes,
  };
  return { key, claim, record, revision, notes };
}

function toDelivery(
  delivery: AppointmentDelivery,
  settings: Pick<DeliverDeps, 'time_zone' | 'fees'>,
): Delivery {
  const { key, input, coverage_rank, record, revision, notes, coordination } = delivery;
  const coverage = input.coverages[coverage_rank - 1];
  return {
    key,
    appointment: {
      source_id: input.source_id,
      starts_at: input.starts_at,
      patient: input.patient,
      location: input.location,
      procedure_codes: input.procedure_codes,
      coverage_rank,
      coverage: coverage ?? {
        carrier: '',
        payor_id: '',
        member_id: '',
        group_id: '',
        subscriber: null,
      },
      all_coverages: [...input.coverages, ...(input.other_coverages ?? [])],
    },
    record,
    revision,
    notes,
    verdict: judge(record, judgedVisit(input, coverage_rank, settings)),
    ...(coordination === null ? {} : { coordination }),
  };
}
