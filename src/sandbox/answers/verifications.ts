import { MINUTE_MS } from '../calendar.ts';
import { compact, type JsonObject } from '../json.ts';
import type { Life } from '../lifecycle.ts';
import type { Inquiry } from '../request.ts';
import { callLogId } from './calls.ts';
import { type AnswerSource, contextOf } from './context.ts';

/** Name and description of each check, and the evidence when it is met. */
const CRITERIA = [
  ['payer_reached', 'Someone at the payer answered.', 'Payer: Provider services, how can I help?'],
  [
    'purpose_stated',
    'The caller stated the purpose of the call.',
    'Caller: I am calling on behalf of a provider.',
  ],
  [
    'reference_number_asked',
    'The caller asked for a reference number.',
    'Caller: May I have a reference number for this call?',
  ],
  [
    'questions_completed',
    'The payer was willing to answer the questions.',
    'Payer: I can give you that.',
  ],
] as const;

/**
 * Returns the transcript verifications of an inquiry, newest first (docs/service.md "Transcript
 * verification record"): one per ended call, some minutes after its end.
 */
export function verificationsOf(
  source: AnswerSource,
  inquiry: Inquiry,
  life: Life,
  now_ms: number,
): JsonObject[] {
  if (life.course.ending !== 'SUCCESS' && life.course.ending !== 'UNSUCCESSFUL') return [];
  const context = contextOf(source, inquiry, life.course, 'first');
  const ends_ms = [life.ended_ms, ...(life.revised_ms === undefined ? [] : [life.revised_ms])];
  return ends_ms
    .map((ended_ms, index) => ({
      created_ms: ended_ms + source.behaviors.verification_after_minutes * MINUTE_MS,
      call_number: index + 1,
    }))
    .filter(({ created_ms }) => created_ms <= now_ms)
    .reverse()
    .map(({ created_ms, call_number }) => ({
      id: `verification-${inquiry.id}-${call_number}`,
      inquiry_id: inquiry.id,
      call_log_id: callLogId(context, call_number),
      verification_items: CRITERIA.map(([name, description, quotation]) => {
        const dice = context.call.of('verification', call_number, name);
        const met = life.course.ending === 'SUCCESS' ? 0.93 : 0.6;
        const drawn = dice.chance('met', met)
          ? 'MET'
          : dice.pick('otherwise', ['NOT_MET', 'UNCLEAR']);
        const forced =
          life.course.checks === 'one not met' && name === 'reference_number_asked'
            ? 'NOT_MET'
            : 'MET';
        const status = life.course.checks === 'drawn' ? drawn : forced;
        return compact({
          name,
          description,
          status,
          evidence: status === 'MET' ? quotation : '',
          reasoning:
            status === 'MET' ? 'The transcript shows it.' : 'The transcript does not show it.',
          validation: dice.chance('validated', 0.5)
            ? { is_validated: true, method: 'second reading' }
            : undefined,
        });
      }),
      creation_ts: context.formats.timestamp(created_ms),
    }));
}
