/**
 * The claim number is corrected while the service does not list the call that was made with the
 * former one. That call cannot answer the question, so the next one does (G2).
 */
import { expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { DAY_MS, HOUR_MS } from '../../../src/domain/time.ts';
import { type Installation, install, reconcile } from '../installation.ts';
import { lookUp, loseAndHide } from './lost-calls.ts';

/** The reply to the first calls is lost, no list shows them, and then the number is corrected. */
async function correctAfterLoss(lost: number) {
  const clinic = await install();
  const { show } = await loseAndHide(clinic, lost);
  const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  const before = { ...claim(1), date_of_service, claim_number: 'CN-8' };
  await clinic.readClaims(before);
  await clinic.planNow();
  await clinic.submitNow();
  await lookUp(clinic);
  await clinic.readClaims({ ...before, claim_number: 'CN-9' });
  await clinic.planNow();
  return { clinic, show };
}

/** What the practice has received, after some days. */
async function deliveredLater(clinic: Installation): Promise<number> {
  for (let day = 0; day < 5; day += 1) {
    clinic.pass(DAY_MS);
    await clinic.service.advance({ hours: 24 });
    await clinic.collectAll();
    await clinic.planNow();
    await clinic.submitNow();
  }
  return (await clinic.deliveries()).length;
}

const numbers = async ({ service }: Installation) =>
  (await service.ledger()).map(
    ({ request }) => (request as { claim_number?: string }).claim_number,
  );

test('a call about the former number is reported, and the corrected one is made', async () => {
  const { clinic, show } = await correctAfterLoss(1);
  await show(0);
  await reconcile(clinic);
  clinic.pass(HOUR_MS);
  await clinic.service.advance({ hours: 1 });
  await clinic.submitNow();
  await clinic.submitNow();
  await show(1);
  expect(await numbers(clinic)).toEqual(['CN-8', 'CN-9']);
  expect(await clinic.attention()).toEqual(['duplicate_call']);
  expect(await deliveredLater(clinic)).toBe(1);
});

test('a call about the former number does not take the place of a lost corrected one', async () => {
  const { clinic, show } = await correctAfterLoss(2);
  clinic.pass(HOUR_MS);
  await clinic.service.advance({ hours: 1 });
  await clinic.submitNow();
  await show(0);
  await reconcile(clinic);
  await show(1);
  await lookUp(clinic);
  await reconcile(clinic);
  expect(await numbers(clinic)).toEqual(['CN-8', 'CN-9']);
  expect((await clinic.inquiries())[0]?.service_id).toBe((await clinic.service.ledger())[1]?.id);
  expect(await deliveredLater(clinic)).toBe(1);
});
