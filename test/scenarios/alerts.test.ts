/** Alerts: one message when a problem begins, one reminder a day, and one message when it ends. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { type Clinic, makeClinic, type Overrides } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

const FILE_TARGET = { id: 'record', type: 'file', path: './alerts.jsonl' };

type Told = { kind: string; name: string; level: string; about: string | null; what: string };

function told(clinic: Clinic): Told[] {
  const file = join(clinic.folder, 'alerts.jsonl');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Told);
}

const toldOf = (clinic: Clinic) => told(clinic).map(({ kind, name }) => `${kind} ${name}`);

/** The output of `eligd status`, or its error, so that a failed test shows it. */
async function statusOf(clinic: Clinic): Promise<string> {
  const { stdout, stderr } = await clinic.run('status');
  return stdout + stderr;
}

async function running(clinic: Clinic, work: () => Promise<void>): Promise<void> {
  const daemon = await clinic.daemon({}, { idle_ms: 30 });
  const stop = new AbortController();
  const run = daemon.run(stop.signal);
  try {
    await work();
  } finally {
    stop.abort();
    await run;
    await daemon.close();
  }
}

function alerting(overrides: Overrides = {}): Overrides {
  const { alerts, ...rest } = overrides;
  return { alerts: { targets: [FILE_TARGET], ...(alerts as Overrides) }, ...rest };
}

const quickly = { timeout: 60_000 };

test('an unreachable share causes a message at its start, daily, and at its end', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: alerting({ schedule: { pull_seconds: 0.03 } }),
  });
  const dropbox = join(clinic.folder, 'dropbox');
  const away = join(clinic.folder, 'away');
  const begun = 'begin connector_cannot_read';
  await running(clinic, async () => {
    await expect.poll(() => statusOf(clinic), quickly).toMatch(/Calls: +yes/);
    renameSync(dropbox, away);
    writeFileSync(dropbox, 'no folder');
    await expect.poll(() => statusOf(clinic), quickly).toMatch(/Export: +no/);
    // A problem of a few minutes is normal.
    machine.pass({ minutes: 10 });
    await new Promise((done) => setTimeout(done, 300));
    expect(toldOf(clinic)).toEqual([]);
    machine.pass({ minutes: 10 });
    await expect.poll(() => toldOf(clinic), quickly).toEqual([begun]);
  });
  // A restart sends no second alert.
  await running(clinic, async () => {
    await new Promise((done) => setTimeout(done, 500));
    expect(toldOf(clinic)).toEqual([begun]);
    machine.pass({ hours: 25 });
    await expect.poll(() => toldOf(clinic), quickly).toContain('reminder connector_cannot_read');
    rmSync(dropbox);
    renameSync(away, dropbox);
    await expect.poll(() => statusOf(clinic), quickly).toMatch(/Export: +(unk|yes)/);
    await new Promise((done) => setTimeout(done, 300));
    machine.pass({ minutes: 11 });
    await expect.poll(() => toldOf(clinic), quickly).toContain('end connector_cannot_read');
  });
  const of = toldOf(clinic).filter((line) => line.endsWith('connector_cannot_read'));
  expect(of).toEqual([begun, 'reminder connector_cannot_read', 'end connector_cannot_read']);
  expect(told(clinic)[0]).toMatchObject({ level: 'urgent', about: 'front-desk' });
}, 120_000);

test('a wrong password raises one alert, and every output shows it', async () => {
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: alerting(),
    secrets: { ELIGD_SERVICE_USERNAME: 'clinic', ELIGD_SERVICE_PASSWORD: 'wrong' },
  });
  clinic.drop('export.csv', exportOf(visits(2)));
  await running(clinic, async () => {
    await expect.poll(() => toldOf(clinic), quickly).toEqual(['begin credentials_rejected']);
    const { stdout } = await clinic.run('status');
    expect(stdout).toMatch(/^Alert: +the calling service rejects our login, since/m);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    const page = JSON.parse((await clinic.run('status', '--json')).stdout) as { alerts: unknown[] };
    expect(page.alerts).toMatchObject([{ name: 'credentials_rejected', level: 'urgent' }]);
    const heartbeat = join(clinic.folder, 'dropbox/outbox/heartbeat.txt');
    await expect
      .poll(() => (existsSync(heartbeat) ? readFileSync(heartbeat, 'utf8') : ''), quickly)
      .toMatch(/^Alert: +the calling service rejects our login/m);
  });
  expect(toldOf(clinic)).toEqual(['begin credentials_rejected']);
});

/** An SMTP server that accepts everything (RFC 5321), and the messages that it received. */
async function startMailServer(): Promise<{ port: number; mails: string[] }> {
  const mails: string[] = [];
  const server = createServer((socket) => {
    let in_data = false;
    let text = '';
    const say = (line: string) => socket.write(`${line}\r\n`);
    say('220 mail.example');
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8');
      for (;;) {
        const end = in_data ? text.indexOf('\r\n.\r\n') : text.indexOf('\r\n');
        if (end < 0) return;
        const part = text.slice(0, end);
        text = text.slice(end + (in_data ? 5 : 2));
        if (in_data) {
          mails.push(part);
          in_data = false;
          say('250 taken');
        } else if (/^data/i.test(part)) {
          in_data = true;
          say('354 go on');
        } else if (/^quit/i.test(part)) socket.end('221 bye\r\n');
        else say(/^ehlo/i.test(part) ? '250 mail.example' : '250 ok');
      }
    });
    socket.on('error', () => {});
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, mails };
}

test('"alert test" sends to every kind of target and names the one that fails', async () => {
  const service = await startService();
  const mail = await startMailServer();
  const posts: { body: string; authorization: string | undefined }[] = [];
  const hook = createHttpServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      posts.push({ body, authorization: request.headers.authorization });
      response.writeHead(posts.length > 1 ? 503 : 204).end();
    });
  });
  await new Promise<void>((done) => hook.listen(0, '127.0.0.1', done));
  onTestFinished(() => void hook.close());
  const targets = [
    FILE_TARGET,
    {
      id: 'it-mail',
      type: 'email',
      to: ['it@clinic.example'],
      from: 'eligd@clinic.example',
      host: '127.0.0.1',
      port: mail.port,
      security: 'none',
    },
    {
      id: 'pager',
      type: 'webhook',
      url: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/alert`,
    },
    { id: 'screen', type: 'command', command: ['/bin/sh', '-c', 'cat > screen.txt'] },
  ];
  const clinic = makeClinic({
    base_url: service.url,
    config: { alerts: { targets } },
    secrets: {
      ELIGD_SERVICE_USERNAME: 'clinic',
      ELIGD_SERVICE_PASSWORD: 'sandbox',
      ELIGD_ALERT_PAGER_TOKEN: 'pager-token',
    },
  });
  const out = join(clinic.folder, 'screen.txt');
  const screen = { id: 'screen', type: 'command', command: ['/bin/sh', '-c', `cat > ${out}`] };
  const text = readFileSync(clinic.file, 'utf8').replace(
    'cat > screen.txt',
    screen.command[2] ?? '',
  );
  writeFileSync(clinic.file, text);
  const first = await clinic.run('alert', 'test');
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout.trim().split('\n').toSorted()).toEqual(
    ['it-mail', 'pager', 'record', 'screen'].map((id) => `ok ${id}: it accepted the test message.`),
  );
  expect(mail.mails[0]).toContain('Subject: eligd at Riverside Dental: this is a test');
  expect(posts[0]?.authorization).toBe('Bearer pager-token');
  expect(JSON.parse(posts[0]?.body ?? '')).toMatchObject({ schema: 'eligd.alert/1', kind: 'test' });
  expect(readFileSync(out, 'utf8')).toContain('Nothing is wrong.');
  const second = await clinic.run('alert', 'test', 'pager');
  expect(second.code).toBe(1);
  expect(second.stdout).toContain(
    '!! The alert could not be sent to "pager" (webhook). It answered 503.',
  );
});

test('a failing target does not delay the others, and they report it', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const broken = { id: 'screen', type: 'command', command: ['/nonexistent/show'] };
  const clinic = makeClinic({
    base_url: service.url,
    config: alerting({ alerts: { targets: [broken, FILE_TARGET] } }),
    secrets: { ELIGD_SERVICE_USERNAME: 'clinic', ELIGD_SERVICE_PASSWORD: 'wrong' },
  });
  await running(clinic, async () => {
    await expect.poll(() => toldOf(clinic), quickly).toEqual(['begin credentials_rejected']);
    for (let attempt = 0; attempt < 4; attempt += 1) {
      machine.pass({ minutes: 6 });
      await new Promise((done) => setTimeout(done, 300));
    }
    await expect.poll(() => toldOf(clinic), quickly).toContain('begin alert_unsent');
  });
  expect(told(clinic).find(({ name }) => name === 'alert_unsent')).toMatchObject({
    about: 'screen',
  });
}, 90_000);

test('an alert that is not urgent waits until the quiet hours end', async () => {
  // A Saturday, 22:00 in Chicago.
  const machine = setMachineClock(Date.parse('2030-01-13T04:00:00Z'));
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: alerting({
      alerts: { quiet_hours: { from: '18:00', to: '07:00', weekends: true } },
      policy: { calls_per_month: 0 },
    }),
  });
  await running(clinic, async () => {
    await expect.poll(() => statusOf(clinic), quickly).toMatch(/^Alert: +the budget for calls/m);
    machine.pass({ hours: 32 }); // Monday, 06:00
    await new Promise((done) => setTimeout(done, 300));
    expect(toldOf(clinic).filter((line) => line.includes('budget_low'))).toEqual([]);
    machine.pass({ minutes: 61 });
    await expect.poll(() => toldOf(clinic), quickly).toContain('begin budget_low');
  });
}, 90_000);

test('a daemon that cannot run raises one alert, which ends at the next good start', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config: alerting() });
  await running(clinic, async () => {
    await expect.poll(async () => (await clinic.run('status')).code, quickly).toBe(75);
  });
  // One failed start raises no alert, because systemd starts the daemon again.
  await clinic.run('alert', 'failed', '--status', '75');
  expect(toldOf(clinic)).toEqual([]);
  machine.pass({ minutes: 16 });
  await clinic.run('alert', 'failed', '--status', '75');
  await clinic.run('alert', 'failed', '--status', '78');
  expect(toldOf(clinic)).toEqual(['begin daemon_failed']);
  await running(clinic, async () => {
    await expect.poll(() => statusOf(clinic), quickly).toMatch(/^Alert: +eligd cannot run/m);
    machine.pass({ minutes: 11 });
    await expect.poll(() => toldOf(clinic), quickly).toContain('end daemon_failed');
  });
  expect(toldOf(clinic)).toEqual(['begin daemon_failed', 'end daemon_failed']);
}, 90_000);

test('a certificate that expires within 30 days raises an alert', async () => {
  // Two weeks before the end of test/fixtures/tls/server.pem.
  setMachineClock(Date.parse('2119-12-18T15:00:00Z'));
  const service = await startService();
  const tls = (name: string) => readFileSync(join(import.meta.dirname, '../fixtures/tls', name));
  const server = createTlsServer({ cert: tls('server.pem'), key: tls('server-key.pem') });
  server.on('tlsClientError', () => {});
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const clinic = makeClinic({
    base_url: service.url,
    config: alerting({
      webhook: { listen: '127.0.0.1:0', public_url: `https://127.0.0.1:${port}/hook` },
    }),
    secrets: {
      ELIGD_SERVICE_USERNAME: 'clinic',
      ELIGD_SERVICE_PASSWORD: 'sandbox',
      ELIGD_WEBHOOK_SECRET: 'a-secret-of-the-test',
    },
  });
  await running(clinic, async () => {
    await expect.poll(() => toldOf(clinic), quickly).toContain('begin certificate_expiring');
  });
  const [line] = told(clinic).filter(({ name }) => name === 'certificate_expiring');
  expect(line).toMatchObject({
    details: 'The certificate of the webhook’s public address expires on 2120-01-01.',
  });
}, 90_000);

test('eligd looks at the certificates at each start, such as after a reload', async () => {
  // A month before the end of the second certificate.
  setMachineClock(Date.parse('2030-03-18T15:00:00Z'));
  const service = await startService();
  const tls = (name: string) => readFileSync(join(import.meta.dirname, '../fixtures/tls', name));
  const pair = (name: string) => ({ cert: tls(`${name}.pem`), key: tls(`${name}-key.pem`) });
  const server = createTlsServer(pair('server'));
  server.on('tlsClientError', () => {});
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  const { port } = server.address() as AddressInfo;
  const clinic = makeClinic({
    base_url: service.url,
    config: alerting({
      webhook: { listen: '127.0.0.1:0', public_url: `https://127.0.0.1:${port}/hook` },
    }),
    secrets: {
      ELIGD_SERVICE_USERNAME: 'clinic',
      ELIGD_SERVICE_PASSWORD: 'sandbox',
      ELIGD_WEBHOOK_SECRET: 'a-secret-of-the-test',
    },
  });
  await running(clinic, async () => {
    await expect.poll(() => connections, quickly).toBeGreaterThan(0);
    await new Promise((done) => setTimeout(done, 300));
  });
  expect(toldOf(clinic)).not.toContain('begin certificate_expiring');
  server.setSecureContext(pair('expires-2030-04-10'));
  await running(clinic, async () => {
    await expect.poll(() => toldOf(clinic), quickly).toContain('begin certificate_expiring');
  });
}, 90_000);

test('eligd rereads fees.csv when it changes, and keeps the old fees on an error', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config: alerting() });
  const fees = join(clinic.folder, 'fees.csv');
  writeFileSync(fees, 'code,payer,fee\nD0120,*,60.00\n', { mode: 0o600 });
  const events: string[] = [];
  const daemon = await clinic.daemon({ log: (event) => void events.push(event) }, { idle_ms: 30 });
  const stop = new AbortController();
  const run = daemon.run(stop.signal);
  try {
    await expect.poll(() => events, quickly).toContain('reconciliation_done');
    expect(events).not.toContain('fees_changed');
    writeFileSync(fees, 'code,payer,fee\nD0120,*,no number\n');
    await expect.poll(() => events, quickly).toContain('fees_unreadable');
    await expect.poll(() => toldOf(clinic), quickly).toContain('begin fees_unreadable');
    writeFileSync(fees, 'code,payer,fee\nD0120,*,61.50\n');
    await expect.poll(() => events, quickly).toContain('fees_changed');
    expect((await clinic.run('list', '--attention')).stdout).not.toContain('fees_unreadable');
  } finally {
    stop.abort();
    await run;
    await daemon.close();
  }
}, 90_000);
