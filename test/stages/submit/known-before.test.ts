/** The list showed calls for the same question before eligd made its own, whose reply was lost. */
import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { connector, type Installation, install, reconcile, send } from '../installation.ts';
import {
  about,
  advance,
  anOldCall,
  hideCalls,
  lookUp,
  loseCreates,
  refuseCreates,
  twin,
  withholdTimes,
} from './lost-calls.ts';
import { finish, pass } from './merges.ts';

const AFTER_DAYS = 3;

/** The list shows a call for A-1 that a lost database made, and whose answer is too old. */
async function installWithOlderCall() {
  const reverify = { reverify_after_days: AFTER_DAYS };
  const clinic = await install({ policy: reverify, settings: reverify });
  const { show } = hideCalls(clinic);
  await anOldCall(clinic, 'A-1');
  await pass(clinic, AFTER_DAYS + 1);
  return { clinic, show };
}

const visit = (clinic: Installation) => clinic.visit('A-1', twin('Ada'));

/** What the PMS gets: by visit, the place of the call in the service's ledger. */
async function answersOf(clinic: Installation): Promise<Record<string, number>> {
  await finish(clinic);
  await clinic.planNow();
  const ids = (await clinic.service.ledger()).map(({ id }) => id);
  const answers: Record<string, number> = {};
  const write = connector(({ appointment, record }) => {
    answers[appointment.source_id] = ids.indexOf(record.inquiry_id);
  });
  await clinic.deliverNow(write);
  return answers;
}

test('the older one does not serve in place of one that is listed late', async () => {
  const { clinic, show } = await installWithOlderCall();
  await show(0);
  await loseCreates(clinic, 1);
  await send(clinic, visit(clinic));
  await advance(clinic, 7 * MINUTE_MS);
  await clinic.submitNow();
  await show(1);
  await lookUp(clinic);
  expect(await answersOf(clinic)).toEqual({ 'A-1': 1 });
  expect(await clinic.attention()).toEqual([]);
});

test('the older one does not serve in place of one that the service never got', async () => {
  const { clinic, show } = await installWithOlderCall();
  await show(0);
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic));
  expect(await clinic.service.ledger()).toHaveLength(1);
  // The list is known to show our calls.
  await send(clinic, clinic.visit('B-1', about('B-1')));
  await show(1);
  await lookUp(clinic);
  await show(2);
  expect(await answersOf(clinic)).toEqual({ 'A-1': 2, 'B-1': 1 });
  expect(await clinic.attention()).toEqual([]);
});

test('the same if an earlier request of eligd has not left', async () => {
  const { clinic, show } = await installWithOlderCall();
  refuseCreates(clinic, 1);
  await send(clinic, visit(clinic));
  await show(0);
  await loseCreates(clinic, 1);
  await advance(clinic, HOUR_MS);
  await reconcile(clinic);
  expect(await clinic.service.ledger()).toHaveLength(2);
  await advance(clinic, 7 * MINUTE_MS);
  await clinic.submitNow();
  await show(1);
  await lookUp(clinic);
  expect(await answersOf(clinic)).toEqual({ 'A-1': 1 });
});

test('one that the list hid until then serves, because nothing tells which it is', async () => {
  const { clinic, show } = await installWithOlderCall();
  withholdTimes(clinic);
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic));
  await show(0);
  await lookUp(clinic);
  expect(await answersOf(clinic)).toEqual({ 'A-1': 0 });
  expect(await clinic.service.ledger()).toHaveLength(1);
});

test.each([
  ['a request that waited an hour for its turn', 'late'],
  ['a clock that was an hour slow', 'slow'],
])('our own call serves however late it is found: %s (G1)', async (_, why) => {
  const { clinic, show } = await installWithOlderCall();
  await send(clinic, clinic.visit('B-1', about('B-1'), 6));
  await loseCreates(clinic, 1);
  const { create } = clinic.client;
  clinic.client.create = async (...given) => {
    clinic.client.create = create;
    if (why === 'late') await advance(clinic, HOUR_MS);
    return await create(...given);
  };
  if (why === 'slow') clinic.pass(-HOUR_MS);
  await send(clinic, clinic.visit('A-1', twin('Ada'), 6));
  if (why === 'slow') clinic.pass(HOUR_MS);
  await pass(clinic, AFTER_DAYS + 1);
  await show(1);
  await show(2);
  await lookUp(clinic);
  expect(await answersOf(clinic)).toEqual({ 'A-1': 2, 'B-1': 1 });
});
