/** `npm run bench -- cost`: calls and money of a made-up year, old rules and defaults. */
import type { CostJob, CostResult } from './cost.ts';
import { measureInChild, printTable } from './measure.ts';

const SEED = 18;
const CHAIRS = 20;

/** Prints calls, money, and contradictions of both, and where the money went. */
export async function benchCost(): Promise<void> {
  const [old, defaults] = await Promise.all([run('old'), run('defaults')]);
  const results = [
    ['old rules', old],
    ['defaults', defaults],
  ] as const;
  printTable([
    [
      `a year of ${CHAIRS} chairs, $4 a call, $2 a code, same day twice`,
      ...['visits', 'claims', 'calls', 'codes', 'same day', 'dollars', 'ratio'],
      ...['office calls', 'codes unknown', 'carried', 'contradicted'],
    ],
    ...results.map(([name, { all, ...each }]) => [
      name,
      ...[each.visits, each.claims, all.calls, all.codes, all.urgent].map(number),
      dollars(all.cents),
      (all.cents / old.all.cents).toFixed(3),
      ...[each.left_to_office, each.codes_unknown, each.carried, each.contradicted].map(number),
    ]),
  ]);
  const share = old.returning / old.visits;
  console.log(`${(share * 100).toFixed(0)}% of the visits are of returning patients.\n`);
  const names = (of: 'kinds' | 'codes_of') => [
    ...new Set([...Object.keys(old[of]), ...Object.keys(defaults[of])]),
  ];
  printTable([
    ['calls, by kind', 'old: calls', 'codes', 'dollars', 'defaults: calls', 'codes', 'dollars'],
    ...names('kinds').map((name) => [
      name,
      ...[old, defaults].flatMap(({ kinds }) => {
        const { calls = 0, codes = 0, cents = 0 } = kinds[name] ?? {};
        return [number(calls), number(codes), dollars(cents)];
      }),
    ]),
  ]);
  console.log();
  printTable([
    ['codes asked about, of', 'old', 'defaults'],
    ...names('codes_of').map((name) => [
      name,
      ...[old, defaults].map(({ codes_of }) => number(codes_of[name] ?? 0)),
    ]),
  ]);
  console.log();
}

async function run(rules: CostJob['rules']): Promise<CostResult> {
  const job: CostJob = { rules, seed: SEED, chairs: CHAIRS };
  return await measureInChild<CostResult>('cost.ts', job);
}

const number = (value: number) => value.toLocaleString('en-US');
const dollars = (cents: number) => number(Math.round(cents / 100));
