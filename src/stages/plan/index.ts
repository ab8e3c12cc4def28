import { appointmentHash } from '../../domain/appointment-hash.ts';
import { DAY_MS } from '../../domain/time.ts';
import {
  expireAttention,
  nameNextVisit,
  raiseAttention,
  resolveAttention,
} from '../../store/bookkeeping/attention.ts';
import { appointmentSubject } from '../../store/bookkeeping/audit.ts';
import { takeHolds } from '../../store/calls/kept-holds.ts';
import { planLearned } from '../../store/calls/learned.ts';
import {
  type AppointmentRow,
  closeAppointment,
  inquiriesUnder,
  mayNeedCall,
  stillOpen,
} from '../../store/calls/links.ts';
import {
  appointmentDueForPlanning,
  dueForPlanning,
  nextPlanDue,
  setPlanDue,
} from '../../store/calls/plan-due.ts';
import type { Tx } from '../../store/engine/database.ts';
import { mayPass } from '../../store/engine/error-origin.ts';
import { logStageFailure, type StepResult } from '../loop.ts';
import { followCoverages } from './answers.ts';
import { planClaimRow } from './claims.ts';
import { leaveDamaged } from './damaged.ts';
import { type PlanDeps, RETRY_MS } from './deps.ts';
import { leaveUnsent, subjectOf } from './keep.ts';
import { ask, doNotAsk } from './visit.ts';

const APPOINTMENTS_PER_STEP = 200;

/**
 * Plans appointments that are new, changed, or due: closes them, postpones them, puts them on the
 * attention list, or links them to an inquiry. The pure rules are in `domain/planning.ts`; this
 * file applies them to the stored state.
 */
export async function planStep(deps: PlanDeps): Promise<StepResult> {
  const { store, env } = deps;
  const now = env.clock.now();
  const due = await dueForPlanning(store.db, now, APPOINTMENTS_PER_STEP);
  // Each appointment is planned in a savepoint of a shared commit, so a bad appointment does not
  // affect the others (G7).
  const results = await Promise.allSettled(
    due.map(({ id }) => store.write((tx) => planOne(tx, deps, id, now))),
  );
  const cause = results.find((result) => result.status === 'rejected' && mayPass(result.reason));
  for (const [index, result] of results.entries()) {
    if (result.status === 'fulfilled' || mayPass(result.reason)) continue;
    const appointment = due[index];
    logStageFailure(env, 'plan', result.reason, RETRY_MS);
    if (appointment === undefined) continue;
    await store.write(async (tx) => {
      await setPlanDue(tx, appointment.id, now + RETRY_MS, 'planning_failed');
      // What is closed needs nothing, and the office could not get rid of the item.
      if (await mayNeedCall(tx, appointment.id, now))
        await raisePlanningFailed(tx, appointment, now);
    });
  }
  const planned = due
    .filter((_, index) => results[index]?.status === 'fulfilled')
    .map(({ id }) => id);
  if (planned.length > 0) {
    deps.onPlanned();
    await logInquiries(deps, planned, now);
  }
  // A full disk, for example, is neither a bug nor damage: all is tried again.
  if (cause?.status === 'rejected') throw cause.reason;
  return { did: due.length, next_at: await nextPlanDue(store.db) };
}

/** Logs the inquiry that serves each appointment. After this line the log names only inquiries. */
async function logInquiries(
  { store, env, log_key }: PlanDeps,
  appointments: readonly number[],
  now: number,
): Promise<void> {
  for (const { connector, source_id, inquiry } of await inquiriesUnder(
    store.db,
    appointments,
    now,
  )) {
    env.log('appointment_planned', {
      connector,
      appointment: appointmentHash(log_key, connector, source_id),
      inquiry,
    });
  }
}

/**
 * Puts the appointment on the attention list while eligd retries: eligd or a connector has a bug,
 * or the stored appointment is damaged (G2).
 */
async function raisePlanningFailed(
  tx: Tx,
  appointment: Pick<AppointmentRow, 'id' | 'connector'>,
  now: number,
): Promise<void> {
  await raiseAttention(
    tx,
    subjectOf(appointment),
    {
      reason: 'planning_failed',
      what:
        'eligd could not decide what this appointment or claim needs, because of a bug in eligd ' +
        'or because its data is damaged (stage_failed in the log). It tries again every minute. ' +
        'Until that succeeds, it starts no call and writes no answer for it.',
      next:
        'If the visit is close, call the insurance company yourself. Send the log line to the ' +
        'person who installed eligd.',
    },
    now,
  );
}

/**
 * Closes old visits, once a day: eligd no longer waits for their answers, so their items leave the
 * attention list. Does nothing while the clock is in doubt.
 */
export async function closeOldVisits(
  { store, env, facts }: PlanDeps,
  after_days: number,
): Promise<void> {
  if (!facts().is_clock_trusted) return;
  const now = env.clock.now();
  await store.write(async (tx) => {
    const expired = await expireAttention(tx, now - after_days * DAY_MS, now);
    for (const id of await stillOpen(tx, expired)) await closeAppointment(tx, id, 'past', now);
  });
}

async function planOne(tx: Tx, deps: PlanDeps, id: number, now: number): Promise<void> {
  const appointment = await appointmentDueForPlanning(tx, id);
  if (appointment === null) return;
  const facts = { ...deps.facts(), now };
  const context = { tx, facts, external_id_template: deps.external_id_template };
  if (await leaveDamaged(context, appointment)) return;
  if (appointment.kind === 'claim') {
    await planClaimRow(context, appointment);
    return;
  }
  const { closed_reason } = appointment;
  // Only what is linked to it changes. Before this, planning had not seen its last change.
  if (closed_reason === 'replaced' || closed_reason === 'withdrawn') {
    await setPlanDue(tx, id, null, null);
    await resolveAttention(tx, appointmentSubject(id), now);
    await leaveUnsent(context, appointment);
    // The ID of a replaced one is another patient's now: nothing is written there (G8).
    if (closed_reason === 'withdrawn') await followCoverages(context, appointment);
    await nameNextVisit(tx, 'appointment', id, now);
    return;
  }
  const { replaces } = appointment.input;
  // Also one that needs no call: yet another visit may replace it.
  if (replaces !== undefined) await takeHolds(tx, appointment, replaces);
  const decision = await planLearned(tx, appointment, facts);
  if (decision.kind === 'ask') await ask(context, appointment, decision);
  else await doNotAsk(context, appointment, decision);
}
