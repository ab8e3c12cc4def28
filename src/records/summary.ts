/**
 * Extracts the few flat values that a front desk needs from a record: the CSV connector's columns.
 */

import type { Outcome } from '../domain/outcome.ts';
import { AS_SAID, benefitLine, type Held, quoted } from './benefit-line.ts';
import type { ClaimStatusRecord } from './claim-status.ts';
import { earlierNotes } from './earlier.ts';
import type { EligibilityRecord, Money, ProcedureCodeBenefits, Unparsed } from './eligibility.ts';
import { type FieldKey, readFields } from './fields.ts';
import type { Confidence, CustomAnswers, Verification } from './parts.ts';
import type { Verdict } from './verdict.ts';
import { latestChecks } from './verification.ts';

/**
 * Only text, which fits into a line of a file unchanged (guarantee G8):
 *
 * - a value, or the payer's own words in its place;
 * - `unknown`: asked, but not answered or not understood;
 * - `does not apply`: this plan or this specialty has no such value;
 * - empty text: not asked.
 *
 * Amounts are decimal text in US dollars (`1500.00`), dates `YYYY-MM-DD`, timestamps UTC.
 */
export type EligibilitySummary = Record<FieldKey, string> & {
  outcome: Outcome;
  /** The service's own word. */
  status: string;
  completeness: EligibilityRecord['completeness'];
  /** In the order of the record; a code that was asked and not answered has the line `unknown`. */
  procedure_codes: { code: string; line: string }[];
  procedure_classes: { name: string; line: string }[];
  /** The treatments that the payer has on file, earliest first; `none on file`, or `unknown`. */
  treatments: { date: string; line: string }[];
  /** What was asked: the query sets, then the codes. */
  questions: string;
  /** The account's script that chose the questions; empty when none was named. */
  call_script: string;
  /** Of all calls, joined by `, `. Empty when the answer names no call. */
  reference_number: string;
  representative: string;
  /** The end of the last call. */
  call_ended_at: string;
  /** URLs of recordings and of transcripts, joined by a space. */
  recordings: string;
  transcripts: string;
  /** The service's summary; empty when there is none. */
  call_summary: string;
  /** From the checks of the transcripts: `high`, `low`, or empty while there are none. */
  confidence: Confidence | '';
  /** Plain sentences to read before the visit, most important first. */
  notes: string[];
};

/** How many remarks about single values are written out before the others are only counted. */
const UNPARSED_NOTES_MAX = 20;
const UNPARSED_VALUE_LENGTH_MAX = 200;

/**
 * Summarizes a record. Pure; works for every record. With the verdict of the visit, no line states
 * a share or "covered" that the verdict contradicts. Without it, only the plan's own status is
 * considered.
 */
export function summarizeEligibility(
  record: EligibilityRecord,
  verdict: Verdict | null = null,
): EligibilitySummary {
  const { calls } = record;
  const fields = Object.fromEntries(
    readFields(record).map(({ key, text }) => [key, text]),
  ) as Record<FieldKey, string>;
  return {
    outcome: record.outcome,
    status: record.status,
    completeness: record.completeness,
    ...fields,
    procedure_codes: (record.procedure_codes?.codes ?? []).map((entry) => ({
      code: entry.code,
      line: entry.answered
        ? [
            benefitLine(entry.benefits, heldOf(record, verdict, entry.code)),
            ...nextEligibleWords(record, verdict, entry),
          ].join('; ')
        : 'unknown',
    })),
    procedure_classes: (record.procedure_classes?.classes ?? []).map((entry) => ({
      name: entry.name,
      line: entry.answered ? benefitLine(entry.benefits, heldOf(record, verdict, null)) : 'unknown',
    })),
    treatments: treatmentLines(record),
    questions: [...record.asked.benefits_query, ...record.asked.benefits_codes].join(', '),
    call_script: record.asked.call_script_id ?? '',
    reference_number: joinCalls(calls.map((call) => call.reference_number)),
    representative: joinCalls(calls.map((call) => call.representative)),
    call_ended_at: lastEnd(calls.map((call) => call.ended_at)),
    recordings: linksOf(calls, 'recording_url'),
    transcripts: linksOf(calls, 'transcript_url'),
    call_summary: record.summary ?? '',
    confidence: record.confidence ?? '',
    notes: notesOf(record, verdict),
  };
}

const knownText = (value: string | null | undefined) =>
  value === undefined ? '' : (value ?? 'unknown');

function treatmentLines({
  treatment_history,
}: EligibilityRecord): { date: string; line: string }[] {
  if (treatment_history === undefined) return [];
  const { answered, treatments } = treatment_history;
  if (treatments.length === 0) return [{ date: '', line: answered ? 'none on file' : 'unknown' }];
  return treatments.map(({ date, code, teeth, surfaces, quadrants }) => {
    const places = Object.entries({ teeth, surfaces, quadrants }).flatMap(([name, list]) =>
      list === null || list.length === 0 ? [] : [`${name} ${list.join(', ')}`],
    );
    return { date, line: [code ?? 'code unknown', ...places].join('; ') };
  });
}

function linksOf(
  calls: EligibilityRecord['calls'],
  name: 'recording_url' | 'transcript_url',
): string {
  return calls.flatMap((call) => call[name] ?? []).join(' ');
}

function joinCalls(values: readonly (string | null)[]): string {
  const known = new Set(values.filter((value) => value !== null));
  return known.size === 0 && values.length > 0 ? 'unknown' : [...known].join(', ');
}

function lastEnd(ends: readonly (string | null)[]): string {
  const known = ends.filter((end) => end !== null).sort();
  return known.at(-1) ?? (ends.length > 0 ? 'unknown' : '');
}

/** Returns the verdict about a code, or, for a class (null), about the plan. */
function heldOf(record: EligibilityRecord, verdict: Verdict | null, code: string | null): Held {
  if (verdict === null)
    return record.plan?.is_active === false
      ? { standing: 'not_payable', reasons: ['plan_inactive'], are_shares_sure: false }
      : AS_SAID;
  if (code === null) {
    const { standing, reasons } = verdict.plan;
    return { standing, reasons, are_shares_sure: standing === 'payable' && reasons.length === 0 };
  }
  const found = [...verdict.procedures, ...verdict.others].find((each) => each.code === code);
  if (found === undefined) return AS_SAID;
  return {
    standing: found.standing,
    // An uncertain reason does not explain why the plan does not pay (G8).
    reasons: found.reasons
      .filter(({ effect }) => found.standing !== 'not_payable' || effect === 'no')
      .map((reason) => reason.code),
    are_shares_sure: found.plan_pays_percent !== null || found.copay !== null,
  };
}

/**
 * Returns when the plan pays for the next treatment according to the verdict. Without a visit, uses
 * history and frequency, unless that day was already past when the payer was asked.
 */
function nextEligibleWords(
  { plan, inquiry_created_at }: EligibilityRecord,
  verdict: Verdict | null,
  { code, next_eligible }: ProcedureCodeBenefits,
): string[] {
  const words = (day: string | null | undefined) => (day == null ? [] : [`next eligible ${day}`]);
  if (verdict !== null) {
    const judged = [...verdict.procedures, ...verdict.others];
    return words(judged.find((each) => each.code === code)?.next_eligible);
  }
  if (next_eligible === undefined || next_eligible.standing === 'open') return [];
  if (plan?.is_active === false) return [];
  if (next_eligible.standing === 'used_up') return ['used up'];
  const asked_on = inquiry_created_at?.slice(0, 10) ?? null;
  return asked_on !== null && (next_eligible.date ?? '') > asked_on
    ? words(next_eligible.date)
    : [];
}

function notesOf(record: EligibilityRecord, verdict: Verdict | null): string[] {
  const { plan, clauses } = record;
  const scheduled = verdict?.procedures.map(({ code }) => code);
  return [
    ...(record.entered_by === undefined
      ? []
      : [`Entered by the office (${record.entered_by}); eligd made no call.`]),
    ...(plan?.is_active === false ? ['The plan is NOT ACTIVE.'] : []),
    ...completenessNotes(record),
    ...(plan?.is_primary_insurance === false
      ? ['The insurance company says that this coverage does not pay first.']
      : []),
    ...(plan?.has_other_insurance === true
      ? ['The insurance company knows of other insurance.']
      : []),
    ...(plan?.referral_required === true ? ['A referral is required.'] : []),
    ...sentence('Referral', plan?.referral_info),
    ...sentence('Out of network', plan?.out_of_network_benefits),
    ...sentence('Waiting periods', clauses?.waiting_periods),
    ...sentence('Missing tooth clause', clauses?.missing_tooth_clause),
    ...(clauses?.has_pending_claims === true
      ? ['Claims are pending that may use up benefits.']
      : []),
    // A plan may have many codes: show only those of the visit.
    ...earlierNotes(
      record,
      ({ kind, name }) => kind === 'class' || scheduled === undefined || scheduled.includes(name),
      (code) => heldOf(record, verdict, code),
    ),
    ...verificationNotes(record.verification),
    ...customNotes(record),
    ...unparsedNotes(record.unparsed),
  ];
}

/** Names calls without an answer for people. */
export const OUTCOME_SENTENCES: Readonly<Record<Exclude<Outcome, 'successful'>, string>> = {
  unsuccessful: 'The call got no answer.',
  cancelled: 'The service canceled the call.',
  unknown: 'How the call ended is unknown.',
};

function completenessNotes({
  outcome,
  completeness,
  plan,
}: Pick<EligibilityRecord, 'outcome' | 'completeness'> &
  Partial<Pick<EligibilityRecord, 'plan'>>): string[] {
  if (outcome !== 'successful') return [OUTCOME_SENTENCES[outcome]];
  if (completeness === 'none') return ['The answer holds nothing that could be read.'];
  // For an inactive plan, further answers are not expected.
  return completeness === 'partial' && plan?.is_active !== false
    ? ['Some questions were not answered.']
    : [];
}

const sentence = (label: string, words: string | null | undefined) =>
  words === undefined || words === null ? [] : [`${label}: ${words}`];

function customNotes({ plan, calls }: EligibilityRecord): string[] {
  return answerNotes([
    ...(plan?.custom_answers ?? []),
    ...calls.flatMap((call) => call.custom_answers ?? []),
  ]);
}

const answerNotes = (answers: CustomAnswers) =>
  answers.map(({ question, answer }) => `${question}: ${answer ?? 'unknown'}`);

/** Describes a failed check, so that readers know what to doubt. */
function verificationNotes(verification: Verification | null): string[] {
  if (verification === null) return [];
  return latestChecks(verification)
    .filter(({ is_met }) => !is_met)
    .map(
      ({ name, status }) =>
        `The call failed a check: ${name ?? 'without a name'} (${status ?? 'no status'}).`,
    );
}

function unparsedNotes(entries: readonly Unparsed[]): string[] {
  const notes = entries.slice(0, UNPARSED_NOTES_MAX).map(({ path, value, why }) => {
    const said = JSON.stringify(value) ?? '';
    const cut =
      said.length > UNPARSED_VALUE_LENGTH_MAX
        ? `${said.slice(0, UNPARSED_VALUE_LENGTH_MAX)} …`
        : said;
    return `Also said (${why}): ${path} = ${cut}`;
  });
  const more = entries.length - notes.length;
  return more > 0 ? [...notes, `And ${more} more under "unparsed" in the full record.`] : notes;
}

/** The flat values of a claim record, in the same form as those of an eligibility record. */
export type ClaimSummary = {
  /** The outcome of the inquiry. */
  outcome: Outcome;
  /** The service's own word. */
  status: string;
  completeness: ClaimStatusRecord['completeness'];
  /** One of the words in `CLAIM_STATUSES`. */
  claim_status: string;
  /** The payer's own word for the status. */
  said_status: string;
  claim_number: string;
  received_on: string;
  processed_on: string;
  paid_on: string;
  /** Empty when unknown. */
  processed_up_to: string;
  turnaround: string;
  /**
   * What was asked: the clinic's claim number, the date of service, the codes, and the billed
   * amount.
   */
  questions: string;
  codes: { code: string; line: string }[];
  reference_number: string;
  representative: string;
  call_ended_at: string;
  recordings: string;
  transcripts: string;
  call_summary: string;
  confidence: Confidence | '';
  notes: string[];
};

/** Summarizes a claim record. Pure; works for every record. */
export function summarizeClaim(record: ClaimStatusRecord): ClaimSummary {
  const { claim, calls } = record;
  return {
    outcome: record.outcome,
    status: record.status,
    completeness: record.completeness,
    claim_status: claim.status,
    said_status: knownText(claim.said_status),
    claim_number: knownText(claim.number),
    received_on: knownText(claim.received_on),
    processed_on: knownText(claim.processed_on),
    paid_on: knownText(claim.paid_on),
    processed_up_to: knownText(claim.processed_up_to),
    turnaround: knownText(claim.turnaround),
    questions: claimQuestions(record.asked),
    codes: claim.codes.map((entry) => ({
      code: entry.code,
      line: entry.answered ? claimCodeLine(entry) : 'unknown',
    })),
    reference_number: joinCalls(calls.map((call) => call.reference_number)),
    representative: joinCalls(calls.map((call) => call.representative)),
    call_ended_at: lastEnd(calls.map((call) => call.ended_at)),
    recordings: linksOf(calls, 'recording_url'),
    transcripts: linksOf(calls, 'transcript_url'),
    call_summary: record.summary ?? '',
    confidence: record.confidence ?? '',
    notes: [
      ...completenessNotes(record),
      ...verificationNotes(record.verification),
      ...calls.flatMap(({ custom_answers }) => answerNotes(custom_answers ?? [])),
      ...unparsedNotes(record.unparsed),
    ],
  };
}

function claimQuestions(asked: ClaimStatusRecord['asked']): string {
  const { claim_number, date_of_service, procedure_codes, billed_amount } = asked;
  const billed =
    billed_amount === null
      ? ''
      : `billed ${'text' in billed_amount ? billed_amount.text : billed_amount.amount}`;
  return [claim_number, date_of_service, ...procedure_codes, billed]
    .filter((each) => each !== '')
    .join(', ');
}

function claimCodeLine(entry: ClaimStatusRecord['claim']['codes'][number]): string {
  const amount = (label: string, money: Money | null) =>
    money === null
      ? `${label} unknown`
      : 'text' in money
        ? `${label} "${money.text}"`
        : `${label} ${money.amount}`;
  const parts = [
    amount('paid', entry.paid),
    amount('patient owes', entry.patient_responsibility),
    amount('of it deductible', entry.applied_to_deductible),
    quoted('denied', entry.denial_reason),
    quoted('appeal', entry.appeal_info),
    quoted('adjustment', entry.adjustment),
  ];
  return parts.filter((part) => part !== null).join('; ');
}
