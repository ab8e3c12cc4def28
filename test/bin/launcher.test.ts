import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const LAUNCHER = join(ROOT, 'bin/eligd');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eligd-bin-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The PATH of a user's shell, because the one of this process begins with the bundled Node. */
const HOST_PATH = (process.env.PATH ?? '')
  .split(':')
  .filter((entry) => !entry.includes('node_modules'))
  .join(':');

function start(file: string, args: string[], path = HOST_PATH) {
  const { status, stdout, stderr } = spawnSync(file, args, {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: path, HOME: folder },
  });
  return { status, stdout, stderr };
}

describe('bin/eligd', () => {
  test('bin/eligd works from another folder', () => {
    expect(start(LAUNCHER, ['--version'])).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      stderr: '',
    });
  });

  test('bin/eligd works through a symlink, and through a symlink to that', () => {
    symlinkSync(LAUNCHER, join(folder, 'first'));
    symlinkSync('first', join(folder, 'second'));
    expect(start(join(folder, 'second'), ['--version']).status).toBe(0);
  });

  test('bin/eligd returns the exit code of the command', () => {
    expect(start(LAUNCHER, ['nonsense']).status).toBe(2);
  });
});

describe('a copy of eligd whose packages are not installed', () => {
  beforeEach(() => {
    cpSync(join(ROOT, 'bin'), join(folder, 'eligd/bin'), { recursive: true });
    mkdirSync(join(folder, 'eligd/src'));
  });

  test('without its packages, eligd says in one sentence what to run', () => {
    const { status, stdout, stderr } = start(join(folder, 'eligd/bin/eligd'), ['--version']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^eligd: .*run "npm ci --ignore-scripts --loglevel=error" in .*\n$/);
    expect(stderr).toContain(join(folder, 'eligd'));
  });

  test('without any Node on the PATH, eligd says what to install and what to run', () => {
    // Only the programs that the script itself needs.
    mkdirSync(join(folder, 'tools'));
    for (const tool of ['sh', 'dirname', 'readlink'])
      symlinkSync(which(tool), join(folder, 'tools', tool));
    const { status, stderr } = start(
      which('sh'),
      [join(folder, 'eligd/bin/eligd')],
      join(folder, 'tools'),
    );
    expect(status).toBe(1);
    expect(stderr).toContain('eligd: no Node was found. Install Node 20 or later with npm');
    expect(stderr).toContain('"npm ci --ignore-scripts');
  });
});

function which(tool: string): string {
  return spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).stdout.trim();
}
