/** Serves the office page if the configuration has a section `office`. */
import { EligdError, errorCode } from '../domain/errors.ts';
import { MINUTE_MS } from '../domain/time.ts';
import type { HttpAddress, HttpService } from '../http/server.ts';
import { createHttpAgent } from '../network/http.ts';
import { Access } from '../office/access.ts';
import { officeRoute } from '../office/server.ts';
import type { SingleSignOn } from '../office/single-sign-on.ts';
import { UserFile, usersPath } from '../office/users.ts';
import type { Config } from '../ops/config.ts';
import { readFees } from '../ops/fees.ts';
import { signOnWay } from '../ops/network.ts';
import { budgetRules } from '../ops/prices.ts';
import { configuredSecrets, secretStatus } from '../ops/secrets.ts';
import { readTrusted } from '../ops/trusted-files.ts';
import { liveHealth } from './heartbeat.ts';
import type { Parts } from './parts.ts';
import { addressOf } from './webhook.ts';

type OfficeConfig = NonNullable<Config['office']>;

const SIGN_ON_LIMITS = { connections: 4, timeout_ms: 10_000 };

/** `office`: that section of the configuration. */
export async function officeService(parts: Parts, office: OfficeConfig): Promise<HttpService> {
  const { options, store, wakers, connectors } = parts;
  const { config, env } = options;
  const users = new UserFile(usersPath(config));
  const route = officeRoute({
    store,
    env,
    config,
    access: new Access({
      store,
      clock: options.machine_clock ?? env.clock,
      users,
      idle_ms: office.idle_minutes * MINUTE_MS,
    }),
    sign_on: await signOnOf(office, options),
    is_secure: office.tls !== null || office.public_url?.startsWith('https:') === true,
    health: () => liveHealth(parts, store.db),
    fees: () => readFees(config),
    budget: () => budgetRules(config, parts.payers),
    planning: () => parts.plan.facts(),
    secrets: () => secretStatus(options.secrets, configuredSecrets(config)),
    wake: () => {
      wakers.plan.wake();
      wakers.submit.wake();
      wakers.collect.wake();
      for (const { deliver } of connectors) deliver.wake();
    },
  });
  return { address: pageAddress(office), route };
}

async function signOnOf(
  { single_sign_on, public_url }: OfficeConfig,
  { config, secrets, env }: Parts['options'],
): Promise<SingleSignOn | null> {
  if (single_sign_on === null || public_url === null) return null;
  const secret = secrets.find('ELIGD_OFFICE_CLIENT_SECRET')?.secret.reveal() ?? null;
  const redirect_uri = `${public_url.replace(/\/$/, '')}/login/return`;
  const { SingleSignOn } = await import('../office/single-sign-on.ts');
  const agent = createHttpAgent(() => signOnWay(config, secrets), SIGN_ON_LIMITS);
  return new SingleSignOn({ ...single_sign_on, secret, redirect_uri }, env.clock, agent);
}

function pageAddress({ listen, tls }: OfficeConfig): HttpAddress {
  const address: HttpAddress = listen.startsWith('unix:')
    ? { host: 'localhost', port: 0, socket: listen.slice('unix:'.length) }
    : addressOf(listen);
  if (tls === null) return address;
  return {
    ...address,
    tls: {
      cert: readKeyFile(tls.certificate, 'certificate'),
      key: readKeyFile(tls.key, 'key'),
    },
  };
}

function readKeyFile(path: string, role: 'certificate' | 'key'): Buffer {
  try {
    return readTrusted(path, { role, is_secret: role === 'key' });
  } catch (error) {
    if (error instanceof EligdError) throw error;
    throw new EligdError('configuration', {
      what: `The ${role} ${path} of the office page could not be read.`,
      why: errorCode(error) === 'ENOENT' ? 'There is no such file.' : `${errorCode(error)}.`,
      next: `Correct office.tls.${role} in the configuration.`,
    });
  }
}
