/** A call of a lost database, made when its visit had other procedure codes. */
import { expect, test } from 'vitest';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { connector, type Installation, install, send } from '../installation.ts';
import { labelsOf } from '../submit/lost-calls.ts';
import { finish, readAgain, visit } from '../submit/merges.ts';

const withCodes = (clinic: Installation, ...procedure_codes: string[]) => ({
  ...visit(clinic, 'A-1'),
  procedure_codes,
});

/** Takes over the call about D1110 for a visit with D2740. Returns what the PMS gets. */
async function takeOver(policy: object, echoed: unknown = ['1110']) {
  const clinic = await install({ policy });
  await clinic.planNow();
  await send(clinic, withCodes(clinic, 'D1110'));
  const [{ request } = { request: {} }] = await clinic.service.ledger();
  const beside = { ...request, benefits_codes: echoed, external_id: 'A-1' };
  const other = await install({ policy });
  await other.service.createBeside(beside as never);
  await send(other, withCodes(other, 'D2740'));
  await finish(other);
  expect(await labelsOf(other)).toEqual(['A-1']);
  await other.planNow();
  const asked: unknown[] = [];
  await other.deliverNow(connector(({ record }) => asked.push(record.asked.benefits_codes)));
  return { clinic: other, asked };
}

test('its record says what the payer was asked about; the office hears of the rest', async () => {
  const { clinic, asked } = await takeOver({ new_codes: 'note' });
  expect(asked).toEqual([['1110']]);
  expect(await openAttention(clinic.store.db)).toMatchObject([
    { reason: 'codes_not_asked', what: expect.stringContaining('not about D2740') },
  ]);
});

test('with new_codes: call, eligd asks about the codes of the visit', async () => {
  const { clinic } = await takeOver({ new_codes: 'call' });
  await clinic.submitNow();
  const requests = (await clinic.service.ledger()).map(({ request }) => ({ ...request }));
  expect(requests).toMatchObject([{ benefits_codes: ['1110'] }, { benefits_codes: ['D2740'] }]);
});

test.each([
  ['the codes of the visit', ['2740'], ['2740']],
  ['no codes', null, ['D2740']],
])('an echo with %s causes no call and no entry', async (_, echoed, said) => {
  const { clinic, asked } = await takeOver({ new_codes: 'call' }, echoed);
  expect(asked).toEqual([said]);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  expect(await clinic.attention()).toEqual([]);
});

test('an echo with other codes than our own request causes no further call (G1)', async () => {
  const clinic = await install({ policy: { new_codes: 'call' } });
  const { read } = clinic.client;
  let status = 'SUCCESS';
  clinic.client.read = async (...given) => {
    const result = await read(...given);
    if (!result.ok || result.value === null) return result;
    const was = result.value.raw as { request: object };
    const raw = { ...was, status, request: { ...was.request, benefits_codes: ['D9999'] } };
    return { ok: true, value: { ...result.value, raw, status } };
  };
  await clinic.planNow();
  await send(clinic, withCodes(clinic, 'D1110'));
  await finish(clinic);
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
  // Retention erases the request, and then the service revises its answer.
  await clinic.store.db.updateTable('calls').set({ body: null }).execute();
  for (status of ['UNSUCCESSFUL', 'SUCCESS']) {
    await readAgain(clinic, 1);
    await clinic.collectAll();
  }
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});
