/** A call about a claim whose number the practice corrects before the service lists the call. */
import { expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { DAY_MS } from '../../../src/domain/time.ts';
import { type Installation, install, reconcile, send } from '../installation.ts';
import { labelsOf, lookUp, loseAndHide, makeOlder } from './lost-calls.ts';

/**
 * A call about the number CN-1 that the service lists only after the number was corrected, and
 * after `meanwhile`.
 */
async function correctNumber(
  clinic: Installation,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  await clinic.submitNow();
  await send(clinic, clinic.visit('A-0'));
  const hidden = await loseAndHide(clinic, 1);
  await hidden.show(0);
  await numberIs(clinic, 'CN-1');
  await clinic.submitNow();
  await lookUpOnly(clinic);
  await numberIs(clinic, 'CN-2');
  await meanwhile();
  await hidden.show(1);
  await reconcile(clinic);
}

/** Both lookups find nothing, and the call is not made again yet. */
async function lookUpOnly(clinic: Installation): Promise<void> {
  clinic.submit.settings.is_observing = true;
  await lookUp(clinic);
  clinic.submit.settings.is_observing = false;
}

async function numberIs(clinic: Installation, claim_number: string): Promise<void> {
  const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  await clinic.readClaims({ ...claim(1), date_of_service, claim_number });
  await clinic.planNow();
}

/** The payer answers. */
async function answer(clinic: Installation): Promise<void> {
  await clinic.service.advance({ seconds: (5 * DAY_MS) / 1000 });
  clinic.pass(5 * DAY_MS);
  await clinic.collectAll();
  await clinic.planNow();
}

const numbersAsked = async ({ service }: Installation) =>
  (await service.ledger()).slice(1).map(({ request }) => request.claim_number);

test('its answer is taken, and eligd then asks about the corrected number (G2)', async () => {
  const clinic = await install();
  await correctNumber(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-0', 'C-1']);
  await answer(clinic);
  await clinic.submitNow();
  expect(await numbersAsked(clinic)).toEqual(['CN-1', 'CN-2']);
});

test.each([
  ['our request', 0],
  // Then nobody knows how the number was written.
  ['a lost database, a day before', DAY_MS],
])('if the number is corrected back, the answer of %s is the one', async (_, age_ms) => {
  const clinic = await install();
  makeOlder(clinic, age_ms, ({ request }) => request.claim_number !== undefined);
  await correctNumber(clinic);
  await numberIs(clinic, 'CN-1');
  await answer(clinic);
  await clinic.submitNow();
  expect(await numbersAsked(clinic)).toEqual(['CN-1']);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['answered', 'answered']);
});

test('of two such calls, the one that is listed asked about its own number', async () => {
  const clinic = await install();
  await clinic.submitNow();
  await send(clinic, clinic.visit('A-0'));
  const hidden = await loseAndHide(clinic, 2);
  await hidden.show(0);
  for (const claim_number of ['CN-2', 'CN-1']) {
    await numberIs(clinic, claim_number);
    await clinic.submitNow();
    await lookUpOnly(clinic);
  }
  await numberIs(clinic, 'CN-2');
  await hidden.show(2);
  await reconcile(clinic);
  expect(await numbersAsked(clinic)).toEqual(['CN-2', 'CN-1']);
  await answer(clinic);
  await clinic.submitNow();
  expect(await numbersAsked(clinic)).toEqual(['CN-2', 'CN-1', 'CN-2']);
});

test('its answer is taken although the stored content is damaged (G2)', async () => {
  const clinic = await install();
  await correctNumber(clinic, () =>
    clinic.store.write((tx) =>
      tx.updateTable('inquiries').set({ draft: '{' }).where('id', '=', 2).execute(),
    ),
  );
  await answer(clinic);
  const answered = (await clinic.inquiries()).filter(({ state }) => state === 'answered');
  expect(answered.map(({ external_id }) => external_id)).toContain('C-1');
});
