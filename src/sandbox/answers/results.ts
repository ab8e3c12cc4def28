import { compact, type Json, type JsonObject } from '../json.ts';
import type { Life, Step } from '../lifecycle.ts';
import type { Inquiry } from '../request.ts';
import { callRecords } from './calls.ts';
import { claimResults } from './claims.ts';
import { type AnswerContext, type AnswerSource, contextOf } from './context.ts';
import { dentalResults } from './dental.ts';
import { leaveGaps } from './gaps.ts';
import { medicalResults } from './medical.ts';
import { makeOdd } from './oddities.ts';
import { endedPlan } from './plan.ts';

/** The answer in the read form; empty and null while there is none. */
export type Answer = { summary: string; results: JsonObject | null };

/**
 * Returns the answer at a step of an inquiry's life. Except for the end of the call, it depends
 * only on seed and request.
 */
export function answerOf(source: AnswerSource, inquiry: Inquiry, life: Life, step: Step): Answer {
  if (step.answer === 'none') return { summary: '', results: null };
  const context = contextOf(source, inquiry, life.course, step.answer);
  const ends_ms =
    step.answer === 'revised' && life.revised_ms !== undefined
      ? [life.ended_ms, life.revised_ms]
      : [life.ended_ms];
  switch (life.course.ending) {
    case 'CANCELLED':
      return { summary: 'The inquiry was canceled before the payer answered.', results: null };
    case 'UNKNOWN':
    case 'NEVER':
      return { summary: '', results: null };
    case 'UNSUCCESSFUL':
      return { summary: unsuccessfulSummary(context), results: withCalls(context, ends_ms, {}) };
    case 'SUCCESS':
      return success(context, ends_ms);
  }
}

function success(context: AnswerContext, ends_ms: readonly number[]): Answer {
  const { course, request } = context;
  const prefix = context.edition === 'revised' ? 'Corrected after a second call. ' : '';
  if (request.type === 'CLAIMS_STATUS') {
    const claim = finish(context, compact(claimResults(context)));
    return { summary: `${prefix}Claim status: ${String(claim.status)}.`, results: claim };
  }
  const results = withCalls(
    context,
    ends_ms,
    course.is_active ? benefits(context) : { plan_information: endedPlan(context) },
  );
  const summary = course.is_active
    ? 'The plan is active; benefits were provided.'
    : 'The plan is not active.';
  return { summary: prefix + summary, results: finish(context, results) };
}

function benefits(context: AnswerContext): { [field: string]: Json | undefined } {
  return context.specialty === 'dental' ? dentalResults(context) : medicalResults(context);
}

function withCalls(
  context: AnswerContext,
  ends_ms: readonly number[],
  rest: { [field: string]: Json | undefined },
): JsonObject {
  return compact({
    call_details: context.formats.callDetails(callRecords(context, ends_ms)),
    ...rest,
  });
}

function finish(context: AnswerContext, results: JsonObject): JsonObject {
  const gapped = leaveGaps(results, context.course.silent, context.call);
  return context.course.is_weird ? makeOdd(gapped) : gapped;
}

function unsuccessfulSummary(context: AnswerContext): string {
  return context.call.pick('unsuccessful', [
    'The payer could not find the member with the details given.',
    'The payer closed before the questions were answered.',
    'The representative did not release information over the phone.',
  ]);
}
