/** A claim that the practice corrects, and corrects back before eligd has asked about it. */
import { expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { DAY_MS } from '../../../src/domain/time.ts';
import { hold } from '../../../src/store/bookkeeping/operator.ts';
import { type Installation, install, send } from '../installation.ts';
import { lookUp } from '../submit/lost-calls.ts';

const CREATE = {
  method: 'POST',
  path: '/api/v0/medical/inquiries',
  times: 1,
  when: 'before',
} as const;

/** The payer does not have the claim, as billed for 180 dollars. */
async function notOnFile() {
  const clinic = await install();
  const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  const bill = async (billed_amount: string, status: 'open' | 'settled' = 'open') => {
    const claim_number = 'NOTONFILE-1';
    await clinic.readClaims({
      ...claim(1),
      // The calls are successful.
      coverage: { ...claim(1).coverage, member_id: 'ACTIVE-1' },
      specialty: 'medical',
      procedure_codes: ['99213'],
      date_of_service,
      status,
      claim_number,
      billed_amount,
    });
    await clinic.planNow();
  };
  await clinic.submitNow();
  await send(clinic, clinic.visit('A-0'));
  await bill('180.00');
  await answer(clinic);
  expect(await clinic.attention()).toEqual(['claim_not_on_file']);
  return { clinic, bill };
}

async function answer(clinic: Installation): Promise<void> {
  await clinic.submitNow();
  await clinic.service.advance({ seconds: (5 * DAY_MS) / 1000 });
  clinic.pass(5 * DAY_MS);
  await clinic.collectAll();
  await clinic.planNow();
}

const billedAsked = async ({ service }: Installation) =>
  (await service.ledger())
    .slice(1)
    .map(({ request }) => (request as { billed_amount?: number }).billed_amount);

test('the payer is not asked again about a claim that is as it was', async () => {
  const { clinic, bill } = await notOnFile();
  await bill('190.50');
  expect(await clinic.attention()).toEqual([]);
  await bill('180.00');
  await answer(clinic);
  expect(await billedAsked(clinic)).toEqual([180]);
  expect(await clinic.attention()).toEqual(['claim_not_on_file']);
  await bill('200.00');
  await answer(clinic);
  expect(await billedAsked(clinic)).toEqual([180, 200]);
  expect(await clinic.attention()).toEqual(['claim_not_on_file']);
});

test('a call about the correction that did not reach the service is not repeated', async () => {
  const { clinic, bill } = await notOnFile();
  await clinic.service.fault({ ...CREATE, action: 'reset' });
  await bill('190.50');
  await clinic.submitNow();
  await bill('180.00');
  await lookUp(clinic);
  await clinic.planNow();
  await answer(clinic);
  expect(await billedAsked(clinic)).toEqual([180]);
  expect(await clinic.attention()).toEqual(['claim_not_on_file']);
});

test('a call about the correction that the service has refused is not repeated', async () => {
  const { clinic, bill } = await notOnFile();
  await clinic.service.fault({ ...CREATE, action: 'status', status: 422 });
  await bill('190.50');
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual(['refused']);
  await bill('180.00');
  await answer(clinic);
  expect(await billedAsked(clinic)).toEqual([180]);
  expect(await clinic.attention()).toEqual(['claim_not_on_file']);
});

test('a call about a correction goes on if the correction is taken back', async () => {
  const { clinic, bill } = await notOnFile();
  await bill('190.50');
  await clinic.submitNow();
  await bill('180.00');
  await answer(clinic);
  expect(await billedAsked(clinic)).toEqual([180, 190.5]);
});

test('a correction that is taken back while the claim is settled is not asked about', async () => {
  const { clinic, bill } = await notOnFile();
  await bill('190.50');
  await bill('180.00', 'settled');
  await bill('180.00');
  await answer(clinic);
  expect(await billedAsked(clinic)).toEqual([180]);
  expect(await clinic.attention()).toEqual(['claim_not_on_file']);
});

test('a call that the office holds is held although its correction comes and goes', async () => {
  const { clinic, bill } = await notOnFile();
  await bill('190.50');
  const id = (await clinic.inquiries()).at(-1)!.id;
  await clinic.store.write((tx) => hold(tx, { kind: 'inquiry', id }, clinic.now()));
  await bill('180.00');
  await bill('190.50');
  await answer(clinic);
  expect(await billedAsked(clinic)).toEqual([180]);
});

test('a further correction changes the call that is planned', async () => {
  const { clinic, bill } = await notOnFile();
  await bill('190.50');
  await bill('200.00');
  expect(await clinic.inquiries()).toHaveLength(3);
  await answer(clinic);
  expect(await billedAsked(clinic)).toEqual([180, 200]);
});

test('a damaged answer does not keep a corrected claim from its call (G7)', async () => {
  const { clinic, bill } = await notOnFile();
  await bill('190.50');
  await clinic.store.db.updateTable('inquiries').set({ draft: '{' }).where('id', '=', 2).execute();
  await bill('200.00');
  expect(await clinic.attention()).toEqual([]);
  await answer(clinic);
  expect(await billedAsked(clinic)).toEqual([180, 200]);
});
