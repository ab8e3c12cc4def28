/** What the page offers and says about a hold on a lost call, and about one that no call has. */
import { expect, test } from 'vitest';
import { explain } from '../../src/domain/explanation.ts';
import { OPERATOR_HOLD } from '../../src/domain/operator.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { entryActions } from '../../src/office/entry-actions.ts';
import { officeWords } from '../../src/office/office-words.ts';
import { hold, release, retry } from '../../src/store/bookkeeping/operator.ts';
import { listAppointments } from '../../src/store/views/listed-appointments.ts';
import { withProgress } from '../../src/store/views/progress.ts';
import { type Installation, install, send } from '../stages/installation.ts';
import { damage, FIRST, holdFirst, installShared, plan } from '../stages/plan/shared-visits.ts';
import { labelsOf, lookUp, loseCreates, refuseNextCall } from '../stages/submit/lost-calls.ts';
import { ends, finish, goOn, merge, OTHER_ADA, vanish, visit } from '../stages/submit/merges.ts';

/** What the page of the visit offers. */
async function pageOf({ store }: Installation, id: number): Promise<string> {
  const rows = await store.db
    .selectFrom('appointments')
    .select(['id', 'closed_reason', 'starts_at', 'plan_wait', 'plan_due_at', 'connector'])
    .where('id', '=', id)
    .execute();
  const [found] = await withProgress(store.db, rows);
  if (found === undefined) throw new Error('No such visit.');
  const { closed_reason, progress } = found;
  const entry = { id: 1, reason: 'unconfirmed', what: 'It happened.', next: 'Act.', words: null };
  const target = { subject: { kind: 'appointment', id }, csrf: 'x', back: 'attention' } as const;
  const about = { id, closed_reason, ...progress };
  return entryActions(entry, target, { visit: id, quote: null, again: null, about }).text;
}

test('both visits of a held lost call offer its release, also the failed call’s', async () => {
  const clinic = await install();
  await clinic.planNow();
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'A-1'));
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  await ends(clinic, { 'B-1': 'UNSUCCESSFUL' });
  await clinic.collectAll();
  await clinic.store.write((tx) => hold(tx, { kind: 'appointment', id: 2 }, clinic.now()));
  await merge(clinic);
  expect(await pageOf(clinic, 1)).toContain('/visit/1/release');
  expect(await pageOf(clinic, 2)).toContain('/visit/2/release');
  const done = await clinic.store.write((tx) =>
    release(tx, { kind: 'appointment', id: 2 }, clinic.now()),
  );
  expect(done.some(({ did }) => did)).toBe(true);
});

/** The service says that it has accepted a call; then a merge puts it on hold. */
async function acceptedAndHeld() {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, clinic.visit('Z-1'));
  const { create } = clinic.client;
  const lost = { cause: 'truncated', status: 200, retry_after_ms: null, accepted: true } as const;
  clinic.client.create = async () => ({ ok: false, failure: { class: 'ambiguous', ...lost } });
  await send(clinic, visit(clinic, 'A-1'));
  clinic.client.create = create;
  await clinic.read(visit(clinic, 'B-1', OTHER_ADA));
  await clinic.planNow();
  await clinic.store.write((tx) => hold(tx, { kind: 'appointment', id: 3 }, clinic.now()));
  await merge(clinic);
  expect((await clinic.inquiries())[1]).toMatchObject({
    state: 'uncertain',
    hold_reason: OPERATOR_HOLD,
    was_accepted: 1,
  });
  return clinic;
}

test('releasing an accepted call does not say that it is sent', async () => {
  const clinic = await acceptedAndHeld();
  const [done] = await clinic.store.write((tx) =>
    release(tx, { kind: 'inquiry', id: 2 }, clinic.now()),
  );
  await lookUp(clinic);
  await goOn(clinic);
  expect((await clinic.inquiries())[1]?.state).toBe('undecidable');
  expect(done?.what).not.toContain('is sent when it is due');
});

test('trying a held lost call again does not say that it is sent again', async () => {
  const clinic = await install();
  await clinic.planNow();
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'A-1'));
  await clinic.read(visit(clinic, 'B-1', OTHER_ADA));
  await clinic.planNow();
  await clinic.store.write((tx) => hold(tx, { kind: 'appointment', id: 2 }, clinic.now()));
  await merge(clinic);
  const [done] = await clinic.store.write((tx) =>
    retry(tx, { kind: 'inquiry', id: 1 }, clinic.now()),
  );
  await lookUp(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
  expect(done?.what).toMatch(/release/);
});

/** What the page says about the visit. */
async function said({ store, now }: Installation, id: number) {
  const { appointments } = await listAppointments(store.db, { ids: [id] }, 1, now());
  const [found] = await withProgress(store.db, appointments);
  return explain(found!, found!.progress, { now: now(), budget: null });
}

test('a visit that keeps a hold says so, and its page offers the release', async () => {
  const clinic = await install();
  await clinic.planNow();
  const booked = visit(clinic, 'A-1');
  await plan(clinic, booked);
  await holdFirst(clinic);
  const starts_at = new Date(clinic.now() + 60 * DAY_MS).toISOString();
  await plan(clinic, { ...booked, starts_at });
  const { why, next } = await said(clinic, 1);
  expect(why).toContain('too far ahead');
  expect(why).toContain('The call stays on hold.');
  expect(officeWords(next ?? '')).toBe('Choose “Release the call” to resume.');
  expect(await pageOf(clinic, 1)).toContain('/visit/1/release');
  await clinic.store.write((tx) => release(tx, FIRST, clinic.now()));
  expect(await pageOf(clinic, 1)).not.toContain('/visit/1/release');
});

test('the page of a held visit says so although the other visit of the call vanished', async () => {
  const { clinic } = await installShared();
  await vanish(clinic, 'A-2');
  const { why } = await said(clinic, 1);
  expect(why).not.toContain('missing from two exports');
  expect(why).toContain('eligd release');
});

test('the page offers no release once the call was made for the other visit', async () => {
  const { clinic } = await installShared();
  await clinic.submitNow();
  await finish(clinic);
  await clinic.planNow();
  expect(await pageOf(clinic, 1)).not.toContain('/release');
});

test('the page of a lost call that only held visits need says that it stays held', async () => {
  const { clinic, leave } = await installShared();
  await loseCreates(clinic, 1, 'before');
  await clinic.submitNow();
  expect((await said(clinic, 1)).why).not.toContain('on hold');
  await leave();
  expect((await said(clinic, 1)).why).toContain('stays on hold');
});

test('the page of a held visit says so although the call’s other visit is damaged', async () => {
  const { clinic } = await installShared();
  await damage(clinic, 'A-2');
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
  expect((await said(clinic, 1)).why).toMatch(/^On hold/);
});

test('it also says so if the other visit of the lost call has vanished', async () => {
  const { clinic } = await installShared();
  await loseCreates(clinic, 1, 'before');
  await clinic.submitNow();
  await vanish(clinic, 'A-2');
  expect((await said(clinic, 1)).why).toContain('stays on hold');
  for (let time = 0; time < 2; time += 1) {
    await lookUp(clinic);
    await goOn(clinic);
  }
  expect(await labelsOf(clinic)).toEqual([]);
});

test('a vanished visit’s page says that no call is made while the other is damaged', async () => {
  const clinic = await install();
  await clinic.planNow();
  await plan(clinic, visit(clinic, 'A-1'), visit(clinic, 'A-2'));
  await vanish(clinic, 'A-2');
  await damage(clinic, 'A-1');
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
  expect((await said(clinic, 2)).why).toContain('missing from two exports');
  expect(await pageOf(clinic, 2)).toContain('/visit/2/release');
  const [done] = await clinic.store.write((tx) =>
    retry(tx, { kind: 'appointment', id: 2 }, clinic.now()),
  );
  expect(done?.what).toContain('eligd release');
});

test.each(['planned', 'refused', 'lost'])(
  'a retry says that a %s call stays on hold while its other visit is damaged',
  async (state) => {
    const { clinic } = await installShared();
    if (state === 'refused') await refuseNextCall(clinic);
    if (state === 'lost') await loseCreates(clinic, 1, 'before');
    if (state !== 'planned') await clinic.submitNow();
    await damage(clinic, 'A-2');
    await clinic.planNow();
    const [done] = await clinic.store.write((tx) => retry(tx, FIRST, clinic.now()));
    expect(done?.what).toContain('eligd release');
    await lookUp(clinic);
    await goOn(clinic);
    await lookUp(clinic);
    await goOn(clinic);
    expect(await labelsOf(clinic)).toEqual([]);
  },
);

test('a damaged visit’s page offers no release of its call, which is not on hold', async () => {
  const clinic = await install();
  await clinic.planNow();
  await plan(clinic, visit(clinic, 'A-1'));
  await damage(clinic, 'A-1');
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
  expect((await said(clinic, 1)).why).toContain('its data is damaged');
  expect(await pageOf(clinic, 1)).not.toContain('/visit/1/release');
});
