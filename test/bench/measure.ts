/**
 * Shared by the parts of the bench: child processes that measure, and the median of several runs.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export type Spread = { median: number; min: number; max: number; runs: number };

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  const lower = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  return {
    median: (lower + upper) / 2,
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
    runs: sorted.length,
  };
}

/** As systemd/eligd.service starts it: the heap limit also decides when V8 first collects. */
const NODE_OPTIONS = ['--max-semi-space-size=4', '--max-old-space-size=600'];

/** A folder for compiled code, as the package has it; the first child fills it. */
let compiled: string | null = null;

function compiledFolder(): string {
  if (compiled !== null) return compiled;
  const folder = mkdtempSync(join(tmpdir(), 'eligd-bench-compiled-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  compiled = folder;
  return folder;
}

/** Runs a module of this folder as a process and returns the JSON that it prints. */
export async function measureInChild<Result>(module: string, job: object): Promise<Result> {
  const args = [...NODE_OPTIONS, join(import.meta.dirname, module), JSON.stringify(job)];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, MALLOC_ARENA_MAX: '1', NODE_COMPILE_CACHE: compiledFolder() },
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const [printed, code] = await Promise.all([text(child.stdout), ended]);
  if (code !== 0) throw new Error(`${module} ended with ${code}.`);
  return JSON.parse(printed) as Result;
}

/** Times from now on: by the clock, and by the processor, which a busy machine affects less. */
export function stopwatch(): () => { duration_ms: number; cpu_ms: number } {
  const started_ms = performance.now();
  const started = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(started);
    return { duration_ms: performance.now() - started_ms, cpu_ms: (user + system) / 1000 };
  };
}

/** The child's task. */
export function jobOfChild<Job>(): Job {
  return JSON.parse(process.argv[2] ?? '{}') as Job;
}

/** Runs each measurement once per round, in turn, so that a disturbance affects all of them. */
export async function inTurn<Name extends string>(
  rounds: number,
  measurements: Record<Name, () => Promise<number>>,
): Promise<Record<Name, Spread>> {
  const names = Object.keys(measurements) as Name[];
  const values = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) values.get(name)?.push(await measurements[name]());
  }
  return Object.fromEntries(names.map((name) => [name, spread(values.get(name) ?? [])])) as Record<
    Name,
    Spread
  >;
}

/** Columns of even width: the first aligned left, numbers aligned right. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(cells.join('  ').trimEnd());
  }
}
