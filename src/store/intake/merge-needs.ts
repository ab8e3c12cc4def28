/**
 * Moves the inquiries of a merged patient record to the surviving record, so that eligd does not
 * call about one person twice (G1).
 */
import { mergeNeed } from '../../domain/merged-needs.ts';
import { keysOfPatient } from '../../domain/needs.ts';
import { OPERATOR_HOLD } from '../../domain/operator.ts';
import type { InquiryState } from '../../domain/states.ts';
import { inquirySubject, writeAudit } from '../bookkeeping/audit.ts';
import { hasFailed, orderAttempts } from '../calls/attempts.ts';
import { moveInquiries, updateInquiry } from '../calls/inquiries.ts';
import { isHeld, keepHoldsOf } from '../calls/kept-holds.ts';
import { planAgain } from '../calls/plan-due.ts';
import type { Tx } from '../engine/database.ts';

/** An inquiry in these states may be sent later. */
const MAY_BE_SENT: ReadonlySet<InquiryState> = new Set(['planned', 'sending', 'uncertain']);

/**
 * Moves every need of `from_id` to `into_id`. A need keeps the birth date that was asked with; a
 * corrected birth date is a new need, as always. If both records have an inquiry for the same need,
 * the more advanced one becomes the newest attempt, which planning uses, and the unsent one is
 * withdrawn. The operator's hold stays.
 */
export async function mergeNeeds(
  tx: Tx,
  { connector, from_id, into_id }: { connector: string; from_id: string; into_id: string },
  now: number,
): Promise<void> {
  const keys = keysOfPatient(connector, from_id);
  const target_keys = keysOfPatient(connector, into_id);
  const moving = await tx
    .selectFrom('inquiries_with_call')
    .selectAll()
    .where('need_base', '>=', keys.from)
    .where('need_base', '<', keys.before)
    .orderBy('id')
    .execute();
  const renamed = (text: string) => `${target_keys.from}${text.slice(keys.from.length)}`;
  for (const [target, rows] of Map.groupBy(
    moving,
    ({ need_base, benefit_year }) => `${benefit_year} ${renamed(need_base)}`,
  )) {
    const [first] = rows;
    if (first === undefined) continue;
    const need_base = target.slice(target.indexOf(' ') + 1);
    const existing = await tx
      .selectFrom('inquiries_with_call')
      .selectAll()
      .where('need_base', '=', need_base)
      .where('benefit_year', '=', first.benefit_year)
      .execute();
    const { order, unneeded } = mergeNeed(existing, rows);
    await orderAttempts(tx, order, { need_base, patient_key: renamed(first.patient_key) }, now);
    await writeAudit(
      tx,
      order.map(({ id, state }) => ({
        at: now,
        subject: inquirySubject(id),
        from_state: state,
        to_state: state,
        reason: 'Two records of the patient were merged in the practice management system.',
      })),
    );
    const next = order.at(-1);
    // If the service does not have a lost call, the call is made again only after the release. The
    // reply to one that is under way may get lost.
    const may_be_sent = next !== undefined && MAY_BE_SENT.has(next.state);
    if (may_be_sent && unneeded.some(isHeld))
      await updateInquiry(tx, next.id, { hold_reason: OPERATOR_HOLD }, now);
    if (may_be_sent && unneeded.some(({ is_ordered }) => is_ordered === 1))
      await updateInquiry(tx, next.id, { is_ordered: 1 }, now);
    await keepHoldsOf(tx, unneeded);
    await moveInquiries(
      tx,
      unneeded.map(({ id }) => id),
      {
        from: 'planned',
        to: 'withdrawn',
        reason: 'The merged record has an inquiry for the same need.',
      },
      now,
    );
    // Another inquiry may serve the visits of those that are unneeded or have failed from now on,
    // and the other record's calls may have asked about what the unsent one is for.
    const planned = next?.state === 'planned' ? [next] : [];
    const changed = [...unneeded, ...planned, ...order.filter(hasFailed)];
    await planAgain(
      tx,
      changed.map(({ id }) => id),
    );
  }
}
