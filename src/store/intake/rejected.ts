import { sql } from 'kysely';
import { problemSentence } from '../../domain/problem-sentence.ts';
import { raiseAttention, resolveAttention } from '../bookkeeping/attention.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import { IDS_PER_STATEMENT } from './appointments.ts';
import type { IntakeContext } from './context.ts';

/**
 * An item in a source without a readable ID or date; the contract's RejectedItem has exactly these
 * parts.
 */
export type Rejected = {
  position: string;
  source_id?: string;
  field: string;
  value_class: string;
  remedy: string;
};

type RejectingSource = { key: string; name: string; kept_as?: string };

/**
 * Returns the subject of a rejected file: one item while the file is kept with the rejected files.
 */
const fileSubject = (connector: string, name: string, kept_as: string) =>
  `rejected:${JSON.stringify([connector, name, kept_as])}`;

/** Puts an unreadable item on the attention list. */
export async function reject(
  { tx, connector, now }: IntakeContext,
  source: RejectingSource,
  item: Rejected,
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
      reason: source.kept_as === undefined ? 'row_unreadable' : 'file_rejected',
      what: problemSentence(item),
      next: source.kept_as === undefined ? item.remedy : `${item.remedy} ${THEN_REMOVE}`,
      // A file name may contain a patient's name.
      words: `It is in ${source.name}.`,
    },
    now,
  );
}

const THEN_REMOVE =
  'This entry disappears when a file with the same name is read, or when the file is removed ' +
  'from rejected/.';

/** Resolves the items about earlier files of this name, because a readable one has arrived. */
export async function forgetRejectedFile(
  tx: Tx,
  connector: string,
  name: string,
  now: number,
): Promise<void> {
  await forgetFiles(tx, connector, (file) => file.name === name, now);
}

/** Resolves the items about rejected files that are not among `kept_as`, the files still kept. */
export async function keepRejectedFiles(
  tx: Tx,
  connector: string,
  kept_as: readonly string[],
  now: number,
): Promise<void> {
  const kept = new Set(kept_as);
  await forgetFiles(tx, connector, (file) => !kept.has(file.kept_as), now);
}

async function forgetFiles(
  tx: Tx,
  connector: string,
  isObsolete: (file: { name: string; kept_as: string }) => boolean,
  now: number,
): Promise<void> {
  for (const subject of await rejectedFiles(tx, connector)) {
    const [, name, kept_as] = JSON.parse(subject.slice('rejected:'.length)) as string[];
    if (isObsolete({ name: name ?? '', kept_as: kept_as ?? '' }))
      await resolveAttention(tx, subject, now, ['file_rejected']);
  }
}

/** Returns the subjects of open items about rejected files of a connector. */
export async function rejectedFiles(db: Db | Tx, connector: string): Promise<string[]> {
  const rows = await db
    .selectFrom('attention')
    .select('subject')
    .where('reason', '=', 'file_rejected')
    .where('subject', '>=', 'rejected:')
    .where('subject', '<', 'rejected;')
    .where('connector', '=', connector)
    .where('resolved_at', 'is', null)
    .execute();
  return rows.map(({ subject }) => subject);
}

/**
 * Returns the subject of a rejected item. Includes the field, because an item may have several
 * problems, each with its own entry.
 */
function rejectedSubject(connector: string, source: RejectingSource, item: Rejected): string {
  if (source.kept_as !== undefined) return fileSubject(connector, source.name, source.kept_as);
  if (item.source_id !== undefined) return itemSubject(connector, item.source_id);
  return `source:${connector}:${source.key}:${item.position}:${item.field}`;
}

/** Resolves the entries about whole messages of these sources, because they are read again. */
export async function forgetRejectedMessages(
  tx: Tx,
  connector: string,
  keys: readonly string[],
  now: number,
): Promise<void> {
  const subjects = keys.map((key) => `source:${connector}:${key}:message:message`);
  await resolveAttention(tx, subjects, now, ['row_unreadable']);
}

/**
 * Returns the subject of an item with a readable ID: one entry, which is resolved when the item is
 * readable.
 */
const itemSubject = (connector: string, source_id: string) => `item:${connector}:${source_id}`;

/** Resolves the entries of items that have arrived in readable form. */
export async function forgetUnreadableItems(
  tx: Tx,
  connector: string,
  source_ids: readonly string[],
  now: number,
): Promise<void> {
  for (let first = 0; first < source_ids.length; first += IDS_PER_STATEMENT) {
    const part = source_ids.slice(first, first + IDS_PER_STATEMENT);
    await RESOLVE_ITEMS(tx, { subjects: part.map((id) => itemSubject(connector, id)), now });
  }
}

const RESOLVE_ITEMS = prepared<{ subjects: readonly string[]; now: number }>()((tx, place) =>
  tx
    .updateTable('attention')
    .set({ resolved_at: place('now') })
    .where('subject', 'in', place('subjects'))
    .where('reason', '=', sql.lit('row_unreadable'))
    .where('resolved_at', 'is', null),
);

/**
 * Resolves entries of older exports: if a row is still unreadable, this export has raised it again.
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
