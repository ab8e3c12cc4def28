/** A list that says that it is complete, and is not. */
import { expect, test } from 'vitest';
import { ensureReconciled } from '../../../src/stages/submit/index.ts';
import { install, send } from '../installation.ts';
import { anOldCall, labelsOf, TWINS, twin } from './lost-calls.ts';

test('a list that falsely says it is complete hides no call of a lost database (G1)', async () => {
  const clinic = await install();
  clinic.submit.settings.is_shared_account = true;
  const other = { ...TWINS, member_id: 'X9', patient_name: 'Bea Example', external_id: 'Z-9' };
  await clinic.service.createBeside(other);
  const [unknown] = await clinic.service.ledger();
  await anOldCall(clinic, 'A-1');
  const { list } = clinic.client;
  clinic.client.list = async (specialty, filter, options) => {
    const result = await list(specialty, filter, options);
    if (!result.ok || filter.external_id !== undefined) return result;
    const inquiries = result.value.inquiries.filter(({ id }) => id === unknown?.id);
    const value = { ...result.value, inquiries, total_count: 1, is_end_proven: true };
    return { ok: true, value };
  };
  await ensureReconciled(clinic.submit, 'dental');
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect(await labelsOf(clinic)).toEqual(['Z-9', 'A-1']);
});

test('a call under the label of a canceled visit serves the next one of the patient', async () => {
  const clinic = await install();
  clinic.submit.settings.is_shared_account = true;
  await anOldCall(clinic, 'A-1');
  const { list } = clinic.client;
  clinic.client.list = async (specialty, filter, options) => {
    const result = await list(specialty, filter, options);
    if (!result.ok || filter.external_id !== undefined) return result;
    return { ok: true, value: { ...result.value, inquiries: [], is_complete: false } };
  };
  await ensureReconciled(clinic.submit, 'dental');
  await clinic.read(clinic.visit('A-1', { ...twin('Ada'), status: 'cancelled' }));
  await send(clinic, clinic.visit('A-2', twin('Ada')));
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});
