/**
 * `npm run test:systemd`: installs the package on a Debian that is booted with its own systemd, and prints a line for each
 * property that was seen there. Needs root; what else it needs it installs from Debian. The base system is made once.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { clinicOn } from './clinic.ts';
import { baseRoot, bootMachine, installTools } from './machine.ts';
import { PROPERTIES } from './properties.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const VERSIONS = { older: '0.0.1', newer: '0.0.2' };

installTools();
const base = baseRoot();
const started_ms = performance.now();
const out = mkdtempSync(join(tmpdir(), 'eligd-debs-'));
try {
  const packages = { older: makePackage(VERSIONS.older), newer: makePackage(VERSIONS.newer) };
  const machine = await bootMachine(base);
  try {
    machine.put(packages.older, '/root/eligd_older.deb');
    machine.put(packages.newer, '/root/eligd_newer.deb');
    const clinic = clinicOn(machine);
    for (const { name, see } of PROPERTIES) {
      const begun_ms = performance.now();
      try {
        const seen = await see(clinic, machine);
        console.log(`ok  ${name}: ${seen} (${((performance.now() - begun_ms) / 1000).toFixed(1)} s)`);
      } catch (error) {
        console.error(`!!  ${name}: ${error instanceof Error ? error.message : String(error)}`);
        console.error(
          machine.try('systemctl status eligd.service --no-pager; journalctl -u eligd.service -o cat --no-pager -n 30').stdout,
        );
        process.exitCode = 1;
        break;
      }
    }
  } finally {
    await machine.stop();
  }
} finally {
  rmSync(out, { recursive: true });
}
console.log(`${Math.round((performance.now() - started_ms) / 1000)} s after the base system was there.`);

function makePackage(version: string): string {
  const args = [join(ROOT, 'systemd/package.ts'), '--quick', '--version', version, '--out', out];
  return execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}
