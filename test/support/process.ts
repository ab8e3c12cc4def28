import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach } from 'vitest';

const ELIGD = join(import.meta.dirname, '../../bin/eligd');

export type Ended = {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
};
export type RunningEligd = { child: ChildProcess; ended: Promise<Ended> };

const running = new Set<ChildProcess>();

afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Runs `bin/eligd` as a process with the machine's real clock. It is killed after the test if it
 * still runs.
 */
export function startEligd(
  args: readonly string[],
  environment: Record<string, string> = {},
): RunningEligd {
  const child = spawn(ELIGD, args, {
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const printed = { stdout: '', stderr: '' };
  child.stdout.on('data', (text: Buffer) => {
    printed.stdout += text;
  });
  child.stderr.on('data', (text: Buffer) => {
    printed.stderr += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      running.delete(child);
      resolve({ code, signal, ...printed });
    });
  });
  return { child, ended };
}
