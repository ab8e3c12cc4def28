import { expect, test } from 'vitest';
import { connector, type Installation, install, reconcile, send } from '../installation.ts';
import { callsEnd, hideCalls, labelsOf, lookUp, loseCreates, TWINS } from './lost-calls.ts';
import { ADA, finish, OTHER_ADA, visit } from './merges.ts';

const BOTH_ADAS = {
  ...TWINS,
  dob: '01-02-1980',
  member_id: 'ACTIVE0',
  patient_name: 'Ada Example',
};

/**
 * Two lost calls of A-1 are listed after its visit was canceled, and the visit B-1 uses the first.
 * Then the list shows a stranger's call, and A-2 is booked, which needs the inquiry of A-1.
 */
async function bookAgain(status_of_strangers = 'SUCCESS') {
  const clinic = await install();
  await clinic.service.createBeside({ ...BOTH_ADAS, external_id: 'OLD' });
  await loseCreates(clinic, 2);
  const hidden = hideCalls(clinic);
  await send(clinic, visit(clinic, 'A-1'));
  await clinic.service.advance({ seconds: 60 });
  await lookUp(clinic);
  await clinic.read({ ...visit(clinic, 'A-1'), status: 'cancelled' });
  await clinic.planNow();
  await lookUp(clinic);
  await hidden.show(1);
  await hidden.show(2);
  await reconcile(clinic);
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await hidden.show(0);
  const [strangers] = await clinic.service.ledger();
  callsEnd(clinic, ({ id }) => (id === strangers?.id ? status_of_strangers : 'SUCCESS'));
  await reconcile(clinic);
  await send(clinic, visit(clinic, 'A-2'));
  return clinic;
}

/** What the PMS receives: by visit, the ID of the call whose answer it gets. */
async function written(clinic: Installation): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  await clinic.deliverNow(
    connector(({ appointment: { source_id }, record }) => {
      answers[source_id] = record.inquiry_id;
    }),
  );
  return answers;
}

test.each(['SUCCESS', 'CANCELLED', 'UNSUCCESSFUL'])(
  "an inquiry's own duplicate call answers it, although a call that nobody has ended with %s",
  async (status) => {
    const clinic = await bookAgain(status);
    await finish(clinic);
    expect(await clinic.attention()).toEqual([]);
    const [, first, second, ...others] = await clinic.service.ledger();
    expect(await written(clinic)).toEqual({ 'B-1': first?.id, 'A-2': second?.id });
    expect(others).toEqual([]);
  },
);

test('an own duplicate call leaves a call that nobody has to another record', async () => {
  const clinic = await bookAgain();
  await send(clinic, visit(clinic, 'C-1', { ...ADA, id: 'P-3' }));
  expect(await labelsOf(clinic)).toEqual(['OLD', 'A-1', 'A-1']);
});
