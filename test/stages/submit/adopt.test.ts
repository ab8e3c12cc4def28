/**
 * Inquiries that the service has and this database did not send: eligd adopts them before it makes
 * a call (G1).
 */
import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { demandReconciliation } from '../../../src/stages/submit/index.ts';
import { noteSeen } from '../../../src/store/calls/listed-calls.ts';
import { type Installation, install, reconcile, SETTLE_MS, send } from '../installation.ts';
import {
  anOldCall,
  callsBringNothing,
  callsEnd,
  firstBody,
  goToYearsEnd,
  labelsOf,
  lookUp,
  loseCreates,
  TWINS,
  twin,
  withhold,
} from './lost-calls.ts';

test('eligd adopts the inquiry under the visit’s own label before any other', async () => {
  const clinic = await install();
  const ben = await clinic.service.createBeside({
    ...TWINS,
    patient_name: 'Ben Example',
    external_id: 'B-1',
  });
  await clinic.service.advance({ seconds: 5 });
  const ada = await clinic.service.createBeside({
    ...TWINS,
    patient_name: 'Ada Example',
    external_id: 'A-1',
  });
  await clinic.service.advance({ seconds: 60 });
  await send(clinic, clinic.visit('A-1', twin('Ada')), clinic.visit('B-1', twin('Ben')));
  expect(
    (await clinic.inquiries()).map(({ external_id, service_id }) => [external_id, service_id]),
  ).toEqual([
    ['A-1', ada],
    ['B-1', ben],
  ]);
});

test('eligd does not adopt an inquiry with the label of a twin', async () => {
  const clinic = await install();
  const ben = await clinic.service.createBeside({
    ...TWINS,
    patient_name: 'Ben Example',
    external_id: 'B-1',
  });
  await clinic.service.advance({ seconds: 60 });
  await send(clinic, clinic.visit('A-1', twin('Ada')), clinic.visit('B-1', twin('Ben')));
  const [ada, bens] = await clinic.inquiries();
  expect(bens?.service_id).toBe(ben);
  expect(ada?.service_id).not.toBe(ben);
});

test('a call that a lost reply may explain waits and serves no other year', async () => {
  const clinic = await install();
  await goToYearsEnd(clinic);
  await loseCreates(clinic, 1);
  await send(clinic, clinic.visit('NEXT-YEAR', {}, 4));
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['uncertain']);
  await clinic.service.advance({ seconds: 60 });
  await clinic.read(clinic.visit('THIS-YEAR', {}, 1));
  await clinic.planNow();
  await reconcile(clinic);
  await lookUp(clinic);
  const ledger = await clinic.service.ledger();
  expect(ledger.map(({ external_id }) => external_id)).toEqual(['NEXT-YEAR', 'THIS-YEAR']);
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).toEqual(
    ledger.map(({ id }) => id),
  );
});

test('eligd does not adopt an inquiry that names a twin, although the label moved', async () => {
  const clinic = await install();
  const ben = await clinic.service.createBeside({
    ...TWINS,
    patient_name: 'Ben Example',
    external_id: 'A-1',
  });
  await clinic.service.advance({ seconds: 60 });
  await send(clinic, clinic.visit('A-1', twin('Ada')), clinic.visit('B-1', twin('Ben')));
  const [ada, bens] = await clinic.inquiries();
  expect(bens?.service_id).toBe(ben);
  expect(ada?.service_id).not.toBe(ben);
});

test('eligd does not adopt an inquiry for another person under the visit’s label', async () => {
  const clinic = await install();
  const ben = await clinic.service.createBeside({
    ...TWINS,
    patient_name: 'Ben Example',
    external_id: 'A-1',
  });
  await clinic.service.advance({ seconds: 60 });
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  const [ada] = await clinic.inquiries();
  expect(ada?.service_id).not.toBe(ben);
  expect(ada?.state).toBe('open');
});

test('a later attempt that a restored database lacks serves as the next attempt', async () => {
  const clinic = await install();
  await loseCreates(clinic, 1);
  await send(clinic, clinic.visit('A-1'));
  await clinic.service.advance({ hours: 3 });
  const later = await clinic.service.createBeside(await firstBody(clinic));
  await clinic.service.advance({ seconds: 60 });
  callsBringNothing(clinic);
  demandReconciliation(clinic.submit);
  await lookUp(clinic);
  await clinic.collectAll();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['answered', 'planned']);
  clinic.pass(2 * 60 * MINUTE_MS);
  await clinic.submitNow();
  expect((await clinic.inquiries())[1]?.service_id).toBe(later);
  expect(await clinic.service.ledger()).toHaveLength(2);
  expect(await clinic.attention()).not.toContain('duplicate_call');
});

test('a call of this benefit year serves another visit if its own moved to next year', async () => {
  const clinic = await install();
  const last_day = await goToYearsEnd(clinic);
  await send(clinic, clinic.visit('NEXT-YEAR', twin('Ada'), 5));
  const fields = {
    ...TWINS,
    desired_completion_date: last_day,
    patient_name: 'Ada Example',
    external_id: 'MOVED',
  };
  const asked = await clinic.service.createBeside(fields);
  await clinic.service.advance({ seconds: 60 });
  clinic.submit.memory.reconciled.clear();
  await send(
    clinic,
    clinic.visit('MOVED', twin('Ada'), 6),
    clinic.visit('THIS-YEAR', twin('Ada'), 1),
  );
  expect(
    (await clinic.inquiries())
      .map(({ external_id, service_id }) => [external_id, service_id])
      .at(-1),
  ).toEqual(['MOVED', asked]);
  expect(await clinic.service.ledger()).toHaveLength(2);
});

test('of two calls for a visit that moved to next year, each year gets one (G1)', async () => {
  const clinic = await install();
  const last_day = await goToYearsEnd(clinic);
  const fields = { ...TWINS, patient_name: 'Ada Example', external_id: 'MOVED' };
  const asked = [
    await clinic.service.createBeside({ ...fields, desired_completion_date: last_day }),
    await clinic.service.createBeside({ ...fields, desired_completion_date: last_day }),
  ];
  await clinic.service.advance({ seconds: 60 });
  const moved = clinic.visit('MOVED', twin('Ada'), 6);
  await send(clinic, moved, clinic.visit('THIS-YEAR', twin('Ada'), 1));
  expect(await labelsOf(clinic)).toEqual(['MOVED', 'MOVED']);
  const served = (await clinic.inquiries()).map(({ service_id }) => service_id);
  expect(served.toSorted()).toEqual(asked.toSorted());
});

test('of two calls that a lost database made, the one that was not canceled serves', async () => {
  const clinic = await install();
  const canceled = await anOldCall(clinic, 'A-1');
  await clinic.service.advance({ seconds: 60 });
  const other = await anOldCall(clinic, 'A-1');
  callsEnd(clinic, ({ id }) => (id === canceled ? 'CANCELLED' : 'SUCCESS'));
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).toEqual([other]);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'A-1']);
});

test('of two calls without a name, the office hears of one that may be a twin’s', async () => {
  const clinic = await install();
  const fields = { ...TWINS, patient_name: 'Ben Example', external_id: 'B-1' };
  await clinic.service.createBeside(fields);
  await clinic.service.createBeside(fields);
  await clinic.service.advance({ seconds: 60 });
  withhold(clinic, 'patient_name');
  await send(clinic, clinic.visit('A-1', twin('Ada')), clinic.visit('B-1', twin('Ben')));
  expect(await labelsOf(clinic)).toEqual(['B-1', 'B-1']);
  expect(await clinic.attention()).toEqual(['doubtful_call']);
  clinic.pass(2 * SETTLE_MS);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['B-1', 'B-1', 'A-1']);
});

test('of one call for a visit that moved, the visit keeps it', async () => {
  const clinic = await install();
  await goToYearsEnd(clinic);
  const asked = await anOldCall(clinic, 'MOVED');
  await clinic.service.advance({ seconds: 60 });
  const moved = clinic.visit('MOVED', twin('Ada'), 6);
  await send(clinic, moved, clinic.visit('THIS-YEAR', twin('Ada'), 1));
  expect(await labelsOf(clinic)).toEqual(['MOVED', 'THIS-YEAR']);
  const served = new Map(
    (await clinic.inquiries()).map(({ external_id, service_id }) => [external_id, service_id]),
  );
  expect(served.get('MOVED')).toBe(asked);
});

/** Calls of a lost database in the list: how many days ago each was made, and its status. */
async function listed(
  clinic: Installation,
  calls: readonly (readonly [string, number, string])[],
): Promise<void> {
  const [row] = await clinic.inquiries();
  const seen = calls.map(([service_id, days, service_status]) => ({
    service_id,
    external_id: 'OLD',
    match_key: row!.match_key,
    given_name: 'ADA',
    service_status,
    created_at: clinic.now() - days * DAY_MS,
  }));
  await clinic.store.write((tx) => noteSeen(tx, 'dental', seen, clinic.now()));
}

test('the year of a canceled visit does not decide whether its call is adopted', async () => {
  const clinic = await install();
  const last_day = await goToYearsEnd(clinic);
  const fields = {
    ...TWINS,
    desired_completion_date: last_day,
    patient_name: 'Ada Example',
    external_id: 'MOVED',
  };
  const asked = await clinic.service.createBeside(fields);
  await clinic.service.advance({ seconds: 60 });
  const moved = clinic.visit('MOVED', { ...twin('Ada'), status: 'cancelled' }, 5);
  await send(clinic, moved, clinic.visit('THIS-YEAR', twin('Ada'), 1));
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).toEqual([asked]);
});

test('a call whose answer would be too old serves no visit', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1', twin('Ada')));
  await clinic.planNow();
  await listed(clinic, [
    ['one', 60, 'UNSUCCESSFUL'],
    ['two', 58, 'UNSUCCESSFUL'],
    ['three', 27, 'UNSUCCESSFUL'],
    ['four', 25, 'SUCCESS'],
  ]);
  await clinic.submitNow();
  expect((await clinic.inquiries()).map(({ service_id }) => service_id)).toEqual(['three']);
});

test.each([
  ['first', -60 * DAY_MS, null],
  ['last', null, -60 * DAY_MS],
])(
  'an old call serves no visit if only the %s list says when it was made',
  async (_, then, now) => {
    const clinic = await install();
    await clinic.read(clinic.visit('A-1', twin('Ada')));
    await clinic.planNow();
    const [row] = await clinic.inquiries();
    const seen = { service_id: 'old', external_id: 'A-1', service_status: 'SUCCESS' };
    const shown = [
      { ...seen, match_key: '', given_name: 'ADA', age: then },
      { ...seen, match_key: row!.match_key, given_name: 'ADA', age: now },
    ];
    for (const { age, ...each } of shown) {
      const created_at = age === null ? null : clinic.now() + age;
      await clinic.store.write((tx) =>
        noteSeen(tx, 'dental', [{ ...each, created_at }], clinic.now()),
      );
    }
    await clinic.submitNow();
    expect(await labelsOf(clinic)).toEqual(['A-1']);
  },
);

test('eligd notices a second installation although this machine’s clock is fast', async () => {
  const clinic = await install();
  clinic.pass(30 * HOUR_MS);
  clinic.submit.clockSkew = () => 30 * HOUR_MS;
  await send(clinic, clinic.visit('A-1'));
  await clinic.service.advance({ hours: 24 });
  await clinic.service.createBeside({
    ...TWINS,
    member_id: 'W80',
    patient_name: 'Ben Example',
    external_id: 'B-1',
  });
  clinic.pass(24 * HOUR_MS);
  await reconcile(clinic);
  expect(await clinic.attention()).toContain('submission_stopped');
});

test('a list without names does not make another patient’s call ours', async () => {
  const clinic = await install();
  clinic.submit.settings.is_shared_account = true;
  await clinic.service.createBeside({
    ...TWINS,
    patient_name: 'Ben Example',
    external_id: 'A-1',
  });
  await send(clinic, clinic.visit('A-0'));
  await loseCreates(clinic, 1, 'before');
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  withhold(clinic, 'patient_name');
  await lookUp(clinic);
  const ledger = await clinic.service.ledger();
  expect(ledger.map(({ request }) => request.patient_name)).toEqual([
    'Ben Example',
    'Ada Example',
    'Ada Example',
  ]);
});
