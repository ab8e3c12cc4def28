/** Keeps items that someone has handled off the attention list until the answer changes. */
import { sql } from 'kysely';
import { actorName } from '../../domain/actor.ts';
import {
  ANSWER_REASONS,
  type Attention,
  type AttentionReason,
  VERDICT_REASONS,
} from '../../domain/attention.ts';
import type { Done } from '../../domain/operator.ts';
import { unquoted } from '../../domain/quotes.ts';
import { endDoubts } from '../calls/doubtful-calls.ts';
import type { Tx } from '../engine/database.ts';
import { type AttentionSubject, replaceAttention, resolveAttention } from './attention.ts';
import { writeAudit } from './audit.ts';
import type { Operand } from './operator.ts';

/** `to_state` in the trail of an item that someone has handled. */
const HANDLED = 'done';

/** Reasons of items that are done once someone has acted on them. */
export const TO_HANDLE: ReadonlySet<string> = new Set<AttentionReason>([
  ...VERDICT_REASONS,
  ...ANSWER_REASONS,
  'coverage_conflict',
  'duplicate_call',
  'doubtful_call',
  'row_unreadable',
]);

/** What items are about; `entry`: one item, which may be about no visit. */
export type Handleable = Operand | { kind: 'entry'; id: number };

/** Replaces the items about the answer of a visit with `entries`, except those already handled. */
export async function raiseVerdict(
  tx: Tx,
  about: AttentionSubject,
  entries: readonly Attention[],
  now: number,
): Promise<void> {
  const open: Attention[] = [];
  for (const entry of entries) if (!(await isHandled(tx, about.subject, entry))) open.push(entry);
  await replaceAttention(tx, about, { reasons: VERDICT_REASONS, entries: open }, now);
}

/** Returns whether the newest item of this kind has the same text and was handled by someone. */
async function isHandled(tx: Tx, subject: string, entry: Attention): Promise<boolean> {
  const { reason, what, words = null } = entry;
  const last = await tx
    .selectFrom('attention')
    .select(['what', 'words', 'resolved_at'])
    .where('subject', '=', subject)
    .where('reason', '=', reason)
    .orderBy('id', 'desc')
    .limit(sql.lit(1))
    .executeTakeFirst();
  if (last === undefined || last.resolved_at === null) return false;
  if (last.what !== what || last.words !== words) return false;
  const by_hand = await tx
    .selectFrom('audit')
    .select('id')
    .where('subject', '=', subject)
    .where('to_state', '=', HANDLED)
    .where('at', '=', last.resolved_at)
    .limit(sql.lit(1))
    .executeTakeFirst();
  return by_hand !== undefined;
}

/**
 * Implements `eligd done`: resolves items that someone has handled; the note goes into the story.
 * `entry`: only the item with this ID; it may be about a call that serves the visit.
 */
export function handle(note: string, entry: number | null = null) {
  return async (tx: Tx, subject: Handleable, now: number): Promise<Done[]> => {
    const entries = entry === null ? await entriesOf(tx, subject) : await entryOf(tx, entry);
    const done: Done[] = [];
    for (const each of entries) done.push(await handleOne(tx, { ...each, note }, now));
    return done;
  };
}

type Handled = {
  subject: string;
  inquiry: number | null;
  reason: string;
  what: string;
  note: string;
};

async function handleOne(
  tx: Tx,
  { subject, inquiry, reason, what, note }: Handled,
  now: number,
): Promise<Done> {
  if (!TO_HANDLE.has(reason))
    return {
      did: false,
      what: `"${unquoted(what)}" stays on the list until the problem is fixed.`,
    };
  await resolveAttention(tx, subject, now, [reason as AttentionReason]);
  const is_doubt = reason === 'doubtful_call' && inquiry !== null;
  if (is_doubt) await endDoubts(tx, inquiry);
  const note_text = note === '' ? '' : ` Note: ${note}`;
  await writeAudit(tx, [
    {
      at: now,
      subject,
      from_state: 'attention',
      to_state: HANDLED,
      reason:
        `Handled by ${tx.actor ? actorName(tx.actor) : 'the office'}: ` +
        `${unquoted(what)}${note_text}`,
    },
  ]);
  return { did: true, what: `Done: ${unquoted(what)} ${afterwards(reason, is_doubt)}` };
}

function afterwards(reason: string, is_doubt: boolean): string {
  if (is_doubt) return 'eligd no longer waits for this.';
  return reason === 'row_unreadable'
    ? 'It comes back only if eligd fails to read it again.'
    : 'It comes back only if the answer changes.';
}

/** Returns an open item in its current form; null: it is no longer on the list. */
export async function openEntry(
  tx: Tx,
  entry: number,
): Promise<Pick<Attention, 'what' | 'next' | 'words'> | null> {
  const [found] = await entryOf(tx, entry);
  return found ?? null;
}

const openEntries = (tx: Tx) =>
  tx
    .selectFrom('attention')
    .select(['subject', 'inquiry', 'reason', 'what', 'next', 'words'])
    .where('resolved_at', 'is', null);

const entryOf = (tx: Tx, entry: number) => openEntries(tx).where('id', '=', entry).execute();

const entriesOf = (tx: Tx, { kind, id }: Handleable) =>
  openEntries(tx)
    .where(kind === 'entry' ? 'id' : kind, '=', id)
    .execute();
