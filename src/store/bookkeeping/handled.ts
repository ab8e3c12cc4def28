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
  'extra_call',
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

/** `eligd done`: takes off the list what somebody has handled; the note goes into the story. */
export function handle(note: string) {
  return async (tx: Tx, { kind, id }: Operand, now: number): Promise<Done[]> => {
    const entries = await tx
      .selectFrom('attention')
      .select(['subject', 'reason', 'what'])
      .where(kind === 'appointment' ? 'appointment' : 'inquiry', '=', id)
      .where('resolved_at', 'is', null)
      .execute();
    const done: Done[] = [];
    for (const { subject, reason, what } of entries) {
      if (!TO_HANDLE.some((each) => each === reason)) {
        done.push({
          did: false,
          what: `"${unquoted(what)}" goes off the list when it is fixed, not before.`,
        });
        continue;
      }
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
      done.push({
        did: true,
        what: `Done: ${unquoted(what)} It comes back only if the answer changes.`,
      });
    }
    return done;
  };
}
