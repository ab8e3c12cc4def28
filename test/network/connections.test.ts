/** Every connection through a proxy with a login, to servers with their own authority. */
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClinic, OAUTH_SECRETS } from '../support/clinic.ts';
import { startLoginProvider } from '../support/login-provider.ts';
import { startOffice } from '../support/office.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';
import { closedPort, FILES, startHttps, startProxy, startTls } from './world.ts';

const LOGIN = 'clinic:p%ss word';
const PASSWORD = 'p%ss word';
const PROXY_SECRETS = { ELIGD_PROXY_USERNAME: 'clinic', ELIGD_PROXY_PASSWORD: PASSWORD };

/** In a checkout, every user can read the key, and eligd refuses such a key. */
let folder: string;
let tls: typeof FILES;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'eligd-network-'));
  const copied = Object.entries(FILES).map(([key, file]) => {
    copyFileSync(file, join(folder, key));
    chmodSync(join(folder, key), 0o600);
    return [key, join(folder, key)];
  });
  tls = Object.fromEntries(copied);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Forwards requests to the sandbox. */
function passOn(target: string): RequestListener {
  return (incoming, outgoing) => {
    const onward = httpRequest(
      new URL(incoming.url ?? '/', target),
      { method: incoming.method ?? 'GET', headers: incoming.headers },
      (reply) => {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(outgoing);
      },
    );
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  };
}

const inTenDays = () => new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 10);
const threeVisits = () => exportOf(visits(3, () => ({ appointment_at: `${inTenDays()}T10:30` })));

describe('the calling service', () => {
  test('eligd reaches the service through the proxy of the environment', async () => {
    const service = await startService();
    const port = await startHttps(passOn(service.url));
    const proxy = await startProxy(LOGIN);
    const clinic = makeClinic({
      base_url: `https://server.test:${port}`,
      config: { service: { tls } },
      secrets: { ...OAUTH_SECRETS, ...PROXY_SECRETS, HTTPS_PROXY: proxy.url },
    });
    expect((await clinic.run('check')).stdout).toMatch(/ok service: .*accepts the credentials/);
    clinic.drop('export.csv', threeVisits());
    await clinic.once();
    expect(await service.ledger()).toHaveLength(3);
    expect(new Set(proxy.tunnels)).toEqual(new Set([`server.test:${port}`]));
    // The proxy sees no data that eligd sends to the service.
    expect(proxy.heads.join()).not.toMatch(/user-agent|content-type|bearer/i);
  });

  test('a wrong proxy password is reported without it, and nothing is lost', async () => {
    const service = await startService();
    const proxy = await startProxy(LOGIN);
    const clinic = makeClinic({
      base_url: service.url,
      config: { service: { proxy: proxy.url } },
      secrets: {
        ...OAUTH_SECRETS,
        ELIGD_SERVICE_PROXY_USERNAME: 'clinic',
        ELIGD_SERVICE_PROXY_PASSWORD: 'mistyped',
      },
    });
    const { stdout, stderr } = await clinic.run('check');
    expect(stdout).toMatch(
      /!! service: .*The proxy on the way .* does not accept our login \(407\)/,
    );
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('ELIGD_SERVICE_PROXY_PASSWORD');
    expect(stdout + stderr).not.toContain('mistyped');
    clinic.drop('export.csv', threeVisits());
    await clinic.once(75);
    expect((await clinic.run('list')).stdout).not.toMatch(/uncertain/i);
    expect(await service.ledger()).toEqual([]);
  });

  test('a proxy that does not connect leaves every call unsent', async () => {
    const service = await startService();
    const proxy = await startProxy(null, 502);
    const config = { service: { proxy: proxy.url } };
    const clinic = makeClinic({ base_url: service.url, config });
    expect((await clinic.run('check')).stdout).toMatch(/!! service: .*refuses the connection/);
    clinic.drop('export.csv', threeVisits());
    await clinic.once(75);
    expect(await service.ledger()).toEqual([]);
  });

  test('without our certificate or the authority, there is no connection', async () => {
    const service = await startService();
    const port = await startHttps(passOn(service.url));
    const base_url = `https://localhost:${port}`;
    const bare = makeClinic({ base_url });
    expect((await bare.run('check')).stdout).toMatch(/!! service: .*certificate was not accepted/);
    const { authorities_file } = tls;
    const nameless = makeClinic({ base_url, config: { service: { tls: { authorities_file } } } });
    expect((await nameless.run('check')).stdout).toMatch(/!! service:/);
    const known = makeClinic({ base_url, config: { service: { tls } } });
    expect((await known.run('check')).stdout).toMatch(/ok service:/);
  });

  test('a certificate that cannot be read is reported with what to do', async () => {
    const tls_of_nobody = { authorities_file: './nowhere.pem' };
    const clinic = makeClinic({
      base_url: 'https://server.test',
      config: { service: { tls: tls_of_nobody } },
    });
    const { stdout } = await clinic.run('check');
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(/nowhere\.pem cannot be read \(ENOENT\)/);
  });
});

test('eligd reaches the FHIR server through its own proxy and certificate', async () => {
  const service = await startService();
  const port = await startHttps((request, reply) => {
    const body = request.url?.endsWith('/metadata')
      ? { resourceType: 'CapabilityStatement', fhirVersion: '4.0.1', rest: [] }
      : { resourceType: 'Bundle', type: 'searchset', entry: [] };
    reply.writeHead(200, { 'content-type': 'application/fhir+json' }).end(JSON.stringify(body));
  });
  const proxy = await startProxy(LOGIN);
  const ehr = {
    id: 'ehr',
    type: 'fhir',
    base_url: `https://server.test:${port}/fhir`,
    auth: 'bearer',
    proxy: proxy.url,
    tls,
  };
  const secrets = { ...OAUTH_SECRETS, ELIGD_EHR_TOKEN: 'token-of-the-ehr' };
  const config = { connectors: [ehr], service: { external_id: '{connector}:{appointment}' } };
  const wrong = makeClinic({ base_url: service.url, config, secrets });
  expect((await wrong.run('check')).stdout.replaceAll(/\s+/g, ' ')).toMatch(
    /!! connector ehr: The proxy 127\.0\.0\.1:\d+ requires a login \(407\).*ELIGD_EHR_PROXY_U/,
  );
  const clinic = makeClinic({
    base_url: service.url,
    config,
    secrets: {
      ...secrets,
      ELIGD_EHR_PROXY_USERNAME: 'clinic',
      ELIGD_EHR_PROXY_PASSWORD: PASSWORD,
    },
  });
  expect((await clinic.run('check')).stdout).toMatch(
    /ok connector ehr: Appointments can be searched/,
  );
  expect(new Set(proxy.tunnels)).toEqual(new Set([`server.test:${port}`]));
});

test('eligd reaches the HL7 receiver through a proxy, with our certificate', async () => {
  const service = await startService();
  const port = await startTls(() => {});
  const proxy = await startProxy(LOGIN);
  const interfaced = {
    id: 'interface',
    type: 'hl7',
    folder: './hl7',
    send_to: `server.test:${port}`,
    send_tls: tls,
    send_proxy: proxy.url,
  };
  const clinic = makeClinic({
    base_url: service.url,
    config: { connectors: [interfaced] },
    secrets: { ...OAUTH_SECRETS, ...PROXY_SECRETS },
  });
  expect((await clinic.run('check')).stdout.replaceAll(/\s+/g, ' ')).toMatch(
    /ok connector interface: The receiver of answers at server\.test:\d+ accepts connections/,
  );
  expect(proxy.tunnels).toEqual([`server.test:${port}`]);
});

test('alerts use their own proxies', async () => {
  const service = await startService();
  const posts: string[] = [];
  const port = await startHttps((request, reply) => {
    posts.push(`${request.method} ${request.url}`);
    reply.writeHead(204).end();
  });
  const proxy = await startProxy(LOGIN);
  const pager = { id: 'pager', type: 'webhook', url: `https://server.test:${port}/eligd` };
  const mail = {
    id: 'mail',
    type: 'email',
    to: ['it@clinic.example'],
    from: 'eligd@clinic.example',
    host: 'mail.test',
    proxy: `http://127.0.0.1:${await closedPort()}`,
  };
  const clinic = makeClinic({
    base_url: service.url,
    config: { alerts: { targets: [{ ...pager, proxy: proxy.url, tls }, mail] } },
    secrets: {
      ...OAUTH_SECRETS,
      ELIGD_ALERT_PAGER_PROXY_USERNAME: 'clinic',
      ELIGD_ALERT_PAGER_PROXY_PASSWORD: PASSWORD,
    },
  });
  const { stdout } = await clinic.run('alert', 'test');
  expect(posts).toEqual(['POST /eligd']);
  expect(proxy.tunnels).toEqual([`server.test:${port}`]);
  expect(stdout).toMatch(/"mail" \(email\)\. The proxy 127\.0\.0\.1:\d+ cannot be reached/);
});

test('eligd reaches the office page’s login provider through its own proxy', async () => {
  const provider = await startLoginProvider();
  const proxy = await startProxy(LOGIN);
  const office = await startOffice({
    office: {
      public_url: 'http://eligd.clinic.example',
      single_sign_on: { issuer: provider.issuer, client_id: 'eligd-office', proxy: proxy.url },
    },
    secrets: {
      ELIGD_OFFICE_CLIENT_SECRET: 'between-us',
      ELIGD_OFFICE_PROXY_USERNAME: 'clinic',
      ELIGD_OFFICE_PROXY_PASSWORD: PASSWORD,
    },
  });
  expect((await office.browser().get('/login/group')).status).toBe(303);
  expect(new Set(proxy.tunnels)).toEqual(new Set([new URL(provider.issuer).host]));
});
