import { expect, test } from 'vitest';
import { MINUTE_MS } from '../../../src/domain/time.ts';
import { handle } from '../../../src/store/bookkeeping/handled.ts';
import { type Installation, install, reconcile, SETTLE_MS, send } from '../installation.ts';
import { lookUp, loseCreates, TWINS, twin } from './lost-calls.ts';

/** The service's list shows the requests of calls without these fields. */
function withhold({ client }: Installation, ...fields: string[]): void {
  const { list } = client;
  client.list = async (...given) => {
    const result = await list(...given);
    if (!result.ok) return result;
    const inquiries = result.value.inquiries.map((each) => ({
      ...each,
      request: Object.fromEntries(
        Object.entries(each.request).filter(([name]) => !fields.includes(name)),
      ),
    }));
    return { ok: true, value: { ...result.value, inquiries } };
  };
}

/** A database was lost after a call under a label that the clinic no longer uses. */
async function haveNamelessCall(clinic: Installation): Promise<void> {
  await clinic.service.createBeside({ ...TWINS, patient_name: 'Ada Example', external_id: 'OLD' });
  withhold(clinic, 'patient_name');
  await reconcile(clinic);
}

const labels = async ({ service }: Installation) =>
  (await service.ledger()).map(({ external_id }) => external_id);

test('a call that may be for the patient delays ours for two settle times', async () => {
  const clinic = await install();
  await haveNamelessCall(clinic);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await labels(clinic)).toEqual(['OLD']);
  expect(await clinic.attention()).toEqual(['doubtful_call']);
  clinic.pass(2 * SETTLE_MS - MINUTE_MS);
  await clinic.submitNow();
  expect(await labels(clinic)).toEqual(['OLD']);
  clinic.pass(MINUTE_MS + 1_000);
  await clinic.submitNow();
  expect(await labels(clinic)).toEqual(['OLD', 'A-1']);
  expect(await clinic.attention()).toEqual(['doubtful_call']);
});

test('our call is made within a minute once the office has marked the entry as done', async () => {
  const clinic = await install();
  await haveNamelessCall(clinic);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  const [{ id } = { id: 0 }] = await clinic.inquiries();
  await clinic.store.write((tx) =>
    handle('another patient')(tx, { kind: 'inquiry', id }, clinic.now()),
  );
  clinic.pass(MINUTE_MS + 1_000);
  await clinic.submitNow();
  expect(await labels(clinic)).toEqual(['OLD', 'A-1']);
  expect(await clinic.attention()).toEqual([]);
});

test('a lost call whose listed request cannot be read is not made again (G1)', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-0'));
  await loseCreates(clinic, 1);
  withhold(clinic, 'dob');
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  for (let round = 0; round < 5; round += 1) await lookUp(clinic);
  expect(await labels(clinic)).toEqual(['A-0', 'A-1']);
});
