/** What the page says of a visit whose messages are not read yet. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/engine/store.ts';
import { acceptBatch } from '../../src/store/intake/intake.ts';
import { keepMessages } from '../../src/store/intake/keep-messages.ts';
import { reject } from '../../src/store/intake/rejected.ts';
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
    await keepMessages(
      { tx, connector: 'removed', now: Date.now() - 600_000 },
      [message],
      new Map(),
    );
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

test('an entry about an unreadable message has a button to mark it as done', async () => {
  const office = await startOffice({
    fill: async (clinic) => {
      await clinic.once();
      const store = await openStore(join(clinic.state, 'eligd.db'));
      const unreadable = {
        ...{ position: 'message', field: 'message', value_class: 'unreadable' },
        remedy: 'Ask the sender.',
      };
      await store.write((tx) =>
        reject({ tx, connector: 'c', now: Date.now() }, { key: 'K', name: 'M' }, unreadable),
      );
      await store.close();
    },
  });
  const maria = await office.login('operator');
  const { text } = await maria.get('/attention');
  const action = /action="(\/entry\/\d+\/done)"/.exec(text)?.[1] ?? 'no form';
  const hidden = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1];
  const form = Object.fromEntries(
    ['csrf', 'back', 'entry', 'shown'].map((name) => [name, hidden(name) ?? '']),
  );
  const late = await office.browser().post(action, form, { 'sec-fetch-site': 'same-origin' });
  expect(late.text).toContain(`name="again" value="${action}`);
  const changed = await maria.post(action, { ...form, shown: 'other' });
  expect(changed.text).toContain('The entry has changed since you saw it');
  expect((await maria.post(action, form)).headers.get('location')).toBe('/attention');
  expect((await maria.get('/attention')).text).not.toContain('Ask the sender');
});
