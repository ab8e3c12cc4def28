/** A reload (SIGHUP) takes effect, is refused, or says what needs a restart. */

import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DatabaseKey } from '../../src/domain/database-key.ts';
import { type Clinic, makeClinic, OAUTH_SECRETS } from '../support/clinic.ts';
import { type Ended, startEligd } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

type Reloaded = {
  child: ChildProcess;
  ended: Promise<Ended>;
  logged: (part: string | RegExp) => Promise<void>;
  /** Sends SIGHUP and returns what was logged from then on, up to `answer`. */
  reload: (answer: RegExp) => Promise<string>;
  log: () => string;
};

function startDaemon(clinic: Clinic, environment: Record<string, string> = {}): Reloaded {
  const { child, ended } = startEligd(['run', '--config', clinic.file], environment);
  let log = '';
  child.stdout?.on('data', (text: Buffer) => {
    log += text;
  });
  const logged = async (part: string | RegExp) =>
    await expect.poll(() => log, { timeout: 60_000 }).toMatch(part);
  const reload = async (answer: RegExp) => {
    log = '';
    child.kill('SIGHUP');
    await logged(answer);
    return log;
  };
  return { child, ended, logged, reload, log: () => log };
}

/** In six days, on the clock of this machine: after any holiday of the insurance company. */
function soon(): { appointment_at: string } {
  const day = new Date(Date.now() + 6 * 86_400_000).toISOString().slice(0, 10);
  return { appointment_at: `${day}T10:30` };
}

/** Stops the daemon, which must have survived every reload. */
async function stopped({ child, ended }: Reloaded): Promise<void> {
  expect(child.exitCode).toBe(null);
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
}

test('SIGHUP applies valid files, and rejects others with the reason', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const right = readFileSync(clinic.file, 'utf8');
  const daemon = startDaemon(clinic);
  await daemon.logged('"reconciliation_done"');
  writeFileSync(clinic.file, right.replace('look_ahead_days: 14', 'look_ahead_days: many'));
  await daemon.reload(/reload_refused.*look_ahead_days/);
  writeFileSync(clinic.file, right.replace('look_ahead_days: 14', 'look_ahead_days: 9'));
  expect(await daemon.reload(/reload_applied[\s\S]*"look_ahead_days":9/)).not.toContain(
    'restart_needed',
  );
  await stopped(daemon);
}, 60_000);

test('SIGHUP checks payer map and fees, and keeps the old ones if the start fails', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const right = readFileSync(clinic.file, 'utf8');
  const payers = join(clinic.folder, 'payers.csv');
  const fees = join(clinic.folder, 'fees.csv');
  const daemon = startDaemon(clinic);
  await daemon.logged('"reconciliation_done"');
  writeFileSync(payers, 'x,y\n');
  expect(await daemon.reload(/reload_refused.*payer map/)).not.toContain('daemon_stopping');
  rmSync(payers);
  writeFileSync(fees, 'x,y\n');
  expect(await daemon.reload(/reload_refused.*fee schedule/)).not.toContain('daemon_stopping');
  rmSync(fees);
  // Only the start itself finds that these certificates cannot be read.
  const tls = '\nservice:\n  tls:\n    authorities_file: ./missing.pem';
  writeFileSync(clinic.file, right.replace('\nservice:', tls));
  await daemon.reload(/reload_refused.*missing\.pem[\s\S]*daemon_started/);
  writeFileSync(clinic.file, right.replace('look_ahead_days: 14', 'look_ahead_days: 9'));
  await daemon.reload(/reload_applied[\s\S]*"look_ahead_days":9/);
  await stopped(daemon);
}, 90_000);

test('a reload never changes to another database, and says that this needs a restart', async () => {
  const service = await startService();
  const config = { schedule: { pull_seconds: 1 } };
  const clinic = makeClinic({ base_url: service.url, config });
  const right = readFileSync(clinic.file, 'utf8');
  const daemon = startDaemon(clinic);
  await daemon.logged('"reconciliation_done"');
  mkdirSync(join(clinic.folder, 'other'), { mode: 0o700 });
  const moved = right.replace(/path: .*eligd\.db/, 'path: ./other/moved.db');
  expect(moved).not.toBe(right);
  writeFileSync(clinic.file, moved.replace('look_ahead_days: 14', 'look_ahead_days: 9'));
  const log = await daemon.reload(/reload_refused|reload_applied/);
  expect(log).toMatch(/reload_refused.*state\.path.*moved\.db.*systemctl restart eligd/);
  expect(log).not.toContain('daemon_stopping');
  expect(existsSync(join(clinic.folder, 'other/moved.db'))).toBe(false);
  // What was in force before still is: the next export is read, and its visit gets a call.
  clinic.drop('visits.csv', exportOf(visits(1, soon)));
  await expect.poll(async () => (await service.ledger()).length, { timeout: 60_000 }).toBe(1);
  await stopped(daemon);
}, 120_000);

test('a reload never changes the key of the database', async () => {
  const [key, other] = [1, 2].map((byte) =>
    new DatabaseKey(Buffer.alloc(32, byte)).reveal().join(' '),
  );
  const service = await startService();
  const secrets = { ...OAUTH_SECRETS, ELIGD_DATABASE_KEY: key! };
  const clinic = makeClinic({ base_url: service.url, secrets });
  const file = join(clinic.folder, '.env');
  const before = readFileSync(file, 'utf8');
  const daemon = startDaemon(clinic);
  await daemon.logged('"reconciliation_done"');
  writeFileSync(file, before.replace(key!, other!));
  const log = await daemon.reload(/reload_refused|reload_applied/);
  expect(log).toMatch(/reload_refused.*ELIGD_DATABASE_KEY.*eligd database rekey/);
  expect(log).not.toContain('daemon_stopping');
  // The old key is still in force: the database opens again.
  writeFileSync(file, before);
  await daemon.reload(/reload_applied[\s\S]*daemon_started/);
  await stopped(daemon);
}, 90_000);

test('a changed log level is in force after a reload, in both directions', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const right = readFileSync(clinic.file, 'utf8');
  const daemon = startDaemon(clinic);
  await daemon.logged('"reconciliation_done"');
  const requestCount = () => service.traffic().then(({ total }) => total);
  const requests = await requestCount();
  writeFileSync(clinic.file, `${right}log:\n  level: warn\n`);
  await daemon.reload(/reload_applied/);
  // It has started again with the new level once it asks the service again.
  await expect.poll(requestCount, { timeout: 30_000 }).toBeGreaterThan(requests);
  const [, after] = daemon.log().split('reload_applied');
  expect(after).not.toMatch(/"level":"(info|debug)"/);
  writeFileSync(clinic.file, right);
  expect(await daemon.reload(/daemon_started/)).toContain('"event":"reload_applied"');
  await stopped(daemon);
}, 90_000);

test('a reload says which changes need a restart', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const right = readFileSync(clinic.file, 'utf8');
  const fixture = (name: string) =>
    readFileSync(join(import.meta.dirname, '../fixtures/tls', name), 'utf8');
  const authorities = join(clinic.folder, 'authorities.pem');
  writeFileSync(authorities, fixture('ca.pem'), { mode: 0o600 });
  const daemon = startDaemon(clinic, {
    NODE_EXTRA_CA_CERTS: authorities,
    ELIGD_LOG_LEVEL: 'info',
  });
  await daemon.logged('"reconciliation_done"');
  await daemon.reload(/reload_applied[\s\S]*daemon_started/);
  expect(daemon.log()).not.toContain('restart_needed');
  writeFileSync(authorities, `${fixture('ca.pem')}\n`, { mode: 0o600 });
  writeFileSync(clinic.file, `${right}log:\n  level: warn\n`);
  const log = await daemon.reload(/reload_applied[\s\S]*daemon_started/);
  expect(log).toMatch(/restart_needed.*NODE_EXTRA_CA_CERTS/);
  expect(log).toMatch(/restart_needed.*ELIGD_LOG_LEVEL/);
  expect(log).toMatch(/restart_needed.*systemctl restart eligd/);
  await stopped(daemon);
}, 90_000);

test('the planning after a changed payers.csv uses it, without a reload and with one', async () => {
  const service = await startService();
  const payers = 'pms_name,action,phone_number,payor_id\n';
  const clinic = makeClinic({
    base_url: service.url,
    config: { schedule: { pull_seconds: 1 } },
  });
  const unsupported = (name: string) => `${name},unsupported,312-555-0100,\n`;
  const file = join(clinic.folder, 'payers.csv');
  writeFileSync(file, `${payers}${unsupported('Union Fund')}${unsupported('Local 134')}`);
  const carriers = ['Union Fund', 'Local 134'];
  clinic.drop(
    'a.csv',
    exportOf(visits(2, (i) => ({ ...soon(), carrier: carriers[i]!, payor_id: '' }))),
  );
  const daemon = startDaemon(clinic);
  const called = async () =>
    (await service.ledger()).map(({ request }) => request.insurance_payor_id).sort();
  await expect
    .poll(() => clinic.attention().filter((line) => line.appointment_id !== '').length, {
      timeout: 60_000,
    })
    .toBe(2);
  expect(await called()).toEqual([]);
  writeFileSync(file, `${payers}Union Fund,call,,47009\n${unsupported('Local 134')}`);
  await expect.poll(called, { timeout: 60_000 }).toEqual(['47009']);
  writeFileSync(file, `${payers}Union Fund,call,,47009\nLocal 134,call,,62308\n`);
  await daemon.reload(/reload_applied/);
  await expect.poll(called, { timeout: 60_000 }).toEqual(['47009', '62308']);
  await stopped(daemon);
}, 150_000);
