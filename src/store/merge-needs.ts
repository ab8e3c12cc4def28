/** Inquiries of a patient whose record was merged into another's: re-keyed, so that the person is not called about twice (G1). */
import type { InquiryState } from '../domain/states.ts';
import { inquirySubject, writeAudit } from './audit.ts';
import type { Tx } from './database.ts';
import { type InquiryRow, moveInquiries } from './inquiries.ts';

/** Of two inquiries that have become the same need, the one that is further counts: the last in this order. */
const ADVANCEMENT: readonly InquiryState[] = [
  'withdrawn',
  'rejected',
  'planned',
  'undecidable',
  'uncertain',
  'sending',
  'open',
  'answered',
];

/**
 * Gives every need of `from_id` to `into_id`. The birth date in a need stays what was asked with: a corrected one is another
 * need, as ever. Where both had an inquiry for the same need, the one that is further becomes the newest attempt, which planning
 * finds, and what was not sent is withdrawn.
 */
export async function mergeNeeds(tx: Tx, connector: string, from_id: string, into_id: string, now: number): Promise<void> {
  const prefix = `${connector}|${from_id}|`;
  const moving = await tx
    .selectFrom('inquiries')
    .selectAll()
    .where('need_base', '>=', prefix)
    .where('need_base', '<', `${connector}|${from_id}}`)
    .orderBy('id')
    .execute();
  const renamed = (text: string) => `${connector}|${into_id}|${text.slice(prefix.length)}`;
  for (const [target, rows] of Map.groupBy(moving, ({ need_base, benefit_year }) => `${benefit_year} ${renamed(need_base)}`)) {
    const [first] = rows;
    if (first === undefined) continue;
    const need_base = target.slice(target.indexOf(' ') + 1);
    const standing = await tx
      .selectFrom('inquiries')
      .selectAll()
      .where('need_base', '=', need_base)
      .where('benefit_year', '=', first.benefit_year)
      .execute();
    await renumber(tx, [...standing, ...rows], need_base, renamed(first.patient_key), now);
  }
}

async function renumber(tx: Tx, rows: readonly InquiryRow[], need_base: string, patient_key: string, now: number): Promise<void> {
  const order = rows.toSorted((a, b) => ADVANCEMENT.indexOf(a.state) - ADVANCEMENT.indexOf(b.state) || a.attempt - b.attempt);
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
  const unsent = order.slice(0, -1).filter(({ state }) => state === 'planned');
  await moveInquiries(
    tx,
    unsent.map(({ id }) => id),
    { from: 'planned', to: 'withdrawn', reason: 'The merged record has an inquiry for the same need.' },
    {},
    now,
  );
}
