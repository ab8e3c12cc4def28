/** What the page says of a visit whose messages are not read yet. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/engine/store.ts';
import { acceptBatch } from '../../src/store/intake/intake.ts';
import { keepMessages } from '../../src/store/intake/unread-messages.ts';
import { anAppointment } from '../domain/examples.ts';
import type { Clinic } from '../support/clinic.ts';
import { startOffice } from '../support/office.ts';

/** A visit of a connector that was removed, and a message of it that was never read. */
async function fill(clinic: Clinic): Promise<void> {
  await clinic.once();
  const store = await openStore(join(clinic.state, 'eligd.db'));
  const starts_at = new Date(Date.now() + 4 * 86_400_000).toISOString();
  const source = { key: 'K', name: 'before', is_last: true, completeness: 'changes' as const };
  const appointments = [anAppointment({ source_id: 'V-1', starts_at })];
  await store.write(async (tx) => {
    const batch = { source, appointments, rejected: [], cursor: null };
    await acceptBatch(tx, 'removed', batch, Date.now());
    const message = { key: 'M', name: 'M', reply: '', text: 'M' };
    await keepMessages(tx, 'removed', [message], Date.now() - 600_000);
  });
  await store.close();
}

test('a visit with unread messages says that its call waits, and where to look', async () => {
  const office = await startOffice({ fill });
  const maria = await office.login('operator');
  const page = async () => (await maria.get('/visit/1')).text.replaceAll(/\s+/g, ' ');
  await expect.poll(page, { timeout: 10_000 }).toContain('The call waits until eligd has read');
  expect(await page()).toContain('see “Needs you” for what to do');
  expect(await page()).not.toContain('next batch');
  await expect
    .poll(async () => (await maria.get('/attention')).text, { timeout: 10_000 })
    .toContain('Messages of the connector removed are received but not read');
});
