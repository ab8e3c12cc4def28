/**
 * Runs worlds and prints their plans and broken guarantees. Each seed is a world of its own; the
 * same seed gives the same world.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isStep, toldSteps } from './legal-steps.ts';
import { MUTATIONS } from './mutations.ts';

type Outcome = {
  seed: number;
  broken: { guarantee: string; what: string } | null;
  story: string;
  hash: number;
  plan: unknown;
  counts: Record<string, number>;
  took_ms: number;
};

type Order = { seeds: number[]; mutation: string | null; tell: 'about' | 'all' };

const USAGE = `npm run simulate -- [--seeds N] [--from N] [--keep_going] [--workers N]
    runs N simulated worlds (100), starting with a seed (1)
npm run simulate -- --seed N [--all]
    runs one world; --all prints everything
npm run simulate -- --mutations [--seeds N] | --mutation NAME
    shows which seed catches each planted fault`;

const options = {
  seeds: { type: 'string', default: '100' },
  from: { type: 'string', default: '1' },
  seed: { type: 'string' },
  mutations: { type: 'boolean', default: false },
  mutation: { type: 'string' },
  all: { type: 'boolean', default: false },
  keep_going: { type: 'boolean', default: false },
  workers: { type: 'string', default: String(Math.min(4, availableParallelism())) },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const values = readOptions();

function readOptions() {
  try {
    const { values } = parseArgs({ options });
    const wrong = (['seeds', 'from', 'seed', 'workers'] as const).find(
      (name) => !/^\d+$/.test(values[name] ?? '0'),
    );
    if (wrong !== undefined) throw new Error(`--${wrong} takes a number.`);
    if (values.mutation !== undefined && MUTATIONS[values.mutation] === undefined)
      throw new Error(
        `There is no mutation ${values.mutation}. There are: ${Object.keys(MUTATIONS).join(', ')}.`,
      );
    if (!values.help) return values;
    console.log(USAGE);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exitCode = 2;
  }
  process.exit();
}

const WORKER = join(import.meta.dirname, 'worker.ts');
/** A world makes much garbage; with more room for it, the worlds take 6% less time. */
const FLAGS = ['--max-semi-space-size=64'];
/** One process runs this many worlds: the memory that a world leaves is freed with the process. */
const SEEDS_PER_PROCESS = 100;
/** Batches become smaller towards the end, so that no process is left with many worlds. */
const SEEDS_PER_PROCESS_MIN = 12;
const FAILURES_MAX = 10;
/** No world takes a tenth of this time. A world that reaches it is in an endless loop. */
const WORLD_MS_MAX = 300_000;

const folder = mkdtempSync(
  join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'eligd-simulation-'),
);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => process.exit(1));

/**
 * Has a process run worlds. If it dies or hangs in one, that world counts as broken, and another
 * process runs the rest.
 */
async function work(order: Order, onOutcome: (outcome: Outcome) => void): Promise<void> {
  let { seeds } = order;
  while (seeds.length > 0) {
    const { lived, ended } = await start({ ...order, seeds }, onOutcome);
    const seed = seeds[lived];
    if (ended === null || seed === undefined) return;
    onOutcome({
      seed,
      broken: { guarantee: 'run', what: ended },
      story: '',
      hash: 0,
      plan: null,
      counts: {},
      took_ms: 0,
    });
    if (order.mutation !== null) return;
    seeds = seeds.slice(lived + 1);
  }
}

/** How many worlds the process has run, and how it ended if it did not end regularly. */
function start(
  order: Order,
  onOutcome: (outcome: Outcome) => void,
): Promise<{ lived: number; ended: string | null }> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [...FLAGS, WORKER, JSON.stringify({ ...order, folder })],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') },
      },
    );
    let rest = '';
    let lived = 0;
    let hangs = false;
    const kill = () => {
      hangs = true;
      child.kill('SIGKILL');
    };
    let watch = setTimeout(kill, WORLD_MS_MAX);
    child.stdout.on('data', (data: Buffer) => {
      rest += data.toString('utf8');
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const said = JSON.parse(line) as Outcome | { unhandled: string };
        if ('unhandled' in said) {
          console.error(`A promise was rejected and nobody cared: ${said.unhandled}`);
          continue;
        }
        clearTimeout(watch);
        watch = setTimeout(kill, WORLD_MS_MAX);
        lived += 1;
        onOutcome(said);
      }
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(watch);
      const ended = hangs
        ? `The world had not ended after ${WORLD_MS_MAX / 1000} s.`
        : `Its process ended with ${code ?? signal}.`;
      const is_done = code === 0 && (lived === order.seeds.length || order.mutation !== null);
      resolve({ lived, ended: is_done ? null : ended });
    });
  });
}

async function each<Item>(items: Item[], how: (item: Item) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await how(item);
  };
  await Promise.all(Array.from({ length: Number(values.workers) }, lane));
}

function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

function partsOf(seeds: readonly number[]): number[][] {
  const parts: number[][] = [];
  for (let first = 0; first < seeds.length; ) {
    const share = Math.ceil((seeds.length - first) / (2 * Number(values.workers)));
    const part = seeds.slice(
      first,
      first + Math.min(SEEDS_PER_PROCESS, Math.max(SEEDS_PER_PROCESS_MIN, share)),
    );
    parts.push(part);
    first += part.length;
  }
  return parts;
}

function tellFailure({ seed, broken, story, plan }: Outcome): void {
  console.log(`\nSeed ${seed} broke ${broken?.guarantee}: ${broken?.what}`);
  console.log(`It was drawn: ${JSON.stringify(plan)}`);
  console.log(story);
  console.log(`Seed ${seed} broke ${broken?.guarantee}: ${broken?.what}`);
  console.log(`Replay: npm run simulate -- --seed ${seed}   (--all tells everything)`);
}

async function simulate(seeds: number[]): Promise<number> {
  const began = performance.now();
  const totals = new Map<string, number>();
  const failed: Outcome[] = [];
  let slowest = { seed: 0, took_ms: 0 };
  let lived = 0;
  await each(partsOf(seeds), async (part) => {
    if (failed.length >= FAILURES_MAX && !values.keep_going) return;
    await work({ seeds: part, mutation: null, tell: 'about' }, (outcome) => {
      lived += 1;
      if (outcome.took_ms > slowest.took_ms) slowest = outcome;
      for (const [name, count] of Object.entries(outcome.counts))
        totals.set(name, (totals.get(name) ?? 0) + count);
      if (outcome.broken === null) return;
      failed.push(outcome);
      console.log(
        `seed ${outcome.seed}: ${outcome.broken.guarantee}: ${outcome.broken.what.split('\n')[0]}`,
      );
    });
  });
  const seconds = (performance.now() - began) / 1000;
  if (failed[0] !== undefined) tellFailure(failed[0]);
  console.log(
    `\n${lived} worlds (seeds ${seeds[0]} to ${seeds.at(-1)}) in ${seconds.toFixed(1)} s, ` +
      `the slowest ${slowest.seed} in ${slowest.took_ms} ms:`,
  );
  for (const [name, count] of totals)
    if (!isStep(name)) console.log(`${String(count).padStart(12)}  ${name}`);
  for (const line of toldSteps(totals)) console.log(line);
  console.log(
    failed.length === 0
      ? 'Every promise was kept.'
      : `${failed.length} worlds broke a promise: ${failed.map(({ seed }) => seed).join(', ')}.`,
  );
  return failed.length === 0 ? 0 : 1;
}

async function tellOne(seed: number): Promise<number> {
  let code = 0;
  await work({ seeds: [seed], mutation: null, tell: values.all ? 'all' : 'about' }, (outcome) => {
    if (outcome.broken !== null) {
      tellFailure(outcome);
      code = 1;
    } else {
      if (values.all) console.log(`${JSON.stringify(outcome.plan)}\n${outcome.story}`);
      console.log(
        `Seed ${seed} kept every promise (${outcome.took_ms} ms, trace ` +
          `${outcome.hash.toString(16)}).`,
      );
    }
  });
  return code;
}

const broken_alone = new Map<number, Promise<boolean>>();

/** Whether the world also breaks a guarantee without the mutation. */
function breaksAlone(seed: number): Promise<boolean> {
  const live = async () => {
    let is_broken = false;
    await work({ seeds: [seed], mutation: null, tell: 'about' }, ({ broken }) => {
      is_broken = broken !== null;
    });
    if (is_broken) console.log(`Seed ${seed} breaks without a mutation and is left out.`);
    return is_broken;
  };
  const known = broken_alone.get(seed) ?? live();
  broken_alone.set(seed, known);
  return known;
}

async function mutate(seeds: number[], mutations: readonly string[]): Promise<number> {
  const rows = new Map<string, string>();
  let missed = 0;
  await each([...mutations], async (mutation) => {
    let lived = 0;
    let found: Outcome | null = null;
    while (lived < seeds.length && found === null) {
      const part = seeds.slice(lived, lived + SEEDS_PER_PROCESS);
      const outcomes: Outcome[] = [];
      await work({ seeds: part, mutation, tell: 'about' }, (outcome) => outcomes.push(outcome));
      lived += outcomes.length;
      const broken = outcomes.find((outcome) => outcome.broken !== null);
      // A world that breaks without the mutation says nothing about the mutation.
      if (broken !== undefined && !(await breaksAlone(broken.seed))) found = broken;
    }
    if (found === null) missed += 1;
    const how =
      found === null
        ? `NOT CAUGHT in ${lived} seeds`
        : `caught by seed ${found.seed} (${lived}) as ${found.broken?.guarantee}`;
    rows.set(mutation, how);
    console.log(`${mutation.padEnd(52)} ${how}`);
  });
  console.log(
    `\n${rows.size} mutations, ${rows.size - missed} caught within ${seeds.length} seeds.`,
  );
  return missed === 0 ? 0 : 1;
}

const from = Number(values.from);
const count = Number(values.seeds);
if (values.seed !== undefined) process.exitCode = await tellOne(Number(values.seed));
else if (values.mutations || values.mutation !== undefined)
  process.exitCode = await mutate(
    range(from, values.seeds === '100' ? 200 : count),
    values.mutation === undefined ? Object.keys(MUTATIONS) : [values.mutation],
  );
else process.exitCode = await simulate(range(from, count));
