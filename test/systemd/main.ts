/**
 * `npm run test:systemd`: installs the package on a Debian that is booted with its own systemd, and
 * prints a line for each property that it saw. It needs root, and installs everything else from
 * Debian. The base system is made once.
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { clinicOn } from './clinic.ts';
import { baseRoot, bootMachine, CACHE, installTools } from './machine.ts';
import { properties } from './properties.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** The first build that had a package; an upgrade begins there, with the database of that time. */
const OLDER = { commit: '9ecb73afb6d902e2d50af75ce846c774535669b3', version: '0.0.1' };
const NEWER = '0.0.2';

installTools();
const base = baseRoot();
const older = await olderPackage();
const started_ms = performance.now();
const out = mkdtempSync(join(tmpdir(), 'eligd-debs-'));
try {
  const packages = { older, newer: await makePackage(ROOT, NEWER, out) };
  // While the machine works; the test waits for it in any case.
  const same = makePackage(ROOT, NEWER, join(out, 'same'));
  same.catch(() => {});
  const machine = await bootMachine(base);
  try {
    machine.put(packages.older, '/root/eligd_older.deb');
    machine.put(packages.newer, '/root/eligd_newer.deb');
    const clinic = clinicOn(machine);
    for (const { name, see } of properties(same)) {
      const begun_ms = performance.now();
      try {
        const seen = await see(clinic, machine);
        console.log(
          `ok  ${name}: ${seen} (${((performance.now() - begun_ms) / 1000).toFixed(1)} s)`,
        );
      } catch (error) {
        console.error(`!!  ${name}: ${error instanceof Error ? error.message : String(error)}`);
        console.error(
          machine.try(
            'systemctl status eligd.service --no-pager; journalctl -u eligd.service -o cat ' +
              '--no-pager -n 30',
          ).stdout,
        );
        process.exitCode = 1;
        break;
      }
    }
  } finally {
    await machine.stop();
    await same.catch(() => {});
  }
} finally {
  rmSync(out, { recursive: true });
}
console.log(
  `${Math.round((performance.now() - started_ms) / 1000)} s after the base system was there.`,
);

/** Built from its own commit, with its own packages; kept next to the base system. */
async function olderPackage(): Promise<string> {
  const folder = join(CACHE, `build-${OLDER.commit.slice(0, 12)}`);
  const [deb] = existsSync(folder) ? readdirSync(folder) : [];
  if (deb !== undefined) return join(folder, deb);
  console.log(`building the older package from ${OLDER.commit.slice(0, 12)}, once`);
  const tree = mkdtempSync(join(tmpdir(), 'eligd-older-'));
  try {
    if (spawnSync('git', ['-C', ROOT, 'cat-file', '-e', OLDER.commit]).status !== 0)
      throw new Error(
        'The history does not go back to the first package: run "git fetch --unshallow" and ' +
          'try again.',
      );
    execFileSync('sh', [
      '-c',
      `git -C "$1" archive "$2" | tar -x -C "$3"`,
      'sh',
      ROOT,
      OLDER.commit,
      tree,
    ]);
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--omit=dev'];
    execFileSync('npm', ['ci', ...quiet], { cwd: tree, stdio: ['ignore', 'ignore', 'inherit'] });
    const part = `${folder}.part`;
    rmSync(part, { recursive: true, force: true });
    mkdirSync(part, { recursive: true });
    const made = await makePackage(tree, OLDER.version, part);
    renameSync(part, folder);
    return join(folder, basename(made));
  } finally {
    rmSync(tree, { recursive: true });
  }
}

async function makePackage(root: string, version: string, into: string): Promise<string> {
  const args = [join(root, 'systemd/package.ts'), '--quick', '--version', version, '--out', into];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout.trim();
}
