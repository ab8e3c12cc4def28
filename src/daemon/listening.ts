/** The daemon's HTTP servers. A port that is taken stops nothing else. */
import { backoffMs } from '../domain/backoff.ts';
import { EligdError } from '../domain/errors.ts';
import { MINUTE_MS } from '../domain/time.ts';
import type { HttpServer, HttpService } from '../http/server.ts';
import { setIncidents } from '../store/bookkeeping/incidents.ts';
import type { Parts } from './parts.ts';
import { addressOf, listenAgain } from './webhook.ts';

const RETRY_LIMITS = { first_ms: 5_000, max_ms: 5 * MINUTE_MS };

/** Serves until `signal` is aborted. Services with the same address share a server. */
export async function serveHttp(
  parts: Parts,
  services: readonly HttpService[],
  signal: AbortSignal,
): Promise<void> {
  const { env } = parts.options;
  const troubles = new Map<string, EligdError>();
  const judge = () => judgePorts(parts, [...troubles.values()]);
  await judge();
  if (services.length === 0) return;
  const { addressText, startHttpServers } = await import('../http/server.ts');
  const by_address = Map.groupBy(services, ({ address }) => addressText(address));
  await Promise.all(
    [...by_address].map(async ([address, same]) => {
      let servers: HttpServer[] | null = null;
      for (let failures = 0; servers === null && !signal.aborted; failures += 1) {
        try {
          servers = await startHttpServers(same, env);
        } catch (error) {
          if (!(error instanceof EligdError)) throw error;
          const wait_ms = backoffMs(failures + 1, RETRY_LIMITS, env.random());
          const reason = `${error.what} ${error.why}`;
          if (!troubles.has(address))
            env.log('port_taken', { ...hostAndPort(same), reason, wait_ms });
          troubles.set(address, error);
          await judge();
          await env.clock.sleep(wait_ms, signal).catch(() => {});
        }
      }
      if (troubles.delete(address) && servers !== null) {
        await judge();
        const { webhook } = parts.options.config;
        if (webhook !== null && address === addressText(addressOf(webhook.listen)))
          await listenAgain(parts.store, env.clock.now());
      }
      await untilAborted(signal);
      await Promise.all((servers ?? []).map((server) => server.close()));
    }),
  );
}

function hostAndPort(services: readonly HttpService[]) {
  const [first] = services;
  return {
    host: first?.address.socket ?? first?.address.host ?? null,
    port: first?.address.port ?? null,
  };
}

async function judgePorts({ options, store }: Parts, troubles: EligdError[]): Promise<void> {
  const entry =
    troubles.length === 0
      ? null
      : {
          what: troubles.map(({ what, why }) => `${what} ${why}`).join(' '),
          next: `${troubles[0]?.next} eligd tries again automatically.`,
        };
  const state = { reason: 'port_taken' as const, connector: null, entry };
  await setIncidents(store, [state], options.env.clock.now());
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}
