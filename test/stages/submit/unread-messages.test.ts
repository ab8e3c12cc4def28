import { expect, test } from 'vitest';
import { MINUTE_MS } from '../../../src/domain/time.ts';
import { keepMessages } from '../../../src/store/intake/keep-messages.ts';
import { install } from '../installation.ts';

test('a visit waits for unread messages of its connector, and for no others (G1, G7)', async () => {
  const clinic = await install();
  const unread = (connector: string) => {
    const message = { key: connector, name: 'M', reply: '', text: 'T' };
    return clinic.store.write((tx) =>
      keepMessages({ tx, connector, now: clinic.now() }, [message], new Map()),
    );
  };
  const setAside = () =>
    clinic.store.write((tx) => tx.updateTable('unread_messages').set({ failed_at: 1 }).execute());
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  const [row] = await clinic.store.db.selectFrom('appointments').select('connector').execute();
  await unread(row?.connector ?? '');
  for (let minutes = 0; minutes < 20; minutes += 1) {
    expect(await clinic.submitNow()).toMatchObject({ did: 0 });
    clinic.pass(MINUTE_MS);
  }
  expect(await clinic.service.ledger()).toEqual([]);
  await setAside();
  await unread('another');
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toHaveLength(1);
});
