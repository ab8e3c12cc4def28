import { sql } from 'kysely';
import type { MadeCall } from '../../domain/cost.ts';
import { type InquiryDraft, inquiryType, readDraft } from '../../domain/inquiry.ts';
import type { Db } from '../engine/database.ts';

/**
 * Returns the calls that were started from `from` until before `until`, oldest first. Calls that
 * were proven unsent have no `sent_at` and are left out.
 */
export async function callsBetween(db: Db, from: number, until: number): Promise<MadeCall[]> {
  const rows = await db
    .selectFrom('inquiries_with_call')
    .select([
      'sent_at',
      'external_id',
      'service_id',
      'state',
      'service_status',
      'price_cents',
      'charge_cents',
      'draft',
    ])
    .where('sent_at', '>=', from)
    .where('sent_at', '<', until)
    .orderBy('sent_at')
    .execute();
  return rows.map(({ draft: stored, sent_at, ...row }) => {
    const draft = readDraft(stored);
    return {
      ...row,
      sent_at: sent_at ?? from,
      asked: draft === null ? null : { ...draft, type: inquiryType(draft) },
    };
  });
}

/**
 * Counts the duplicate calls that the service holds for the calls of these days: they may be on its
 * bill.
 */
export async function countDuplicates(db: Db, from: number, until: number): Promise<number> {
  const { count } = await db
    .selectFrom('inquiries_with_call as inquiries')
    .innerJoin('calls', 'calls.inquiry', 'inquiries.id')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('inquiries.sent_at', '>=', from)
    .where('inquiries.sent_at', '<', until)
    .where('calls.role', '=', sql.lit('duplicate'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Returns the content of planned calls that are not on hold. Leaves out damaged ones. */
export async function plannedDrafts(db: Db): Promise<{ draft: InquiryDraft; due_at: number }[]> {
  const rows = await db
    .selectFrom('inquiries')
    .select(['draft', 'due_at'])
    .where('state', '=', sql.lit('planned'))
    .where('hold_reason', 'is', null)
    .execute();
  return rows.flatMap(({ draft: stored, due_at }) => {
    const draft = readDraft(stored);
    return draft === null ? [] : [{ draft, due_at }];
  });
}
