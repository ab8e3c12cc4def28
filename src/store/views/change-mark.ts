import type { Db } from '../engine/database.ts';

/**
 * Returns a text that changes with anything that a page shows: each step is in the audit trail,
 * each open task on the attention list, and planning records when it returns. Reads only the ends
 * of indexes.
 */
export async function changeMark(db: Db): Promise<string> {
  const audit = await db
    .selectFrom('audit')
    .select((select) => select.fn.max('id').as('id'))
    .executeTakeFirst();
  const attention = await db
    .selectFrom('attention')
    .select((select) => [select.fn.countAll<number>().as('open'), select.fn.max('id').as('id')])
    .where('resolved_at', 'is', null)
    .executeTakeFirst();
  return `${audit?.id} ${attention?.id} ${attention?.open}`;
}
