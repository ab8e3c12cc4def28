/**
 * `npm run kills -- [--kills N] [--service other]`: the long run, in which a backup is put back and
 * the database is lost. The short one is in `test/scenarios/kills.test.ts`.
 */
import { parseArgs } from 'node:util';
import { killAndCompare } from './run.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '300' },
    service: { type: 'string', default: 'sandbox' },
  },
});
const began = performance.now();
const result = await killAndCompare({
  kills: Number(values.kills),
  service: values.service === 'other' ? 'other' : 'sandbox',
  loses_database: true,
  tell: (text) => console.log(text),
});
const { to_useful_ms, kinds, reports } = result;
const sorted = to_useful_ms.toSorted((a, b) => a - b);
const mean = sorted.reduce((sum, each) => sum + each, 0) / Math.max(1, sorted.length);
console.log(
  `${result.kills} kills in ${Math.round((performance.now() - began) / 1000)} s: ${Object.entries(
    kinds,
  )
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ')}`,
);
console.log(
  `${result.visits} visits, ${result.calls} calls, ${reports.sent} reports sent ` +
    `(${reports.taken} taken)`,
);
console.log(
  `from a start to the first thing done: mean ${Math.round(mean)} ms, median ` +
    `${Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)} ms, longest ` +
    `${Math.round(sorted.at(-1) ?? 0)} ms`,
);
const failures = (['duplicates', 'uncalled', 'unwritten', 'foreign', 'slow_stops'] as const).filter(
  (name) => result[name].length > 0,
);
for (const name of failures) console.log(`${name}: ${result[name].join(', ')}`);
console.log(
  failures.length === 0
    ? 'No call twice, no visit lost; ledger and drop folder agree.'
    : `Kept: ${result.folder}`,
);
process.exitCode = failures.length === 0 ? 0 : 1;
