/** Postpones calls to a payer that cannot be reached (`domain/payer-silence.ts`). */
import type { InquiryDraft } from '../../domain/inquiry.ts';
import { isTooLateFor, turnOf } from '../../domain/payer-silence.ts';
import { payerKey } from '../../domain/turnaround.ts';
import { resolveAttention } from '../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../store/bookkeeping/audit.ts';
import type { InquiryRow } from '../../store/calls/inquiries.ts';
import { raiseForInquiry } from '../../store/calls/inquiry-attention.ts';
import { appointmentsOf } from '../../store/calls/links.ts';
import {
  NEAR_VISIT,
  payerSilences,
  putOffForPayer,
  setPayerSilence,
} from '../../store/calls/payer-silence.ts';
import type { SubmitContext } from './deps.ts';

/**
 * Reads whose turn it is. `waits` returns whether the call must wait because the payer cannot be
 * reached and this call is not the test call, and postpones it if so. `take`: the call is made, as
 * the test call if its payer needs one. `end` resolves the attention items about calls that no
 * longer wait.
 */
export async function payerTurns(context: SubmitContext) {
  const { tx, now } = context;
  let silences = await payerSilences(tx);
  const called: string[] = [];
  return {
    async waits(row: InquiryRow, draft: InquiryDraft): Promise<boolean> {
      const payer = payerKey(draft);
      if (payer === null) return false;
      const turn = turnOf(silences[payer] ?? null, now);
      if (turn.kind !== 'wait') return false;
      await putOff(context, { row, draft, until: turn.until });
      return true;
    },
    async take(row: InquiryRow, draft: InquiryDraft): Promise<void> {
      const payer = payerKey(draft);
      if (payer === null) return;
      called.push(inquirySubject(row.id));
      const turn = turnOf(silences[payer] ?? null, now);
      if (turn.kind === 'wait' || turn.silence === null) return;
      await setPayerSilence(tx, payer, turn.silence, now);
      silences = await payerSilences(tx);
    },
    end: () => resolveAttention(tx, called, now, ['payer_waits']),
  };
}

type Waiting = { row: InquiryRow; draft: InquiryDraft; until: number };

async function putOff({ tx, now }: SubmitContext, { row, draft, until }: Waiting): Promise<void> {
  await putOffForPayer(tx, row, until, now);
  const open_visit = (await appointmentsOf(tx, row.id)).find(
    ({ closed_reason }) => closed_reason === null,
  );
  if (draft.claim !== undefined || open_visit === undefined) return;
  if (!isTooLateFor(row.visit_at, until)) return;
  await raiseForInquiry(tx, row, NEAR_VISIT, now);
}
