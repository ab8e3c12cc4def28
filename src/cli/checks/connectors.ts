import { ConnectorError } from '../../../connectors/contract.ts';
import type { Env } from '../../domain/env.ts';
import type { Config } from '../../ops/config.ts';
import { type ConnectorMeans, createConnectors } from '../../ops/open-connectors.ts';
import type { SecretSource } from '../../ops/secrets.ts';
import { bad, badBecause, type CheckedLine, fine } from './line.ts';

/** A system that does not answer must not hang the check. */
const CHECK_TIMEOUT_MS = 30_000;

/** Used when the secrets cannot be read; a separate line reports that. */
export const NO_SECRETS: SecretSource = { find: () => null, names: [], env_file: '' };

/** A check writes nothing to the PMS, so its journal stays empty. */
const NO_JOURNAL: ReturnType<ConnectorMeans['journal']> = {
  read: async () => null,
  write: async () => {},
};

/** Runs the check of every connector; one that fails does not stop the others (G7). */
export async function checkConnectors(
  config: Config,
  env: Env,
  secrets: SecretSource,
): Promise<CheckedLine[]> {
  const means: ConnectorMeans = { secrets, journal: () => NO_JOURNAL };
  const lines = await Promise.all(
    config.connectors.map((connector) =>
      checkOne({ ...config, connectors: [connector] }, env, means),
    ),
  );
  return lines.flat();
}

/** Returns the name of the line: the configuration's only connector. */
const partOf = ({ connectors }: Config) => `connector ${connectors[0]?.id}`;

async function checkOne(config: Config, env: Env, means: ConnectorMeans): Promise<CheckedLine[]> {
  const part = partOf(config);
  const stop = new AbortController();
  const over = new AbortController();
  const timeout = env.clock.sleep(CHECK_TIMEOUT_MS, over.signal).then(
    (): CheckedLine[] => {
      stop.abort();
      const next = 'Check that the practice management system is running, then try again.';
      return [
        bad(
          part,
          'temporary',
          `It did not respond within ${CHECK_TIMEOUT_MS / 1000} seconds.`,
          next,
        ),
      ];
    },
    (): CheckedLine[] => [],
  );
  try {
    return await Promise.race([ask(config, env, means, stop.signal), timeout]);
  } finally {
    over.abort();
  }
}

async function ask(
  config: Config,
  env: Env,
  means: ConnectorMeans,
  signal: AbortSignal,
): Promise<CheckedLine[]> {
  const part = partOf(config);
  try {
    const [opened] = await createConnectors(config, env, means);
    if (opened === undefined) return [];
    try {
      const said = await opened.connector.check(signal);
      return said.map(({ ok, what, next }) =>
        ok ? fine(part, what) : bad(part, 'failed', what, next ?? 'See its README.'),
      );
    } finally {
      await opened.connector.close?.();
    }
  } catch (error) {
    if (!(error instanceof ConnectorError)) return [badBecause(part, error)];
    return [
      bad(part, error.failure === 'transient' ? 'temporary' : 'failed', error.message, error.next),
    ];
  }
}
