/** Two records of one patient, calls for both, and what the service says about them. */

import { parseDraft } from '../../../src/domain/inquiry.ts';
import { DAY_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { askAgain } from '../../../src/store/bookkeeping/ask-again.ts';
import { enterAnswer } from '../../../src/store/bookkeeping/entered.ts';
import { aCoverage, NO_BUDGET } from '../../domain/examples.ts';
import { connector, type Installation, install, send } from '../installation.ts';
import { callsEnd } from './lost-calls.ts';

export const ADA = { id: 'P-1', first_name: 'Ada', last_name: 'Example', birth_date: '1980-01-02' };
export const OTHER_ADA = { ...ADA, id: 'P-2' };
/** The coverage of both records. */
export const COVERAGES = [aCoverage({ member_id: 'ACTIVE0' })];

/** A visit of this record of the patient, in a week. */
export const visit = (clinic: Installation, id: string, patient = ADA) =>
  clinic.visit(id, { patient, coverages: COVERAGES }, 7);

/** The visit was in the exports, and is not anymore. */
export async function vanish(clinic: Installation, source_id: string): Promise<void> {
  await clinic.store.db
    .updateTable('appointments')
    .set({ missing_since: clinic.now(), plan_due_at: 1 })
    .where('source_id', '=', source_id)
    .execute();
  await clinic.planNow();
}

/** Ends with one record of the patient. */
export const merge = (
  clinic: Installation,
  { from = [OTHER_ADA], into = ADA }: { from?: { id: string }[]; into?: typeof ADA } = {},
) => clinic.merge(into, ...from);

/** Time passes for the clinic and for the service. */
export async function pass(clinic: Installation, days: number): Promise<void> {
  clinic.pass(days * DAY_MS);
  await clinic.service.advance({ seconds: days * DAY_MS * 0.001 });
}

/** Two days in which eligd does all that is due. */
export async function goOn(clinic: Installation): Promise<void> {
  for (let step = 0; step < 8; step += 1) {
    await clinic.planNow();
    await clinic.submitNow();
    await clinic.collectAll();
    await pass(clinic, 0.25);
  }
}

/** All calls end, and eligd reads their answers. */
export async function finish(clinic: Installation): Promise<void> {
  const calls = await clinic.service.ledgerWithSteps();
  const ends = calls.map(({ steps }) => Date.parse(steps.at(-1)?.at ?? ''));
  const over = Math.max(clinic.now(), ...ends) + MINUTE_MS;
  await clinic.service.advanceTo(new Date(over).toISOString());
  clinic.pass(over - clinic.now());
  await clinic.collectAll();
}

/** The service reports these statuses for the calls with these labels. */
export async function ends(clinic: Installation, statuses: Record<string, string>): Promise<void> {
  const ledger = await clinic.service.ledger();
  const by_id = new Map(
    ledger.map(({ id, external_id }) => [id, statuses[external_id ?? ''] ?? 'SUCCESS']),
  );
  callsEnd(clinic, ({ id }) => by_id.get(id) ?? 'SUCCESS');
}

/** One record has an answer that is about to be too old, the other a call from today. */
export async function installWithOldAnswer(): Promise<Installation> {
  const clinic = await install({ policy: { reverify_after_days: 3 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await finish(clinic);
  await pass(clinic, 2);
  await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
  return clinic;
}

/** What `eligd ask` follows. */
export const rulesOf = (clinic: Installation) => ({
  facts: clinic.plan.facts(),
  external_id_template: '{appointment}',
  budget: NO_BUDGET,
});

/** Orders another call for a visit. Returns whether it was ordered. */
export async function order(clinic: Installation, id = 1): Promise<boolean> {
  const visits = { kind: 'appointment' as const, id };
  const [done] = await clinic.store.write((tx) =>
    askAgain(rulesOf(clinic))(tx, visits, clinic.now()),
  );
  return done?.did === true;
}

/** eligd reads the answer of this inquiry again. */
export async function readAgain(clinic: Installation, id: number): Promise<void> {
  await clinic.store.db.updateTable('inquiries').set({ poll_at: 0 }).where('id', '=', id).execute();
  await clinic.collectNow();
}

/** The service takes the answer of this call back, and works on it again. */
export async function takeBack(clinic: Installation, label: string, id: number): Promise<void> {
  await ends(clinic, { [label]: 'IN_PROGRESS' });
  await readAgain(clinic, id);
}

/** What the PMS receives: by visit, the labels of the calls whose answers it gets, in order. */
export async function written(clinic: Installation): Promise<Record<string, unknown[]>> {
  const ledger = await clinic.service.ledger();
  const answers: Record<string, unknown[]> = {};
  await clinic.deliverNow(
    connector(({ appointment: { source_id }, record }) => {
      const call = ledger.find(({ id }) => id === record.inquiry_id);
      answers[source_id] = [...(answers[source_id] ?? []), call?.external_id];
    }),
  );
  return answers;
}

/** The office enters the answer of a visit itself. */
export async function enter(clinic: Installation, external_id: string): Promise<void> {
  const [row] = await clinic.inquiries();
  const { need_base, benefit_year, draft } = row!;
  const appointment = await clinic.store.db
    .selectFrom('appointments')
    .selectAll()
    .where('source_id', '=', external_id)
    .executeTakeFirstOrThrow();
  const coverage = { need_base, benefit_year, rank: 1, draft: parseDraft(draft) };
  const answer = { results: { plan_active: 'Yes' }, summary: null };
  const by = { form_id: 'form', entered_by: 'ann' };
  await clinic.store.write((tx) =>
    enterAnswer(tx, { appointment, coverage, external_id, ...answer, ...by }, clinic.now()),
  );
  await clinic.collectNow();
}
