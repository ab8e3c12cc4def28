import { type Connector, ConnectorError } from '../../connectors/contract.ts';
import type { Env } from '../domain/env.ts';
import { acceptBatch, cursorOf, isLatestSource } from '../store/intake.ts';
import type { Store } from '../store/store.ts';
import { IDLE, type StepResult } from './loop.ts';

export type PullDeps = {
  store: Store;
  env: Env;
  connector_id: string;
  connector: Connector;
  /** Called after each commit that brought something new. */
  onAccepted: () => void;
};

/**
 * Asks one connector for appointments. Each batch is committed before the connector goes on, so that what it acknowledges is
 * safe (G3); planning finds what is new or changed by itself.
 */
export async function pullStep(
  { store, env, connector_id, connector, onAccepted }: PullDeps,
  signal: AbortSignal,
): Promise<StepResult> {
  if (connector.pull === undefined) return IDLE;
  try {
    await connector.pull({
      cursor: await cursorOf(store.db, connector_id),
      isAccepted: (key) => isLatestSource(store.db, connector_id, key),
      accept: async (batch) => {
        const counts = await store.write((tx) => acceptBatch(tx, connector_id, batch, env.clock.now()));
        env.log('batch_accepted', {
          connector: connector_id,
          accepted: counts.new + counts.changed,
          unchanged: counts.unchanged,
          rejected: counts.rejected,
          ...(counts.vanished > 0 ? { count: counts.vanished } : {}),
        });
        if (counts.new + counts.changed + counts.vanished > 0) onAccepted();
      },
      signal,
    });
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    env.log('connector_failed', { connector: connector_id, failure: error.failure, reason: `${error.message} ${error.next}` });
    return { did: 0, next_at: error.retry_after_ms === null ? null : env.clock.now() + error.retry_after_ms };
  }
  return IDLE;
}
