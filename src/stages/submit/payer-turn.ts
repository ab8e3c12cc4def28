/** Postpones calls to a payer that cannot be reached (`domain/payer-silence.ts`). */
import type { InquiryDraft } from '../../domain/inquiry.ts';
import { isTooLateFor, turnOf } from '../../domain/payer-silence.ts';
import { payerKey } from '../../domain/turnaround.ts';
import { raiseAttention, resolveAttention } from '../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../store/bookkeeping/audit.ts';
import type { InquiryRow } from '../../store/calls/inquiries.ts';
import { appointmentsOf } from '../../store/calls/links.ts';
import {
  NEAR_VISIT,
  payerSilences,
  putOffForPayer,
  setPayerSilence,
} from '../../store/calls/payer-silence.ts';
import type { SubmitContext } from './deps.ts';

/**
 * Returns whether the call must wait because the payer cannot be reached and this call is not the
 * test call. Postpones it if so.
 */
export async function waitsForPayer(
  { tx, now }: SubmitContext,
  row: InquiryRow,
  draft: InquiryDraft,
): Promise<boolean> {
  const payer = payerKey(draft);
  if (payer === null) return false;
  const turn = turnOf((await payerSilences(tx))[payer] ?? null, now);
  if (turn.kind === 'call') {
    if (turn.silence !== null) await setPayerSilence(tx, payer, turn.silence, now);
    await resolveAttention(tx, inquirySubject(row.id), now, ['payer_waits']);
    return false;
  }
  await putOffForPayer(tx, row, turn.until, now);
  const open_visit = (await appointmentsOf(tx, row.id)).find(
    ({ closed_reason }) => closed_reason === null,
  );
  if (
    draft.claim === undefined &&
    open_visit !== undefined &&
    isTooLateFor(row.visit_at, turn.until)
  )
    await raiseAttention(
      tx,
      {
        connector: row.connector,
        appointment: open_visit.id,
        inquiry: row.id,
        subject: inquirySubject(row.id),
      },
      NEAR_VISIT,
      now,
    );
  return true;
}
