/** Prints payers that are missing from the payer map, for `payers` and `preview`. */
import type { Unmapped } from '../ops/payer-mapping.ts';
import type { Output } from './context.ts';
import { printTable } from './output.ts';

/** Prints a table with the nearest names, and how to map one. */
export function printUnmapped(unmapped: readonly Unmapped[], to: Output): void {
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
      name || null,
      payer_id,
      count,
      is_called ? 'by payer ID' : 'none',
      nearest.map((each) => `${each.name} (${each.carrier})`).join(', ') || null,
    ]),
  );
  to.write('Map one with: eligd payers map NAME ID\n');
}
