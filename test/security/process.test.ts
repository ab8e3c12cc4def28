/** What an eligd process takes from its environment and passes on. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ownCacheFolder } from '../../src/ops/compile-cache.ts';
import { run } from '../cli/capture.ts';
import { startEligd } from '../support/process.ts';
import { configText, ELIGD, makeFolder, ROOT } from './users.ts';

const SECRETS = { ELIGD_SERVICE_USERNAME: 'clinic', ELIGD_SERVICE_PASSWORD: 'hunter2' };
const TLS = join(ROOT, 'test/fixtures/tls');

/** Runs `bin/eligd` to its end without blocking this process, which may be its server. */
async function eligd(args: string[], environment: Record<string, string>) {
  const child = spawn(ELIGD, args, {
    cwd: '/',
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (text: Buffer) => {
    said.stdout += text;
  });
  child.stderr.on('data', (text: Buffer) => {
    said.stderr += text;
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, ...said };
}

function installation(more: { connector?: string; service?: string; base_url?: string } = {}) {
  const folder = makeFolder();
  const connector = more.connector ?? 'id: front-desk, type: csv, folder: ./dropbox';
  const text = configText(connector, more.service);
  const file = join(folder, 'eligd.yaml');
  writeFileSync(file, text.replace('https://127.0.0.1:1', more.base_url ?? 'https://127.0.0.1:1'));
  return { folder, file };
}

/** An attacker in between: a server whose certificate no authority signed. Counts its requests. */
async function startImpostor() {
  let requests = 0;
  const server = createServer(
    {
      cert: readFileSync(join(TLS, 'server.pem')),
      key: readFileSync(join(TLS, 'server-key.pem')),
    },
    (_, response) => {
      requests += 1;
      response.writeHead(401).end('{}');
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { base_url: `https://127.0.0.1:${port}`, requests: () => requests };
}

describe('NODE_TLS_REJECT_UNAUTHORIZED=0', () => {
  const environment = { ...SECRETS, NODE_TLS_REJECT_UNAUTHORIZED: '0' };

  test('NODE_TLS_REJECT_UNAUTHORIZED=0 alone does not turn off certificate checks', async () => {
    const impostor = await startImpostor();
    const { file } = installation({ base_url: impostor.base_url });
    const { stdout, stderr } = await eligd(['check', '--config', file], environment);
    expect(impostor.requests()).toBe(0);
    expect(stdout).toContain('its certificate was not accepted');
    expect(stderr).toContain('NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored');
  });

  test('NODE_TLS_REJECT_UNAUTHORIZED=0 works with allow_insecure, and eligd warns', async () => {
    const impostor = await startImpostor();
    const { file } = installation({
      base_url: impostor.base_url,
      service: ', allow_insecure: true',
    });
    const { stdout, stderr } = await eligd(['check', '--config', file], environment);
    expect(impostor.requests()).toBeGreaterThan(0);
    expect(stderr).toContain('WARNING: certificates are NOT checked');
    expect(stdout).toContain('Certificates are NOT checked');
    // The configured switch alone changes nothing.
    const before = impostor.requests();
    await eligd(['check', '--config', file], SECRETS);
    expect(impostor.requests()).toBe(before);
  });

  test('a reload without allow_insecure turns certificate checks on again', async () => {
    const impostor = await startImpostor();
    const { file } = installation({
      base_url: impostor.base_url,
      service: ', allow_insecure: true',
    });
    const { child, ended } = startEligd(['run', '--config', file], environment);
    let log = '';
    child.stdout?.on('data', (text: Buffer) => {
      log += text;
    });
    await expect.poll(impostor.requests, { timeout: 30_000 }).toBeGreaterThan(0);
    writeFileSync(file, readFileSync(file, 'utf8').replace(', allow_insecure: true', ''));
    child.kill('SIGHUP');
    await expect.poll(() => log, { timeout: 30_000 }).toContain('reload_applied');
    const said = () => log.slice(log.indexOf('reload_applied'));
    await expect.poll(said, { timeout: 30_000 }).toContain('reconciliation_failed');
    // The impostor answers every request with 401.
    expect(said()).toMatch(/reconciliation_failed.*"http_status":null/);
    child.kill('SIGTERM');
    await ended;
  }, 60_000);
});

describe('NODE_EXTRA_CA_CERTS', () => {
  const use = async (prepare: (file: string) => void) => {
    const impostor = await startImpostor();
    const { folder, file } = installation({ base_url: impostor.base_url });
    const authority = join(folder, 'ca.pem');
    copyFileSync(join(TLS, 'ca.pem'), authority);
    prepare(authority);
    const environment = { ...SECRETS, NODE_EXTRA_CA_CERTS: authority };
    const said = await eligd(['check', '--config', file], environment);
    return { ...said, requests: impostor.requests(), authority };
  };

  test('eligd accepts a CA file that only its owner can change, without a warning', async () => {
    const { stderr, requests } = await use((file) => chmodSync(file, 0o644));
    expect(requests).toBeGreaterThan(0);
    expect(stderr).not.toContain('NODE_EXTRA_CA_CERTS');
  });

  test('eligd ignores a CA file that others can change, and warns with the remedy', async () => {
    const { stdout, stderr, requests, authority } = await use((file) => chmodSync(file, 0o666));
    expect(requests).toBe(0);
    expect(stdout).toContain('its certificate was not accepted');
    expect(stderr).toContain('NODE_EXTRA_CA_CERTS is ignored');
    expect(stderr).toContain(`run "chmod go-w ${authority}"`);
  });

  test.runIf(process.geteuid?.() === 0)('adds none of a file of another user', async () => {
    const { stderr, requests } = await use((file) => chownSync(file, 65_534, 65_534));
    expect(requests).toBe(0);
    expect(stderr).toContain('belongs to another user (user ID 65534)');
  });
});

test('a connector and its child processes find no secret in their environment', async () => {
  const { folder, file } = installation({ connector: 'id: own, type: ./own.mjs' });
  writeFileSync(
    join(folder, 'own.mjs'),
    `import { execFileSync } from 'node:child_process';
    export default {
      name: 'own',
      config: { safeParse: (data) => ({ success: true, data }) },
      create: () => ({ check: async () => [
        { ok: true, what: 'own: ' + JSON.stringify(process.env) },
        { ok: true, what: 'child: ' + execFileSync('env').toString() },
      ] }),
    };`,
  );
  const environment = { ...SECRETS, ELIGD_OWN_TOKEN: 'hunter2', CREDENTIALS_DIRECTORY: '' };
  const { stdout } = await eligd(['check', '--config', file], environment);
  expect(stdout).toContain('ELIGD_SERVICE_PASSWORD is set from the environment');
  expect(stdout).toMatch(/own: .*PATH/);
  expect(stdout).toMatch(/child: .*PATH/s);
  expect(stdout).not.toContain('hunter2');
});

test.each([
  ['bin/eligd', ELIGD, []],
  ['npm run', process.execPath, [join(ROOT, 'bin/with-node.mjs'), join(ROOT, 'src/main.ts')]],
])('SIGUSR1 opens no debugger: %s', async (_, program, first) => {
  const child = spawn(program, [...first, 'sandbox', '--port', '0'], {
    cwd: makeFolder(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stderr.on('data', (text: Buffer) => {
    said += text;
  });
  await once(child.stdout, 'data');
  const children = spawnSync('pgrep', ['-P', String(child.pid)], { encoding: 'utf8' }).stdout;
  const family = [child.pid ?? 0, ...children.trim().split('\n').filter(Boolean).map(Number)];
  for (const pid of family) process.kill(pid, 'SIGUSR1');
  await new Promise((resolve) => setTimeout(resolve, 500));
  const is_running = family.every((pid) => process.kill(pid, 0));
  for (const pid of family.reverse()) process.kill(pid, 'SIGTERM');
  await once(child, 'exit');
  expect(said).not.toContain('Debugger listening');
  expect(is_running).toBe(true);
});

test('root has no compile cache, and no one else can read another user’s', () => {
  const folder = ownCacheFolder(makeFolder());
  if (process.geteuid?.() === 0) expect(folder).toBeNull();
  else expect(folder).toContain('node_modules/.cache/compiled');
});

describe('the current folder', () => {
  test('root and the installed program ignore the current folder and say so', async () => {
    const { folder, file } = installation();
    const cwd = join(folder, 'work');
    spawnSync('mkdir', ['-p', join(cwd, 'config')]);
    spawnSync('cp', [file, join(cwd, 'config/eligd.yaml')]);
    const left_out = await run(['config', 'show'], { cwd, uses_local_config: false });
    expect(left_out).toMatchObject({ code: 78, stdout: '' });
    expect(left_out.stderr).toContain(`add --config ${join(cwd, 'config/eligd.yaml')}`);
    const taken = await run(['config', 'show'], { cwd, uses_local_config: true });
    expect(taken.code).toBe(0);
  });
});
