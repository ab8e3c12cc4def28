/** The page with its own TLS, and at a Unix socket behind a proxy, with real clients. */
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { hashPassword, UserFile } from '../../src/office/users.ts';
import { makeClinic } from '../support/clinic.ts';
import { freePort } from '../support/free-port.ts';
import { PASSWORD } from '../support/office.ts';
import { startService } from '../support/service.ts';

const TLS = join(import.meta.dirname, '../fixtures/tls');

type Reply = { status: number; headers: IncomingHttpHeaders; body: string };
type Ask = (path: string, form?: Record<string, string>, cookie?: string) => Promise<Reply>;

const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

/** `office`: that section of the configuration. */
async function startDaemon(office: object): Promise<void> {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config: { office } });
  const daemon = await clinic.daemon({}, { idle_ms: 50 });
  const hash = await hashPassword(PASSWORD);
  new UserFile(join(clinic.state, 'office-users')).write([
    { name: 'maria', role: 'operator', hash },
  ]);
  const stop = new AbortController();
  const ended = daemon.run(stop.signal);
  running.push(async () => {
    stop.abort();
    await ended;
    await daemon.close();
  });
}

/** `common`: headers of every request, which the test may change meanwhile. */
function asker(
  send: typeof requestHttp | typeof requestHttps,
  options: object,
  common: Record<string, string> = {},
): Ask {
  return (path, form, cookie) =>
    new Promise((resolve, reject) => {
      const headers = {
        ...common,
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...(cookie === undefined ? {} : { cookie }),
      };
      const method = form === undefined ? 'GET' : 'POST';
      const sent = send({ ...options, path, method, headers }, (response) => {
        const { statusCode: status = 0, headers: found } = response;
        text(response).then((body) => resolve({ status, headers: found, body }), reject);
      });
      sent.on('error', reject);
      sent.end(form === undefined ? '' : new URLSearchParams(form).toString());
    });
}

/** The head of an answer that never ends. */
function headersOf(
  path: string,
  { port, ca, cookie }: { port: number; ca: Buffer; cookie: string },
): Promise<IncomingHttpHeaders> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, ca, servername: 'localhost', path };
    const sent = requestHttps({ ...options, headers: { cookie } }, (response) => {
      resolve(response.headers);
      response.destroy();
    });
    sent.on('error', reject);
    sent.end();
  });
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-reach-'));
  running.push(async () => rmSync(folder, { recursive: true }));
  return folder;
}

async function untilAnswered(ask: Ask): Promise<Reply> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask('/login');
    } catch (error) {
      if (tries > 400) throw error;
      await sleep(25);
    }
  }
}

/** Logs in, and returns the cookie as a browser stores it. */
async function loggedIn(ask: Ask): Promise<string> {
  const { status, headers } = await ask('/login', { name: 'maria', password: PASSWORD });
  expect(status).toBe(303);
  return headers['set-cookie']?.[0] ?? '';
}

test('with its own certificate, other computers reach the page by TLS only', async () => {
  const port = await freePort();
  const folder = makeFolder();
  for (const name of ['server.pem', 'server-key.pem']) {
    copyFileSync(join(TLS, name), join(folder, name));
    chmodSync(join(folder, name), 0o600);
  }
  await startDaemon({
    listen: `0.0.0.0:${port}`,
    tls: { certificate: join(folder, 'server.pem'), key: join(folder, 'server-key.pem') },
  });
  const ca = readFileSync(join(TLS, 'ca.pem'));
  const ask = asker(requestHttps, { host: '127.0.0.1', port, ca, servername: 'localhost' });
  const { status, headers } = await untilAnswered(ask);
  expect(status).toBe(200);
  expect(headers['strict-transport-security']).toMatch(/max-age=\d{7,}/);
  const cookie = await loggedIn(ask);
  // Browsers keep a cookie with this prefix for this host and TLS only.
  expect(cookie).toMatch(/^__Host-eligd=[\w-]{43}; /);
  expect(cookie).toContain('; Secure');
  const page = await ask('/', undefined, cookie.split(';')[0]);
  expect(page.body).toContain('<title>Schedule · eligd</title>');
  const stream = await headersOf('/events', { port, ca, cookie: cookie.split(';')[0] ?? '' });
  expect(stream['content-type']).toBe('text/event-stream');
  expect(stream['strict-transport-security']).toMatch(/max-age=\d{7,}/);
  const plain = asker(requestHttp, { host: '127.0.0.1', port });
  await expect(plain('/login')).rejects.toThrow();
});

test('behind a proxy, it listens at a Unix socket that only its group can reach', async () => {
  const socketPath = join(makeFolder(), 'office.sock');
  await startDaemon({
    listen: `unix:${socketPath}`,
    public_url: 'https://eligd.clinic.example',
  });
  const passed = { host: 'eligd.clinic.example', origin: 'https://eligd.clinic.example' };
  const ask = asker(requestHttp, { socketPath }, passed);
  await untilAnswered(ask);
  expect(statSync(socketPath).mode & 0o007).toBe(0);
  const cookie = await loggedIn(ask);
  expect(cookie).toContain('; Secure');
  const page = await ask('/attention', undefined, cookie.split(';')[0]);
  expect(page.body).toContain('Needs you');
  // A form of another site is refused behind the proxy as well.
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
  passed.origin = 'https://evil.example';
  expect((await ask('/visit/1/done', { csrf }, cookie.split(';')[0])).status).toBe(403);
});
