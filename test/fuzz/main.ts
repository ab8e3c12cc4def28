/**
 * Sends hostile bytes to every input of eligd: files of the drop folder, replies of the service,
 * and bodies of webhook events (for HL7, use `npm run fuzz:hl7`).
 *
 *     npm run fuzz -- [--runs N] [--seed N] [--target NAME] [--grow]
 *
 * It tries the files in the folder `corpus/` first, then inputs near them. An input with a new
 * outcome joins the corpus of the run; `--grow` also writes it to the folder. An input that breaks
 * a guarantee is made as small as possible and always written there, so the next run tries it
 * first.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as fc from 'fast-check';
import { answersTarget } from './answers.ts';
import { csvTarget } from './csv.ts';
import { hostileCsvTarget } from './hostile-csv.ts';
import { mutated } from './mutated.ts';
import { tablesTarget } from './tables.ts';
import type { Target } from './target.ts';
import { webhooksTarget } from './webhooks.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    target: { type: 'string' },
    grow: { type: 'boolean', default: false },
  },
});
const TARGETS = {
  tables: tablesTarget,
  csv: csvTarget,
  'hostile-csv': hostileCsvTarget,
  answers: answersTarget,
  webhooks: webhooksTarget,
};
const CORPUS = join(import.meta.dirname, 'corpus');
/**
 * The corpus grows between rounds and not within one, so that a failing input can be made smaller.
 */
const RUNS_PER_ROUND = 500;
const ENTRY_BYTES_MAX = 4_000;

function keep(target: Target, input: Buffer, prefix: string): string {
  const folder = join(CORPUS, target.name);
  mkdirSync(folder, { recursive: true });
  const path = join(
    folder,
    `${prefix}-${createHash('sha256').update(input).digest('hex').slice(0, 12)}`,
  );
  writeFileSync(path, input);
  return path;
}

async function tryCorpus(target: Target, corpus: readonly Buffer[]): Promise<Map<string, Buffer>> {
  const known = new Map<string, Buffer>();
  for (const input of corpus) {
    try {
      known.set(await target.check(input), input);
    } catch (error) {
      console.error(
        `${target.name}: an entry of the corpus fails: ` +
          `${JSON.stringify(input.toString('latin1').slice(0, 500))}`,
      );
      throw error;
    }
  }
  return known;
}

async function fuzz(target: Target, runs: number, seed: number): Promise<void> {
  const began = performance.now();
  const folder = join(CORPUS, target.name);
  mkdirSync(folder, { recursive: true });
  const files = readdirSync(folder).sort();
  const corpus: Buffer[] = [
    ...target.seeds.map((text) => Buffer.from(text)),
    ...files.map((name) => readFileSync(join(folder, name))),
  ];
  const known = await tryCorpus(target, corpus);
  const before = known.size;
  for (let done = 0; done < runs; done += RUNS_PER_ROUND) {
    const found = new Map<string, Buffer>();
    const inputs = target.inputs ?? mutated(corpus, target.telling);
    const property = fc.asyncProperty(inputs, async (input) => {
      const word = await target.check(input);
      if (!known.has(word) && !found.has(word) && input.length <= ENTRY_BYTES_MAX)
        found.set(word, input);
    });
    const numRuns = Math.min(RUNS_PER_ROUND, runs - done);
    const result = await fc.check(property, { numRuns, seed: seed + done });
    if (result.failed) {
      const [input] = result.counterexample ?? [];
      if (input !== undefined)
        console.error(
          `${target.name}: kept as ${keep(target, input, 'failed')}: ` +
            `${JSON.stringify(input.toString('latin1').slice(0, 500))}`,
        );
      throw result.errorInstance ?? new Error('It failed.');
    }
    for (const [word, input] of found) {
      known.set(word, input);
      corpus.push(input);
      if (values.grow) keep(target, input, 'found');
    }
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(
    `${target.name}: ${runs} inputs from seed ${seed} kept every promise in ${seconds} s; ` +
      `corpus ${corpus.length} (${files.length} kept before), ${known.size - before} new ` +
      `outcomes of ${known.size}`,
  );
}

const wanted = Object.entries(TARGETS).filter(
  ([name]) => values.target === undefined || values.target === name,
);
if (wanted.length === 0)
  throw new Error(
    `There is no target ${values.target}; there are ${Object.keys(TARGETS).join(', ')}.`,
  );
for (const [, make] of wanted) {
  const target = await make();
  try {
    await fuzz(target, Number(values.runs), Number(values.seed));
  } finally {
    await target.close();
  }
}
