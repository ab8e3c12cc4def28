/**
 * When the checks of an answer's calls are asked for. The answer says when its calls ended, and the
 * checks say when they were made (docs/service.md "Transcript verification record"): how long that
 * takes is learned, so that one request is enough as a rule.
 */
import { askAgainAt, DELAYS_KEPT, usuallyThereAt } from '../../../domain/verification-times.ts';
import { lastCallEndedAt } from '../../../records/reported.ts';
import { lastCheckedAt } from '../../../records/verification.ts';
import type { InquiryRow } from '../../../store/calls/inquiries.ts';
import {
  keepVerificationDelay,
  verificationDelays,
} from '../../../store/calls/verification-delays.ts';
import type { Tx } from '../../../store/engine/database.ts';
import type { CollectDeps } from '../deps.ts';

/** Columns of an inquiry whose answer has come. */
export async function firstVerify(
  tx: Tx,
  { settings }: Pick<CollectDeps, 'settings'>,
  results: unknown,
  now: number,
): Promise<{ verify_at: number; verify_until: number }> {
  const verify_until = now + settings.verify_for_ms;
  const ended_at = callEndedAt(results, now);
  const delays = await verificationDelays(tx);
  // Nothing is known: they may have been there for long.
  const likely_at =
    ended_at === null && delays.length === 0 ? now : usuallyThereAt(ended_at ?? now, delays);
  return { verify_at: Math.min(Math.max(now, likely_at), verify_until), verify_until };
}

/** When the checks of an answer are asked for again; null: never. */
export function nextVerifyAt(row: InquiryRow, now: number): number | null {
  return askAgainAt(now, row.answered_at ?? now, row.verify_until ?? 0);
}

/**
 * Checks have come: notes how long they took, by what the service says, else by how long they were
 * requested without success.
 */
export async function learnDelay(
  tx: Tx,
  row: InquiryRow,
  { verifications, results }: { verifications: readonly unknown[]; results: unknown },
  now: number,
): Promise<void> {
  const answered_at = row.answered_at ?? now;
  const ended_at = callEndedAt(results, answered_at);
  const made_at = lastCheckedAt(verifications);
  const is_dated = ended_at !== null && made_at !== null && made_at >= ended_at && made_at <= now;
  const is_late = now > usuallyThereAt(answered_at, await verificationDelays(tx));
  if (is_dated) await keepVerificationDelay(tx, made_at - ended_at, DELAYS_KEPT, now);
  else if (is_late) await keepVerificationDelay(tx, now - answered_at, DELAYS_KEPT, now);
}

/**
 * When the last call of an answer that came at `now` ended; null when it does not say, or says what
 * is still to come.
 */
export function callEndedAt(results: unknown, now: number): number | null {
  const ended_at = lastCallEndedAt(results);
  return ended_at === null || ended_at > now ? null : ended_at;
}
