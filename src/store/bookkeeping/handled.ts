/** What somebody has handled stays off the attention list until the answer changes. */
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
import type { Tx } from '../engine/database.ts';
import { type AttentionSubject, replaceAttention, resolveAttention } from './attention.ts';
import { writeAudit } from './audit.ts';
import type { Operand } from './operator.ts';

/** `to_state` in the trail of an entry that somebody has handled. */
const HANDLED = 'done';

/** Entries that are about an answer, and gone once somebody has acted on them. */
const TO_HANDLE: readonly AttentionReason[] = [
  ...VERDICT_REASONS,
  ...ANSWER_REASONS,
  'coverage_conflict',
  'duplicate_call',
];

/** What the answer of a visit asks for becomes exactly `entries`, without what was handled. */
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

/** Whether the newest entry of this kind says the same and was handled by somebody. */
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
 * `eligd done`: takes off the list what somebody has handled; the note goes into the story.
 * `entry`: only this entry, by its row; it may be about a call that serves the visit.
 */
export function handle(note: string, entry: number | null = null) {
  return async (tx: Tx, subject: Operand, now: number): Promise<Done[]> => {
    const entries = entry === null ? await entriesOf(tx, subject) : await entryOf(tx, entry);
    const done: Done[] = [];
    for (const each of entries) done.push(await handleOne(tx, { ...each, note }, now));
    return done;
  };
}

async function handleOne(
  tx: Tx,
  { subject, reason, what, note }: { subject: string; reason: string; what: string; note: string },
  now: number,
): Promise<Done> {
  if (!TO_HANDLE.some((each) => each === reason))
    return {
      did: false,
      what: `"${unquoted(what)}" leaves the list only when it is fixed.`,
    };
  await resolveAttention(tx, subject, now, [reason as AttentionReason]);
  const told = note === '' ? '' : ` Note: ${note}`;
  await writeAudit(tx, [
    {
      at: now,
      subject,
      from_state: 'attention',
      to_state: HANDLED,
      reason:
        `Handled by ${tx.actor ? actorName(tx.actor) : 'the office'}: ` +
        `${unquoted(what)}${told}`,
    },
  ]);
  return {
    did: true,
    what: `Done: ${unquoted(what)} It comes back only if the answer changes.`,
  };
}

/** An open entry as it is now; null: it is not on the list any more. */
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
    .select(['subject', 'reason', 'what', 'next', 'words'])
    .where('resolved_at', 'is', null);

const entryOf = (tx: Tx, entry: number) => openEntries(tx).where('id', '=', entry).execute();

const entriesOf = (tx: Tx, { kind, id }: Operand) =>
  openEntries(tx)
    .where(kind === 'appointment' ? 'appointment' : 'inquiry', '=', id)
    .execute();
