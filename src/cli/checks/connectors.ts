import { ConnectorError } from '../../../connectors/contract.ts';
import type { Env } from '../../domain/env.ts';
import type { Config, ConnectorConfig } from '../../ops/config.ts';
import { createConnectors } from '../../ops/connectors.ts';
import { bad, badBecause, type CheckedLine, fine } from './line.ts';

/** A system that does not answer must not keep the check from its end. */
const CHECK_TIMEOUT_MS = 30_000;

/** What every connector says of itself; one that fails keeps none of the others from being looked at (G7). */
export async function checkConnectors(config: Config, env: Env): Promise<CheckedLine[]> {
  const lines = await Promise.all(config.connectors.map((connector) => checkOne(connector, config, env)));
  return lines.flat();
}

async function checkOne(connector: ConnectorConfig, config: Config, env: Env): Promise<CheckedLine[]> {
  const part = `connector ${connector.id}`;
  const stop = new AbortController();
  const over = new AbortController();
  const timeout = env.clock.sleep(CHECK_TIMEOUT_MS, over.signal).then(
    (): CheckedLine[] => {
      stop.abort();
      const next = 'Look whether the practice management system answers at all, and try again.';
      return [bad(part, 'temporary', `It said nothing within ${CHECK_TIMEOUT_MS / 1000} seconds.`, next)];
    },
    (): CheckedLine[] => [],
  );
  try {
    return await Promise.race([ask(part, { ...config, connectors: [connector] }, env, stop.signal), timeout]);
  } finally {
    over.abort();
  }
}

async function ask(part: string, config: Config, env: Env, signal: AbortSignal): Promise<CheckedLine[]> {
  try {
    const [opened] = await createConnectors(config, env);
    if (opened === undefined) return [];
    try {
      const said = await opened.connector.check(signal);
      return said.map(({ ok, what, next }) => (ok ? fine(part, what) : bad(part, 'failed', what, next ?? 'See its README.')));
    } finally {
      await opened.connector.close?.();
    }
  } catch (error) {
    if (!(error instanceof ConnectorError)) return [badBecause(part, error)];
    return [bad(part, error.failure === 'transient' ? 'temporary' : 'failed', error.message, error.next)];
  }
}
