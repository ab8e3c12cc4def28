/** eligd's advice is correct and does no harm. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { resultWords } from '../../src/cli/commands/demo.ts';
import { allCommands } from '../../src/cli/program.ts';
import { makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';
import { run } from './capture.ts';

const ELIGD = join(import.meta.dirname, '../../bin/eligd');

/** `eligd init` on a computer whose time zone is UTC, with `typed` on standard input. */
async function initOnUtc(args: readonly string[], typed: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-utc-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const child = spawn(ELIGD, ['init', ...args], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      TZ: 'UTC',
      ELIGD_SERVICE_USERNAME: 'clinic',
      ELIGD_SERVICE_PASSWORD: 'sandbox',
    },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => {
      said += text.toString();
    });
  child.stdin.end(typed.map((line) => `${line}\n`).join(''));
  const code = await new Promise<number | null>((done) => child.on('close', done));
  const config = () => readFileSync(join(folder, 'config/eligd.yaml'), 'utf8');
  return { code, said, config };
}

const PRACTICE = ['--clinic-name', 'Riverside Dental', '--billing-npi', '1234567893'];

test('init does not take UTC from a server without asking', async () => {
  const service = await startService();
  const flags = [...PRACTICE, '--base-url', service.url, '--tax-id', '123456789'];
  const silent = await initOnUtc(['--yes', ...flags]);
  expect(silent.code).toBe(2);
  expect(silent.said).toContain('With --yes these flags are needed too: --time-zone.');
  // After an empty answer, it asks again.
  const asked = await initOnUtc(flags, ['', 'America/Denver', '', '', '']);
  expect(asked.said.match(/Time zone \(IANA name\): /g)).toHaveLength(2);
  expect(asked.config()).toContain('time_zone: "America/Denver"');
  const chosen = await initOnUtc(['--yes', ...flags, '--time-zone', 'Etc/UTC']);
  expect(chosen.config()).toContain('time_zone: "Etc/UTC"');
}, 30_000);

test('init accepts a tax ID with the quotes that the configuration requires', async () => {
  const service = await startService();
  const flags = ['--yes', ...PRACTICE, '--base-url', service.url, '--time-zone', 'America/Denver'];
  const quoted = await initOnUtc([...flags, '--tax-id', '"123456789"']);
  expect(quoted.config()).toContain('tax_id: "123456789"');
  const wrong = await initOnUtc([...flags, '--tax-id', '12345']);
  expect(wrong.code).toBe(2);
  expect(wrong.said).toContain('--tax-id: is not a 9-digit tax ID. Write the 9 digits,');
  expect(wrong.said).not.toMatch(/--tax-id:.*"/);
}, 30_000);

test('a demo that was interrupted says how many appointments are in progress', () => {
  const none = { waiting: 0, planned: 0, asking: 0, answered: 0, delivered: 0, attention: 0 };
  const claims = { ...none, closed: {}, total: 0 };
  const cut = { ...none, closed: { past: 2 }, total: 40, delivered: 23, attention: 1, claims };
  expect(resultWords({ ...cut, asking: 10, planned: 4 })).toBe(
    '23 of 40 appointments are verified; 1 needs you; 14 are still in progress; 2 are closed ' +
      'with a reason.',
  );
});

test('results of the CSV connector are written into outbox/', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  clinic.drop('export.csv', exportOf(visits(1)));
  await clinic.once();
  for (let round = 0; round < 6 && clinic.written().length === 0; round += 1) {
    machine.pass({ hours: 12 });
    await clinic.once();
  }
  expect(clinic.written()).not.toEqual([]);
  const { appointments } = JSON.parse((await clinic.run('list', '--json')).stdout) as {
    appointments: { id: string; why: string }[];
  };
  expect(appointments[0]?.why).toBe('The newest answer was written to outbox/.');
  const { stdout } = await clinic.run('explain', appointments[0]?.id ?? '');
  expect(stdout).toContain('The answer was written to outbox/ through connector front-desk');
  expect(stdout).not.toContain('into the practice management system');
}, 30_000);

test('a command that fails prints only what docs/json.md says', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/json.md'), 'utf8');
  const [, named = ''] = /([^.]*)print their output even/.exec(page) ?? [];
  const exceptions = [...named.matchAll(/`([a-z ]+)`/g)].map(([, name = '']) => name.split(' ')[0]);
  expect(exceptions).toEqual(['status', 'check', 'once', 'alert']);
  for (const { name } of allCommands()) {
    if (['demo', 'sandbox', 'init', ...exceptions].includes(name)) continue;
    const { code, stdout } = await run([name, '--config', '/nonexistent/eligd.yaml'], { cwd: '/' });
    expect({ name, stdout: code === 0 ? '' : stdout }).toEqual({ name, stdout: '' });
  }
});
