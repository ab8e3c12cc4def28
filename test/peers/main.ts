/**
 * The matrix of peers: third-party software at the other end of every connection of eligd, and the
 * sandbox with every reading of the specification. Prints a table; exits with 1 if a call was made
 * twice, or an answer was lost or wrong.
 *
 *     npm run peers
 *     npm run peers -- --only hl7 --seed 7
 */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Random } from '../simulation/random.ts';
import { fhirRows } from './fhir.ts';
import { groupRows } from './groups.ts';
import { hl7Rows } from './hl7.ts';
import { pairs, singles } from './readings.ts';
import { header, isGood, type Row, type Tally, tallyLine } from './tally.ts';

const USAGE = `npm run peers -- [--only REGEXP] [--pairs N] [--seed N] [--workers N]
    --only REGEXP rows whose group and name match REGEXP
    --pairs N     random pairs of readings (40)
    --seed N      which pairs (1)`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    pairs: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: String(Math.min(4, availableParallelism())) },
    worker: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

/** No row takes a tenth of it on an idle machine. */
const ROW_MS_MAX = 60_000;

/** One row that a worker has run. */
type Done = { index: number; tally: Tally | null; failure: string | null };

function rows(): Row[] {
  const random = new Random(Number(values.seed), 'peers');
  const readings = [...singles(), ...pairs(Number(values.pairs), () => random.next())];
  const all = [...hl7Rows(), ...fhirRows(), ...groupRows(), ...readings];
  const only = new RegExp(values.only);
  return all.filter(({ group, name }) => only.test(`${group} ${name}`));
}

/** Runs the rows with the given numbers, one after another. */
async function work(all: readonly Row[]): Promise<void> {
  process.on('message', async (index: number) => {
    const done: Done = { index, tally: null, failure: null };
    try {
      done.tally = await inTime(all[index]?.run());
    } catch (error) {
      done.failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
    process.send?.(done);
  });
  // The process closes whatever a row that took too long has left open.
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}

async function inTime(running: Promise<Tally> | undefined): Promise<Tally | null> {
  const late = new AbortController();
  const limit = sleep(ROW_MS_MAX, null, { signal: late.signal }).then(() => {
    throw new Error(`It took more than ${ROW_MS_MAX / 1000} seconds.`);
  });
  try {
    return await Promise.race([running ?? null, limit]);
  } finally {
    late.abort();
    limit.catch(() => {});
  }
}

async function lead(all: readonly Row[]): Promise<number> {
  const started_ms = performance.now();
  const queue = all.flatMap(({ skip }, index) => (skip === undefined ? [index] : []));
  const results: Done[] = [];
  console.log(header());
  await Promise.all(
    Array.from({ length: Number(values.workers) }, async () => {
      const child = fork(import.meta.filename, [...process.argv.slice(2), '--worker', '1']);
      const ended = Promise.withResolvers<void>();
      const next = () => {
        const index = queue.shift();
        if (index === undefined) child.disconnect();
        else child.send(index);
      };
      child.on('message', (message: Done | 'ready') => {
        if (message !== 'ready') {
          results.push(message);
          show(all[message.index]?.name ?? '', message);
        }
        next();
      });
      child.on('exit', () => ended.resolve());
      await ended.promise;
    }),
  );
  for (const { name, skip } of all)
    if (skip !== undefined) console.log(`${name}: NOT RUN: ${skip}`);
  const wanted = all.filter(({ skip }) => skip === undefined).length;
  const bad = results.filter(({ tally }) => tally === null || !isGood(tally));
  console.log(tallyLine(`${results.length} of ${wanted} rows`, sum(results)));
  console.log(
    `${Math.round((performance.now() - started_ms) / 1000)} s; ${bad.length} rows failed`,
  );
  for (const { index } of bad) console.log(`failed: ${all[index]?.name}`);
  return bad.length === 0 && results.length === wanted ? 0 : 1;
}

function show(name: string, { tally, failure }: Done): void {
  if (tally !== null) console.log(tallyLine(name, tally));
  else console.log(`${name}: FAILED\n${failure}`);
}

function sum(results: readonly Done[]): Tally {
  const total: Tally = { needs: 0, calls: 0, twice: 0, lost: 0, wrong: 0 };
  for (const { tally } of results)
    for (const key of Object.keys(total) as (keyof Tally)[]) total[key] += tally?.[key] ?? 0;
  return total;
}

if (values.help) console.log(USAGE);
else if (values.worker !== undefined) await work(rows());
else process.exitCode = await lead(rows());
