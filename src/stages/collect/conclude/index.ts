import { type Attention, unanswered } from '../../../domain/attention.ts';
import { parsed } from '../../../domain/damaged.ts';
import { codesAsEchoed, type InquiryDraft, parseDraft } from '../../../domain/inquiry.ts';
import { deliveryNotes } from '../../../domain/notes.ts';
import { type FinalOutcome, finalOutcome } from '../../../domain/outcome.ts';
import { afterCall } from '../../../domain/payer-silence.ts';
import { localDate, yearOf } from '../../../domain/time.ts';
import { payerKeyOf } from '../../../domain/turnaround.ts';
import { changesBetween } from '../../../records/changes.ts';
import { normalizeClaim } from '../../../records/claim-normalize.ts';
import type { ClaimWords } from '../../../records/claim-verdict.ts';
import { type NormalizeInput, normalizeEligibility } from '../../../records/normalize.ts';
import { parseInquiry } from '../../../service/wire.ts';
import {
  type AnswerRecord,
  answersToNormalize,
  isVerificationAlone,
  type RawAnswer,
  recordBefore,
  storeRecord,
} from '../../../store/answers/answers.ts';
import { joinCoverages } from '../../../store/answers/coverages.ts';
import { planDelivery } from '../../../store/answers/deliveries.ts';
import { addEarlier, keepTerms } from '../../../store/answers/plan-terms.ts';
import { raiseAttention, resolveAttention } from '../../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../../store/bookkeeping/audit.ts';
import { giveWay } from '../../../store/calls/attempts.ts';
import { callsOf } from '../../../store/calls/calls.ts';
import { type InquiryRow, inquiryById, updateInquiry } from '../../../store/calls/inquiries.ts';
import { appointmentsOf, inquiriesOf, type LinkedAppointment } from '../../../store/calls/links.ts';
import { payerSilences, setPayerSilence } from '../../../store/calls/payer-silence.ts';
import { planAgain, planVisitAgain } from '../../../store/calls/plan-due.ts';
import type { Tx } from '../../../store/engine/database.ts';
import { mayBeOfFewRows, mayPass } from '../../../store/engine/error-origin.ts';
import { logStageFailure } from '../../loop.ts';
import type { CollectContext, CollectDeps } from '../deps.ts';
import { countUnusable, isSetAside } from '../poll/ask.ts';
import { raiseVerification } from '../verify/index.ts';
import { verificationsDue } from '../verify/put-off.ts';
import { planAttempt, withdrawAttempt } from './attempt.ts';

const ANSWERS_PER_STEP = 100;

/**
 * Turns every committed answer into a record and plans what follows from it: deliveries, another
 * attempt, attention items. An answer that fails goes on the attention list and blocks no other
 * (G7). eligd tries it three times, and again after each start, which may bring a newer version.
 */
export async function conclude(deps: CollectDeps): Promise<void> {
  for (let after = 0; ; ) {
    const now = deps.env.clock.now();
    const due = verificationsDue(deps);
    const answers = await answersToNormalize(deps.store.db, ANSWERS_PER_STEP, after, due);
    const last = answers.at(-1);
    if (last === undefined) return;
    after = last.id;
    const ready = answers.filter(({ id }) => !isSetAside(deps.memory, id));
    const made = await Promise.allSettled(ready.map((answer) => make(deps, answer, now)));
    // One at a time: one that fails on a damaged page makes the commit of all others fail, too.
    for (const [index, answer] of ready.entries())
      if (made[index]?.status === 'rejected')
        await make(deps, answer, now).catch((error) => setAside(deps, answer, error, now));
    deps.onRecord();
  }
}

const make = (deps: CollectDeps, answer: RawAnswer, now: number): Promise<void> =>
  deps.store.write((tx) => concludeOne({ tx, deps, now }, answer));

/**
 * Puts the answer on the attention list and counts the try. Throws if the answer is not the cause,
 * such as when the disk is full: that may pass, and the answer is good (G2).
 */
async function setAside(
  deps: CollectDeps,
  answer: RawAnswer,
  error: unknown,
  now: number,
): Promise<void> {
  if (mayPass(error)) throw error;
  logStageFailure(deps.env, 'collect', error, 0);
  for (const raise of [raiseUnusable, raiseWithoutVisit])
    try {
      await deps.store.write((tx) => raise(tx, answer, now));
      break;
    } catch (failure) {
      // Where the database is damaged, the visits or the list itself may be unreadable.
      if (!mayBeOfFewRows(failure)) throw failure;
      logStageFailure(deps.env, 'collect', failure, 0);
    }
  countUnusable(deps.memory, answer.id);
}

async function raiseUnusable(tx: Tx, answer: RawAnswer, now: number): Promise<void> {
  const row = await inquiryById(tx, answer.inquiry);
  const [appointment] = await appointmentsOf(tx, answer.inquiry);
  const of_visit = {
    connector: row?.connector ?? null,
    appointment: appointment?.id ?? null,
    inquiry: answer.inquiry,
  };
  await raiseAttention(tx, { ...of_visit, subject: inquirySubject(answer.inquiry) }, UNUSABLE, now);
}

/** `raiseUnusable` without reading what may be damaged. */
async function raiseWithoutVisit(tx: Tx, { inquiry }: RawAnswer, now: number): Promise<void> {
  const subject = inquirySubject(inquiry);
  const no_visit = { connector: null, appointment: null, inquiry: null };
  await raiseAttention(tx, { ...no_visit, subject }, UNUSABLE, now);
}

const UNUSABLE: Attention = {
  reason: 'answer_unusable',
  what:
    'The service answered, but eligd could not make a record of the answer. The answer is ' +
    'kept.',
  next:
    'Install the newest version of eligd, which tries again automatically, or call the ' +
    'insurance company yourself.',
};

async function concludeOne(context: CollectContext, answer: RawAnswer): Promise<void> {
  const { tx, deps, now } = context;
  const row = await inquiryById(tx, answer.inquiry);
  const inquiry = parseInquiry(answer.raw);
  if (row === null || inquiry === null) throw new Error('A stored answer is not a read form.');
  const before = await recordBefore(tx, row.id, answer.revision);
  const draft =
    before === null ? await draftAsSent(context, row, inquiry.request) : parseDraft(row.draft);
  const { claim_words } = deps.settings;
  const read = { ...inquiry, creation_ts: inquiry.creation_ts ?? '' };
  const normalized = normalize(answer, read, draft, claim_words);
  const entered =
    row.entered_by === null ? normalized : { ...normalized, entered_by: row.entered_by };
  const record = await withTerms(context, row, entered);
  const changes = before === null ? [] : changesBetween(before, record);
  const record_id = await storeRecord(tx, answer, record, now);
  await resolveAttention(tx, inquirySubject(row.id), now, ['answer_unusable']);
  tx.after(() =>
    deps.env.log('record_written', {
      inquiry: row.id,
      service_id: row.service_id,
      unparsed_parts: record.unparsed.length,
    }),
  );
  await raiseVerification(context, row, record.verification);
  const is_verification_alone = await isVerificationAlone(tx, answer);
  const { service_status } = answer;
  const status = finalOutcome(service_status);
  if (before === null || status === 'successful') await notePayer(context, row, status);
  await follow(context, row, { changes, record_id, service_status, is_verification_alone });
}

/**
 * Returns what the call asked about, at its first answer: later, retention may have erased our own
 * request. A call that a list showed late, or that this database does not know, serves visits that
 * may have other codes now: planning sees to those that nobody has asked about (G8).
 */
async function draftAsSent(
  { tx, now }: CollectContext,
  row: InquiryRow,
  request: Readonly<Record<string, unknown>>,
): Promise<InquiryDraft> {
  const draft = parseDraft(row.draft);
  if (draft.claim !== undefined) return draft;
  const call = (await callsOf(tx, [row.id])).find(({ role }) => role === 'serves');
  if (call === undefined) return draft;
  const sent = call.body === null ? request : (parsed(call.body) as typeof request | null);
  const asked = codesAsEchoed(draft, sent ?? {});
  if (asked === draft) return draft;
  await updateInquiry(tx, row.id, { draft: JSON.stringify(asked) }, now);
  await planAgain(tx, [row.id]);
  return asked;
}

/**
 * Saves the plan terms of this record for later calls, and returns the record with the terms that
 * earlier calls found.
 */
async function withTerms(
  { tx, deps: { settings } }: CollectContext,
  row: InquiryRow,
  record: AnswerRecord,
): Promise<AnswerRecord> {
  if (record.schema === 'eligd.claim/1') return record;
  await keepTerms(tx, row, record, settings);
  return await addEarlier(tx, row, record, settings);
}

/**
 * Returns the record of the answer: an eligibility record or a claim record, depending on the
 * question.
 */
function normalize(
  answer: RawAnswer,
  inquiry: NormalizeInput['inquiry'],
  draft: InquiryDraft,
  claim_words: ClaimWords,
): AnswerRecord {
  const { verifications } = answer;
  const { specialty, claim } = draft;
  if (claim === undefined)
    return normalizeEligibility({ inquiry, specialty, asked: draft, verifications });
  const { claim_number, date_of_service } = claim;
  const asked = {
    claim_number,
    date_of_service,
    procedure_codes: draft.benefits_codes,
    billed_amount: draft.billed_amount ?? '',
  };
  return normalizeClaim({ inquiry, specialty, asked, verifications, claim_words });
}

/**
 * `changes`: differences between a revised answer and the one before it. `is_verification_alone`:
 * only call checks are new; eligd has already acted on the payer's answer.
 */
type Outcome = {
  changes: readonly string[];
  record_id: number;
  service_status: string;
  is_verification_alone: boolean;
};

/** Plans what follows from a record: deliveries, another attempt, or an attention item. */
async function follow(context: CollectContext, row: InquiryRow, outcome: Outcome): Promise<void> {
  const { tx, deps, now } = context;
  const visits = (await appointmentsOf(tx, row.id)).filter(({ closed_reason }) =>
    // An answer that the office has entered is also written back for a visit that is over.
    row.entered_by === null
      ? closed_reason === null
      : closed_reason !== 'cancelled' && closed_reason !== 'replaced',
  );
  const needing = visits.filter(
    ({ kind, starts_at }) => kind === 'claim' || isOfYear(row, starts_at, deps.settings.time_zone),
  );
  const status = finalOutcome(outcome.service_status);
  const notes = deliveryNotes(row, deps.settings.time_zone);
  const is_failure = status === 'unsuccessful' && !outcome.is_verification_alone;
  const other = is_failure ? await giveWay(tx, row, now) : null;
  const again = is_failure && other === null ? await planAttempt(context, row, needing) : null;
  if (!outcome.is_verification_alone) notes.push(...outcome.changes);
  if (outcome.is_verification_alone) {
    notes.push('Written again because the call checks arrived.');
  } else if (status === 'successful') {
    await resolveAttention(tx, inquirySubject(row.id), now, [
      'unsuccessful',
      'cancelled_by_service',
    ]);
    await withdrawAttempt(tx, row, now);
  } else if (other === 'awaited') {
    notes.push('This call was unsuccessful; the answer of another one is awaited.');
  } else if (other === 'answered') {
    notes.push('This call was unsuccessful; another one was answered.');
  } else if (again === null) {
    await raiseUnanswered(context, row, needing[0], status);
  }
  for (const { id, kind, connector, coverage_rank } of visits) {
    const coordination = await joinCoverages(tx, id, now);
    const all_notes = [
      ...notes,
      ...(again?.has(id) === true ? [attemptFollows(row, deps.settings)] : []),
      ...(coordination?.conflict == null ? [] : [coordination.conflict]),
    ];
    const delivery = {
      connector,
      appointment: id,
      inquiry: row.id,
      record: outcome.record_id,
      coverage_rank,
    };
    await planDelivery(tx, { ...delivery, notes: all_notes, coordination }, now);
    if (kind === 'claim') await replanClaim(tx, id, status, now);
  }
}

/** Tells the front desk at once that this call failed and that another one follows. */
const attemptFollows = ({ retry }: InquiryRow, { attempts }: CollectDeps['settings']) =>
  `This call was unsuccessful; attempt ${retry + 2} of ${attempts} follows.`;

/**
 * Counts the call for or against the payer: eligd calls a payer less often when several calls in a
 * row did not reach it (`payer-silence.ts`).
 */
async function notePayer(
  { tx, now }: CollectContext,
  row: InquiryRow,
  status: FinalOutcome | null,
): Promise<void> {
  const payer = payerKeyOf(row);
  if (payer === null || row.entered_by !== null) return;
  if (status !== 'successful' && status !== 'unsuccessful') return;
  const call = { is_answered: status === 'successful', is_first_attempt: row.retry === 0 };
  const before = (await payerSilences(tx))[payer] ?? null;
  await setPayerSilence(tx, payer, afterCall(before, call, now), now);
}

/**
 * Returns whether the visit is in the benefit year of the inquiry. A visit that was moved to
 * another year is another need, which planning handles when it is due.
 */
function isOfYear({ benefit_year }: InquiryRow, starts_at: number, time_zone: string): boolean {
  return yearOf(localDate(starts_at, time_zone)) === benefit_year;
}

/**
 * Lets planning decide whether to ask about the claim again. A successful answer resolves the
 * attention items of earlier calls about it.
 */
async function replanClaim(
  tx: Tx,
  claim: number,
  status: FinalOutcome | null,
  now: number,
): Promise<void> {
  await planVisitAgain(tx, claim);
  if (status !== 'successful') return;
  for (const { id } of await inquiriesOf(tx, claim))
    await resolveAttention(tx, inquirySubject(id), now, ['unsuccessful']);
}

async function raiseUnanswered(
  { tx, now }: CollectContext,
  row: InquiryRow,
  appointment: LinkedAppointment | undefined,
  status: FinalOutcome | null,
): Promise<void> {
  // Nothing to raise: the patient's visit was canceled, or it was moved to another year and
  // planning asks about it again.
  if (appointment === undefined) return;
  await raiseAttention(
    tx,
    {
      connector: row.connector,
      appointment: appointment.id,
      inquiry: row.id,
      subject: inquirySubject(row.id),
    },
    unanswered(status, row.retry + 1),
    now,
  );
}
