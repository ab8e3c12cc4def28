import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { type Connector, ConnectorError } from '../../../connectors/contract.ts';
import { DAY_MS } from '../../../src/domain/time.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { retry } from '../../../src/store/bookkeeping/operator.ts';
import { aCoverage } from '../../domain/examples.ts';
import { connector, type Installation, install, send } from '../installation.ts';

async function answered(clinic: Installation, ...ids: string[]): Promise<void> {
  await send(
    clinic,
    ...ids.map((id) => clinic.visit(id, { coverages: [aCoverage({ member_id: `W${id}` })] })),
  );
  await clinic.service.advance({ days: 3 });
  clinic.pass(2 * DAY_MS);
  await clinic.collectAll();
}

test('a record that makes the connector fail delays no other, and is parked at last', async () => {
  const clinic = await install();
  await answered(clinic, 'A-1', 'A-2', 'A-3');
  const written: string[] = [];
  const stumbling = connector(({ appointment }) => {
    if (appointment.source_id === 'A-1') throw new TypeError('No such thing.');
    written.push(appointment.source_id);
  });
  for (let step = 0; step < 5; step += 1) await clinic.deliverNow(stumbling);
  expect([...new Set(written)].sort()).toEqual(['A-2', 'A-3']);
  expect((await clinic.deliveries()).map(({ state }) => state)).toEqual([
    'failed',
    'delivered',
    'delivered',
  ]);
  for (let step = 0; step < 12; step += 1) {
    clinic.pass(DAY_MS);
    await clinic.deliverNow(stumbling);
  }
  expect((await clinic.deliveries())[0]?.state).toBe('parked');
  expect(await clinic.attention()).toEqual(['delivery_parked']);
});

test('a record that the PMS refused for two days can still be written, as listed', async () => {
  const clinic = await install();
  await answered(clinic, 'A-1');
  let is_broken = true;
  const broken: Connector = {
    ...connector(() => {}),
    deliver: async ({ deliveries }) =>
      deliveries.map(({ key }) =>
        is_broken
          ? {
              key,
              outcome: 'failed',
              is_permanent: false,
              what: 'It broke off.',
              next: 'It is tried again automatically.',
            }
          : { key, outcome: 'delivered' },
      ),
  };
  for (let step = 0; step < 13; step += 1) {
    clinic.pass(DAY_MS);
    await clinic.deliverNow(broken);
  }
  const [line] = await openAttention(clinic.store.db, 'front-desk');
  expect(line?.next).toMatch(
    /^eligd tried 12 times and does not try again automatically\. .*"eligd retry"/,
  );
  is_broken = false;
  await clinic.store.write((tx) => retry(tx, { kind: 'appointment', id: 1 }, clinic.now()));
  await clinic.deliverNow(broken);
  expect((await clinic.deliveries()).map(({ state }) => state)).toEqual(['delivered']);
});

test('an answer is not written under an ID that the PMS gave to another patient', async () => {
  const clinic = await install();
  await answered(clinic, 'A-1');
  const patient = { id: 'P-9', first_name: 'Eve', last_name: 'Other', birth_date: '1990-05-06' };
  await clinic.read(clinic.visit('A-1', { patient, coverages: [aCoverage({ member_id: 'X9' })] }));
  const written: string[] = [];
  const { did, next_at } = await clinic.deliverNow(
    connector(({ appointment }) => void written.push(appointment.source_id)),
  );
  expect({ did, next_at, written }).toEqual({ did: 0, next_at: null, written: [] });
});

test('an answer is written for the visit as it is after it was another patient’s', async () => {
  const clinic = await install();
  await answered(clinic, 'A-1');
  const own = clinic.visit('A-1', { coverages: [aCoverage({ member_id: 'WA-1' })] });
  const other = { id: 'P-9', first_name: 'Bea', last_name: 'Other', birth_date: '1991-02-03' };
  for (const visit of [
    clinic.visit('A-1', { coverages: [aCoverage({ member_id: 'NEW' })] }),
    clinic.visit('A-1', { patient: other }),
    own,
  ]) {
    await clinic.read(visit);
    await clinic.planNow();
  }
  const written: [string, string][] = [];
  await clinic.deliverNow(
    connector(({ appointment, record }) => {
      written.push([record.inquiry_id, appointment.coverage.member_id]);
    }),
  );
  const [call] = await clinic.service.ledger();
  expect(written).toEqual([[call?.id, 'WA-1']]);
});

test('an answer that the service took back is not written for the other coverage', async () => {
  const clinic = await install();
  const [one, other] = [aCoverage(), aCoverage({ member_id: 'W-OTHER' })];
  await send(clinic, clinic.visit('A-1', { coverages: [one, other] }));
  await clinic.service.advance({ days: 3 });
  clinic.pass(2 * DAY_MS);
  await clinic.collectAll();
  await clinic.deliverNow(
    connector(() => {
      throw new ConnectorError('transient', { what: 'It is closed.', next: 'Wait.' });
    }),
  );
  const { read } = clinic.client;
  const taken_back = { status: 'IN_PROGRESS', results: null, summary: '' };
  const forms: unknown[] = [];
  clinic.client.read = async (...given) => {
    const result = await read(...given);
    if (!result.ok || result.value === null) return result;
    forms.push({ ...(result.value.raw as object), ...taken_back });
    return { ok: true, value: { ...result.value, ...taken_back } };
  };
  for (const { specialty, service_id } of await clinic.inquiries())
    await clinic.client.read(specialty, service_id as never, { priority: 'routine' });
  await clinic.report('back', forms);
  await clinic.drainNow();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open', 'open']);
  await clinic.read(clinic.visit('A-1', { coverages: [other, one] }));
  await clinic.planNow();
  clinic.pass(DAY_MS);
  const written: string[] = [];
  await clinic.deliverNow(
    connector(({ appointment, record }) => {
      written.push(`${appointment.coverage.member_id} ${record.inquiry_id}`);
    }),
  );
  expect(written).toEqual([]);
});

test('eligd retry writes no answer about insurance that the visit no longer has', async () => {
  const clinic = await install();
  await answered(clinic, 'A-1');
  const refusing: Connector = {
    ...connector(() => {}),
    deliver: async ({ deliveries }) =>
      deliveries.map(({ key }) => ({
        key,
        outcome: 'failed',
        is_permanent: true,
        what: 'The chart is locked.',
        next: 'Unlock it.',
      })),
  };
  await clinic.deliverNow(refusing);
  expect((await clinic.deliveries()).map(({ state }) => state)).toEqual(['parked']);
  clinic.pass(1);
  await clinic.read(clinic.visit('A-1', { coverages: [aCoverage({ member_id: 'W-NEW' })] }));
  await clinic.planNow();
  const [visit] = await clinic.store.db.selectFrom('appointments').select('id').execute();
  const retryNow = () =>
    clinic.store.write((tx) => retry(tx, { kind: 'appointment', id: visit!.id }, clinic.now()));
  expect((await retryNow()).map(({ what }) => what).join()).not.toMatch(/written again/);
  await clinic.planNow();
  const written: string[] = [];
  await clinic.deliverNow(connector(({ record }) => void written.push(record.inquiry_id)));
  expect(written).toEqual([]);
});

test('a record of a changed visit waits for planning without repeated searches', async () => {
  const clinic = await install();
  await answered(clinic, 'A-1');
  const written: string[] = [];
  const writing = connector(({ appointment }) => void written.push(appointment.source_id));
  clinic.pass(1);
  await clinic.read(clinic.visit('A-1', { coverages: [aCoverage({ member_id: 'W-NEW' })] }));
  expect(await clinic.deliverNow(writing)).toMatchObject({ did: 0, next_at: null });
  expect(written).toEqual([]);
});

test('a list that cannot be read from the database is no fault of the connector', async () => {
  const clinic = await install();
  const blaming: Connector = {
    ...connector(() => {}),
    publishAttention: async (entries) => {
      await sql`alter table attention rename to lost`.execute(clinic.store.db);
      try {
        await Array.fromAsync(entries);
      } catch {
        throw new ConnectorError('transient', { what: 'The folder is full.', next: 'Wait.' });
      } finally {
        await sql`alter table lost rename to attention`.execute(clinic.store.db);
      }
    },
  };
  await expect(clinic.deliverNow(blaming)).rejects.toThrow('no such table');
  expect(await clinic.attention()).toEqual([]);
});
