import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changesSince, endOfChanges } from '../../src/store/views/changes.ts';
import { Clinic } from './clinic.ts';

test('a call whose stored draft is damaged is counted, without its payer', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-changes-'));
  const clinic = await Clinic.open(folder);
  try {
    const { inquiry } = await clinic.planned('A1');
    await clinic.open(inquiry);
    const cursor = await endOfChanges(clinic.db);
    await clinic.answer(inquiry);
    await clinic.store.write((tx) =>
      tx.updateTable('inquiries').set({ draft: '{"insurance":' }).execute(),
    );
    const { ended } = await changesSince(clinic.db, cursor);
    expect(ended.map(({ payer }) => payer)).toEqual(['other']);
  } finally {
    await clinic.store.close();
    rmSync(folder, { recursive: true });
  }
});
