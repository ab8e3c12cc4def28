/**
 * Inquiries of a patient whose record was merged into another's: re-keyed, so that the person is
 * not called about twice (G1).
 */
import { mergeNeed } from '../../domain/merged-needs.ts';
import { inquirySubject, writeAudit } from '../bookkeeping/audit.ts';
import { type InquiryRow, moveInquiries } from '../calls/inquiries.ts';
import type { Tx } from '../engine/database.ts';

/**
 * Gives every need of `from_id` to `into_id`. The birth date in a need stays what was asked with: a
 * corrected one is another need, as ever. Where both had an inquiry for the same need, the one that
 * is further becomes the newest attempt, which planning finds, and what was not sent is withdrawn.
 */
export async function mergeNeeds(
  tx: Tx,
  { connector, from_id, into_id }: { connector: string; from_id: string; into_id: string },
  now: number,
): Promise<void> {
  const prefix = `${connector}|${from_id}|`;
  const moving = await tx
    .selectFrom('inquiries')
    .selectAll()
    .where('need_base', '>=', prefix)
    .where('need_base', '<', `${connector}|${from_id}}`)
    .orderBy('id')
    .execute();
  const renamed = (text: string) => `${connector}|${into_id}|${text.slice(prefix.length)}`;
  for (const [target, rows] of Map.groupBy(
    moving,
    ({ need_base, benefit_year }) => `${benefit_year} ${renamed(need_base)}`,
  )) {
    const [first] = rows;
    if (first === undefined) continue;
    const need_base = target.slice(target.indexOf(' ') + 1);
    const standing = await tx
      .selectFrom('inquiries')
      .selectAll()
      .where('need_base', '=', need_base)
      .where('benefit_year', '=', first.benefit_year)
      .execute();
    const { order, unneeded } = mergeNeed(standing, rows);
    await renumber(tx, order, { need_base, patient_key: renamed(first.patient_key) }, now);
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
  }
}

async function renumber(
  tx: Tx,
  order: readonly InquiryRow[],
  { need_base, patient_key }: Pick<InquiryRow, 'need_base' | 'patient_key'>,
  now: number,
): Promise<void> {
  // Out of each other's way first: (need, year, attempt) is unique.
  for (const [index, { id }] of order.entries()) {
    await tx
      .updateTable('inquiries')
      .set({ attempt: -1 - index })
      .where('id', '=', id)
      .execute();
  }
  for (const [index, { id }] of order.entries()) {
    await tx
      .updateTable('inquiries')
      .set({ need_base, patient_key, attempt: index + 1, updated_at: now })
      .where('id', '=', id)
      .execute();
  }
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
}
