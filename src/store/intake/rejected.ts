import { raiseAttention } from '../bookkeeping/attention.ts';
import type { Tx } from '../engine/database.ts';
import { IDS_PER_STATEMENT } from './appointments.ts';

/**
 * Something in a source that cannot be named or dated; the contract's RejectedItem has exactly
 * these parts.
 */
export type Rejected = {
  position: string;
  source_id?: string;
  field: string;
  value_class: string;
  remedy: string;
};

type RejectingSource = { key: string; name: string };

/** Puts an item that nobody could read on the attention list. */
export async function reject(
  tx: Tx,
  connector: string,
  source: RejectingSource,
  item: Rejected,
  now: number,
): Promise<void> {
  await raiseAttention(
    tx,
    {
      connector,
      appointment: null,
      inquiry: null,
      subject: rejectedSubject(connector, source, item),
    },
    {
      reason: 'row_unreadable',
      what: `${source.name}, ${item.position}: ${item.field} is ${item.value_class}.`,
      next: item.remedy,
    },
    now,
  );
}

/** With the field: one item may have several faults, and each is a line of its own. */
function rejectedSubject(connector: string, source: RejectingSource, item: Rejected): string {
  if (item.source_id !== undefined) return itemSubject(connector, item.source_id);
  return `source:${connector}:${source.key}:${item.position}:${item.field}`;
}

/** Of an item whose id could be read one line is enough: it goes when the item comes readable. */
const itemSubject = (connector: string, source_id: string) => `item:${connector}:${source_id}`;

/** Takes items off the list whose appointments came readable. */
export async function forgetUnreadableItems(
  tx: Tx,
  connector: string,
  source_ids: readonly string[],
  now: number,
): Promise<void> {
  for (let first = 0; first < source_ids.length; first += IDS_PER_STATEMENT) {
    await tx
      .updateTable('attention')
      .set({ resolved_at: now })
      .where(
        'subject',
        'in',
        source_ids.slice(first, first + IDS_PER_STATEMENT).map((id) => itemSubject(connector, id)),
      )
      .where('reason', '=', 'row_unreadable')
      .where('resolved_at', 'is', null)
      .execute();
  }
}

/**
 * A newer export takes the place of older ones: a row that is still unreadable is on the list again
 * by this one.
 */
export async function forgetUnreadable(
  tx: Tx,
  connector: string,
  key: string,
  now: number,
): Promise<void> {
  await tx
    .updateTable('attention')
    .set({ resolved_at: now })
    .where('connector', '=', connector)
    .where('reason', '=', 'row_unreadable')
    .where('resolved_at', 'is', null)
    .where('subject', 'like', 'source:%')
    .where('subject', 'not like', `source:${connector}:${key}:%`)
    .execute();
}
