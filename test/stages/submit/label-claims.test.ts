/** The list of a claim's label shows calls about a number that the claim had before, or has not. */
import { describe, expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { DAY_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { type Installation, install, reconcile, send } from '../installation.ts';
import {
  about,
  advance,
  anOldCall,
  firstBody,
  haltsOf,
  hideCalls,
  labelsOf,
  lookUp,
  loseCreates,
  twin,
  withhold,
  withholdTimes,
} from './lost-calls.ts';

/** Sends the call of A-0; the list may hide others. */
async function begin() {
  const clinic = await install();
  clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
  await clinic.submitNow();
  await send(clinic, clinic.visit('A-0', twin('Ada')));
  await clinic.collectAll();
  const hidden = hideCalls(clinic);
  await hidden.show(0);
  await reconcile(clinic);
  await advance(clinic, 90 * MINUTE_MS);
  return { clinic, hidden };
}

/** Plans the claims with these numbers. `over`: what else is special about them. */
async function plan(
  clinic: Installation,
  numbers: Record<string, string>,
  over: object = {},
): Promise<void> {
  const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  const claims = Object.entries(numbers).map(([source_id, claim_number]) => ({
    ...claim(1),
    source_id,
    date_of_service,
    claim_number,
    ...over,
  }));
  await clinic.readClaims(...claims);
  await clinic.planNow();
}

/** Two lookups do not find the call about C-1 with this number. The next call is due. */
async function loseCall(
  clinic: Installation,
  when: 'before' | 'after',
  number = 'CN-1',
): Promise<void> {
  await loseCreates(clinic, 1, when);
  await plan(clinic, { 'C-1': number });
  await clinic.submitNow();
  clinic.submit.settings.is_observing = true;
  await lookUp(clinic);
  clinic.submit.settings.is_observing = false;
}

/** The same for CN-1, and then for CN-2. */
async function loseBoth(clinic: Installation): Promise<void> {
  for (const number of ['CN-1', 'CN-2']) {
    await loseCall(clinic, 'after', number);
    await advance(clinic, 20 * MINUTE_MS);
  }
}

/** The list has the call about the lowest number at this place. */
function sortByNumber({ client }: Installation, place: 'first' | 'last'): void {
  const { list } = client;
  client.list = async (...given) => {
    const result = await list(...given);
    if (!result.ok) return result;
    const by_number = result.value.inquiries.toSorted((a, b) =>
      String(a.request.claim_number) < String(b.request.claim_number) ? -1 : 1,
    );
    const inquiries = place === 'first' ? by_number : by_number.toReversed();
    return { ok: true, value: { ...result.value, inquiries } };
  };
}

/** The numbers that all calls of the next days and before asked about, but for that of A-0. */
async function numbersAfterDays(clinic: Installation): Promise<unknown[]> {
  for (let day = 0; day < 8; day += 1) {
    await clinic.submitNow();
    await advance(clinic, DAY_MS);
    await clinic.collectAll();
    await clinic.planNow();
  }
  const ledger = await clinic.service.ledger();
  return ledger.slice(1).map(({ request }) => request.claim_number);
}

/** From now on, eligd queries the label before each call. */
function mayHide({ submit }: Installation): void {
  for (const last of submit.memory.reconciled.values()) last.hides_calls = true;
}

test('a call of ours stops nothing, although the claim has no number anymore', async () => {
  const { clinic, hidden } = await begin();
  withhold(clinic, 'claim_number');
  await loseCall(clinic, 'after');
  await plan(clinic, { 'C-1': '' });
  mayHide(clinic);
  await hidden.show(1);
  await clinic.submitNow();
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['A-0', 'C-1']);
});

test('a call of another installation stops eligd, although ours had its number', async () => {
  const { clinic, hidden } = await begin();
  await loseCall(clinic, 'before');
  const body = await firstBody(clinic, 'C-1');
  await plan(clinic, { 'C-1': 'CN-2', 'C-2': 'CN-1' });
  await clinic.service.createBeside({ ...body, external_id: 'C-2' });
  mayHide(clinic);
  await hidden.show(1);
  await clinic.submitNow();
  expect(await haltsOf(clinic)).toEqual(['foreign']);
});

test.each(['first', 'last'] as const)(
  'another installation’s call stops submission; ours is %s on the list',
  async (place) => {
    const { clinic, hidden } = await begin();
    await loseCall(clinic, 'after');
    await plan(clinic, { 'C-1': 'CN-2' });
    const body = await firstBody(clinic, 'C-1');
    await clinic.service.createBeside({ ...body, claim_number: 'CN-2' });
    mayHide(clinic);
    await hidden.show(1);
    await hidden.show(2);
    sortByNumber(clinic, place);
    await clinic.submitNow();
    expect(await haltsOf(clinic)).toEqual(['foreign']);
    expect(await labelsOf(clinic)).toEqual(['A-0', 'C-1', 'C-1']);
  },
);

describe.each([
  ['corrected', 'CN-2'],
  ['corrected back', 'CN-1'],
])(
  'of two calls about a number that was %s, the one about that of today serves (G1)',
  (_, today) => {
    test.each([
      ['first', true],
      ['last', true],
      ['first', false],
      ['last', false],
    ] as const)('the lower number is %s on the list (with times: %s)', async (place, has_times) => {
      const { clinic, hidden } = await begin();
      await loseBoth(clinic);
      await plan(clinic, { 'C-1': today });
      sortByNumber(clinic, place);
      if (!has_times) withholdTimes(clinic);
      mayHide(clinic);
      await hidden.show(1);
      await hidden.show(2);
      expect(await numbersAfterDays(clinic)).toEqual(['CN-1', 'CN-2']);
    });
  },
);

test.each([
  ['after both', [1, 2, 3, 4]],
  ['before both', [4, 3, 1, 2]],
  ['between them', [1, 3, 2, 4]],
])('also if the list has calls for another claim with the former number %s', async (_, order) => {
  const { clinic, hidden } = await begin();
  clinic.submit.settings.is_shared_account = true;
  await loseBoth(clinic);
  const body = await firstBody(clinic, 'C-1');
  for (const claim_number of ['CN-1', 'CN-0'])
    await clinic.service.createBeside({ ...body, claim_number, external_id: 'C-2' });
  const ids = (await clinic.service.ledger()).map(({ id }) => id);
  const { list } = clinic.client;
  clinic.client.list = async (...given) => {
    const result = await list(...given);
    if (!result.ok) return result;
    const placeOf = ({ id }: { id: string }) => order.indexOf(ids.indexOf(id));
    const inquiries = result.value.inquiries.toSorted((a, b) => placeOf(a) - placeOf(b));
    return { ok: true, value: { ...result.value, inquiries } };
  };
  for (const index of order) await hidden.show(index);
  await reconcile(clinic);
  const numbers = (await numbersAfterDays(clinic)).toSorted();
  expect(numbers).toEqual(['CN-0', 'CN-1', 'CN-1', 'CN-2']);
});

test.each(['CN-1', 'CN-2'])(
  'of two calls for a record that the claim has left, the one about its number %s serves (G1)',
  async (number) => {
    const { clinic, hidden } = await begin();
    await loseBoth(clinic);
    const { patient } = claim(1);
    await plan(clinic, { 'C-1': number }, { patient: { ...patient, id: 'P-2' } });
    await hidden.show(1);
    await hidden.show(2);
    await reconcile(clinic);
    expect(await numbersAfterDays(clinic)).toEqual(['CN-1', 'CN-2']);
  },
);

test('a list that shows one label for more calls than a statement takes is compared', async () => {
  const clinic = await install();
  await anOldCall(clinic, 'A-1');
  const { list } = clinic.client;
  clinic.client.list = async (...given) => {
    const result = await list(...given);
    const [first] = result.ok ? result.value.inquiries : [];
    if (!result.ok || first === undefined) return result;
    const inquiries = Array.from({ length: 16_385 }, (_, index) => ({
      ...first,
      id: `${first.id}-${index}` as typeof first.id,
      request: { ...first.request, member_id: `W${index}` },
    }));
    return { ok: true, value: { ...result.value, inquiries } };
  };
  await send(clinic, clinic.visit('B-1', about('W16384')));
  expect(await clinic.inquiries()).toMatchObject([{ state: 'open' }]);
});
