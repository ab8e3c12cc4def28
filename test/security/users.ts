/**
 * Attacks by another user of the machine. They need root, which can become that user. Without root,
 * these tests are skipped, and the reason is printed.
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe } from 'vitest';

export const ROOT = resolve(import.meta.dirname, '../..');
export const ELIGD = join(ROOT, 'bin/eligd');

const is_root = process.geteuid?.() === 0;
const has_runuser = spawnSync('runuser', ['--version']).status === 0;
const can_play = is_root && has_runuser;
if (!can_play) {
  console.error(
    'NOT TESTED: attacks by another user of this machine. They need root and the program ' +
      'runuser; run "sudo npm test -- test/security".',
  );
}

/** A `describe` whose tests need two users. */
export const describeTwoUsers = describe.runIf(can_play);

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is deleted after the test. */
export function makeFolder(mode = 0o755): string {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-security-'));
  chmodSync(folder, mode);
  folders.push(folder);
  return folder;
}

/** Runs a shell script as the user nobody, and fails the test if the script fails. */
export function asNobody(script: string, cwd: string): void {
  const { status, stderr } = spawnSync('runuser', ['-u', 'nobody', '--', 'sh', '-ec', script], {
    cwd,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`nobody could not do that: ${stderr}`);
}

/** `bin/eligd` as the user of the tests. */
export function eligd(
  args: readonly string[],
  { cwd, environment = {} }: { cwd: string; environment?: Record<string, string> },
): SpawnSyncReturns<string> {
  return spawnSync(ELIGD, args, {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', HOME: cwd, ...environment },
  });
}

/** A configuration with one connector, given in YAML. */
export function configText(connector: string, service = ''): string {
  return `clinic:
  { name: A, time_zone: America/Chicago, specialty: dental, tax_id: "123456789",
    billing_npi: "1234567893" }
service: { base_url: "https://127.0.0.1:1", auth: oauth${service} }
connectors: [{ ${connector} }]
state: { path: ./state/eligd.db }
`;
}
