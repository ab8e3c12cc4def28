/** Implements `eligd ask`: orders another call for a visit that already has an answer. */
import type { AppointmentInput } from '../../domain/appointment.ts';
import { alreadyPlanned, NOT_PLANNED, ordered, refuseAsking } from '../../domain/ask-again.ts';
import { DAMAGED_PATIENT, readAppointment } from '../../domain/damaged.ts';
import { budgetWords, CLOSED_WORDS, waitWords } from '../../domain/explanation.ts';
import { draftMatchKey, type InquiryDraft, readDraft } from '../../domain/inquiry.ts';
import { externalId } from '../../domain/needs.ts';
import { type Done, requestedBy } from '../../domain/operator.ts';
import type { PlannedCoverage, PlanningFacts } from '../../domain/planning.ts';
import { type Cents, priceAt } from '../../domain/price.ts';
import { localDateTime } from '../../domain/time.ts';
import { answerBefore, callUnderWayFor, takenBackAfter } from '../calls/attempts.ts';
import { type BudgetRules, readBudget } from '../calls/budget.ts';
import { currentHalts } from '../calls/halts.ts';
import {
  addPlanned,
  type InquiryRow,
  inquiryById,
  latestForNeed,
  updateInquiry,
} from '../calls/inquiries.ts';
import { planLearned } from '../calls/learned.ts';
import { inquiriesOf, link } from '../calls/links.ts';
import { planVisitAgain } from '../calls/plan-due.ts';
import type { Db, Tx } from '../engine/database.ts';
import { resolveAttention } from './attention.ts';
import { appointmentSubject, writeAudit } from './audit.ts';
import type { Operand } from './operator.ts';

/** The settings that decide the content of a call and its price. */
export type AskRules = {
  facts: Omit<PlanningFacts, 'now' | 'is_clock_trusted'>;
  external_id_template: string;
  budget: BudgetRules;
};

type Visit = {
  id: number;
  connector: string;
  source_id: string;
  patient_key: string;
  starts_at: number;
  input: AppointmentInput;
};

/**
 * Runs `eligd ask`. The call is planned like any other, as the next attempt for its need, and
 * counts against the budget. Refused while another call for the need is in progress (G1).
 */
export function askAgain(
  rules: AskRules,
): (tx: Tx, subject: Operand, now: number) => Promise<Done[]> {
  return async (tx, subject, now) => {
    const visit = subject.kind === 'appointment' ? await visitOf(tx, subject.id) : null;
    if (visit === null)
      return [
        { did: false, what: 'Name an appointment: eligd asks about claims again automatically.' },
      ];
    if (visit.input.patient === DAMAGED_PATIENT)
      return [{ did: false, what: 'The stored data of this appointment is damaged.' }];
    const { coverages, refused } = await coveragesToAsk(tx, rules, visit, now);
    if (coverages.length === 0) return refused;
    const done: Done[] = [];
    for (const coverage of coverages) done.push(await order(tx, rules, { visit, coverage, now }));
    if (!done.some(({ did }) => did)) return done;
    // Planning would also plan the withdrawn call for a coverage whose order was refused (G1).
    if (done.every(({ did }) => did)) await reopen(tx, visit.id);
    await resolveAttention(tx, appointmentSubject(visit.id), now, ['codes_not_asked']);
    const entry = { at: now, subject: appointmentSubject(visit.id), from_state: null };
    await writeAudit(tx, [{ ...entry, to_state: 'asked', reason: requestedBy(tx.actor) }]);
    return [...done, await whenItGoes(tx, rules, now)];
  };
}

/**
 * Returns the coverages that a call for the visit would ask about now; if there are none, the
 * reason.
 */
async function coveragesToAsk(
  db: Db | Tx,
  rules: AskRules,
  visit: Visit,
  now: number,
): Promise<{ coverages: readonly PlannedCoverage[]; refused: Done[] }> {
  const refuse = (...refused: string[]) => ({
    coverages: [],
    refused: refused.map((what) => ({ did: false, what })),
  });
  const facts = { ...rules.facts, now, is_clock_trusted: true };
  const decision = await planLearned(db, visit, facts);
  if (decision.kind === 'close')
    return refuse(`No call was ordered. ${CLOSED_WORDS[decision.reason]}`);
  if (decision.kind === 'wait') return refuse(`No call was ordered. ${waitWords(decision.reason)}`);
  const { coverages, attention } = decision;
  if (coverages.length === 0)
    return refuse(...attention.map(({ what, next }) => `${what} ${next}`));
  if (coverages.some(({ call_by }) => call_by < now))
    return refuse('No call was ordered: the visit is too soon.');
  return { coverages, refused: [] };
}

/**
 * Returns the cost of the calls that `askAgain` would order for this visit, for a page that offers
 * them. `cents` is null when a price is unknown; `after`: the inquiries that they follow. Null: it
 * would order none. Changes nothing.
 */
export async function quoteOf(
  db: Db,
  rules: AskRules,
  { id, now }: { id: number; now: number },
): Promise<{ cents: Cents | null; after: number[] } | null> {
  const visit = await visitOf(db, id);
  if (visit === null) return null;
  const prices: (Cents | null)[] = [];
  const after: number[] = [];
  const { coverages } = await coveragesToAsk(db, rules, visit, now);
  for (const { need_base, benefit_year, draft } of coverages) {
    const latest = await latestForNeed(db, need_base, benefit_year);
    if (latest === null || (await refusalOf(db, latest)) !== null) continue;
    prices.push(callPrice(rules, draft, now));
    after.push(latest.id);
  }
  return prices.length === 0 ? null : { cents: sumOf(prices), after };
}

/**
 * Returns the cost of a retry: calls that the service refused are sent unchanged. Null: there are
 * none.
 */
export async function retryQuote(
  db: Db,
  rules: AskRules,
  { subject, now }: { subject: Operand; now: number },
): Promise<{ cents: Cents | null; after: number[] } | null> {
  const ids =
    subject.kind === 'inquiry'
      ? [subject.id]
      : (await inquiriesOf(db, subject.id)).map(({ id }) => id);
  const prices: (Cents | null)[] = [];
  const after: number[] = [];
  for (const id of ids) {
    const inquiry = await inquiryById(db, id);
    const draft = inquiry?.state === 'rejected' ? readDraft(inquiry.draft) : null;
    if (draft === null) continue;
    prices.push(callPrice(rules, draft, now));
    after.push(id);
  }
  return prices.length === 0 ? null : { cents: sumOf(prices), after };
}

/**
 * Returns why no call may follow the newest attempt; null: one may. A call that was withdrawn
 * before it was sent does not count: the answer before it serves the visit.
 */
async function refusalOf(db: Db | Tx, newest: InquiryRow): Promise<Done | null> {
  const is_void = newest.state === 'withdrawn' && newest.sent_at === null;
  const latest = (is_void ? await answerBefore(db, newest) : null) ?? newest;
  const call =
    (await callUnderWayFor(db, latest)) ??
    (latest.state === 'answered' ? await takenBackAfter(db, latest) : null);
  return refuseAsking(call ?? latest);
}

/** Returns the sum; null when a price is unknown. */
const sumOf = (prices: readonly (Cents | null)[]): Cents | null =>
  prices.reduce((sum, each) => (sum === null || each === null ? null : sum + each), 0);

function callPrice({ budget }: AskRules, draft: InquiryDraft, now: number): Cents | null {
  const { time_zone } = budget.limits;
  return priceAt(budget.prices, draft, { at: now, time_zone }).price_cents;
}

async function order(
  tx: Tx,
  rules: AskRules,
  { visit, coverage, now }: { visit: Visit; coverage: PlannedCoverage; now: number },
): Promise<Done> {
  const { need_base, benefit_year, draft } = coverage;
  const latest = await latestForNeed(tx, need_base, benefit_year);
  if (latest === null) return NOT_PLANNED;
  if (await isToBeOrdered(tx, latest, { visit, now }))
    return await orderPlanned(tx, latest, { visit, coverage, now });
  const refusal = await refusalOf(tx, latest);
  if (refusal !== null) return refusal;
  const added = await addPlanned(
    tx,
    {
      connector: visit.connector,
      need_base,
      benefit_year,
      attempt: latest.attempt + 1,
      retry: 0,
      patient_key: visit.patient_key,
      specialty: draft.specialty,
      external_id: externalId(rules.external_id_template, visit.connector, visit.source_id),
      match_key: draftMatchKey(draft),
      due_at: now,
      visit_at: visit.starts_at,
      is_ordered: 1,
      draft,
    },
    `${requestedBy(tx.actor)} It is another call about the same visit.`,
    now,
  );
  if (added === null)
    return {
      did: false,
      what: 'Another call, which the service could not tell apart from this one, goes first.',
    };
  const join = { inquiry: added.id, appointment: visit.id, coverage_rank: coverage.rank, draft };
  await link(tx, join, now);
  return ordered(added.id, callPrice(rules, draft, now));
}

/**
 * Returns whether a call is planned that planning may take back, or that does not serve the visit:
 * nobody has ordered it for the visit yet.
 */
async function isToBeOrdered(
  tx: Tx,
  latest: InquiryRow,
  { visit, now }: { visit: Visit; now: number },
): Promise<boolean> {
  const { state, retry, hold_reason, due_at } = latest;
  if (state !== 'planned' || retry > 0 || hold_reason !== null || due_at > now) return false;
  if ((await callUnderWayFor(tx, latest)) !== null) return false;
  const is_linked = (await inquiriesOf(tx, visit.id)).some(({ id }) => id === latest.id);
  return latest.is_ordered === 0 || !is_linked;
}

/** Has a call that is planned anyway serve this visit, too, and be made in any case. */
async function orderPlanned(
  tx: Tx,
  { id }: InquiryRow,
  { visit, coverage, now }: { visit: Visit; coverage: PlannedCoverage; now: number },
): Promise<Done> {
  const { rank, draft } = coverage;
  await updateInquiry(tx, id, { is_ordered: 1 }, now);
  await link(tx, { inquiry: id, appointment: visit.id, coverage_rank: rank, draft }, now);
  // Planning adds the codes of the visit to the call.
  await planVisitAgain(tx, visit.id);
  return alreadyPlanned(id);
}

/** Opens a visit again that the office has withdrawn, so that planning follows it to its end. */
async function reopen(tx: Tx, visit: number): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('appointments')
    .set({ closed_reason: null, closed_at: null })
    .where('id', '=', visit)
    .where('closed_reason', '=', 'withdrawn')
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await planVisitAgain(tx, visit);
}

/** Says when the call is sent, or what delays it. */
async function whenItGoes(tx: Tx, { budget }: AskRules, now: number): Promise<Done> {
  const [halted] = await currentHalts(tx);
  if (halted !== undefined) return { did: true, what: `It waits: ${halted.detail}` };
  const { used_up } = await readBudget(tx, budget, now);
  if (used_up === null) return { did: true, what: 'It goes out with the next calls.' };
  const until = localDateTime(used_up.until, budget.limits.time_zone).replace('T', ' ');
  return { did: true, what: `It waits until ${until}. ${budgetWords(used_up)}` };
}

async function visitOf(db: Db, id: number): Promise<Visit | null> {
  const row = await db
    .selectFrom('appointments')
    .select(['id', 'kind', 'connector', 'source_id', 'patient_key', 'starts_at', 'content'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined || row.kind !== 'appointment') return null;
  const { content, kind: _, ...rest } = row;
  return { ...rest, input: readAppointment({ ...rest, content }) };
}
