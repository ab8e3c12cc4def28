/**
 * `npm run faults`: about fifty faults, one by one, in a clinic whose days pass in seconds. Each is
 * the alert that it names, with a start and an end, or none, and every page agrees meanwhile. With
 * `--year`, a year without faults: at most one alert in it.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import type { Row } from './live-fault.ts';
import type { Told } from './simulated-clinic.ts';
import { FAULTS } from './table.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    year: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    processes: { type: 'string', default: '2' },
    // Keeps the weeks before the faults for the next run.
    history: { type: 'string' },
  },
});
/** In a year without faults. */
const FALSE_ALERTS_MAX = 1;
const worker = join(import.meta.dirname, 'worker.ts');
const folder = mkdtempSync(join(tmpdir(), 'eligd-faults-'));
const chosen = FAULTS.map(({ name }) => name).filter((name) =>
  new RegExp(values.only ?? '').test(name),
);

async function order<Result>(job: object): Promise<Result | null> {
  const { stdout } = await promisify(execFile)(process.execPath, [worker, JSON.stringify(job)], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout === '' ? null : (JSON.parse(stdout) as Result);
}

if (values.year) await liveYear();
else await liveFaults();
rmSync(folder, { recursive: true, force: true });

async function liveYear(): Promise<void> {
  const told = (await order<Told[]>({ year: Number(values.seed) })) ?? [];
  for (const { kind, name, about } of told)
    process.stdout.write(`${kind} ${name} ${about ?? ''}\n`);
  const alerts = told.filter(({ kind }) => kind === 'begin').length;
  const found = `${alerts} alerts, at most ${FALSE_ALERTS_MAX}`;
  process.stdout.write(`A year without a fault (seed ${values.seed}): ${found}.\n`);
  process.exitCode = alerts <= FALSE_ALERTS_MAX ? 0 : 1;
}

async function liveFaults(): Promise<void> {
  const history = values.history ?? join(folder, 'history');
  if (!existsSync(history)) await order({ make: history });
  const waiting = [...chosen];
  const rows: Row[] = [];
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const row = await order<Row>({ fault: name, history }).catch((error: unknown) => ({
        fault: name,
        expected: null,
        told: [],
        faults: [error instanceof Error ? error.message.slice(-2_000) : String(error)],
      }));
      if (row === null) continue;
      rows.push(row);
      print(row);
    }
  };
  await Promise.all(Array.from({ length: Number(values.processes) }, work));
  const wrong = rows.filter(({ faults }) => faults.length > 0);
  process.stdout.write(`${rows.length} faults, ${rows.length - wrong.length} as they should be.\n`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}

function print({ fault, expected, told, faults }: Row): void {
  const alert = expected ?? 'no alert';
  const mark = faults.length === 0 ? 'ok' : '!!';
  process.stdout.write(`${mark} ${fault.padEnd(58)} ${alert.padEnd(24)} ${told.join(', ')}\n`);
  for (const each of faults) process.stdout.write(`     ${each}\n`);
}
