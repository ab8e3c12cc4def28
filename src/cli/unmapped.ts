/** Insurance companies that the payer map does not have, for `payers` and `preview`. */
import { isCallable, isUnmapped } from '../domain/payers.ts';
import type { Specialty } from '../domain/specialty.ts';
import { nearestNames } from '../ops/nearest.ts';
import type { KnownPayer, PayerList } from '../ops/payers.ts';
import type { NamedPayer } from '../store/views/payers.ts';
import type { Output } from './context.ts';
import { printTable } from './output.ts';

/** A payer that the map does not have, as a person sees it. */
export type Unmapped = {
  name: string;
  payer_id: string | null;
  /** Open visits and claims that name it. */
  count: number;
  /** Whether calls are made all the same, by payer ID alone. */
  is_called: boolean;
  nearest: KnownPayer[];
};

const NEAREST_SHOWN = 3;

/** The payers among the named ones that should have a line in the map, the most frequent first. */
export function unmappedOf(
  named: readonly (NamedPayer & { specialty: Specialty })[],
  payers: PayerList,
): Unmapped[] {
  const found = new Map<string, Unmapped>();
  for (const { specialty, coverage } of named) {
    const payer = payers.find(coverage.payor_id, coverage.carrier);
    const called = { specialty, payer, coverage };
    if (!isUnmapped(called)) continue;
    const key = JSON.stringify([coverage.carrier, coverage.payor_id]);
    const before = found.get(key)?.count ?? 0;
    found.set(key, {
      name: coverage.carrier,
      payer_id: coverage.payor_id || null,
      count: before + 1,
      is_called: isCallable(called),
      nearest: nearestNames(coverage.carrier, payers.known, NEAREST_SHOWN).map(
        ({ name, carrier, payor_id }) => ({ name, carrier, payor_id }),
      ),
    });
  }
  return [...found.values()].toSorted((a, b) => b.count - a.count || a.name.localeCompare(b.name));
}

/** A table with the nearest names, and how to map one. */
export function printUnmapped(unmapped: readonly Unmapped[], to: Output): void {
  printTable(
    to,
    [
      { title: 'insurance company', is_whole: true },
      { title: 'payer ID', is_whole: true },
      { title: 'visits', align: 'right', is_whole: true },
      { title: 'calls', is_whole: true },
      { title: 'nearest known names' },
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
