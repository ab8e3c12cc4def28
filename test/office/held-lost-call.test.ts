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
import { labelsOf, lookUp, loseCreates } from '../stages/submit/lost-calls.ts';
import { ends, goOn, merge, OTHER_ADA, visit } from '../stages/submit/merges.ts';

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

test('a visit that keeps a hold says so, and its page offers the release', async () => {
  const clinic = await install();
  await clinic.planNow();
  const booked = visit(clinic, 'A-1');
  await clinic.read(booked);
  await clinic.planNow();
  await clinic.store.write((tx) => hold(tx, { kind: 'appointment', id: 1 }, clinic.now()));
  const starts_at = new Date(clinic.now() + 60 * DAY_MS).toISOString();
  await clinic.read({ ...booked, starts_at });
  await clinic.planNow();
  const now = clinic.now();
  const { appointments } = await listAppointments(clinic.store.db, { ids: [1] }, 1, now);
  const [far] = await withProgress(clinic.store.db, appointments);
  const { why, next } = explain(far!, far!.progress, { now, budget: null });
  expect(why).toContain('too far ahead');
  expect(why).toContain('The call stays on hold.');
  expect(officeWords(next ?? '')).toBe('Choose “Release the call” to resume.');
  expect(await pageOf(clinic, 1)).toContain('/visit/1/release');
  await clinic.store.write((tx) => release(tx, { kind: 'appointment', id: 1 }, now));
  expect(await pageOf(clinic, 1)).not.toContain('/visit/1/release');
});
