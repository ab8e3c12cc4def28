/** The attention list while the stored text of a visit on it is damaged. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/engine/store.ts';
import { acceptBatch } from '../../src/store/intake/intake.ts';
import { anAppointment } from '../domain/examples.ts';
import type { Clinic } from '../support/clinic.ts';
import { startOffice } from '../support/office.ts';

async function fill(clinic: Clinic): Promise<void> {
  await clinic.once();
  const store = await openStore(join(clinic.state, 'eligd.db'));
  const starts_at = new Date(Date.now() + 4 * 86_400_000).toISOString();
  const source = { key: 'K', name: 'before', is_last: true, completeness: 'changes' as const };
  const appointments = [anAppointment({ source_id: 'V-1', starts_at })];
  await store.write(async (tx) => {
    const batch = { source, appointments, rejected: [], cursor: null };
    await acceptBatch(tx, 'front-desk', batch, Date.now());
    await tx.updateTable('appointments').set({ content: '{"damaged' }).execute();
  });
  await store.close();
}

test('every attention list shows its entry, with the visit’s row and time (G2, G7)', async () => {
  const { clinic, login } = await startOffice({ fill });
  const maria = await login('operator');
  const page = async () => (await maria.get('/attention')).text.replaceAll(/\s+/g, ' ');
  await expect.poll(page, { timeout: 10_000 }).toContain('eligd could not decide what this');
  expect(await page()).toMatch(/<h2><a href="\/visit\/1">Visit [A-Z]/);
  for (const options of [[], ['--patients']]) {
    const { stdout } = await clinic.run('list', '--attention', ...options);
    expect(stdout).toMatch(/^appointment appointment:1, visit 20.* \(planning_failed, since/m);
  }
  const { stdout } = await clinic.run('list', '--attention', '--json');
  const { entries } = JSON.parse(stdout) as { entries: object[] };
  expect(entries).toMatchObject([{ reason: 'planning_failed', appointment: 'appointment:1' }]);
  await expect.poll(() => clinic.attention()).toMatchObject([{ reason: 'planning_failed' }]);
});
