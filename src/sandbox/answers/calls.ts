import { MINUTE_MS } from '../calendar.ts';
import { compact, type JsonObject } from '../json.ts';
import type { AnswerContext } from './context.ts';

const FIRST_NAMES = [
  'Alicia',
  'Brandon',
  'Carmen',
  'Deshawn',
  'Elena',
  'Farid',
  'Grace',
  'Hector',
  'Ingrid',
  'Jamal',
  'Keiko',
];
const INITIALS = ['A.', 'B.', 'D.', 'F.', 'K.', 'M.', 'P.', 'R.', 'S.', 'T.', 'W.'];

/**
 * Questions from the specification. Other questions are a customer's own and are answered with
 * text.
 */
const LISTED_QUESTIONS = new Set([
  'STANDARD',
  'CODE_LOOKUP_BENEFITS',
  'CODE_LOOKUP_FREQUENCIES',
  'CODE_LOOKUP_PRIOR_AUTH',
  'TREATMENT_HISTORY',
  'DEDUCTIBLES_AND_MAXIMUMS',
  'PULMONARY_REHAB_COVERAGE',
  'PSYCHOTHERAPY',
  'OFFICE_VISIT_NEW_PATIENT',
  'PLAN_INFO',
  'MAXIMUMS',
  'UNKNOWN',
]);

const CUSTOM_ANSWERS = [
  'Yes',
  'No',
  'Yes, after the deductible',
  'No, but an exception can be requested in writing',
  '30 days',
];

/** The call log ID that a call shares with its verifications. */
export function callLogId(context: AnswerContext, call_number: number): string {
  return `call-${hexOf(context, `call log ${call_number}`)}`;
}

/**
 * Returns one call detail record per placed call (docs/service.md "Call detail record"), the latest
 * last.
 */
export function callRecords(context: AnswerContext, ends_ms: readonly number[]): JsonObject[] {
  return ends_ms.map((ended_ms, index) => callRecord(context, index + 1, ended_ms));
}

function callRecord(context: AnswerContext, call_number: number, ended_ms: number): JsonObject {
  const dice = context.call.of('call', call_number);
  const first_name = dice.pick('first name', FIRST_NAMES);
  const representative = `${first_name} ${dice.pick('initial', INITIALS)}`;
  const letter = dice.pick('reference letter', ['C', 'I', 'R', 'W']);
  const reference = `${letter}${dice.integer('reference', 10_000_000, 99_999_999)}`;
  const log_id = callLogId(context, call_number);
  return compact({
    call_end_time: context.formats.timestamp(ended_ms - dice.integer('before', 1, 2) * MINUTE_MS),
    representative_name: representative,
    reference_number: reference,
    call_recording_url: `https://calls.sandbox.invalid/${log_id}.mp3`,
    call_transcript_url: `https://calls.sandbox.invalid/${log_id}.txt`,
    [context.formats.transcriptName()]: transcript(context, representative, reference),
    custom_answers: customAnswers(context),
  });
}

function transcript(context: AnswerContext, representative: string, reference: string): string {
  const purpose =
    context.request.type === 'CLAIMS_STATUS' ? 'the status of a claim' : 'benefits for a patient';
  const outcome =
    context.course.ending === 'SUCCESS'
      ? 'I can give you that.'
      : 'I am not able to release that today.';
  return [
    `Payer: Provider services, ${representative} speaking. How can I help?`,
    `Caller: I am calling on behalf of a provider about ${purpose}.`,
    `Payer: ${outcome}`,
    'Caller: May I have a reference number for this call?',
    `Payer: It is ${reference}.`,
  ].join('\n');
}

function customAnswers(context: AnswerContext): { [question: string]: string } | undefined {
  const asked = (context.request.benefits_query ?? []).filter(
    (question) => !LISTED_QUESTIONS.has(question),
  );
  const script = context.request.call_script_id;
  if (typeof script === 'string' && script !== '')
    asked.push('SCRIPT_QUESTION_1', 'SCRIPT_QUESTION_2');
  if (asked.length === 0 || context.course.ending !== 'SUCCESS') return undefined;
  return Object.fromEntries(
    asked.map((question) => [question, context.person.pick(`custom ${question}`, CUSTOM_ANSWERS)]),
  );
}

function hexOf(context: AnswerContext, label: string): string {
  return Math.floor(context.call.fraction(label) * 2 ** 48)
    .toString(16)
    .padStart(12, '0');
}
