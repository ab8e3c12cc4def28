/**
 * `eligd init` as a program: the files that it writes, and its messages when an answer is wrong.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { checkSight } from '../../src/cli/checks/sight.ts';
import { loadConfig } from '../../src/ops/config.ts';
import { startService } from '../support/service.ts';

const ELIGD = join(import.meta.dirname, '../../bin/eligd');
const SECRETS = { ELIGD_SERVICE_USERNAME: 'clinic', ELIGD_SERVICE_PASSWORD: 'sandbox' };

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-init-'));
  folders.push(folder);
  return folder;
}

/** Runs `eligd init` in `folder`, with `typed` on standard input. */
async function init(
  folder: string,
  args: readonly string[],
  { typed = '', secrets = {} as Record<string, string> } = {},
) {
  const child = spawn(ELIGD, ['init', ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...secrets },
  });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => void said.push(text.toString()));
  child.stdin.end(typed);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, said: said.join('') };
}

function flags(base_url: string): string[] {
  const values = {
    'clinic-name': 'Dr. "Quote" #1',
    'time-zone': 'America/Chicago',
    'tax-id': '123456789',
    'billing-npi': '1234567893',
  };
  return [
    '--yes',
    '--base-url',
    base_url,
    ...Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]),
  ];
}

test('with flags, init writes and checks configuration and secrets, once', async () => {
  const service = await startService();
  const folder = makeFolder();
  const secrets = { ...SECRETS };
  const { code, said } = await init(folder, flags(service.url), { secrets });
  expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('ok service:') });
  const [file, env] = [join(folder, 'config/eligd.yaml'), join(folder, 'config/.env')];
  expect([file, env].map((each) => statSync(each).mode & 0o777)).toEqual([0o600, 0o600]);
  expect((await loadConfig(file)).clinic.name).toBe('Dr. "Quote" #1');
  expect(readFileSync(file, 'utf8')).not.toContain('sandbox');
  expect(said).not.toContain('sandbox\n');

  const before = readFileSync(file);
  const again = await init(folder, flags('https://elsewhere.example'), { secrets });
  expect({ code: again.code, said: again.said }).toEqual({
    code: 1,
    said: expect.stringContaining('nothing was changed'),
  });
  expect(readFileSync(file)).toEqual(before);
});

test('init names all wrong flags with the remedy, and writes nothing', async () => {
  const folder = makeFolder();
  const wrong = [
    '--time-zone',
    'America/Chicgo',
    '--billing-npi',
    '1234567890',
    '--auth',
    'kerberos',
    '--base-url',
    'http://10.0.0.5',
  ];
  const { code, said } = await init(folder, [...flags('https://service.example'), ...wrong], {
    secrets: SECRETS,
  });
  expect(code).toBe(2);
  for (const words of [
    '--time-zone: ',
    'America/Chicago',
    '--billing-npi: ',
    '--auth: ',
    '--base-url: is plain http',
    'nothing was written',
  ])
    expect(said).toContain(words);
  expect(existsSync(join(folder, 'config'))).toBe(false);
});

test('init names missing flags and missing secrets', async () => {
  const folder = makeFolder();
  expect((await init(folder, ['--yes', '--clinic-name', 'A'])).said).toContain(
    '--tax-id, --billing-npi, --base-url',
  );
  const { code, said } = await init(folder, flags('https://service.example'));
  expect({ code, said }).toEqual({
    code: 2,
    said: expect.stringContaining('ELIGD_SERVICE_USERNAME, ELIGD_SERVICE_PASSWORD'),
  });
  expect(existsSync(join(folder, 'config'))).toBe(false);
});

test('init asks again for a wrong value, and only for that', async () => {
  const service = await startService();
  const folder = makeFolder();
  const typed = [
    'A',
    'Mars/Olympus',
    '',
    '12-34',
    '1234567893',
    service.url,
    '',
    '',
    'America/Denver',
    '123456789',
    'clinic',
    'sandbox',
  ];
  const { code, said } = await init(folder, [], { typed: `${typed.join('\n')}\n` });
  expect({ code, said }).toEqual({
    code: 0,
    said: expect.stringMatching(/This is not valid:\n- --time-zone: .*\n- --tax-id: /),
  });
  const { clinic } = await loadConfig(join(folder, 'config/eligd.yaml'));
  expect([clinic.time_zone, clinic.tax_id]).toEqual(['America/Denver', '123456789']);
});

test('init writes nothing if the input ends too early', async () => {
  const folder = makeFolder();
  const { code, said } = await init(folder, [], { typed: 'A\n' });
  expect({ code, said }).toEqual({ code: 2, said: expect.stringContaining('nothing was written') });
  expect(existsSync(join(folder, 'config'))).toBe(false);
});

test('init reports a configured path that the unit hides from the daemon', async () => {
  const folder = makeFolder();
  const file = join(folder, 'eligd.yaml');
  writeFileSync(
    file,
    `clinic: { name: A, time_zone: America/Chicago, specialty: dental,
  tax_id: "123456789", billing_npi: "1234567893" }
service: { base_url: "https://service.example", auth: oauth }
connectors: [{ id: front-desk, type: csv, folder: /srv/clinic/drop }]
state: { path: /var/lib/eligd/eligd.db }
backup: { folder: /mnt/backup/eligd }
`,
  );
  const config = { ...(await loadConfig(file)), file: '/etc/eligd/eligd.yaml' };
  const lines = checkSight(
    {
      ...config,
      connectors: [{ ...config.connectors[0]!, options: { folder: join(folder, 'drop') } }],
    },
    [folder],
  );
  expect(lines.map(({ what }) => what)).toEqual([expect.stringContaining('/mnt/backup/eligd')]);
  expect(lines).toEqual([
    expect.objectContaining({
      state: 'failed',
      next: expect.stringContaining('BindPaths="/mnt/backup/eligd"'),
    }),
  ]);
  expect(
    checkSight({ ...config, backup: { ...config.backup, folder: '/var/lib/eligd/backups' } }, [
      '/srv/clinic',
    ]),
  ).toEqual([
    expect.objectContaining({
      what: expect.stringMatching(/cannot start .*\/srv\/clinic, which does not exist/),
    }),
  ]);
  expect(checkSight({ ...config, file }, [])).toEqual([]);
});
