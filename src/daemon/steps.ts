/** The steps of the stages with their dependencies, for `run` and for `once`. */
import { FeeFile } from '../ops/fees.ts';
import { inboxStep } from '../stages/collect/inbox/index.ts';
import { collectStep } from '../stages/collect/poll/index.ts';
import { deliverStep } from '../stages/deliver/index.ts';
import { planStep } from '../stages/plan/index.ts';
import { listenStep, pullStep } from '../stages/pull/index.ts';
import {
  beginWithoutComparison,
  ensureReconciled,
  forgetReconciled,
  isListWanted,
  recoverInterrupted,
  submitStep,
} from '../stages/submit/index.ts';
import { followFees } from './fees.ts';
import type { Parts, RunningConnector } from './parts.ts';
import { followPayers } from './payers.ts';

/**
 * Compares the service's list at a start, before anything is planned or sent. With nothing to
 * send, it makes one small request in place of reading the list, which grows with the age of the
 * account. The request shows whether the service is reachable, and the time by its clock. Returns
 * whether the service answered.
 */
export async function contactService(parts: Parts): Promise<boolean> {
  const { options, submit, client, store } = parts;
  const { specialty } = options.config.clinic;
  // Then the list shows their calls as ours, and not as unknown ones that it may have more of.
  await recoverInterrupted(submit);
  const is_wanted = await isListWanted(submit, specialty);
  const is_there = !is_wanted && (await client.getSubscription({ priority: 'send' })).ok;
  if (is_there && (await beginWithoutComparison(submit, specialty))) return true;
  if (await ensureReconciled(submit, specialty)) return true;
  await forgetReconciled(store, specialty);
  return false;
}

/** Returns the step of each stage; those of connectors take the connector. */
export function stages(parts: Parts, signal: AbortSignal) {
  const { options, store, wakers } = parts;
  const { env, config } = options;
  const external_id_template = config.service.external_id;
  const { time_zone } = config.clinic;
  const fees = new FeeFile(config);
  const { attention } = config.policy;
  const intake = ({ id, connector, state, messages }: RunningConnector) => ({
    store,
    env,
    connector_id: id,
    connector,
    state,
    messages,
    onAccepted: () => wakers.plan.wake(),
  });
  return {
    pull: (each: RunningConnector) => pullStep(intake(each), signal),
    listen: (each: RunningConnector) => listenStep(intake(each), signal),
    plan: async () => {
      await followPayers(parts.plan, parts.payers);
      return await planStep(parts.plan);
    },
    submit: async () => {
      const result = await submitStep(parts.submit, { external_id_template, signal });
      // Rejected inquiries are on the attention list now, which the deliveries take to the
      // practice.
      if (result.did > 0) for (const { deliver } of parts.connectors) deliver.wake();
      return result;
    },
    collect: () => collectStep(parts.collect),
    inbox: () => inboxStep(parts.collect),
    deliver: async ({ id, connector, memory, state }: RunningConnector) => {
      await followFees({ store, env }, fees);
      return await deliverStep(
        { store, env, connector_id: id, connector, time_zone, fees, attention, memory, state },
        signal,
      );
    },
  };
}
