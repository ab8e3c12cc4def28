import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lockInstance } from '../../src/store/engine/instance-lock.ts';
import { openStore } from '../../src/store/engine/store.ts';
import { bench } from '../sandbox/harness.ts';
import { deadAddress, serve } from '../service/harness.ts';
import { type Installation, install } from './installation.ts';

type Line = { part: string; state: string; what: string; next: string | null };

/** A sandbox whose clock is the machine's, like that of `check`. */
async function sandboxUrl(behaviors = {}): Promise<string> {
  const { sandbox } = await bench({ now: () => Date.now(), behaviors });
  return sandbox.url;
}

async function makeDatabase({ database }: Installation): Promise<void> {
  await (await openStore(database)).close();
}

async function linesOf({ run }: Installation, environment: Record<string, string> = {}) {
  const { code, stdout, stderr } = await run(['check', '--json'], environment);
  const json = JSON.parse(stdout) as { ok: boolean; lines: Line[] };
  const of = (part: string) => json.lines.filter((line) => line.part === part);
  return { code, stderr, of, ...json };
}

function everyFile(folder: string): string[] {
  return readdirSync(folder, { recursive: true }).map(String).toSorted();
}

describe('eligd check', () => {
  test('check prints one line per check, versions first, and exits with 0', async () => {
    const installation = install(await sandboxUrl());
    await makeDatabase(installation);
    mkdirSync(join(installation.folder, 'dropbox'), { mode: 0o700 });
    const { code, stdout, stderr } = await installation.run(['check']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [first, ...lines] = stdout.trimEnd().split('\n');
    expect(first).toMatch(/^eligd \d+\.\d+\.\d+, Node 24\.\d+\.\d+, \w+-\w+$/);
    for (const line of lines) expect(line).toMatch(/^ok [\w -]+: .+\.$/);
    const parts = [
      'configuration',
      'payer map',
      'secrets',
      'database',
      'daemon',
      'disk',
      'service',
      'clock',
      'connector front-desk',
    ];
    for (const part of parts) expect(stdout).toContain(`\nok ${part}: `);
  });

  test('check changes nothing before the first start, and says what will be created', async () => {
    const installation = install(await sandboxUrl());
    const { code, of } = await linesOf(installation);
    expect(code).toBe(0);
    expect(of('database')[0]!.what).toContain('does not exist yet; the first start creates it');
    expect(everyFile(installation.folder)).toEqual(['eligd.yaml']);
  });

  test('check prints the same as JSON', async () => {
    const { ok, lines } = await linesOf(install(await sandboxUrl(), 'basic'));
    expect(ok).toBe(true);
    expect(lines).toContainEqual({
      part: 'service',
      state: 'ok',
      what: expect.stringContaining('accepts the credentials (basic)'),
      next: null,
    });
  });

  test('check counts its requests against the daemon’s rate limit', async () => {
    const installation = install(await sandboxUrl());
    await makeDatabase(installation);
    await linesOf(installation);
    const store = await openStore(installation.database);
    // The login, the subscription (there is none), and the list, which shows that the address is
    // correct.
    expect(await store.db.selectFrom('rate_slots').selectAll().execute()).toHaveLength(3);
    await store.close();
  });

  test('check shows notes on the configuration, and does not count them as errors', async () => {
    const webhook =
      'webhook: { listen: "0.0.0.0:8686", public_url: "https://clinic.example/webhooks" }\n';
    const { code, of } = await linesOf(install(await sandboxUrl(), 'oauth', webhook), {
      ELIGD_WEBHOOK_SECRET: 'x',
    });
    expect(code).toBe(0);
    expect(of('note')).toMatchObject([{ state: 'ok', what: expect.stringContaining('webhook') }]);
  });

  test('check reports everything that is wrong at once, each with its remedy', async () => {
    const installation = install(
      await deadAddress(),
      'oauth',
      'policy: { payers: ./payers.csv }\n',
    );
    writeFileSync(join(installation.folder, 'payers.csv'), 'pms_nam\nX\n');
    mkdirSync(join(installation.folder, 'dropbox/rejected'), { recursive: true, mode: 0o700 });
    mkdirSync(join(installation.folder, 'dropbox/inbox'), { recursive: true, mode: 0o700 });
    writeFileSync(join(installation.folder, 'dropbox/rejected/a.csv'), '');
    const { code, stdout, stderr } = await installation.run(['check']);
    expect(code).toBe(78);
    for (const part of ['payer map', 'service', 'connector front-desk'])
      expect(stdout).toMatch(new RegExp(`^!! ${part}: `, 'm'));
    expect(stdout).toMatch(/^→ Fix the file/m);
    expect(stdout).toContain('1 file in rejected/. → Read the .reasons.csv next to each');
    expect(stdout).toMatch(/^-- clock: Not compared/m);
    expect(stderr).toMatch(/^eligd: The check found 3 problems\.\n/);
  });
});

describe('the exit code of eligd check', () => {
  test('check exits with 78 for a bad configuration, and shows all errors', async () => {
    const installation = install('http://127.0.0.1:1');
    writeFileSync(installation.file, 'clinic: { nmae: x }\n');
    const { code, stdout } = await installation.run(['check']);
    expect(code).toBe(78);
    expect(stdout).toMatch(/^!! configuration: The configuration .* has \d+ errors\.$/m);
    expect(stdout).toContain('- line 1, clinic.nmae: is not a known key.');
    expect(stdout).toMatch(/^-- the rest: Not checked/m);
  });

  test('check exits with 78 for a missing secret, and does not contact the service', async () => {
    const { base_url, seen } = await serve(() => ({ json: {} }));
    const { code, of } = await linesOf(install(base_url), { ELIGD_SERVICE_PASSWORD: '' });
    expect(code).toBe(78);
    expect(of('secrets')).toMatchObject([
      { state: 'failed', what: expect.stringContaining('ELIGD_SERVICE_PASSWORD') },
    ]);
    expect(of('service')).toMatchObject([{ state: 'skipped' }]);
    expect(of('disk')).toHaveLength(1);
    expect(seen).toEqual([]);
  });

  test('check exits with 78 if any user can change the configuration', async () => {
    const installation = install('http://127.0.0.1:9');
    chmodSync(installation.file, 0o646);
    const { code, stdout } = await installation.run(['check']);
    expect({ code, stdout }).toEqual({
      code: 78,
      stdout: expect.stringContaining(`Run "chmod go-w ${installation.file}"`),
    });
  });

  test('check exits with 78 if other users can read .env', async () => {
    const installation = install('http://127.0.0.1:1');
    writeFileSync(join(installation.folder, '.env'), 'ELIGD_SERVICE_PASSWORD=x\n', { mode: 0o644 });
    const { code, of } = await linesOf(installation);
    expect(code).toBe(78);
    expect(of('secrets')[0]!.next).toContain('chmod 600');
  });

  test.each([
    ['oauth', '401'],
    ['oauth', '403'],
    ['basic', '401'],
    ['basic', '403'],
  ] as const)(
    'check exits with 78 if the service rejects the credentials of %s with %s',
    async (auth, auth_error) => {
      const wrong = { ELIGD_SERVICE_PASSWORD: 'hunter2', ELIGD_SERVICE_API_KEY: 'hunter2' };
      const { code, of, lines } = await linesOf(
        install(await sandboxUrl({ auth_error }), auth),
        wrong,
      );
      expect(code).toBe(78);
      expect(of('service')[0]!.next).toContain(
        auth === 'oauth' ? 'ELIGD_SERVICE_PASSWORD' : 'ELIGD_SERVICE_API_KEY',
      );
      expect(JSON.stringify(lines)).not.toContain('hunter2');
    },
  );

  test('check exits with 78 if another program answers at the address', async () => {
    const { base_url } = await serve(
      () => ({ status: 404, text: '<html>', headers: { 'content-type': 'text/html' } }),
      null,
    );
    const { code, of } = await linesOf(install(base_url, 'basic'));
    expect(code).toBe(78);
    expect(of('service')[0]!.next).toContain('service.base_url');
  });

  test.each([
    ['away', deadAddress],
    ['in trouble', async () => (await serve(() => ({ status: 503, json: {} }))).base_url],
  ])('check exits with 75 if only the service is %s', async (_, address) => {
    const { code, of } = await linesOf(install(await address()));
    expect(code).toBe(75);
    expect(of('service')).toMatchObject([
      { state: 'failed', next: expect.stringContaining('again') },
    ]);
  });

  test('check exits with 1 if the clocks differ by more than ten minutes', async () => {
    const { code, of } = await linesOf(install(await sandboxUrl({ date_skew_seconds: 660 })));
    expect(code).toBe(1);
    expect(of('clock')[0]!.what).toContain('is 11 minutes behind the service’s');
    expect(of('service')[0]!.state).toBe('ok');
    const close = await linesOf(install(await sandboxUrl({ date_skew_seconds: -590 })));
    expect(close.code).toBe(0);
  });

  test('check exits with 1 if a connector reports an error', async () => {
    const installation = install(await sandboxUrl());
    writeFileSync(join(installation.folder, 'dropbox'), 'a file');
    const { code, of } = await linesOf(installation);
    expect(code).toBe(1);
    expect(of('connector front-desk')).toMatchObject([
      { state: 'failed', next: expect.stringContaining('folder') },
    ]);
  });
});

describe('a connector outside the tree', () => {
  const withConnector = async (check: string) => {
    const installation = install(await sandboxUrl());
    const source = `export default {
      name: 'own',
      config: { safeParse: (data) => ({ success: true, data }) },
      create: () => ({ deliver: async () => [], check: async () => { ${check} } }) };`;
    writeFileSync(join(installation.folder, 'own.mjs'), source);
    const text = readFileSync(installation.file, 'utf8');
    writeFileSync(
      installation.file,
      text
        .replace('connectors: [', 'connectors: [{ id: own, type: ./own.mjs }, ')
        .replace('auth: oauth', 'auth: oauth, external_id: "{connector}:{appointment}"'),
    );
    return installation;
  };

  test('a connector that throws stops no other, and its text is not shown (G7, G6)', async () => {
    const installation = await withConnector("throw new TypeError('Jane Roe');");
    const { code, of, lines } = await linesOf(installation);
    expect(code).toBe(1);
    expect(of('connector own')).toMatchObject([
      { state: 'failed', what: 'The check itself failed (TypeError).' },
    ]);
    expect(of('connector front-desk')[0]!.state).toBe('ok');
    expect(JSON.stringify(lines)).not.toContain('Jane');
  });
});

describe('the database of eligd check', () => {
  test('check reads the database while a daemon uses it', async () => {
    const installation = install(await sandboxUrl());
    await makeDatabase(installation);
    const lock = lockInstance(installation.database);
    const { code, of } = await linesOf(installation);
    lock.release();
    expect(code).toBe(0);
    expect(of('daemon')[0]!.what).toMatch(/^Unknown whether eligd is running/);
    expect((await linesOf(installation)).of('daemon')[0]!.what).toBe(
      'The daemon has not run on this database yet.',
    );
  });

  test('check reports a damaged database, and still contacts the service', async () => {
    const installation = install(await sandboxUrl());
    mkdirSync(dirname(installation.database));
    writeFileSync(
      installation.database,
      'no database at all, but long enough to be read as one'.repeat(20),
      { mode: 0o600 },
    );
    const { code, of } = await linesOf(installation);
    expect(code).toBe(78);
    expect(of('database')[0]!).toMatchObject({
      state: 'failed',
      next: expect.stringContaining('state.path'),
    });
    expect(of('service')[0]!.state).toBe('ok');
    expect(existsSync(`${installation.database}-wal`)).toBe(false);
  });

  test('check reports a database that any user can read', async () => {
    const installation = install(await sandboxUrl());
    await makeDatabase(installation);
    chmodSync(installation.database, 0o644);
    const { code, of } = await linesOf(installation);
    expect(code).toBe(78);
    expect(of('database')[0]!.next).toContain('chmod 600');
  });

  test('check suggests a new folder if others use the folder, which stays unchanged', async () => {
    const installation = install(await sandboxUrl());
    mkdirSync(dirname(installation.database));
    chmodSync(dirname(installation.database), 0o755);
    const { code, of } = await linesOf(installation);
    expect(code).toBe(78);
    const place = join(dirname(installation.database), 'eligd/eligd.db');
    expect(of('database')[0]!.next).toContain(`set state.path: ${place}.`);
    expect(of('daemon').map(({ state, what }) => `${state}: ${what}`)).toEqual([
      'skipped: Not checked, because it depends on the database.',
    ]);
    expect((await installation.run(['once'])).code).toBe(78);
    expect(everyFile(dirname(installation.database))).toEqual([]);
    // The remedy as printed.
    const text = readFileSync(installation.file, 'utf8');
    writeFileSync(installation.file, text.replace('./state/eligd.db', place));
    expect((await installation.run(['once'])).code).toBe(0);
    expect((await linesOf(installation)).of('database')[0]!.state).toBe('ok');
  }, 60_000);

  test('check suggests no folder that the system empties', async () => {
    const installation = install(await sandboxUrl());
    const text = readFileSync(installation.file, 'utf8');
    writeFileSync(installation.file, text.replace('./state/eligd.db', '/tmp/eligd-of-a-test.db'));
    const { of } = await linesOf(installation);
    expect(of('database')[0]!.next).toContain('set state.path: ./state/eligd-of-a-test.db.');
    expect(existsSync('/tmp/eligd-of-a-test.db.lock')).toBe(false);
  });

  test('check reports a database whose folder cannot be created', async () => {
    const installation = install(await sandboxUrl());
    writeFileSync(join(installation.folder, 'state'), 'a file');
    const { code, of } = await linesOf(installation);
    expect(code).toBe(78);
    expect(of('database')[0]!.state).toBe('failed');
  });
});
