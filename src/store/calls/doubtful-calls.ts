/**
 * Listed calls that may be for the patient of an inquiry: until when the inquiry waits for the
 * office to say whose they are.
 */
import { type Insertable, sql } from 'kysely';
import type { Tx } from '../engine/database.ts';
import { prepared, preparedRows } from '../engine/prepared.ts';
import type { Tables } from '../engine/tables.ts';

/** Returns the end of the wait by the ID of the listed call, for any of these inquiries. */
export async function doubtsOf(tx: Tx, inquiries: readonly number[]): Promise<Map<string, number>> {
  const doubts = await OF_INQUIRIES(tx, { inquiries });
  return new Map(doubts.map(({ service_id, wait_until }) => [service_id, wait_until]));
}

const OF_INQUIRIES = prepared<{ inquiries: readonly number[] }>()((tx, place) =>
  tx
    .selectFrom('doubtful_calls')
    .select(['service_id', 'wait_until'])
    .where('inquiry', 'in', place('inquiries')),
);

export async function keepDoubts(
  tx: Tx,
  doubts: readonly { inquiry: number; service_id: string; wait_until: number }[],
): Promise<void> {
  await KEEP(tx, doubts);
}

const KEEP = preparedRows<Insertable<Tables['doubtful_calls']>>()((tx, doubts) =>
  tx
    .insertInto('doubtful_calls')
    .values(doubts)
    .onConflict((conflict) =>
      conflict
        .columns(['inquiry', 'service_id'])
        .doUpdateSet({ wait_until: (excluded) => excluded.ref('excluded.wait_until') }),
    ),
);

/**
 * Forgets the waits of withdrawn inquiries. If one is needed again, the office is told again, and
 * has the whole time, unless it has said that these calls are for somebody else.
 */
export async function forgetDoubts(tx: Tx, inquiries: readonly number[]): Promise<void> {
  await FORGET(tx, { inquiries });
}

const FORGET = prepared<{ inquiries: readonly number[] }>()((tx, place) =>
  tx
    .deleteFrom('doubtful_calls')
    .where('inquiry', 'in', place('inquiries'))
    .where('wait_until', '>', sql.lit(0)),
);

/** Ends the wait: the office says that these calls are for somebody else. */
export async function endDoubts(tx: Tx, inquiry: number): Promise<void> {
  await tx
    .updateTable('doubtful_calls')
    .set({ wait_until: sql.lit(0) })
    .where('inquiry', '=', inquiry)
    .execute();
}
