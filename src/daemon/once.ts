/** `eligd once`: runs one stage after another, each until nothing is due. */
import { askAboutAll, askForAllChecks } from '../stages/collect/poll/index.ts';
import { IDLE, logStageFailure, type StepResult } from '../stages/loop.ts';
import { closeOldVisits } from '../stages/plan/index.ts';
import type { Messages } from '../stages/pull/messages.ts';
import { mayBeOfFewRows } from '../store/engine/error-origin.ts';
import { sendAlertsOnce } from './alerts.ts';
import type { Parts } from './parts.ts';
import { writeReportOnce } from './report.ts';
import { contactService, stages } from './steps.ts';
import { watchUnread } from './unread.ts';

/**
 * The maximum number of steps of one stage: far more than any installation needs, because every
 * loop must have a bound.
 */
const ONCE_STEPS_MAX = 10_000;

/** Enough to set aside a few messages that alone fail; the next run continues. */
const FAILED_READINGS_MAX = 6;

/**
 * `is_service_away`: the service did not answer, or its list could not be read, so nothing was
 * sent; everything due is kept. `connectors_away`: the IDs of the connectors that could not read or
 * write everything.
 */
export type OnceResult = {
  is_service_away: boolean;
  connectors_away: string[];
  failed_stages: string[];
};

/**
 * Runs every stage once. A stage that fails is logged and named in the result, and the others still
 * run.
 */
export async function once(parts: Parts, signal: AbortSignal): Promise<OnceResult> {
  const { env } = parts.options;
  const step = stages(parts, signal);
  const away = new Set<string>();
  const result: OnceResult = { is_service_away: false, connectors_away: [], failed_stages: [] };
  const guarded = async (name: string, work: () => Promise<unknown>) => {
    if (signal.aborted) return;
    try {
      await work();
    } catch (error) {
      result.failed_stages.push(name);
      logStageFailure(env, name, error, 0);
    }
  };
  const untilIdle = async (work: () => Promise<StepResult>) => {
    let last = IDLE;
    for (let steps = 0; steps < ONCE_STEPS_MAX && !signal.aborted; steps += 1) {
      last = await work();
      if (last.did === 0) break;
    }
    return last;
  };
  const noted = async (id: string, work: Promise<StepResult>) => {
    const done = await work;
    if (done.is_away === true) away.add(id);
    return done;
  };
  for (const each of parts.connectors)
    await guarded(`pull ${each.id}`, () => noted(each.id, step.pull(each)));
  // Failures that may be about one message are counted in memory, so the run tries again.
  const readAll = async (messages: Messages) => {
    for (let failures = 0; !signal.aborted; ) {
      try {
        // Only the step knows whether it read nothing because it rested: by now the rest may be
        // over, and messages are still unread (G2).
        const { next_at } = await untilIdle(() => messages.step(signal));
        if (next_at === null) return;
      } catch (error) {
        failures += 1;
        if (failures === FAILED_READINGS_MAX || !mayBeOfFewRows(error)) throw error;
      }
      await env.clock.sleep(messages.restMs(), signal).catch(() => {});
    }
  };
  for (const { id, messages } of parts.connectors)
    if (messages !== null) await guarded(`read ${id}`, () => readAll(messages));
  await guarded('submit', async () => {
    result.is_service_away = !(await contactService(parts));
  });
  // Inquiries sent in this run have no answer yet, so polling comes before sending.
  await guarded('inbox', () => untilIdle(step.inbox));
  await guarded('collect', () => askAboutAll(parts.collect, signal));
  await guarded('plan', () => untilIdle(step.plan));
  await guarded('plan', () =>
    closeOldVisits(parts.plan, parts.options.config.policy.give_up_after_days),
  );
  await guarded('submit', () => untilIdle(step.submit));
  const deliverAll = async () => {
    for (const each of parts.connectors)
      await guarded(`deliver ${each.id}`, () =>
        untilIdle(() => noted(each.id, step.deliver(each))),
      );
  };
  await deliverAll();
  let checked = 0;
  await guarded('collect', async () => {
    checked = await askForAllChecks(parts.collect, signal);
  });
  if (checked > 0) await deliverAll();
  await guarded('unread', () => watchUnread(parts, { excused_from: null }));
  await guarded('alerts', () => sendAlertsOnce(parts));
  await guarded('report', () => writeReportOnce(parts, signal));
  return { ...result, connectors_away: [...away] };
}
