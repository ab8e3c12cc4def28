/**
 * Summarizes a visit in one line for preparing the day: the verdict in a word, why, what to do,
 * what to collect, and what is left of the benefits. Pure. All schedules use this function, so they
 * agree. Unknown is never yes, and an unknown amount is never 0 (G8).
 */
import type { AttentionReason } from '../domain/attention.ts';
import type { ClosedReason, Explanation } from '../domain/explanation.ts';
import type { SituationWord } from '../domain/situation.ts';
import type { EligibilityRecord } from './eligibility.ts';
import { verdictAttention } from './verdict/attention.ts';
import { collectText, deductibleLeftText, maximumLeftText, whatToDo } from './verdict/text.ts';
import type { Verdict } from './verdict.ts';

/** Most urgent first; `LINE_NAMES` has the names for people. */
const LINE_WORDS = [
  'not_eligible',
  'call_yourself',
  'needs_action',
  'incomplete',
  'waiting',
  'eligible',
  'no_insurance',
  'not_asked',
  'cancelled',
] as const;
export type LineWord = (typeof LINE_WORDS)[number];

export const LINE_NAMES: Readonly<Record<LineWord, string>> = {
  not_eligible: 'Not eligible',
  call_yourself: 'Call yourself',
  needs_action: 'Needs action',
  incomplete: 'Incomplete',
  waiting: 'Waiting',
  eligible: 'Eligible',
  no_insurance: 'No insurance',
  not_asked: 'Not asked',
  cancelled: 'Canceled',
};

/** Words that require action before the visit. */
export const URGENT_WORDS: ReadonlySet<LineWord> = new Set([
  'not_eligible',
  'call_yourself',
  'needs_action',
]);

export type ScheduleLine = {
  word: LineWord;
  /** When the next step is due (epoch milliseconds), while it waits. */
  until: number | null;
  /** One or two sentences. */
  why: string;
  /** One sentence; empty: no action. */
  to_do: string;
  /** Dollars or a range; empty when no fee is known. */
  collect: string;
  /** Dollars, `unknown`, or the payer's words; empty: not asked, or no answer yet. */
  deductible_left: string;
  maximum_left: string;
};

type LineFacts = {
  situation: SituationWord;
  closed_reason: ClosedReason | null;
  explanation: Pick<Explanation, 'why' | 'until' | 'next'>;
  /** Open attention items about it, oldest first. */
  entries: readonly { reason: string; what: string; next: string }[];
  /** The newest answer about the first coverage, with its verdict; null: none yet. */
  answer: { record: EligibilityRecord; verdict: Verdict } | null;
};

/** Reasons for which the office must call the payer to get the answer in time. */
export const CALL_REASONS: ReadonlySet<string> = new Set<AttentionReason>([
  'too_late_to_call',
  'answer_missing',
  'payer_needs_attention',
  'payer_unsupported',
  'payer_not_callable',
  'payer_waits',
  'unsuccessful',
  'cancelled_by_service',
  'no_answer',
  'answer_unusable',
  'undecidable',
  'lost_at_service',
]);

export function scheduleLine(facts: LineFacts): ScheduleLine {
  const { explanation, answer } = facts;
  const word = lineWord(facts);
  const line = { word, until: word === 'waiting' ? explanation.until : null, ...amounts(answer) };
  const call = facts.entries.find(({ reason }) => CALL_REASONS.has(reason));
  if (word === 'call_yourself' && call !== undefined)
    return { ...line, why: call.what, to_do: firstSentence(call.next) };
  if (facts.situation === 'attention' && word === 'needs_action')
    return { ...line, why: explanation.why, to_do: firstSentence(explanation.next ?? '') };
  if (answer !== null && word !== 'waiting' && word !== 'cancelled') {
    const [first] = verdictAttention(answer.verdict);
    const [step = ''] = whatToDo(answer.verdict);
    return { ...line, why: first?.what ?? reasonOf(answer.verdict), to_do: step };
  }
  return { ...line, why: explanation.why, to_do: firstSentence(explanation.next ?? '') };
}

function lineWord({ situation, closed_reason, entries, answer }: LineFacts): LineWord {
  // A visit that does not take place needs no action, whatever the payer said.
  if (isCanceled(closed_reason)) return 'cancelled';
  const verdict = answer?.record.outcome === 'successful' ? answer.verdict.standing : null;
  if (verdict === 'not_eligible') return 'not_eligible';
  if (situation === 'attention')
    return entries.some(({ reason }) => CALL_REASONS.has(reason))
      ? 'call_yourself'
      : 'needs_action';
  // For a visit that eligd does not handle, the office may have called itself.
  const is_left = situation === 'closed' && closed_reason !== 'past';
  if (is_left && verdict === null) return closedWord(closed_reason);
  switch (verdict) {
    case 'attention':
      return 'needs_action';
    case 'incomplete':
    case 'eligible':
      return verdict;
    default:
      // The calls got no answer, and a user has handled it: no call is in progress.
      if (situation === 'delivered') return 'incomplete';
      if (situation !== 'closed') return 'waiting';
      return answer === null ? 'not_asked' : 'incomplete';
  }
}

const isCanceled = (reason: ClosedReason | null) => reason === 'cancelled' || reason === 'replaced';

function closedWord(reason: ClosedReason | null): LineWord {
  return reason === 'no_coverage' ? 'no_insurance' : 'not_asked';
}

/** Returns the reason for the visit as a whole, or of the first procedure that is not payable. */
function reasonOf({ reasons, procedures }: Verdict): string {
  const [first] = reasons;
  if (first !== undefined) return first.text;
  const open = procedures.find(({ standing }) => standing !== 'payable');
  const [reason] = open?.reasons ?? [];
  return open === undefined || reason === undefined ? '' : `${open.code}: ${reason.text}`;
}

function amounts(
  answer: LineFacts['answer'],
): Pick<ScheduleLine, 'collect' | 'deductible_left' | 'maximum_left'> {
  if (answer === null) return { collect: '', deductible_left: '', maximum_left: '' };
  const { record, verdict } = answer;
  return {
    collect: collectText(verdict),
    deductible_left: dollarWords(deductibleLeftText(record, verdict)),
    maximum_left: dollarWords(maximumLeftText(record, verdict)),
  };
}

/** Formats `1500.00` as `$1,500` and `45.50` as `$45.50`; words stay unchanged. */
export function dollarWords(text: string): string {
  const [, whole = '', cents = ''] = /^(\d{1,15})\.(\d{2})\d*$/.exec(text) ?? [];
  if (whole === '') return text;
  return `$${Number(whole).toLocaleString('en-US')}${cents === '00' ? '' : `.${cents}`}`;
}

/** Returns the first sentence, which fits in a list; the page of the visit shows all. */
function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
}
