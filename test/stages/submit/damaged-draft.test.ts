import { expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { DAY_MS } from '../../../src/domain/time.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { hold, retry } from '../../../src/store/bookkeeping/operator.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install } from '../installation.ts';

async function damage(clinic: Installation, id: number, draft: string): Promise<void> {
  await clinic.store.write((tx) =>
    tx.updateTable('inquiries').set({ draft }).where('id', '=', id).execute(),
  );
}

test.each(['{', '{}', 'null'])(
  'a call stored as %s is not made and delays no other (G7)',
  async (draft) => {
    const clinic = await install();
    const visits = ['A-1', 'A-2'].map((id) =>
      clinic.visit(id, { coverages: [aCoverage({ member_id: `W${id}` })] }),
    );
    await clinic.read(...visits);
    await clinic.planNow();
    await damage(clinic, 1, draft);
    await clinic.submitNow();
    const sent = await clinic.service.ledger();
    expect(sent.map(({ external_id }) => external_id)).toEqual(['A-2']);
    const [entry] = await openAttention(clinic.store.db);
    expect(entry).toMatchObject({ reason: 'inquiry_unreadable', inquiry: 1, source_id: 'A-1' });
    expect(entry?.next).toMatch(/eligd retry/);

    // The remedy of the entry works.
    const { appointment } = await clinic.store.db
      .selectFrom('inquiry_appointments')
      .select('appointment')
      .where('inquiry', '=', 1)
      .executeTakeFirstOrThrow();
    await clinic.store.write((tx) =>
      retry(tx, { kind: 'appointment', id: appointment }, clinic.now()),
    );
    await clinic.planNow();
    await clinic.submitNow();
    const both = await clinic.service.ledger();
    expect(both.map(({ external_id }) => external_id).toSorted()).toEqual(['A-1', 'A-2']);
    expect(await openAttention(clinic.store.db)).toEqual([]);
  },
);

test('after a retry, a damaged call about a claim is made, and its entry ends (G2)', async () => {
  const clinic = await install();
  const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  await clinic.readClaims({ ...claim(1), date_of_service });
  await clinic.planNow();
  await damage(clinic, 1, '{"carrier');
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual(['inquiry_unreadable']);
  await clinic.store.write((tx) => retry(tx, { kind: 'appointment', id: 1 }, clinic.now()));
  await clinic.planNow();
  await clinic.submitNow();
  expect((await clinic.service.ledger()).map(({ external_id }) => external_id)).toEqual(['C-1']);
  expect(await clinic.attention()).toEqual([]);
});

test('planning does not release a call about a claim that the office holds', async () => {
  const clinic = await install();
  const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  await clinic.readClaims({ ...claim(1), date_of_service });
  await clinic.planNow();
  await clinic.store.write((tx) => hold(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  await clinic.readClaims({ ...claim(1), date_of_service, claim_number: 'CN-2' });
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toEqual([]);
});
