import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, exportPKCS8, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { batchOf } from '../../../connectors/conformance/examples.ts';
import { fhirConfigSchema } from '../../../connectors/fhir/config.ts';
import fhir from '../../../connectors/fhir/index.ts';
import { run } from '../../cli/capture.ts';
import type { SmartOptions } from '../../support/fhir/smart.ts';
import { setMachineClock } from '../../support/machine-clock.ts';
import { appointment, type Bench, bench, failOnce, read } from './bench.ts';

/** The clock of `bench`, which the token endpoint must agree with. */
const SUITE_MS = Date.parse('2026-11-23T15:00:00Z');

let folder: string;
const jwks = new Map<string, SmartOptions['jwks']>();
const keyFile = (algorithm: string) => join(folder, `${algorithm}.pem`);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eligd-login-'));
  for (const algorithm of ['ES384', 'RS384']) {
    const { stdout } = await run([
      'fhir',
      'keygen',
      '--key',
      keyFile(algorithm),
      '--algorithm',
      algorithm,
    ]);
    jwks.set(algorithm, JSON.parse(stdout));
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

/** One visit behind a login; returns the bench and the data that was read. */
async function behind(
  smart: Partial<SmartOptions>,
  config: Record<string, unknown>,
  secrets: Record<string, string> = {},
): Promise<Bench> {
  setMachineClock(SUITE_MS);
  const world = await bench(
    { smart: { client_id: 'eligd', ...smart } },
    { client_id: 'eligd', ...config },
    secrets,
  );
  await world.offer(appointment(1));
  return world;
}

const smartConfig = (algorithm = 'ES384') => ({
  auth: 'private_key_jwt',
  key_file: keyFile(algorithm),
});

describe('SMART Backend Services', () => {
  test.each(['ES384', 'RS384'])(
    'eligd logs in with a key from keygen, signed with %s',
    async (algorithm) => {
      const { pull } = await behind(
        { jwks: jwks.get(algorithm) ?? { keys: [] } },
        smartConfig(algorithm),
      );
      expect(read(await pull()).size).toBe(1);
    },
  );

  test('eligd takes the key from a secret, as PEM or as JWK', async () => {
    const pair = await generateKeyPair('ES384', { extractable: true });
    const kid = 'registered-as-this';
    const public_key = { ...(await exportJWK(pair.publicKey)), kid, alg: 'ES384' };
    const private_jwk = JSON.stringify({ ...(await exportJWK(pair.privateKey)), kid });
    for (const [private_key, config] of [
      [private_jwk, {}],
      [await exportPKCS8(pair.privateKey), { key_id: kid }],
    ] as const) {
      const { pull } = await behind(
        { jwks: { keys: [public_key] } },
        { auth: 'private_key_jwt', ...config },
        { private_key },
      );
      expect(read(await pull()).size).toBe(1);
    }
  });

  test('eligd requests scopes of SMART v2, else v1, else the configured ones', async () => {
    const scopes = async (smart: Partial<SmartOptions>, config: object = {}) => {
      const { pull, peer } = await behind(
        { jwks: jwks.get('ES384') ?? { keys: [] }, ...smart },
        { ...smartConfig(), ...config },
      );
      await pull();
      return peer.smart?.granted ?? [];
    };
    expect((await scopes({}))[0]).toContain('system/Appointment.rs system/Patient.rs');
    expect((await scopes({ versions: ['v1'] }))[0]).toContain('system/Task.read system/Task.write');
    expect(await scopes({}, { scopes: ['system/Appointment.read'] })).toEqual([
      'system/Appointment.read',
    ]);
  });

  test('eligd requests version 1 scopes when the server refuses version 2', async () => {
    const { pull, peer } = await behind(
      { jwks: jwks.get('ES384') ?? { keys: [] }, versions: ['v1'] },
      smartConfig(),
    );
    peer.alter = ({ path }, body) =>
      path.endsWith('smart-configuration') ? { token_endpoint: body.token_endpoint } : body;
    expect(read(await pull()).size).toBe(1);
  });

  test('eligd finds the token endpoint in the CapabilityStatement or configuration', async () => {
    const uris = (token: string) => ({
      url: 'http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris',
      extension: [{ url: 'token', valueUri: token }],
    });
    const { pull, peer } = await behind({ jwks: jwks.get('ES384') ?? { keys: [] } }, smartConfig());
    peer.alter = ({ path }, body) => {
      if (path.endsWith('smart-configuration')) return { issuer: 'none' };
      const security = { extension: [uris(`${peer.url}/token`)] };
      return path === '/metadata' ? { ...body, rest: [{ ...body.rest[0], security }] } : body;
    };
    expect(read(await pull()).size).toBe(1);
    peer.alter = ({ path }, body) => (path.endsWith('smart-configuration') ? {} : body);
    const lost = await bench(
      { smart: { client_id: 'eligd' } },
      { client_id: 'eligd', ...smartConfig() },
    );
    lost.peer.alter = peer.alter;
    await expect(lost.pull()).rejects.toMatchObject({
      failure: 'permanent',
      next: expect.stringContaining('token_url'),
    });
  });

  test('a configured token endpoint needs no discovery', async () => {
    const world = await behind({ jwks: jwks.get('ES384') ?? { keys: [] } }, smartConfig());
    world.peer.fault = ({ path }) =>
      path.endsWith('smart-configuration')
        ? { when: 'before', action: 'status', status: 500 }
        : null;
    await expect(world.pull()).rejects.toMatchObject({ failure: 'transient' });
    const config = {
      ...smartConfig(),
      base_url: world.peer.url,
      client_id: 'eligd',
      token_url: `${world.peer.url}/token`,
    };
    const told = fhir.create(fhirConfigSchema.parse(config), world.env);
    expect((await told.check(new AbortController().signal))[0]).toMatchObject({ ok: true });
    await told.close?.();
  });

  test('a login continues for the others when the one who began it stops', async () => {
    const { peer, connector } = await behind(
      { jwks: jwks.get('ES384') ?? { keys: [] } },
      smartConfig(),
    );
    const stopping = new AbortController();
    peer.fault = ({ path }) => {
      if (path === '/token') stopping.abort();
      return null;
    };
    const first = connector.check(stopping.signal);
    const second = connector.check(new AbortController().signal);
    await expect(first).rejects.toMatchObject({ name: 'AbortError' });
    expect((await second)[0]).toMatchObject({ ok: true });
  });

  test('a login that fails temporarily leaves no doubt about a write', async () => {
    const { peer, connector } = await behind(
      { jwks: jwks.get('ES384') ?? { keys: [] } },
      {
        ...smartConfig(),
        write_back: 'document',
      },
    );
    peer.options.conditional_create = false;
    peer.options.refuse_search = ['DocumentReference.identifier'];
    await connector.check(new AbortController().signal);
    let is_over = false;
    peer.fault = ({ method, path }) => {
      if (path === '/DocumentReference' && method === 'POST' && !is_over) peer.smart?.revokeAll();
      if (path !== '/token' || is_over) return null;
      is_over = true;
      return { when: 'before', action: 'reset' };
    };
    expect(await connector.deliver(batchOf(1, [1]), new AbortController().signal)).toMatchObject([
      { outcome: 'delivered' },
    ]);
    expect(await peer.all('DocumentReference')).toHaveLength(1);
    expect(await peer.all('Communication')).toHaveLength(0);
  });

  test.each(
    ['/token', '/.well-known/smart-configuration'].flatMap((path) =>
      (['html', 'truncate', 'reset'] as const).map((action) => [path, action] as const),
    ),
  )('a login that meets at %s a proxy’s own answer (%s) is repeated', async (path, action) => {
    const { peer, pull, offer } = await behind(
      { jwks: jwks.get('ES384') ?? { keys: [] } },
      smartConfig(),
    );
    await offer(appointment(1));
    failOnce(peer, { when: 'before', action }, (request) => request.path === path);
    expect(read(await pull()).size).toBeGreaterThan(0);
  });

  test('eligd sends nothing to a token endpoint that others could listen to', async () => {
    const { pull, peer } = await behind({ jwks: jwks.get('ES384') ?? { keys: [] } }, smartConfig());
    peer.alter = ({ path }, body) =>
      path.endsWith('smart-configuration')
        ? { ...body, token_endpoint: 'http://ehr.example/token' }
        : body;
    await expect(pull()).rejects.toMatchObject({
      failure: 'permanent',
      message: expect.stringContaining('plain http'),
    });
  });

  test('eligd sends no secret to a host that only the discovery document names', async () => {
    const thief = createServer((request, response) => {
      stolen.push(String(request.headers.authorization));
      response.end('{}');
    });
    const stolen: string[] = [];
    await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void thief.close());
    const { port } = thief.address() as AddressInfo;
    const { pull, peer } = await behind(
      {},
      { auth: 'client_secret' },
      { client_secret: 'of the clinic' },
    );
    const token_endpoint = `http://127.0.0.1:${port}/token`;
    peer.alter = ({ path }, body) =>
      path.endsWith('smart-configuration') ? { ...body, token_endpoint } : body;
    await expect(pull()).rejects.toMatchObject({
      failure: 'permanent',
      message: expect.stringContaining(`another host (127.0.0.1:${port})`),
      next: expect.stringContaining('token_url:'),
    });
    expect(stolen).toEqual([]);
  });

  test('eligd renews a token that ends between two pages once for all requests', async () => {
    const { pull, peer, offer } = await behind(
      { jwks: jwks.get('ES384') ?? { keys: [] } },
      smartConfig(),
    );
    await offer(...Array.from({ length: 120 }, (_, index) => appointment(index)));
    let count = 0;
    peer.fault = ({ query }) => {
      if (query.includes('_getpages') && count++ === 0) peer.smart?.revokeAll();
      return null;
    };
    expect(read(await pull()).size).toBe(120);
    expect(peer.smart?.granted).toHaveLength(2);
  });

  test('eligd renews a token before it expires', async () => {
    const { pull, peer, pass } = await behind(
      { jwks: jwks.get('ES384') ?? { keys: [] }, expires_in: 60 },
      smartConfig(),
    );
    await pull();
    await pull();
    expect(peer.smart?.granted).toHaveLength(1);
    await pass(31_000);
    await pull();
    expect(peer.smart?.granted).toHaveLength(2);
  });

  test('eligd says that the key is not the registered one, without the key', async () => {
    const { pull, said } = await behind(
      { jwks: jwks.get('RS384') ?? { keys: [] } },
      smartConfig('ES384'),
    );
    const error = await pull().catch((thrown: Error) => thrown);
    expect(error).toMatchObject({
      failure: 'permanent',
      message: expect.stringContaining('invalid_client'),
    });
    const secret = readFileSync(keyFile('ES384'), 'utf8').split('\n')[1] ?? '';
    expect(String(error) + said()).not.toContain(secret);
  });

  test.each([
    ['missing.pem', 'ENOENT'],
    ['broken.pem', 'neither an RSA key'],
  ])('eligd says that the key file %s cannot be used', async (name, told) => {
    writeFileSync(
      join(folder, 'broken.pem'),
      '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n',
    );
    const { pull } = await behind({}, { auth: 'private_key_jwt', key_file: join(folder, name) });
    await expect(pull()).rejects.toMatchObject({
      failure: 'permanent',
      message: expect.stringContaining(told),
    });
  });
});

describe('the other ways to log in', () => {
  test('eligd logs in with auth: client_secret', async () => {
    const { pull } = await behind(
      { client_secret: 's3cret' },
      { auth: 'client_secret' },
      { client_secret: 's3cret' },
    );
    expect(read(await pull()).size).toBe(1);
  });

  test.each([
    [
      'basic',
      { username: 'clinic', password: 'pass' },
      `Basic ${Buffer.from('clinic:pass').toString('base64')}`,
    ],
    ['bearer', { token: 'abc' }, 'Bearer abc'],
  ])('eligd logs in with auth: %s', async (auth, secrets, authorization) => {
    const { pull, offer } = await bench(
      { authorization },
      { auth },
      secrets as Record<string, string>,
    );
    await offer(appointment(1));
    expect(read(await pull()).size).toBe(1);
  });

  test('a rejected token needs you, and eligd does not retry it forever', async () => {
    const { pull, peer } = await bench(
      { authorization: 'Bearer right' },
      { auth: 'bearer' },
      { token: 'wrong' },
    );
    await expect(pull()).rejects.toMatchObject({
      failure: 'permanent',
      message: expect.stringContaining('401'),
    });
    expect(peer.requests.filter(({ path }) => path === '/Appointment').length).toBeLessThanOrEqual(
      1,
    );
  });

  test.each([
    ['bearer', 'ELIGD_SUITE_TOKEN'],
    ['basic', 'ELIGD_SUITE_USERNAME'],
  ])('%s names the missing secret', async (auth, name) => {
    const { pull } = await bench({}, { auth });
    await expect(pull()).rejects.toMatchObject({
      failure: 'permanent',
      message: expect.stringContaining(name),
    });
  });
});

describe('a configuration', () => {
  const faults = (config: object) =>
    fhirConfigSchema.safeParse(config).error?.issues.map(({ path }) => path.join('.'));

  test.each([
    [
      'that logs in nowhere but on this machine',
      { base_url: 'https://ehr.example/fhir', auth: 'none' },
      ['auth'],
    ],
    [
      'with a query in the base address',
      { base_url: 'https://ehr.example/fhir?x=1', auth: 'basic' },
      ['base_url'],
    ],
    [
      'with an identifier_base that is no URI',
      { base_url: 'https://ehr.example/fhir', auth: 'basic', identifier_base: 'our clinic' },
      ['identifier_base'],
    ],
    [
      'with plain http to another machine',
      { base_url: 'http://ehr.example/fhir', auth: 'basic' },
      ['base_url'],
    ],
    [
      'with a token over plain http',
      {
        base_url: 'https://ehr.example/fhir',
        auth: 'client_secret',
        client_id: 'a',
        token_url: 'http://ehr.example/t',
      },
      ['token_url'],
    ],
    [
      'without the client id',
      { base_url: 'https://ehr.example/fhir', auth: 'private_key_jwt' },
      ['client_id'],
    ],
    ['with an invalid address', { base_url: 'ehr', auth: 'basic' }, ['base_url']],
  ])('the configuration %s is refused', (_, config, expected) => {
    expect(faults(config)).toEqual(expected);
  });

  test('the smallest configuration is accepted', () => {
    expect(faults({ base_url: 'http://[::1]:8080/fhir/', auth: 'none' })).toBe(undefined);
    expect(
      fhirConfigSchema.parse({ base_url: 'https://ehr.example/fhir/', auth: 'basic' }).base_url,
    ).toBe('https://ehr.example/fhir');
  });
});
