import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { adoptPayers } from '../../src/daemon/payers.ts';
import { PayerFile } from '../../src/ops/payer-file.ts';
import { listedPayers, listForMapping } from '../../src/store/bookkeeping/unmapped-payers.ts';
import { openStore, type Store } from '../../src/store/engine/store.ts';
import { acceptBatch } from '../../src/store/intake/intake.ts';
import { facts } from '../domain/examples.ts';
import { appointmentInput, NOW } from '../store/clinic.ts';

const LISTED = [
  { carrier: 'Ameritas', payor_id: '' },
  { carrier: 'Local 134 Fund', payor_id: '' },
];
/** More than one page of visits. */
const VISITS = 600;

let folder: string;
let store: Store;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eligd-payers-'));
  store = await openStore(join(folder, 'eligd.db'));
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Stores visits of two connectors; the last visit of each names an unmapped payer. */
async function storeVisits(): Promise<void> {
  for (const [index, { carrier }] of LISTED.entries()) {
    const appointments = Array.from({ length: VISITS }, (_, number) => {
      const input = appointmentInput(`A${number}`);
      const own = number === VISITS - 1 ? { carrier, payor_id: '' } : {};
      return { ...input, coverages: input.coverages.map((each) => ({ ...each, ...own })) };
    });
    await store.write((tx) =>
      acceptBatch(
        tx,
        `connector-${index}`,
        {
          source: { key: 'one', name: 'one.csv', is_last: true, completeness: 'changes' },
          appointments,
          cursor: null,
          rejected: [],
        },
        NOW,
      ),
    );
  }
}

async function adopt(lines: readonly string[]): Promise<string[]> {
  writeFileSync(join(folder, 'payers.csv'), `${['pms_name,carrier', ...lines].join('\n')}\n`);
  const policy = { payers: null } as ConstructorParameters<typeof PayerFile>[0]['policy'];
  await adoptPayers(store, new PayerFile({ policy, folder }), facts().clinic, NOW);
  return (await listedPayers(store.db)).map(({ carrier }) => carrier);
}

test('a payer stays listed until the map has it or no open visit names it', async () => {
  await store.write((tx) => listForMapping(tx, LISTED, NOW));
  await storeVisits();
  expect(await adopt([])).toEqual(['Ameritas', 'Local 134 Fund']);
  expect(await adopt(['Ameritas,AMERITAS'])).toEqual(['Local 134 Fund']);
  await store.db
    .updateTable('appointments')
    .set({ closed_reason: 'past' })
    .where('content', 'like', '%Local 134 Fund%')
    .execute();
  expect(await adopt([])).toEqual([]);
});
