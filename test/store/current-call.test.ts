/** What the database itself refuses, whatever the code above it decides (G1). */
import { dirname } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { assignListedCall, callsOf, intendCalls } from '../../src/store/calls/calls.ts';
import { inquiryById } from '../../src/store/calls/inquiries.ts';
import { Clinic, NOW } from './clinic.ts';
import { temporaryPath } from './temporary.ts';

let clinic: Clinic;
let inquiry: number;
beforeEach(async () => {
  clinic = await Clinic.open(dirname(temporaryPath()));
  ({ inquiry } = await clinic.planned('1'));
});

/** Stores another request of the inquiry, as if it were sent again. */
const callAgain = () =>
  clinic.store.write(async (tx) => {
    const row = { ...(await inquiryById(tx, inquiry))!, sent_at: NOW, sent_service_at: NOW };
    await intendCalls(tx, [{ row, given_name: '', body: '{}' }]);
  });

test.each([
  ['is under way', ['planned', 'sending']],
  ['is sought', ['planned', 'sending', 'uncertain']],
  ['serves it', ['planned', 'sending', 'open', 'answered']],
] as const)('no second call of an inquiry is stored while its call %s', async (_, path) => {
  await clinic.move(inquiry, path);
  await expect(callAgain()).rejects.toThrow('UNIQUE constraint failed: calls.inquiry');
});

test('an inquiry whose call provably never left leaves no second row', async () => {
  await clinic.move(inquiry, ['planned', 'sending', 'rejected']);
  await callAgain();
  expect(await clinic.db.selectFrom('calls').select('fate').execute()).toEqual([{ fate: 'out' }]);
});

test('a call that serves an inquiry is not claimed for another one', async () => {
  await clinic.open(inquiry);
  const other = (await clinic.planned('2')).inquiry;
  const claim = (role: 'serves' | 'duplicate') =>
    clinic.store.write(async (tx) => {
      const found = {
        service_id: `service-${inquiry}`,
        service_status: 'SCHEDULED',
        created_at: NOW,
      };
      await assignListedCall(tx, {
        ...found,
        inquiry: other,
        role,
        call: null,
        bill: { sent_at: NOW },
      });
    });
  await expect(claim('serves')).rejects.toThrow('serves another inquiry');
  await expect(claim('duplicate')).rejects.toThrow('serves another inquiry');
  const [first, second] = await Promise.all(
    [inquiry, other].map((id) => inquiryById(clinic.db, id)),
  );
  expect([first?.service_id, second?.service_id]).toEqual([`service-${inquiry}`, null]);
});

test('the calls of more inquiries than fit into a statement are found', async () => {
  await clinic.open(inquiry);
  const others = Array.from({ length: 33_000 }, (_, index) => index + 1_000);
  const calls = await clinic.store.write((tx) => callsOf(tx, [...others, inquiry]));
  expect(calls.map((call) => call.inquiry)).toEqual([inquiry]);
});
