/** Prints payers that are missing from the payer map, for `payers` and `preview`. */
import type { Unmapped } from '../ops/payer-mapping.ts';
import type { Output } from './context.ts';
import { printTable } from './output.ts';

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

/** Prints a table with the nearest names, and how to map one. */
export function printUnmapped(unmapped: ReturnType<typeof shownUnmapped>, to: Output): void {
  printTable(
    to,
    [
      { title: 'insurance company', is_whole: true },
      { title: 'payer ID', is_whole: true },
      { title: 'visits', align: 'right', is_whole: true },
      { title: 'calls', is_whole: true },
      { title: 'closest known names' },
    ],
    unmapped.map(({ name, payer_id, count, is_called, nearest }) => [
      name ?? 'one with a patient’s name',
      payer_id,
      count,
      is_called ? 'by payer ID' : 'none',
      nearest.map((each) => `${each.name} (${each.carrier})`).join(', ') || null,
    ]),
  );
  to.write('Map one with: eligd payers map NAME ID\n');
}
