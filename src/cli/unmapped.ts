/** Prints payers that are missing from the payer map, for `payers` and `preview`. */
import type { Unmapped } from '../ops/payer-mapping.ts';
import type { Output } from './context.ts';
import { oneLine, printTable } from './output.ts';

const HIDDEN = 'one with a patient’s name';

/** Leaves out each name that says who a patient is, unless `patients` is set. */
export function shownUnmapped(
  unmapped: readonly Unmapped[],
  patients: boolean,
): (Omit<Unmapped, 'says_who' | 'name'> & { name: string | null })[] {
  return unmapped.map(({ says_who, name, ...rest }) => ({
    ...rest,
    name: says_who && !patients ? null : name,
  }));
}

/** Prints a table, the nearest names, and how to map one. Never cuts names and identifiers. */
export function printUnmapped(unmapped: ReturnType<typeof shownUnmapped>, to: Output): void {
  printTable(
    to,
    [
      { title: 'insurance company', is_whole: true },
      { title: 'payer ID', is_whole: true },
      { title: 'visits', align: 'right', is_whole: true },
      { title: 'calls', is_whole: true },
    ],
    unmapped.map(({ name, payer_id, count, is_called }) => [
      name === null ? HIDDEN : name || null,
      payer_id,
      count,
      is_called ? 'by payer ID' : 'none',
    ]),
  );
  const like_known = unmapped.filter(({ nearest }) => nearest.length > 0);
  if (like_known.length > 0) to.write('\nClosest known names:\n');
  for (const { name, nearest } of like_known) {
    to.write(`  ${oneLine(name ?? HIDDEN)}\n`);
    for (const each of nearest) to.write(`    ${oneLine(each.name)} (${each.carrier})\n`);
  }
  to.write(
    '\nMap one with: eligd payers map NAME ID\n' +
      'ID is a carrier identifier, a payer ID such as 47009, a known name, or\n' +
      'unsupported (then the office calls).\n',
  );
}
